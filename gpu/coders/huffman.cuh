#pragma once

#include "core/archive/frame.hpp"
#include "core/coders/huffman.hpp"
#include "gpu/coders/codebook.cuh"

namespace cuszi::gpu {

/// The sections of a Huffman stream.
struct HuffmanStream {
  Bytes codebook;
  Bytes index;
  Bytes codes;
};

/// Codes `count` symbols by a code, for which it waits: in-register reduction of a thread's
/// codewords, shuffled prefix sums, and merging in shared memory (Tian et al., IPDPS'21, IV-C), in
/// one pass. Throws UsageError if a codeword does not fit the width.
HuffmanStream huffman_encode(DeviceContext& gpu, const HuffmanParams& params,
                             const HuffmanTuning& tuning, const QuantCode* symbols,
                             std::uint64_t count, const DeviceCodebook& book);

/// A Huffman stream that is being decoded. Damage that kernels find becomes a flaw; throws
/// ArchiveError for other damage.
class PendingHuffman {
 public:
  /// Starts to copy what the host must know of the stream. Throws ArchiveError if it has no
  /// codebook.
  PendingHuffman(DeviceContext& gpu, const HuffmanParams& params, const Sections& sections);

  /// After the next sync(): decodes all chunks at once.
  void decode(QuantCode* symbols, std::uint64_t count) const;

 private:
  DeviceContext& gpu_;
  HuffmanParams params_;
  HuffmanStream stream_;
  Bytes book_;                   ///< the codebook in page-locked memory
  const std::byte* index_head_;  ///< likewise
};

}  // namespace cuszi::gpu
