#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "bindings/hdf5/chunk_settings.hpp"
#include "codec/files/container.hpp"
#include "core/base/units.hpp"

namespace cuszi {

struct Block {
  std::vector<std::uint64_t> first;
  std::vector<std::uint64_t> count;

  std::uint64_t values() const;
};

/// About 8 MiB of whole slices of the slow axes, of even heights.
std::vector<std::uint64_t> chunk_for(std::span<const std::uint64_t> extents, ByteCount value_bytes);

/// Keeps chunks of 1 MiB or of the whole variable.
std::vector<std::uint64_t> chunk_in_copy(std::span<const std::uint64_t> extents,
                                         std::span<const std::uint64_t> chunk,
                                         ByteCount value_bytes);

/// Blocks of whole chunks cover the variable.
void for_each_block(std::span<const std::uint64_t> extents, std::span<const std::uint64_t> chunk,
                    ByteCount value_bytes, const std::function<void(const Block&)>& use);

/// See ChunkSettings.
inline hdf5::ChunkSettings::Numbers filter_numbers(const FilteredVariable& filtered) {
  hdf5::ChunkSettings settings;
  const ValueBound& bound = filtered.bound;
  constexpr int modes[] = {CUSZI_ABS, CUSZI_PWREL, CUSZI_ABS_OR_PWREL, CUSZI_ABS_AND_PWREL};
  settings.mode = modes[static_cast<std::size_t>(bound.kind)];
  settings.bound = settings.mode == CUSZI_PWREL ? bound.share : bound.bound;
  if (settings.has_share()) settings.share = bound.share;
  settings.preset = filtered.preset;
  for (const double fill : filtered.variable.fills) settings.add_fill(fill);
  settings.isovalues = filtered.variable.isovalues;
  return settings.write();
}

}  // namespace cuszi
