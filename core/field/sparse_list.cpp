#include "core/field/sparse_list.hpp"

#include <algorithm>
#include <cstring>

#include "core/base/bytes.hpp"

namespace cuszi {

std::uint8_t SparseList::value_bytes(std::uint64_t largest) {
  if (largest > 0xFFFFFFFFU) return 8;
  if (largest > 0xFFFFU) return 4;
  return largest > 0xFFU ? 2 : 1;
}

std::vector<std::byte> SparseList::encode_head(std::uint64_t count, std::uint8_t value_bytes) {
  ByteWriter out;
  out.varint(count);
  out.put(value_bytes);
  return out.take();
}

SparseList::Layout SparseList::layout(Bytes head, ByteCount size, std::uint64_t points) {
  ByteReader in(head, "a sparse list");
  Layout layout;
  layout.count = in.varint();
  layout.value_bytes = in.get<std::uint8_t>();
  const unsigned width = layout.value_bytes;
  if (width != 1 && width != 2 && width != 4 && width != 8) {
    throw ArchiveError("a sparse list has values of " + std::to_string(width) + " bytes");
  }
  layout.counts_at = in.position();
  layout.positions_at = layout.counts_at + ceil_div(points, block_points) * sizeof(std::uint32_t);
  if (layout.positions_at > size || layout.count > size) {
    throw ArchiveError("a sparse list is truncated");
  }
  layout.values_at = layout.positions_at + layout.count * sizeof(std::uint16_t);
  const ByteCount end = layout.values_at + layout.count * width;
  if (end > size) throw ArchiveError("a sparse list is truncated");
  if (end < size) throw ArchiveError("a sparse list holds unknown bytes at its end");
  return layout;
}

std::vector<std::byte> SparseList::encode(std::span<const SparseEntry> entries,
                                          std::uint64_t points) {
  ByteWriter out;
  if (entries.empty()) return out.take();
  std::uint64_t largest = 0;
  std::vector<std::uint32_t> counts(ceil_div(points, block_points));
  for (const SparseEntry& entry : entries) {
    ++counts[entry.point / block_points];
    largest = std::max(largest, entry.value);
  }
  const std::uint8_t width = value_bytes(largest);
  out.append(encode_head(entries.size(), width));
  for (const std::uint32_t count : counts) out.put(count);
  for (const SparseEntry& entry : entries) {
    out.put(static_cast<std::uint16_t>(entry.point % block_points));
  }
  for (const SparseEntry& entry : entries) {
    const Bytes value = std::as_bytes(std::span(&entry.value, 1));
    out.append(value.first(width));
  }
  return out.take();
}

std::uint64_t SparseList::encoded_count(Bytes bytes) {
  return bytes.empty() ? 0 : ByteReader(bytes, "a sparse list").varint();
}

SparseList SparseList::decode(Bytes bytes, std::uint64_t points) {
  SparseList list;
  if (bytes.empty()) return list;
  const Layout parts = layout(bytes, bytes.size(), points);
  const std::uint64_t count = parts.count;
  const std::uint64_t blocks = ceil_div(points, block_points);
  const Bytes counts = bytes.subspan(parts.counts_at);
  const Bytes positions = bytes.subspan(parts.positions_at);
  const Bytes values = bytes.subspan(parts.values_at);

  list.entries_.reserve(count);
  for (std::uint64_t block = 0; block < blocks; ++block) {
    std::uint32_t in_block = 0;
    std::memcpy(&in_block, counts.data() + block * sizeof in_block, sizeof in_block);
    if (in_block > count - list.entries_.size()) {
      throw ArchiveError("a sparse list has more entries in its blocks than in all");
    }
    for (std::uint32_t i = 0; i < in_block; ++i) {
      const std::size_t at = list.entries_.size();
      std::uint16_t position = 0;
      SparseEntry entry{0, 0};
      std::memcpy(&position, positions.data() + at * sizeof position, sizeof position);
      std::memcpy(&entry.value, values.data() + at * parts.value_bytes, parts.value_bytes);
      entry.point = block * block_points + position;
      const bool ascending = at == 0 || entry.point > list.entries_.back().point;
      if (!ascending || entry.point >= points) {
        throw ArchiveError("a sparse list leaves the frame or is out of order");
      }
      list.entries_.push_back(entry);
    }
  }
  if (list.entries_.size() != count) {
    throw ArchiveError("a sparse list has fewer entries in its blocks than in all");
  }
  return list;
}

std::optional<std::uint64_t> SparseList::find(std::uint64_t point) const {
  const auto at = std::lower_bound(
      entries_.begin(), entries_.end(), point,
      [](const SparseEntry& entry, std::uint64_t wanted) { return entry.point < wanted; });
  if (at == entries_.end() || at->point != point) return std::nullopt;
  return at->value;
}

}  // namespace cuszi
