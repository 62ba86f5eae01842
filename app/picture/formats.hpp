#pragma once

#include <string>

#include "app/picture/drawing.hpp"

namespace cuszi::app {

/// A file of PNG, with a palette. Throws MemoryError or OutputError.
std::string png_of(const Picture& picture);

/// The sequence that a terminal with sixel graphics draws a picture for, and a new line.
std::string sixel_of(const Picture& picture);

/// The sequence that a terminal with the graphics protocol of kitty draws a picture for, and a new
/// line. Throws as png_of() does.
std::string kitty_of(const Picture& picture);

/// Lines of text in 24-bit colour for any terminal: two points a cell, one above the other.
std::string blocks_of(const Figure& figure);

}  // namespace cuszi::app
