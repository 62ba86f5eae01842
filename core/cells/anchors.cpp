#include "core/cells/anchors.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "core/base/error.hpp"

namespace cuszi {

namespace {

ByteCount widths_bytes(std::uint64_t anchors) {
  return ceil_div(ceil_div(anchors, anchor_group), std::uint64_t{4}) * 4;
}

/// Adds up along an axis what stands `step` apart.
void sum_along(std::span<std::int32_t> values, std::uint64_t step, std::uint64_t extent) {
  for (std::uint64_t i = step; i < values.size(); ++i) {
    if (i / step % extent == 0) continue;
    values[i] = static_cast<std::int32_t>(static_cast<std::uint32_t>(values[i]) +
                                          static_cast<std::uint32_t>(values[i - step]));
  }
}

}  // namespace

std::vector<std::byte> encode_anchors(const CellGrid& grid, std::span<const std::int32_t> anchors) {
  std::vector<std::byte> out(widths_bytes(anchors.size()));
  for (std::uint64_t first = 0; first < anchors.size(); first += anchor_group) {
    const std::uint64_t end = std::min<std::uint64_t>(anchors.size(), first + anchor_group);
    std::uint32_t zigzags[anchor_group] = {};
    std::uint32_t all = 0;
    for (std::uint64_t i = first; i < end; ++i)
      all |= zigzags[i - first] = zigzag32(anchor_difference(grid, anchors.data(), i));
    const auto width = static_cast<unsigned>(std::bit_width(all));
    std::uint32_t words[anchor_group + 1] = {};
    for (unsigned i = 0; i < anchor_group; ++i) {
      const std::uint64_t bits = std::uint64_t{zigzags[i]} << (i * width % 32);
      words[i * width / 32] |= static_cast<std::uint32_t>(bits);
      words[i * width / 32 + 1] |= static_cast<std::uint32_t>(bits >> 32);
    }
    out[first / anchor_group] = static_cast<std::byte>(width);
    const Bytes packed = std::as_bytes(std::span(words).first(width));
    out.insert(out.end(), packed.begin(), packed.end());
  }
  return out;
}

std::vector<std::int32_t> decode_anchors(const CellGrid& grid, Bytes section) {
  const std::uint64_t count = grid.count();
  ByteCount at = widths_bytes(count);
  if (section.size() < at) throw ArchiveError("the anchors of a frame are truncated");
  std::vector<std::int32_t> anchors(count);
  for (std::uint64_t first = 0; first < count; first += anchor_group) {
    const auto width = static_cast<unsigned>(section[first / anchor_group]);
    if (width > 32 || section.size() - at < 4 * width)
      throw ArchiveError("the anchors of a frame do not fit their widths");
    std::uint32_t words[anchor_group + 1] = {};
    std::memcpy(words, section.data() + at, 4 * width);
    at += 4 * width;
    const std::uint64_t mask = (std::uint64_t{1} << width) - 1;
    for (std::uint64_t i = 0; i < std::min<std::uint64_t>(anchor_group, count - first); ++i) {
      const std::uint64_t bit = i * width;
      const std::uint64_t pair = words[bit / 32] | std::uint64_t{words[bit / 32 + 1]} << 32;
      const auto zigzag = static_cast<std::uint32_t>(pair >> (bit % 32) & mask);
      anchors[first + i] = static_cast<std::int32_t>(unzigzag32(zigzag));
    }
  }
  if (at != section.size()) throw ArchiveError("the anchors of a frame hold unknown bytes");
  for (int axis = 0; axis < axis_count; ++axis)
    sum_along(anchors, grid.step(axis), grid.tiles[axis]);
  return anchors;
}

}  // namespace cuszi
