#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <span>

#include "codec/archive/amend.hpp"
#include "codec/io/byte_source.hpp"
#include "core/base/error.hpp"
#include "core/field/sparse_list.hpp"
#include "core/field/stored_type.hpp"

namespace cuszi {

namespace {

template <class T>
std::span<T> values_of(MutableBytes bytes) {
  return {reinterpret_cast<T*>(bytes.data()), bytes.size() / sizeof(T)};
}

template <class B>
void overlay(std::span<const B> from, const std::uint8_t* is_amended, std::uint64_t step, B* to) {
  if (step == 1) {
    for (std::size_t i = 0; i < from.size(); ++i) to[i] = is_amended[i] != 0 ? from[i] : to[i];
    return;
  }
  for (std::size_t i = 0; i < from.size(); i += step, ++to) {
    if (is_amended[i] != 0) *to = from[i];
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
  const std::uint64_t points = amendment_.dims.count();
  const ByteCount size = points * (size_of(dtype_) + sizeof is_amended_.front());
  if (limit && size > *limit) {
    throw ArchiveError(
        fmt::format("the amendment needs {} bytes to restore; the limit is {}", size, *limit));
  }
  values_.resize(points * size_of(dtype_));
  is_amended_.resize(points);
  if (!parts.inner.empty()) restore_inner(parts.inner, restore);
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
  with_stored_type_of(dtype_, [&](auto zero) {
    using S = decltype(zero);
    const auto values = values_of<S>(values_.view());
    for (std::size_t i = 0; i < values.size(); ++i) {
      is_amended_[i] = std::bit_cast<StoredBits<S>>(values[i]) == amendment_.hole ? 0 : 1;
    }
    amendment_.grid.move(values, stored_fills(dtype_, inner.header().fills));
  });
}

void AmendedPoints::put_exact(Bytes list) {
  const SparseList exact = SparseList::decode(list, amendment_.dims.count());
  for (const SparseEntry& entry : exact.entries()) {
    std::memcpy(values_.view().data() + entry.point * size_of(dtype_), &entry.value,
                size_of(dtype_));
    is_amended_[entry.point] = 1;
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
    with_word_of(dtype_, [&](auto zero) {
      using B = decltype(zero);
      overlay<B>(values_of<const B>(values_.view()).subspan(from, width), is_amended_.data() + from,
                 step, values_of<B>(values).data() + to);
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
