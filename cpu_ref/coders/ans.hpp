#pragma once

#include <span>
#include <vector>

#include "core/coders/ans_chain.hpp"

namespace cuszi::cpu {

/// The quant-codes of a pass, each under its context.
struct PassCodes {
  std::span<QuantCode> codes;
  std::span<const std::uint8_t> contexts;  ///< none: a single one
  PassShape shape;
};

/// The sections that ANS coding makes of the passes of a level; none if all codes are the centre.
struct AnsStream {
  std::vector<std::byte> index;
  std::vector<std::byte> codes;
};

/// Codes the passes of a level, whose codes it puts in another order. The result does not depend on
/// the number of threads.
AnsStream ans_encode(const AnsParams& params, std::span<const PassCodes> passes);

/// The number of bytes that ans_encode() would make of these passes, to a few in a thousand.
std::uint64_t ans_bytes(const AnsParams& params, std::span<const PassCodes> passes);

/// The quant-codes of the passes of a level, decoded table by table.
class AnsLevel {
 public:
  /// Decodes what ans_encode() has made. Throws ArchiveError.
  AnsLevel(const AnsParams& params, Bytes index, Bytes codes, std::span<const PassShape> shapes);

  /// Moves the codes of pass number `pass` of the level to their code positions in `codes`, which
  /// follow from `contexts` (none: a single one). Throws ArchiveError if the numbers of codes
  /// differ.
  void place(std::size_t pass, std::span<const std::uint8_t> contexts,
             std::span<QuantCode> codes) const;

 private:
  void restore_table(const TableLists& table, std::span<QuantCode> codes) const;

  QuantCode centre_;
  std::vector<PassTables> passes_;
  std::vector<SlotList> lists_;
  std::vector<QuantCode> codes_;        ///< of all lists of codes
  std::vector<std::uint32_t> numbers_;  ///< of all others
};

}  // namespace cuszi::cpu
