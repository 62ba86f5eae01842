#pragma once

#include <optional>

#include "core/field/frame_shape.hpp"
#include "core/tiles/tile_words.hpp"
#include "gpu/field/frame_work.cuh"

namespace cuszi::gpu {

struct CodedWords {
  CodedPass pass;
  double min;  ///< of the values if these are floating-point numbers; not finite if any is not
  double max;
};

/// Index and chunks of tiles of words, of a type that has_tile_words(); `values` is on the device.
/// nullopt if they take more bytes than the values. Synchronises.
std::optional<CodedWords> encode_words(DeviceContext& gpu, const FrameShape& shape,
                                       const std::byte* values);

/// Inverse of encode_words(). Asynchronous. Damage throws ArchiveError or sets a flaw.
void decode_words(DeviceContext& gpu, const FrameShape& shape, const Sections& sections,
                  std::byte* values);

}  // namespace cuszi::gpu
