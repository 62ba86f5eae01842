#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "core/base/hd.hpp"
#include "core/multilevel/schedule.hpp"

namespace cuszi {

/// Offset of a neighbour in units of the class.
using Tap = std::array<std::int8_t, max_axes>;

/// Taps are added in this order.
template <unsigned groups_at_most, unsigned taps_at_most>
struct TapGroups {
  static constexpr unsigned most_groups = groups_at_most;
  static constexpr unsigned most_taps = taps_at_most;

  std::array<Tap, taps_at_most> taps{};
  std::array<std::uint8_t, groups_at_most + 1> begins{};  ///< and the end of the last
  std::uint8_t size = 0;                                  ///< groups

  CUSZI_HD unsigned begin(unsigned group) const { return begins[group]; }
  CUSZI_HD unsigned end(unsigned group) const { return begins[group + 1]; }
  CUSZI_HD unsigned taps_of(unsigned group) const { return end(group) - begin(group); }
  CUSZI_HD unsigned all_taps() const { return begins[size]; }

  std::span<const Tap> all() const { return std::span(taps).first(all_taps()); }

  void add(std::span<const Tap> group) {
    std::uint8_t at = begins.at(size);
    for (const Tap& tap : group) taps.at(at++) = tap;
    begins.at(++size) = at;
  }
};

/// Neighbours of a prediction: near pairs along odd axes, far pairs, diagonals, corners, sides,
/// slices. A group shares one weight. Three odd axes at reach 7 with enclosing slices have the most
/// taps.
using Stencil = TapGroups<19, 70>;

Stencil stencil_of(const Lattice& lattice, int reach, const PointClass& points);

/// Neighbours whose codes form features: on the same level with one differing coordinate, with
/// several; on coarser levels; at the same point of the enclosing slices.
using ContextTaps = TapGroups<4, 28>;

ContextTaps context_taps_of(const Lattice& lattice, const PointClass& points);

/// Largest distance along each axis, in points.
Index4 margins_of(const PointClass& points, std::span<const Tap> taps);

Tap tap_at(unsigned axis, int units);

}  // namespace cuszi
