#pragma once

#include <memory>
#include <type_traits>

#include "core/base/hd.hpp"
#include "core/base/lossless.hpp"
#include "core/field/frame_shape.hpp"
#include "core/field/stored_type.hpp"
#include "core/lossless/word_chains.hpp"

namespace cuszi {

// Lossless coding by prediction: bits of values become ordered words, whose differences along the
// axes, modulo 2^digits, are coded by their octaves in blocks.

/// Values below 32 bits become words of 32: integers with their sign, halves as the upper bits.
constexpr bool is_narrow(DType dtype) { return size_of(dtype) < sizeof(std::uint32_t); }
template <class T>
CUSZI_HD inline std::uint32_t widened(T value) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<std::uint32_t>(value);
  else
    return std::uint32_t{value.bits} << 16;
}
template <class T>
CUSZI_HD inline T narrowed(std::uint32_t word) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(word);
  else
    return T{static_cast<std::uint16_t>(word >> 16)};
}
/// Calls f with a zero of the C++ type of a narrow type.
template <class F>
void with_narrow_type(DType dtype, const F& f) {
  with_stored_type_of(dtype, [&](auto zero) {
    if constexpr (sizeof(zero) < sizeof(std::uint32_t)) f(zero);
  });
}

/// Codes all values, in host memory, aligned. `step`, of integers: an odd number that most of them
/// are multiples of.
OwnedWordSections encode_predicted(Bytes values, const FrameShape& shape, const ForEach& for_each,
                                   std::uint64_t step = 1);

/// Sections of a predicted frame and their owner. The head is in host memory.
struct PredictedValues {
  WordSections<Bytes> sections;
  std::shared_ptr<const void> owner;
};
PredictedValues share_sections(OwnedWordSections sections);

/// Inverse of encode_predicted(). Throws ArchiveError.
void decode_predicted(const WordSections<Bytes>& sections, const FrameShape& shape,
                      MutableBytes values, const ForEach& for_each);

/// Reads a head as decode_predicted() does. Throws ArchiveError.
void check_predicted_head(Bytes head, const FrameShape& shape);

}  // namespace cuszi
