#pragma once

#include <span>
#include <vector>

#include "core/archive/frame.hpp"
#include "core/field/mask.hpp"

namespace cuszi::slow {

/// The codes of contexts that share a table, from the first one to that of the next table. By gaps,
/// more of the centre follow.
struct TableCodes {
  std::size_t first_context = 0;
  bool by_gaps = false;
  std::vector<QuantCode> codes;
};
using PassCodes = std::vector<TableCodes>;

/// A coded frame that is being restored: what its header and its mask say, and its values so far.
template <class T>
struct SlowFrame {
  Dims dims;
  Extents3 extents;
  FrameHeader header;
  Mask mask;
  std::vector<Sections> passes;
  std::vector<PassCodes> codes;  ///< of each pass, after ANS coding
  std::vector<T> values;
  double min = 0;  ///< of the values; the header has the range of what the predictor sees
  double max = 0;

  bool is_missing(std::uint64_t point) const { return mask.any() && mask(point); }
};

std::vector<QuantCode> decode_huffman(const Sections& sections, std::uint64_t count);

/// The codes of the passes of a level, table by table.
std::vector<PassCodes> decode_chain(std::uint32_t centre, Bytes codes,
                                    std::span<const PassShape> shapes);
/// The codes of a pass in their places.
std::vector<QuantCode> place_codes(const PassCodes& tables, std::uint32_t centre,
                                   std::uint64_t count, std::span<const std::uint8_t> contexts);

/// The codes of `count` points of a pass; `contexts` has one for each and is empty if the predictor
/// has none.
template <class T>
std::vector<QuantCode> decode_codes(const SlowFrame<T>& frame, std::size_t pass,
                                    std::uint64_t count,
                                    std::span<const std::uint8_t> contexts = {}) {
  if (const auto* const ans = std::get_if<AnsParams>(&*frame.header.coder)) {
    return place_codes(frame.codes.at(pass), ans->centre, count, contexts);
  }
  return decode_huffman(frame.passes.at(pass), count);
}

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
template <class T>
void restore(const CellsParams& params, SlowFrame<T>& frame);

/// Section 3.7: whether points are negative.
std::vector<bool> decode_signs(Bytes section, const Dims& dims);

/// Restores all values of a predicted frame.
template <class T>
void restore_predicted(SlowFrame<T>& frame);
/// Of words in tiles; the values get the bits of those of the type `stored`.
void restore_words(DType stored, SlowFrame<float>& frame);

}  // namespace cuszi::slow
