#include "core/field/asked_bounds.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <string>

#include "core/base/error.hpp"

namespace cuszi {

namespace {

constexpr double none = std::numeric_limits<double>::infinity();
using Index = std::array<std::uint64_t, Dims::max_rank>;

struct RegionInFrame {
  Index first{};
  Index end{};
  double bound = 0;

  bool has(std::size_t axis, std::uint64_t i) const { return i >= first[axis] && i < end[axis]; }
};

std::vector<RegionInFrame> regions_in(std::span<const BoundRegion> regions, const Dims& frame,
                                      const Index& origin) {
  std::vector<RegionInFrame> inside;
  for (const BoundRegion& region : regions) {
    RegionInFrame part{{}, {}, region.bound};
    bool any = true;
    for (int a = 0; a < frame.rank(); ++a) {
      const auto axis = static_cast<std::size_t>(a);
      const std::uint64_t begin = origin.at(axis);
      const std::uint64_t end = begin + frame[a];
      const std::uint64_t first = std::clamp(region.box.first.at(axis), begin, end);
      const std::uint64_t last = std::clamp(region.box.end.at(axis), begin, end);
      part.first.at(axis) = first - begin;
      part.end.at(axis) = last - begin;
      any = any && first < last;
    }
    if (any) inside.push_back(part);
  }
  return inside;
}

class RowBounds {
 public:
  RowBounds(const BoundsByPlace& asked, const Dims& dims, const Dims& frame, const Index& origin)
      : field_(asked.field),
        dims_(dims),
        frame_(frame),
        origin_(origin),
        fastest_(static_cast<std::size_t>(frame.rank()) - 1),
        regions_(regions_in(asked.regions, frame, origin)),
        row_(frame[frame.rank() - 1]) {}

  std::uint64_t rows() const { return frame_.count() / row_.size(); }

  /// Empty if no bound applies to the row.
  std::span<const double> row(std::uint64_t number) {
    Index at{};
    for (std::size_t axis = fastest_; axis-- > 0;) {
      at[axis] = number % frame_[static_cast<int>(axis)];
      number /= frame_[static_cast<int>(axis)];
    }
    bool any = !field_.bounds.empty();
    if (any) {
      take_field(at);
    } else {
      std::fill(row_.begin(), row_.end(), none);
    }
    for (const RegionInFrame& region : regions_) {
      bool has_row = true;
      for (std::size_t axis = 0; axis < fastest_; ++axis) has_row &= region.has(axis, at[axis]);
      if (!has_row) continue;
      const auto begin = row_.begin();
      std::fill(begin + static_cast<std::ptrdiff_t>(region.first[fastest_]),
                begin + static_cast<std::ptrdiff_t>(region.end[fastest_]), region.bound);
      any = true;
    }
    return any ? std::span<const double>(row_) : std::span<const double>{};
  }

 private:
  void take_field(const Index& at) {
    std::uint64_t first = 0;
    for (std::size_t axis = 0; axis <= fastest_; ++axis) {
      const std::uint64_t block = field_.block.at(axis);
      first *= ceil_div(dims_[static_cast<int>(axis)], block);
      if (axis < fastest_) first += (origin_.at(axis) + at.at(axis)) / block;
    }
    for (std::uint64_t x = 0; x < row_.size(); ++x) {
      row_[x] = field_.bounds[first + (origin_.at(fastest_) + x) / field_.block.at(fastest_)];
    }
  }

  const BoundField& field_;
  Dims dims_;
  Dims frame_;
  Index origin_;
  std::size_t fastest_;
  std::vector<RegionInFrame> regions_;
  std::vector<double> row_;
};

class BlockCursor {
 public:
  explicit BlockCursor(const BlockRows& rows) : rows_(rows), first_block_(rows.first_block(0)) {}

  std::uint64_t point() const { return point_; }
  std::uint64_t block() const { return first_block_ + rows_.block_in_row(x_); }

  /// By one point, or by a whole row from its start.
  void advance(std::uint64_t points) {
    point_ += points;
    x_ += points;
    if (x_ < rows_.row_points()) return;
    x_ = 0;
    first_block_ = rows_.first_block(++row_);
  }

 private:
  BlockRows rows_;
  std::uint64_t point_ = 0;
  std::uint64_t row_ = 0;
  std::uint64_t x_ = 0;
  std::uint64_t first_block_;
};

}  // namespace

float float_below(double bound) {
  constexpr float most = std::numeric_limits<float>::max();
  if (std::isfinite(bound) && bound > most) return most;
  const auto near = static_cast<float>(bound);
  return near > bound ? std::nextafter(near, -HUGE_VALF) : near;
}

std::uint64_t BoundField::count(const Dims& dims) const {
  std::uint64_t count = 1;
  for (int axis = 0; axis < dims.rank(); ++axis) {
    count *= ceil_div(dims[axis], block.at(static_cast<std::size_t>(axis)));
  }
  return count;
}

void BoundsByPlace::check(const Dims& dims) const {
  for (const BoundRegion& region : regions) check_box(region.box, dims);
  if (field.bounds.empty()) return;
  if (field.bounds.size() != field.count(dims)) {
    throw UsageError("the field of bounds has " + std::to_string(field.bounds.size()) +
                     " values; a field of " + dims.to_string() + " needs " +
                     std::to_string(field.count(dims)));
  }
  const auto bad = std::find_if_not(field.bounds.begin(), field.bounds.end(),
                                    [](float bound) { return bound >= 0; });
  if (bad == field.bounds.end()) return;
  throw UsageError("the field of bounds has " + std::to_string(*bad) + " at index " +
                   std::to_string(bad - field.bounds.begin()) + "; bounds are at least 0");
}

AskedBounds BoundsByPlace::of_frame(const Dims& dims, const Dims& frame, const Index& origin,
                                    const std::function<double(double)>& absolute) const {
  RowBounds bounds(*this, dims, frame, origin);
  BlockCursor cursor(BlockRows::of({frame}));
  AskedBounds asked{std::vector<double>(BlockGrid::of(frame.as_3d()).count(), none), {}};
  for (std::uint64_t number = 0; number < bounds.rows(); ++number) {
    const std::span<const double> row = bounds.row(number);
    if (row.empty()) cursor.advance(frame[frame.rank() - 1]);
    for (const double bound : row) {
      if (bound == 0) {
        asked.lossless.resize(ceil_div(frame.count(), 64));
        asked.lossless[cursor.point() / 64] |= std::uint64_t{1} << (cursor.point() % 64);
      } else {
        double& least = asked.of_blocks[cursor.block()];
        least = std::min(least, bound);
      }
      cursor.advance(1);
    }
  }
  std::map<double, double> known;
  for (double& bound : asked.of_blocks) {
    if (bound == none) continue;
    const auto [entry, fresh] = known.try_emplace(bound, 0);
    if (fresh) entry->second = absolute(bound);
    bound = entry->second;
  }
  return asked;
}

}  // namespace cuszi
