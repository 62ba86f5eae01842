#pragma once

#include <functional>
#include <optional>

#include "core/archive/frame.hpp"
#include "core/coders/coder.hpp"
#include "core/coders/huffman.hpp"
#include "gpu/coders/codebook.cuh"
#include "gpu/field/frame_work.cuh"

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

/// For coders with a codebook, else nullopt. `histogram` is on the device.
std::optional<DeviceCodebook> start_codebook(DeviceContext& gpu, const CoderParams& params,
                                             std::span<const std::uint64_t> histogram);

/// Synchronises for the codebook. Throws UsageError if `tuning` does not fit.
Sections encode_symbols(DeviceContext& gpu, const CoderParams& params, const HuffmanTuning& tuning,
                        std::span<QuantCode> symbols, const std::optional<DeviceCodebook>& book,
                        std::uint64_t points);
/// `histogram` is on the device.
Sections encode_symbols(DeviceContext& gpu, const CoderParams& params, const HuffmanTuning& tuning,
                        std::span<QuantCode> symbols, std::span<const std::uint64_t> histogram,
                        std::uint64_t points);

/// Decodes into `symbols`; call it after the next sync().
using PendingSymbols = std::function<void(std::span<QuantCode> symbols)>;
/// Starts the downloads for a pass of `points` points. Damage becomes a flaw or throws
/// ArchiveError.
PendingSymbols start_decoding(DeviceContext& gpu, const CoderParams& params,
                              const Sections& sections, std::uint64_t points);
/// Like start_decoding(), but synchronises and decodes.
void decode_symbols(DeviceContext& gpu, const CoderParams& params, const Sections& sections,
                    std::span<QuantCode> symbols, std::uint64_t points);

}  // namespace cuszi::gpu
