#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "core/archive/predictor.hpp"
#include "core/base/bytes.hpp"
#include "core/base/dims.hpp"
#include "core/base/units.hpp"
#include "core/coders/coder.hpp"
#include "core/field/local_bounds.hpp"
#include "core/transform/transform.hpp"

namespace cuszi {

/// Numbers in archives.
enum class SectionId : std::uint8_t {
  raw = 0,            ///< original values, or the constant; in a coded frame, padding
  mask_bits = 1,      ///< which points are missing
  mask_values = 2,    ///< what they are restored to
  anchors = 3,        ///< interp's anchors
  outliers = 4,       ///< points beyond the range of quant-codes
  patches = 5,        ///< exact values, written last
  codebook = 6,       ///< Huffman code lengths, tables
  index = 7,          ///< starts of chunks
  codes = 8,          ///< entropy-coded quant-codes
  contexts = 9,       ///< weights of a pass; in cells and predicted frames, classes of blocks
  lattice_hash = 10,  ///< of multilevel's restored coarse lattice
  signs = 11,         ///< of transformed values, which are magnitudes
  bounds = 12,        ///< local bounds of blocks
  optional = 13,      ///< from a later version; readers may skip it
};

std::string_view name_of(SectionId id);

/// Only large sections; outliers and patches stay countable.
constexpr bool is_packable(SectionId id) {
  return id == SectionId::anchors || id == SectionId::index || id == SectionId::codes;
}

/// The original of a packed section.
struct Unpacked {
  ByteCount size = 0;
  std::uint64_t hash = 0;  ///< block_hash
};

struct Section {
  SectionId id;
  Bytes bytes;
  std::optional<Unpacked> unpacked = {};
  Bytes on_host = {};  ///< a copy in host memory, if there is one
};

class Sections {
 public:
  void add(SectionId id, Bytes bytes) { add({id, bytes}); }
  void add(const Section& section);
  bool has(SectionId id) const;
  /// Returns an empty span if there is no such section.
  Bytes find(SectionId id) const;
  /// Throws ArchiveError if there is no such section.
  Bytes at(SectionId id) const;
  /// The copy of a section in host memory, else empty.
  Bytes on_host(SectionId id) const;

  const std::vector<Section>& list() const { return list_; }
  ByteCount size() const;

 private:
  /// Null if there is no such section.
  const Section* section(SectionId id) const;

  std::vector<Section> list_;
};

enum class FrameKind : std::uint8_t {
  stored = 0,     ///< original values
  lossless = 1,   ///< pack_values()
  coded = 2,      ///< predicted, quantised, entropy-coded
  constant = 3,   ///< one value at all points that are not missing
  predicted = 6,  ///< encode_predicted(); 4 and 5 are coded frames
  tiled = 7,      ///< EncodeSession::encode_words()
};

std::string_view name_of(FrameKind kind);

/// Whether a frame holds stored values, not work values.
constexpr bool is_without_loss(FrameKind kind) {
  return kind != FrameKind::coded && kind != FrameKind::constant;
}

/// A section in a frame's table; passes count from 0 in every level.
struct SectionEntry {
  SectionId id;
  ByteCount size;
  std::size_t pass = 0;
  std::optional<Unpacked> unpacked = {};
  std::uint64_t wide_id = 0;  ///< of SectionId::optional: its id, at least 16
};

/// The sections of a level, in order of passes, and the block_hash of their bytes.
struct LevelEntry {
  std::vector<SectionEntry> sections;
  std::uint64_t hash = 0;

  ByteCount size() const;
  std::size_t passes() const { return sections.empty() ? 0 : sections.back().pass + 1; }
};

struct FrameBounds {
  double largest = 0;      ///< of blocks without an entry in the section
  double least = 0;        ///< of any block
  std::uint64_t kept = 0;  ///< points of bound 0, in the mask though not missing

  void write(ByteWriter& out) const;
  /// Throws ArchiveError.
  static FrameBounds read(ByteReader& in);
};

/// Sufficient to decode a frame alone. Levels go from coarse to fine: a preview reads a prefix of
/// the payload.
struct FrameHeader {
  std::uint64_t index = 0;
  FrameKind kind = FrameKind::stored;
  std::uint64_t missing = 0;
  double min = 0;  ///< of valid points; restored values are clamped to the range
  double max = 0;
  std::optional<PredictorParams> predictor;
  std::optional<CoderParams> coder;
  std::optional<FrameTransform> transform;
  std::optional<FrameBounds> bounds;
  std::vector<LevelEntry> levels;

  ByteCount payload_bytes() const;
  bool is_packed() const;
  /// Points in the mask: missing and exact ones.
  std::uint64_t masked() const {
    return missing + (transform ? transform->kept : 0) + (bounds ? bounds->kept : 0);
  }
};

/// The smallest payload that readers accept for `value_bytes`; a larger expansion is damage.
ByteCount least_payload_bytes(ByteCount value_bytes);

/// The smallest table: one level, no sections.
inline constexpr ByteCount least_table_bytes = 45;

/// Whether `bytes` can hold `frames` frames of `value_bytes` bytes of values and a footer.
bool can_be_frames(ByteCount bytes, std::uint64_t frames, ByteCount value_bytes);

inline constexpr ByteCount frame_prefix_bytes = 8;

/// Includes prefix and hash.
std::vector<std::byte> write_frame_header(const FrameHeader& header);

/// Returns the size of the header that follows. Throws ArchiveError.
ByteCount read_frame_prefix(Bytes prefix);

/// Reads the header of a frame of these dims. Throws ArchiveError if it is damaged or implausible.
FrameHeader read_frame_header(Bytes bytes, const Dims& dims, DType dtype);

/// Computes the block_hash of each string, in host or device memory.
using HashStrings = std::function<std::vector<std::uint64_t>(std::span<const Bytes>)>;
std::vector<std::uint64_t> host_hashes(std::span<const Bytes> strings);

/// The first `levels` levels of a payload. Throws ArchiveError if it is truncated.
std::vector<Bytes> cut_levels(const FrameHeader& header, std::size_t levels, Bytes payload);

/// Throws ArchiveError unless `hashes` match the frame's first levels.
void check_levels(const FrameHeader& header, std::span<const std::uint64_t> hashes);

/// The first `levels` levels of a payload, checked against their hashes. Throws ArchiveError.
std::vector<Bytes> read_levels(const FrameHeader& header, std::size_t levels, Bytes payload,
                               const HashStrings& hashes = host_hashes);

/// The sections of a level by pass, without optional ones. Throws ArchiveError.
std::vector<Sections> read_passes(const LevelEntry& level, std::size_t passes, Bytes bytes);

}  // namespace cuszi
