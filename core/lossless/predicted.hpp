#pragma once

#include "core/base/lossless.hpp"
#include "core/field/frame_shape.hpp"
#include "core/lossless/word_chains.hpp"

namespace cuszi {

// Lossless coding by prediction: bits of values become ordered words, whose differences along the
// axes, modulo 2^digits, are coded by their octaves in blocks.

/// Codes all values, in host memory, aligned. `step`, of integers: an odd number that most of them
/// are multiples of.
OwnedWordSections encode_predicted(Bytes values, const FrameShape& shape, const ForEach& for_each,
                                   std::uint64_t step = 1);

/// Inverse of encode_predicted(). Throws ArchiveError.
void decode_predicted(const WordSections<Bytes>& sections, const FrameShape& shape,
                      MutableBytes values, const ForEach& for_each);

/// Reads a head as decode_predicted() does. Throws ArchiveError.
void check_predicted_head(Bytes head, const FrameShape& shape);

}  // namespace cuszi
