#pragma once

#include <span>
#include <vector>

#include "core/frame.hpp"
#include "core/mask.hpp"

namespace cuszi::slow {

/// A coded frame that is being restored: what its header and its mask say, and its values so far.
template <class T>
struct SlowFrame {
  Dims dims;
  Extents3 extents;
  FrameHeader header;
  Mask mask;
  std::vector<Sections> passes;
  std::vector<T> values;

  bool is_missing(std::uint64_t point) const { return mask.any() && mask(point); }
};

/// The codes of `count` symbols of a pass, in the order of the stream; `contexts` has one per
/// symbol and is empty if the predictor has none, `context_count` says how many there can be.
std::vector<QuantCode> decode_codes(const CoderParams& coder, const Sections& sections,
                                    std::uint64_t count, std::span<const std::uint8_t> contexts,
                                    std::size_t context_count);
std::vector<QuantCode> decode_huffman(const Sections& sections, std::uint64_t count);
std::vector<QuantCode> decode_ans(std::uint32_t centre, const Sections& sections,
                                  std::uint64_t count, std::span<const std::uint8_t> contexts,
                                  std::size_t context_count);

// The predictors restore all values but the missing ones.

template <class T>
void restore(const LorenzoParams& params, SlowFrame<T>& frame);
template <class T>
void restore(const InterpParams& params, SlowFrame<T>& frame);
template <class T>
void restore(const MultilevelParams& params, SlowFrame<T>& frame);
template <class T>
void restore(const TilesParams& params, SlowFrame<T>& frame);
template <class T>
void restore(const ZfpCoding& params, SlowFrame<T>& frame);

}  // namespace cuszi::slow
