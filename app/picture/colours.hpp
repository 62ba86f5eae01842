#pragma once

#include <cstdint>
#include <vector>

namespace cuszi::app {

/// A colour of sRGB.
struct Rgb {
  std::uint8_t red;
  std::uint8_t green;
  std::uint8_t blue;
};

/// A place in palette(). Pictures have so few colours that every format can keep them as they are.
using Colour = std::uint8_t;

inline constexpr Colour paper = 0;
inline constexpr Colour ink = 1;
inline constexpr Colour missing_colour = 2;     ///< grey
inline constexpr Colour over_bound_colour = 3;  ///< magenta, also of points missing on one side

/// Colours that follow each other in the palette.
struct Ramp {
  Colour first;
  int count;

  /// The colour of a share of the way, 0 to 1; the nearest end for others.
  Colour at(double share) const;
};

/// Values from low to high: from dark violet by blue and green to yellow.
inline constexpr Ramp value_ramp{4, 126};
/// Errors from minus the bound to the bound: from blue by white, which is no error, to red.
inline constexpr Ramp error_ramp{130, 125};

/// All colours. The lightness of both ramps is a straight line of what is shown (errors: of their
/// size), in the perceptual space Oklab of Ottosson (2020).
std::vector<Rgb> palette();

}  // namespace cuszi::app
