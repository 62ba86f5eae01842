#pragma once

#include "core/field/frame_shape.hpp"
#include "core/tiles/tile_words.hpp"
#include "cpu_ref/field/frame_work.hpp"

namespace cuszi::cpu {

/// Index and chunks of tiles of words, of a type that has_tile_words().
std::vector<OwnedSection> encode_words(const FrameShape& shape, Bytes values);

/// Inverse of encode_words(). Throws ArchiveError.
void decode_words(const FrameShape& shape, const Sections& sections, MutableBytes values);

}  // namespace cuszi::cpu
