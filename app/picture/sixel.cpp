#include <fmt/format.h>

#include <algorithm>

#include "app/picture/formats.hpp"

namespace cuszi::app {

namespace {

constexpr std::size_t band_height = 6;
constexpr char no_dots = '?';  ///< each bit above it is a pixel of a column, the top one the lowest

/// What defines the colours, in percent.
std::string registers() {
  const auto percent = [](std::uint8_t part) { return (part * 100 + 127) / 255; };
  std::string text;
  const std::vector<Rgb> colours = palette();
  for (std::size_t i = 0; i < colours.size(); ++i) {
    text += fmt::format("#{};2;{};{};{}", i, percent(colours[i].red), percent(colours[i].green),
                        percent(colours[i].blue));
  }
  return text;
}

void append_run(std::string& text, std::size_t count, char dots) {
  if (count > 3) {
    text += fmt::format("!{}{}", count, dots);
  } else {
    text.append(count, dots);
  }
}

/// Up to six rows of pixels from `top` on: which pixels have a colour, for each that there is.
class Band {
 public:
  Band(const Picture& picture, std::size_t top)
      : picture_(picture), top_(top), rows_(std::min(band_height, picture.height - top)) {}

  std::vector<Colour> colours() const {
    const auto first = picture_.pixels.begin() + static_cast<std::ptrdiff_t>(top_ * picture_.width);
    const auto end = first + static_cast<std::ptrdiff_t>(rows_ * picture_.width);
    std::vector<bool> is_there(std::size_t{1} << 8);
    std::for_each(first, end, [&](Colour colour) { is_there[colour] = true; });
    std::vector<Colour> found;
    for (std::size_t colour = 0; colour < is_there.size(); ++colour) {
      if (is_there[colour]) found.push_back(static_cast<Colour>(colour));
    }
    return found;
  }

  void append(std::string& text, Colour colour) const {
    text += fmt::format("#{}", colour);
    char dots = no_dots;
    std::size_t count = 0;
    for (std::size_t x = 0; x < picture_.width; ++x) {
      const char here = column(x, colour);
      if (here != dots) {
        append_run(text, count, dots);
        dots = here;
        count = 0;
      }
      ++count;
    }
    if (dots != no_dots) append_run(text, count, dots);
  }

 private:
  char column(std::size_t x, Colour colour) const {
    unsigned bits = 0;
    for (std::size_t row = 0; row < rows_; ++row) {
      if (picture_.pixels[(top_ + row) * picture_.width + x] == colour) bits |= 1U << row;
    }
    return static_cast<char>(no_dots + static_cast<int>(bits));
  }

  const Picture& picture_;
  std::size_t top_;
  std::size_t rows_;
};

}  // namespace

std::string sixel_of(const Picture& picture) {
  std::string text =
      fmt::format("\x1bP0;1;0q\"1;1;{};{}{}", picture.width, picture.height, registers());
  for (std::size_t top = 0; top < picture.height; top += band_height) {
    const Band band(picture, top);
    for (const Colour colour : band.colours()) {
      band.append(text, colour);
      text += '$';  // back to the left
    }
    text.back() = '-';  // to the next band
  }
  return text + "\x1b\\\n";
}

}  // namespace cuszi::app
