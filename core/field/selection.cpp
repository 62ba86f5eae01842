#include "core/field/selection.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "core/base/error.hpp"

namespace cuszi {

namespace {

template <class Visit>
void for_each_point(std::span<const Selection> selections, const Visit& visit) {
  for (const Selection& selection : selections) for_each_point(selection, visit);
}

}  // namespace

std::uint64_t Selection::count(int axis) const {
  const auto a = static_cast<std::size_t>(axis);
  const std::uint64_t last = std::min(end.at(a), from[axis]);
  return first.at(a) >= last ? 0 : (last - first.at(a) - 1) / step.at(a) + 1;
}

std::uint64_t Selection::points() const {
  std::uint64_t points = 1;
  for (int axis = 0; axis < from.rank(); ++axis) points *= count(axis);
  return points;
}

Dims Selection::dims() const {
  std::array<std::uint64_t, Dims::max_rank> extents{};
  for (int axis = 0; axis < from.rank(); ++axis) {
    extents.at(static_cast<std::size_t>(axis)) = count(axis);
  }
  return Dims::make(std::span(extents).first(static_cast<std::size_t>(from.rank()))).value();
}

void check_box(const Box& box, const Dims& dims) {
  for (std::size_t axis = 0; axis < Dims::max_rank; ++axis) {
    const bool open = box.end[axis] == Box::no_end;
    const std::uint64_t extent = axis < dims.extents().size() ? dims.extents()[axis] : 1;
    if (box.first[axis] < (open ? extent : box.end[axis]) && (open || box.end[axis] <= extent)) {
      continue;
    }
    throw UsageError("the box's indices " + std::to_string(box.first[axis]) + ':' +
                     (open ? "" : std::to_string(box.end[axis])) + " of axis " +
                     std::to_string(axis) + " are outside the field " + dims.to_string());
  }
}

Selection box_of(const Dims& dims, std::uint64_t most_points, std::uint64_t part,
                 std::uint64_t parts) {
  std::vector<std::uint64_t> extents(dims.extents().begin(), dims.extents().end());
  while (Dims::make(extents)->count() > most_points) {
    std::uint64_t& longest = *std::max_element(extents.begin(), extents.end());
    longest = (longest + 1) / 2;
  }
  Selection box{dims};
  for (std::size_t axis = 0; axis < extents.size(); ++axis) {
    const std::uint64_t free = dims.extents()[axis] - extents[axis];
    box.first.at(axis) = free * (2 * part + 1) / (2 * parts);
    box.end.at(axis) = box.first.at(axis) + extents[axis];
  }
  return box;
}

void pick(std::span<const Selection> selections, DType dtype, Bytes from, MutableBytes to) {
  with_word_of(dtype, [&](auto zero) {
    using T = decltype(zero);
    std::byte* out = to.data();
    for_each_point(selections, [&](std::uint64_t point) {
      std::memcpy(out, from.data() + point * sizeof(T), sizeof(T));
      out += sizeof(T);
    });
  });
}

std::vector<std::uint64_t> pick(const Selection& selection,
                                const std::vector<std::uint64_t>& bits) {
  std::vector<std::uint64_t> picked(ceil_div(selection.points(), 64));
  std::uint64_t place = 0;
  for_each_point(std::span(&selection, 1), [&](std::uint64_t point) {
    picked[place / 64] |= (bits[point / 64] >> (point % 64) & 1) << (place % 64);
    ++place;
  });
  return picked;
}

Mask pick(std::span<const Selection> selections, DType dtype, const Mask& from) {
  Mask mask;
  if (!from.any()) return mask;
  std::vector<std::uint64_t> before;
  std::uint64_t sum = 0;
  for (const std::uint64_t word : from.words) {
    before.push_back(sum);
    sum += static_cast<unsigned>(std::popcount(word));
  }
  std::uint64_t points = 0;
  for (const Selection& selection : selections) points += selection.points();
  mask.words.resize(ceil_div(points, 64), 0);
  const ByteCount size = size_of(dtype);
  std::uint64_t place = 0;
  for_each_point(selections, [&](std::uint64_t point) {
    const std::uint64_t at = place++;
    if (!from(point)) return;
    const std::uint64_t lower = (std::uint64_t{1} << (point % 64)) - 1;
    const std::uint64_t rank =
        before[point / 64] + static_cast<unsigned>(std::popcount(from.words[point / 64] & lower));
    const auto value = from.values.begin() + static_cast<std::ptrdiff_t>(rank * size);
    mask.words[at / 64] |= std::uint64_t{1} << (at % 64);
    mask.values.insert(mask.values.end(), value, value + static_cast<std::ptrdiff_t>(size));
    ++mask.count;
  });
  if (mask.count == 0) mask.words.clear();
  return mask;
}

}  // namespace cuszi
