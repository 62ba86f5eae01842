#pragma once

#include "core/field/quantizer.hpp"
#include "core/multilevel/block_contexts.hpp"

namespace cuszi::gpu {

/// The quant-codes of a pass by code position: in a row, or block by block, each of which is in a
/// row somewhere, at an address that 8 divides.
struct PlacedCodes {
  const QuantCode* in_row = nullptr;
  const QuantCode* const* blocks = nullptr;  ///< none if they are in a row

  /// Where a code is, and behind it the others of its block.
  CUSZI_HD const QuantCode* at(std::uint64_t code_position) const {
    return blocks == nullptr ? in_row + code_position
                             : blocks[code_position / block_codes] + code_position % block_codes;
  }
};

/// The quant-codes of a pass in the order of tables: in a row, or as blocks of those of the pass.
struct OrderedCodes {
  QuantCode* codes = nullptr;
  const std::uint32_t* blocks = nullptr;  ///< the numbers of the blocks; none if codes are in a row

  /// Goes on to the codes behind the next `count`, those of the next table.
  void skip(std::uint64_t count) {
    if (blocks == nullptr) {
      codes += count;
    } else {
      blocks += ceil_div(count, block_codes);
    }
  }

  CUSZI_HD QuantCode operator[](std::uint64_t i) const { return codes[index(i)]; }
  CUSZI_HD std::uint64_t index(std::uint64_t i) const {
    return blocks == nullptr ? i : blocks[i / block_codes] * block_codes + i % block_codes;
  }
};

}  // namespace cuszi::gpu
