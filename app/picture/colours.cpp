#include "app/picture/colours.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace cuszi::app {

namespace {

/// A colour in polar coordinates of Oklab: lightness 0 to 1, chroma, hue in degrees.
struct Perceived {
  double lightness;
  double chroma;
  double hue;
};

/// A share of light as sRGB stores it.
std::uint8_t stored(double light) {
  const double share = std::clamp(light, 0.0, 1.0);
  const double coded =
      share <= 0.0031308 ? 12.92 * share : 1.055 * std::pow(share, 1 / 2.4) - 0.055;
  return static_cast<std::uint8_t>(std::lround(255 * coded));
}

Rgb rgb_of(const Perceived& colour) {
  const double angle = colour.hue * std::numbers::pi / 180;
  const double a = colour.chroma * std::cos(angle);
  const double b = colour.chroma * std::sin(angle);
  const auto cube = [](double x) { return x * x * x; };
  const double l = cube(colour.lightness + 0.3963377774 * a + 0.2158037573 * b);
  const double m = cube(colour.lightness - 0.1055613458 * a - 0.0638541728 * b);
  const double s = cube(colour.lightness - 0.0894841775 * a - 1.2914855480 * b);
  return {stored(4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s),
          stored(-1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s),
          stored(-0.0041960863 * l - 0.7034186147 * m + 1.7076147010 * s)};
}

/// The chroma stays within what sRGB has of each hue at its lightness.
Perceived value_colour(double share) {
  const double from_waist = share - 0.46;
  return {0.28 + 0.62 * share, 0.095 + 0.2 * from_waist * from_waist, 305 - 200 * share};
}

Perceived error_colour(double share) {
  const double size = std::abs(2 * share - 1);
  return {0.97 - 0.47 * size, 0.16 * size, share < 0.5 ? 255.0 : 30.0};
}

void append(std::vector<Rgb>& colours, const Ramp& ramp, Perceived (*colour)(double share)) {
  for (int i = 0; i < ramp.count; ++i) {
    colours.push_back(rgb_of(colour(static_cast<double>(i) / (ramp.count - 1))));
  }
}

}  // namespace

Colour Ramp::at(double share) const {
  const double place = std::clamp(share, 0.0, 1.0) * (count - 1);
  return static_cast<Colour>(first + std::lround(place));
}

std::vector<Rgb> palette() {
  std::vector<Rgb> colours{{255, 255, 255}, {0, 0, 0}, {128, 128, 128}, {255, 0, 255}};
  append(colours, value_ramp, value_colour);
  append(colours, error_ramp, error_colour);
  return colours;
}

}  // namespace cuszi::app
