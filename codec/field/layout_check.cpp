#include "codec/field/layout_check.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <vector>

#include "codec/io/byte_source.hpp"
#include "core/field/stored_type.hpp"

namespace cuszi {

namespace {

constexpr std::uint64_t fewest_values = 16384;
constexpr std::uint64_t sampled_blocks = 32;
constexpr std::uint64_t block_values = 256;
constexpr double least_gain = 2;
constexpr double sharp = 0.8;  ///< greatest ratio of neighbours' differences to those nearby
constexpr double implausible_share = 1.0 / 3;
constexpr double usual_share = 0.02;

using Extents = std::vector<std::uint64_t>;

/// Evenly spread blocks.
class Sampler {
 public:
  Sampler(DType dtype, std::uint64_t values, const ReadValues& read)
      : dtype_(dtype), values_(values), read_(read), bytes_(block_values * size_of(dtype)) {}

  std::uint64_t values() const { return values_; }

  /// The block at `distance` is readable, too.
  std::uint64_t start(std::uint64_t i, std::uint64_t distance) const {
    const std::uint64_t room = values_ - distance - block_values;
    return room / sampled_blocks * i + room / (2 * sampled_blocks);
  }

  Bytes bytes_at(std::uint64_t first) {
    read_(first, bytes_);
    return bytes_;
  }

  std::vector<double> values_at(std::uint64_t first) { return doubles_in(bytes_at(first)); }

  std::vector<double> doubles_in(Bytes bytes) const {
    return with_work_values(dtype_, bytes, [](auto values) {
      return std::vector<double>(values.begin(), values.end());
    });
  }

 private:
  DType dtype_;
  std::uint64_t values_;
  const ReadValues& read_;
  std::vector<std::byte> bytes_;
};

/// Mean absolute, memoised.
class Differences {
 public:
  Differences(Sampler sampler, const FillValues& fills)
      : sampler_(std::move(sampler)), fills_(fills) {}

  /// Infinite if too few values can be read.
  double operator()(std::uint64_t distance) {
    const auto [at, is_new] = known_.try_emplace(distance, infinite);
    if (is_new && distance + 2 * block_values < sampler_.values()) at->second = measure(distance);
    return at->second;
  }

  /// Less than those a few units away.
  bool is_sharp(std::uint64_t distance, std::uint64_t unit) {
    const std::uint64_t away = unit * std::max<std::uint64_t>(distance / unit / 8, 1);
    const double nearby = std::min((*this)(distance - away), (*this)(distance + away));
    return std::isfinite(nearby) && (*this)(distance) <= sharp * nearby && nearby > 0;
  }

 private:
  static constexpr double infinite = std::numeric_limits<double>::infinity();

  bool is_known(double value) const {
    return std::isfinite(value) &&
           std::find(fills_.values.begin(), fills_.values.begin() + fills_.count, value) ==
               fills_.values.begin() + fills_.count;
  }

  double measure(std::uint64_t distance) {
    double sum = 0;
    std::uint64_t count = 0;
    for (std::uint64_t i = 0; i < sampled_blocks; ++i) {
      const std::uint64_t first = sampler_.start(i, distance);
      const std::vector<double> here = sampler_.values_at(first);
      const std::vector<double> there = sampler_.values_at(first + distance);
      for (std::size_t j = 0; j < here.size(); ++j) {
        if (!is_known(here[j]) || !is_known(there[j])) continue;
        sum += std::abs(here[j] / 2 - there[j] / 2);  // halves avoid overflow
        ++count;
      }
    }
    return count == 0 ? infinite : sum / static_cast<double>(count);
  }

  Sampler sampler_;
  FillValues fills_;
  std::map<std::uint64_t, double> known_;
};

/// Fastest first.
Extents strides_of(const Extents& extents) {
  Extents strides{1};
  for (std::size_t axis = extents.size(); axis-- > 1;) {
    strides.push_back(strides.back() * extents[axis]);
  }
  return strides;
}

/// By the first stride that differs; 0 without clear evidence.
double gain_of(const Extents& other, const Extents& given, Differences& differences) {
  const auto [there, here] = std::mismatch(other.begin(), other.end(), given.begin());
  if (there == other.end()) return 0;
  const double now = differences(*here);
  const double then = differences(*there);
  if (!std::isfinite(now) || !(now > 0) || now < least_gain * then) return 0;
  const std::uint64_t unit = *(there - 1);
  if (!differences.is_sharp(*there, unit) || differences.is_sharp(*here, unit)) return 0;
  return now / then;
}

double sum_over(const Extents& strides, Differences& differences) {
  double sum = 0;
  for (const std::uint64_t stride : strides) sum += differences(stride);
  return sum;
}

Dims with_extents(const Dims& dims, const Extents& extents) {
  Extents all(dims.extents().begin(), dims.extents().end());
  auto next = extents.begin();
  for (std::uint64_t& extent : all) {
    if (extent > 1) extent = *next++;
  }
  return Dims::make(all).value();
}

/// Share out of the plausible range; zeros are plausible.
double share_of_implausible(const std::vector<double>& values, DType dtype) {
  const double most = dtype == DType::f64 ? 1e60 : 1e18;
  const auto implausible = std::count_if(values.begin(), values.end(), [&](double value) {
    const double size = std::abs(value);
    return size != 0 && !(size >= 1 / most && size <= most);
  });
  return static_cast<double>(implausible) / static_cast<double>(values.size());
}

}  // namespace

std::optional<OtherDims> smoother_dims(const FieldLayout& layout, std::uint64_t values,
                                       const FillValues& fills, const ReadValues& read) {
  Extents extents;
  for (const std::uint64_t extent : layout.dims.extents()) {
    if (extent > 1) extents.push_back(extent);
  }
  if (values < fewest_values || extents.size() < 2) return std::nullopt;
  Differences differences(Sampler(layout.dtype, values, read), fills);
  const Extents given = strides_of(extents);
  std::optional<OtherDims> best;
  double least = std::numeric_limits<double>::infinity();
  std::sort(extents.begin(), extents.end());
  do {
    const Extents other = strides_of(extents);
    const double gain = gain_of(other, given, differences);
    if (gain == 0) continue;
    const double sum = sum_over(other, differences);
    if (sum < least) best = {with_extents(layout.dims, extents), gain};
    least = std::min(least, sum);
  } while (std::next_permutation(extents.begin(), extents.end()));
  return best;
}

std::optional<double> implausible_value(const FieldLayout& layout, std::uint64_t values,
                                        const ReadValues& read) {
  const bool has_wide_range = !is_integer(layout.dtype) && layout.dtype != DType::f16;
  if (!has_wide_range || values < sampled_blocks * block_values) return std::nullopt;
  Sampler sampler(layout.dtype, values, read);
  std::vector<double> now;
  std::vector<double> swapped;
  for (std::uint64_t i = 0; i < sampled_blocks; ++i) {
    const Bytes block = sampler.bytes_at(sampler.start(i, 0));
    std::vector<std::byte> turned(block.begin(), block.end());
    to_native(turned, layout.dtype, ByteOrder::big);  // swaps on any machine
    const std::vector<double> a = sampler.doubles_in(block);
    const std::vector<double> b = sampler.doubles_in(turned);
    now.insert(now.end(), a.begin(), a.end());
    swapped.insert(swapped.end(), b.begin(), b.end());
  }
  if (share_of_implausible(now, layout.dtype) < implausible_share ||
      share_of_implausible(swapped, layout.dtype) > usual_share) {
    return std::nullopt;
  }
  double largest = 0;
  for (const double value : now) {
    if (std::isfinite(value)) largest = std::max(largest, std::abs(value));
  }
  return largest;
}

}  // namespace cuszi
