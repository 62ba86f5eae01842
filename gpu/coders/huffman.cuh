#pragma once

#include "core/archive/frame.hpp"
#include "core/coders/huffman.hpp"
#include "gpu/coders/codebook.cuh"

namespace cuszi::gpu {

struct HuffmanStream {
  Bytes codebook;
  Bytes index;
  Bytes codes;
};

/// In one pass: reduction in registers, shuffled prefix sums, merging in shared memory (Tian et
/// al., IPDPS'21, IV-C). Synchronises for the codebook. Throws UsageError if a codeword does not
/// fit.
HuffmanStream huffman_encode(DeviceContext& gpu, const HuffmanParams& params,
                             const HuffmanTuning& tuning, const QuantCode* symbols,
                             std::uint64_t count, const DeviceCodebook& book);

/// A stream being decoded. Damage becomes a flaw or throws ArchiveError.
class PendingHuffman {
 public:
  /// Starts the downloads. Throws ArchiveError without a codebook.
  PendingHuffman(DeviceContext& gpu, const HuffmanParams& params, const Sections& sections);

  /// Call it after the next sync(). Chunks are decoded in parallel.
  void decode(QuantCode* symbols, std::uint64_t count) const;

 private:
  DeviceContext& gpu_;
  HuffmanParams params_;
  HuffmanStream stream_;
  Bytes book_;                   ///< in pinned memory
  const std::byte* index_head_;  ///< in pinned memory
};

}  // namespace cuszi::gpu
