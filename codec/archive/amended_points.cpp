#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <span>

#include "codec/archive/amend.hpp"
#include "codec/io/byte_source.hpp"
#include "core/base/error.hpp"
#include "core/field/mask.hpp"
#include "core/field/sparse_list.hpp"

namespace cuszi {

namespace {

template <class T>
std::span<T> values_of(MutableBytes bytes) {
  return {reinterpret_cast<T*>(bytes.data()), bytes.size() / sizeof(T)};
}

/// Rounds present values to the grid.
template <class T>
void move_to_grid(const ValueGrid& grid, const FillValues& fills, std::span<T> values) {
  if (grid.kind == ValueGrid::Kind::none) return;
  if (fills.count == 0) return grid.move(values);
  const MissingTest<T> is_missing(fills);
  for (T& value : values) {
    if (!is_missing(value)) value = grid.nearest(value);
  }
}

template <class B>
void overlay(std::span<const B> from, std::uint64_t step, B hole, B* to) {
  if (step == 1) {
    for (const B bits : from) {
      *to = bits == hole ? *to : bits;
      ++to;
    }
    return;
  }
  for (std::uint64_t i = 0; i < from.size(); i += step, ++to) {
    if (from[i] != hole) *to = from[i];
  }
}

/// Selected indices of an axis that lie in a box; `origin` is the axis's first index.
struct Overlap {
  std::uint64_t begin;
  std::uint64_t end;

  static Overlap of(const Selection& selection, std::uint64_t origin, const Box& box,
                    std::size_t axis) {
    const std::uint64_t first = origin + selection.first.at(axis);
    const std::uint64_t step = selection.step.at(axis);
    const std::uint64_t count = selection.count(static_cast<int>(axis));
    const auto indices_before = [&](std::uint64_t place) {
      return place <= first ? 0 : std::min(ceil_div(place - first, step), count);
    };
    return {indices_before(box.first.at(axis)), indices_before(box.end.at(axis))};
  }
};

}  // namespace

AmendedPoints::AmendedPoints(ArchiveReader& archive, std::optional<ByteCount> limit,
                             const Restore& restore)
    : amendment_(archive.amendment().value()),
      field_(archive.header().plan.dims),
      dtype_(archive.header().dtype) {
  const AmendmentParts parts = archive.read_amendment();
  const ByteCount size = amendment_.dims.count() * size_of(dtype_);
  if (limit && size > *limit) {
    throw ArchiveError(
        fmt::format("the amendment needs {} bytes to restore; the limit is {}", size, *limit));
  }
  values_.resize(size);
  if (!parts.inner.empty()) {
    restore_inner(parts.inner, restore);
  } else {
    with_type_of(dtype_, [&]<class T>(T /*type*/) {
      std::ranges::fill(values_of<BitsOf<T>>(values_.view()),
                        static_cast<BitsOf<T>>(amendment_.hole));
    });
  }
  if (!parts.exact.empty()) put_exact(parts.exact);
}

void AmendedPoints::restore_inner(Bytes archive, const Restore& restore) {
  MemorySource source(archive);
  ArchiveReader inner(source);
  if (inner.amendment() || inner.header().dtype != dtype_ ||
      inner.header().plan.dims != amendment_.dims) {
    throw ArchiveError("the amendment's archive does not match its box");
  }
  restore(inner, values_.view());
  with_type_of(dtype_, [&]<class T>(T /*type*/) {
    move_to_grid(amendment_.grid, inner.header().fills, values_of<T>(values_.view()));
  });
}

void AmendedPoints::put_exact(Bytes list) {
  const SparseList exact = SparseList::decode(list, amendment_.dims.count());
  for (const SparseEntry& entry : exact.entries()) {
    std::memcpy(values_.view().data() + entry.point * size_of(dtype_), &entry.value,
                size_of(dtype_));
  }
}

void AmendedPoints::put(const std::array<std::uint64_t, Dims::max_rank>& origin,
                        const Selection& selection, MutableBytes values) const {
  const auto last = static_cast<std::size_t>(field_.rank()) - 1;
  std::array<Overlap, Dims::max_rank> overlaps{};
  std::array<std::uint64_t, Dims::max_rank> at{};
  for (std::size_t axis = 0; axis <= last; ++axis) {
    overlaps.at(axis) = Overlap::of(selection, origin.at(axis), amendment_.box, axis);
    if (overlaps.at(axis).begin >= overlaps.at(axis).end) return;
    at.at(axis) = overlaps.at(axis).begin;
  }
  for (;;) {
    std::uint64_t to = 0;
    std::uint64_t from = 0;
    for (std::size_t axis = 0; axis <= last; ++axis) {
      const std::uint64_t place = origin.at(axis) + selection.first.at(axis) +
                                  at.at(axis) * selection.step.at(axis) -
                                  amendment_.box.first.at(axis);
      to = to * selection.count(static_cast<int>(axis)) + at.at(axis);
      from = from * amendment_.dims[static_cast<int>(axis)] + place;
    }
    const std::uint64_t step = selection.step.at(last);
    const std::uint64_t width = (overlaps.at(last).end - overlaps.at(last).begin - 1) * step + 1;
    with_type_of(dtype_, [&]<class T>(T /*type*/) {
      using B = BitsOf<T>;
      overlay<B>(values_of<const B>(values_.view()).subspan(from, width), step,
                 static_cast<B>(amendment_.hole), values_of<B>(values).data() + to);
    });
    std::size_t axis = last;
    while (axis-- > 0) {
      if (++at.at(axis) < overlaps.at(axis).end) break;
      at.at(axis) = overlaps.at(axis).begin;
    }
    if (axis > last) return;
  }
}

}  // namespace cuszi
