#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "core/base/hd.hpp"
#include "core/multilevel/schedule.hpp"

namespace cuszi {

/// A neighbour of a point, in units of its class.
using Tap = std::array<std::int8_t, max_axes>;

/// Groups of taps, each in the order in which its taps are added up.
template <unsigned groups_at_most, unsigned taps_at_most>
struct TapGroups {
  static constexpr unsigned most_groups = groups_at_most;
  static constexpr unsigned most_taps = taps_at_most;

  std::array<Tap, taps_at_most> taps{};
  std::array<std::uint8_t, groups_at_most + 1>
      begins{};           ///< of the groups, and where the last ends
  std::uint8_t size = 0;  ///< groups

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

/// The neighbours that predict a point: near pairs of the odd axes, far pairs, diagonals, corners,
/// sides, slices. The taps of a group share a weight. Three odd axes at reach 7 with enclosing
/// slices have the most of them.
using Stencil = TapGroups<19, 70>;

Stencil stencil_of(const Lattice& lattice, int reach, const PointClass& points);

/// The neighbours whose codes tell how large a point's code will be, in the order of the features
/// (core/multilevel/energy): on the same level, where one coordinate differs, and where more do; on
/// coarser levels; in the enclosing slices at the same point, and around it.
using EnergyTaps = TapGroups<5, 64>;

EnergyTaps energy_taps(const Lattice& lattice, const PointClass& points);

/// The farthest that any of these taps reaches along each axis, in points.
Index4 margins_of(const PointClass& points, std::span<const Tap> taps);

/// The tap `units` along one axis.
Tap tap_at(unsigned axis, int units);

}  // namespace cuszi
