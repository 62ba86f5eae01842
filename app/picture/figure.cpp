#include "app/picture/figure.hpp"

#include <algorithm>

namespace cuszi::app {

std::size_t magnification(const Figure& figure, std::size_t dots) {
  std::size_t longest = 1;
  for (const Tile& tile : figure.tiles) longest = std::max({longest, tile.rows, tile.columns});
  return std::max<std::size_t>(1, dots / longest);
}

}  // namespace cuszi::app
