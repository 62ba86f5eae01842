#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <span>
#include <vector>

#include "core/field/fidelity_points.hpp"
#include "cpu_ref/base/parallel.hpp"
#include "cpu_ref/field/metrics.hpp"

namespace cuszi::cpu {

namespace {

/// `counts` is 1, or 0 with an error of 0.
struct ErrorRow {
  std::array<double, fidelity_segment_points> error{};
  std::array<double, fidelity_segment_points> counts{};
};

struct LaneSum {
  std::array<double, fidelity_lanes> lane{};

  double total() const {
    double sum = 0;
    for (const double part : lane) sum += part;
    return sum;
  }
};

PairSums pair_sums(const double* x, const double* x_counts, const double* y, const double* y_counts,
                   std::size_t count) {
  LaneSum pairs, xs, ys, xx, yy, xy;
  const auto add = [&](std::size_t i, std::size_t k) {
    const PairSums pair = pair_of({x[i], x_counts[i]}, {y[i], y_counts[i]});
    pairs.lane[k] += pair.pairs;
    xs.lane[k] += pair.x;
    ys.lane[k] += pair.y;
    xx.lane[k] += pair.xx;
    yy.lane[k] += pair.yy;
    xy.lane[k] += pair.xy;
  };
  constexpr std::size_t lanes = fidelity_lanes;
  const std::size_t whole = count / lanes * lanes;
  for (std::size_t i = 0; i < whole; i += lanes) {
    for (std::size_t k = 0; k < lanes; ++k) add(i + k, k);
  }
  for (std::size_t i = whole; i < count; ++i) add(i, i - whole);
  return {pairs.total(), xs.total(), ys.total(), xx.total(), yy.total(), xy.total()};
}

template <class T>
class Measurer {
 public:
  Measurer(const Dims& dims, std::span<const T> original, std::span<const T> restored,
           const FillValues& fills)
      : cuts_(dims), values_{original.data(), restored.data(), MissingTest<T>(fills)} {}

  Fidelity measure() {
    exponent_ = fidelity_exponent(largest_half_error());
    values_.set_exponent(exponent_);
    Fidelity whole =
        in_parts(ceil_div(cuts_.segments, fidelity_part_segments), [&](std::uint64_t i) {
          Fidelity part;
          const std::uint64_t end = std::min((i + 1) * fidelity_part_segments, cuts_.segments);
          for (std::uint64_t j = i * fidelity_part_segments; j < end; ++j) {
            add_segment({cuts_, j}, part);
          }
          return part;
        });
    if (cuts_.planes != 0) {
      whole.merge(in_parts(cuts_.planes, [&](std::uint64_t plane) { return windows_of(plane); }));
    }
    return whole;
  }

 private:
  template <class Part>
  Fidelity in_parts(std::uint64_t count, const Part& part) const {
    std::vector<Fidelity> parts(count);
    parallel_for(count, [&](std::uint64_t i) {
      parts[i] = part(i);
      parts[i].exponent = exponent_;
    });
    Fidelity whole;
    whole.exponent = exponent_;
    for (const Fidelity& one : parts) whole.merge(one);
    return whole;
  }

  double largest_half_error() const {
    constexpr std::uint64_t block = 1 << 16;
    std::vector<double> largest(ceil_div(cuts_.points, block));
    parallel_for(largest.size(), [&](std::uint64_t i) {
      const std::uint64_t end = std::min<std::uint64_t>((i + 1) * block, cuts_.points);
      double most = 0;
      for (std::uint64_t p = i * block; p < end; ++p) {
        if (values_.counts(p)) most = std::max(most, std::abs(values_.half_error(p)));
      }
      largest[i] = most;
    });
    return *std::max_element(largest.begin(), largest.end());
  }

  void read_errors(std::uint64_t first, std::size_t count, ErrorRow& row) const {
    for (std::size_t i = 0; i < count; ++i) {
      const CountedError one = values_.error(first + i);
      row.counts[i] = one.counts;
      row.error[i] = one.error;
    }
  }

  void add_segment(const FidelitySegment& segment, Fidelity& part) const {
    const std::uint64_t first = segment.first;
    const std::size_t count = segment.count;
    ErrorRow here;
    ErrorRow there;
    read_errors(first, count, here);
    count_values(first, count, here, part);
    std::uint64_t stride = cuts_.width;
    std::uint64_t index = segment.row;
    for (int axis = cuts_.rank - 2; axis >= 0; --axis) {
      const auto number = static_cast<std::size_t>(axis);
      if (index % cuts_.extents[number] != 0) {
        read_errors(first - stride, count, there);
        part.neighbours[number].add(pair_sums(there.error.data(), there.counts.data(),
                                              here.error.data(), here.counts.data(), count));
      }
      index /= cuts_.extents[number];
      stride *= cuts_.extents[number];
    }
    PairSums& fastest = part.neighbours[static_cast<std::size_t>(cuts_.rank - 1)];
    fastest.add(pair_sums(here.error.data(), here.counts.data(), here.error.data() + 1,
                          here.counts.data() + 1, count - 1));
    if (segment.at != 0) fastest.add(pair_of(values_.error(first - 1), values_.error(first)));
  }

  void count_values(std::uint64_t first, std::size_t count, const ErrorRow& row,
                    Fidelity& part) const {
    LaneSum sum;
    for (std::size_t i = 0; i < count; ++i) {
      const T was = values_.original[first + i];
      part.add(was, values_.restored[first + i], values_.missing(was), row.counts[i] != 0);
      sum.lane[i % fidelity_lanes] += row.error[i];
    }
    part.error_sum += sum.total();
  }

  /// SSIM over complete windows.
  Fidelity windows_of(std::uint64_t plane) const {
    Fidelity part;
    double low = std::numeric_limits<double>::infinity();
    double high = -low;
    const std::uint64_t first = plane * cuts_.plane_points();
    for (std::uint64_t p = first; p < first + cuts_.plane_points(); ++p) {
      if (!values_.counts(p)) continue;
      const auto value = static_cast<double>(values_.original[p]) / 2;
      low = std::min(low, value);
      high = std::max(high, value);
    }
    if (!(high > low)) return part;
    for (std::uint64_t window = 0; window < cuts_.windows_per_plane(); ++window) {
      double similarity = 0;
      if (!values_.window(cuts_.first_of_window(plane, window), cuts_.plane_width,
                          {low, high - low}, similarity)) {
        continue;
      }
      part.ssim_sum += similarity;
      ++part.ssim_windows;
    }
    return part;
  }

  FidelityCuts cuts_;
  ComparedValues<T> values_;
  int exponent_ = 0;
};

}  // namespace

Fidelity measure_fidelity(DType dtype, const Dims& dims, Bytes original, Bytes restored,
                          const FillValues& fills) {
  return with_type_of(dtype, [&](auto zero) {
    using T = decltype(zero);
    const auto values = [](Bytes bytes) {
      return std::span(reinterpret_cast<const T*>(bytes.data()), bytes.size() / sizeof(T));
    };
    return Measurer<T>(dims, values(original), values(restored), fills).measure();
  });
}

}  // namespace cuszi::cpu
