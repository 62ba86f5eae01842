#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/ans.hpp"
#include "core/bytes.hpp"

namespace cuszi {

/// How a stream is cut: into segments that are decoded independently, each by lanes that take turns
/// symbol by symbol and share one string of 16-bit words.
struct StreamLayout {
  std::uint64_t symbols = 0;
  int log_lanes = 0;    ///< 0..5: at most most_lanes
  int log_segment = 0;  ///< symbols per segment, 0..62

  std::uint32_t lanes() const { return 1U << log_lanes; }
  std::uint64_t segment() const { return std::uint64_t{1} << log_segment; }
  std::uint64_t segments() const { return ceil_div(symbols, segment()); }

  /// As many lanes and segments as states may cost about 1.5 % of `payload_bits`; one segment
  /// without an index.
  static StreamLayout choose(IndexKind index, std::uint64_t symbols, std::uint64_t payload_bits);

  void write(ByteWriter& out) const;
  /// The inverse, for a stream of so many symbols. Throws ArchiveError.
  static StreamLayout read(ByteReader& in, std::uint64_t symbols);
};

/// A stream's layout and tables: what stands in front of its segments, and decides them.
struct StreamHead {
  StreamLayout layout;
  ContextTables contexts;

  /// For a stream of so many symbols that occur so often in each context.
  static StreamHead plan(IndexKind index, std::uint64_t symbols, std::span<const Counts> counts);

  void write(ByteWriter& out) const;
  /// The inverse. Throws ArchiveError.
  static StreamHead read(ByteReader& in, std::uint64_t symbols, std::size_t contexts);
};

/// What a backend counts in a string of symbols before it is planned how to write them.
struct AnsCounts {
  std::uint64_t symbols = 0;
  std::uint64_t significant_symbols = 0;  ///< in blocks that are not quiet
  std::vector<Counts> all;                ///< tokens by context
  std::vector<Counts> significant;        ///< the same without those of quiet blocks
  std::vector<Counts> flags;              ///< tokens of the blocks' flags by flag context
};

/// How a string of symbols, not all the centre, is written: as one stream of all, or as a stream of
/// flags and one of the symbols in significant blocks.
struct AnsPlan {
  std::uint64_t significant_symbols = 0;  ///< with flags
  std::vector<StreamHead> streams;        ///< one; or two, that of the flags first

  bool has_flags() const { return streams.size() == 2; }
  std::uint64_t segments() const;

  /// Whichever costs less; without flags on ties.
  static AnsPlan choose(const AnsParams& params, const AnsCounts& counts);
};

/// What surrounds the segments of a string: the index, and what stands in front of them.
struct AnsFrame {
  std::vector<std::byte> index;
  std::vector<std::byte> head;
};

/// `segment_bytes` has the sizes of the segments of all streams, one stream after the other.
AnsFrame frame_segments(const AnsParams& params, const AnsPlan& plan,
                        std::span<const std::uint32_t> segment_bytes);

/// The inverse of both: the plan of a coded string and the bytes of its segments.
struct AnsString {
  AnsPlan plan;
  std::vector<Bytes> segments;  ///< of all streams, one stream after the other

  /// Reads a string of `symbols` symbols whose section `codes` is not empty. Throws ArchiveError.
  static AnsString read(const AnsParams& params, Bytes index, Bytes codes, std::uint64_t symbols,
                        std::size_t contexts);
};

}  // namespace cuszi
