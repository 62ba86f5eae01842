#include "app/picture/terminal.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <span>
#include <string_view>

namespace cuszi::app {

namespace {

constexpr std::size_t usual_cells = 80;
constexpr std::size_t usual_cell_width = 8;   ///< pixels
constexpr std::size_t width_of_files = 1600;  ///< pixels

std::string_view variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? std::string_view{} : value;
}

/// Whether one of the variables that name the terminal has one of these names in it.
bool is_named(std::span<const std::string_view> names) {
  const std::string_view term = variable("TERM");
  const std::string_view program = variable("TERM_PROGRAM");
  return std::ranges::any_of(names, [&](std::string_view name) {
    return term.find(name) != std::string_view::npos || program == name;
  });
}

std::size_t columns_said() {
  const std::string_view text = variable("COLUMNS");
  std::size_t columns = 0;
  std::from_chars(text.data(), text.data() + text.size(), columns);
  constexpr std::size_t most = 1000;
  return columns == 0 ? usual_cells : std::min(columns, most);
}

}  // namespace

bool is_terminal() { return ::isatty(STDOUT_FILENO) != 0; }

PictureFormat terminal_format() {
  constexpr std::array<std::string_view, 3> kitties{"kitty", "ghostty", "WezTerm"};
  constexpr std::array<std::string_view, 6> sixels{"sixel",  "foot",    "mlterm",
                                                   "mintty", "contour", "yaft"};
  if (!variable("TMUX").empty() || !variable("STY").empty()) return PictureFormat::blocks;
  if (!variable("KITTY_WINDOW_ID").empty() || is_named(kitties)) return PictureFormat::kitty;
  return is_named(sixels) ? PictureFormat::sixel : PictureFormat::blocks;
}

std::size_t room_for(PictureFormat format) {
  struct winsize size {};
  const bool is_known = ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col != 0;
  if (format == PictureFormat::blocks) return is_known ? size.ws_col : columns_said();
  if (format == PictureFormat::png || !is_known) return width_of_files;
  return size.ws_xpixel != 0 ? size.ws_xpixel : size.ws_col * usual_cell_width;
}

}  // namespace cuszi::app
