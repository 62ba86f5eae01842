#pragma once

#include <cstddef>

#include "app/cli/options.hpp"

namespace cuszi::app {

/// Whether standard output is a terminal.
bool is_terminal();

/// The format that the terminal draws best, as far as its environment says: kitty and sixel where
/// TERM, TERM_PROGRAM or KITTY_WINDOW_ID name a terminal that has them, and no multiplexer (TMUX,
/// STY) is in between; else blocks.
PictureFormat terminal_format();

/// How wide a picture can be: for blocks in cells, else in pixels. Of a terminal what it has,
/// for blocks elsewhere as COLUMNS says; else a number that suits most.
std::size_t room_for(PictureFormat format);

}  // namespace cuszi::app
