#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "core/archive/predictor.hpp"
#include "core/base/dims.hpp"
#include "core/base/hash.hpp"
#include "core/base/units.hpp"
#include "core/coders/coder.hpp"
#include "core/field/local_bounds.hpp"
#include "core/transform/transform.hpp"

namespace cuszi {

/// The parts of a frame's payload; the numbers stand in archives.
enum class SectionId : std::uint8_t {
  raw = 0,            ///< the values themselves, or the only one; in a coded frame, padding
  mask_bits = 1,      ///< which points are missing
  mask_values = 2,    ///< what they come back as
  anchors = 3,        ///< values of interp's anchors
  outliers = 4,       ///< points that the quant-codes do not reach
  patches = 5,        ///< exact values put in last
  codebook = 6,       ///< Huffman code lengths
  index = 7,          ///< where the chunks start
  codes = 8,          ///< the quant-codes, entropy-coded
  contexts = 9,       ///< what those of a pass follow from: weights, or in cells classes of blocks
  lattice_hash = 10,  ///< of what multilevel's coarse lattice was restored to
  signs = 11,         ///< which points are negative, where a transform has taken magnitudes
  bounds = 12,        ///< of blocks of points, smaller than the frame's
  optional = 13,      ///< of a later version, which says that others may do without it
};

std::string_view name_of(SectionId id);

/// Whether a second lossless pass may pack sections of this kind: those that can be large. The
/// lists of outliers and patches stay readable, so that anybody can count them.
constexpr bool is_packable(SectionId id) {
  return id == SectionId::anchors || id == SectionId::index || id == SectionId::codes;
}

/// What a section was before a second lossless pass packed it.
struct Unpacked {
  ByteCount size = 0;
  std::uint64_t hash = 0;  ///< block_hash
};

/// A part of a payload, in the memory of the backend that made it or is to read it.
struct Section {
  SectionId id;
  Bytes bytes;
  std::optional<Unpacked> unpacked = {};  ///< if `bytes` are packed
};

/// The sections of one pass.
class Sections {
 public:
  void add(SectionId id, Bytes bytes) { add({id, bytes}); }
  void add(const Section& section);
  bool has(SectionId id) const;
  /// The bytes of a section, none if the level does not have it.
  Bytes find(SectionId id) const;
  /// The bytes of a section that the level must have. Throws ArchiveError.
  Bytes at(SectionId id) const;

  const std::vector<Section>& list() const { return list_; }
  ByteCount size() const;

 private:
  std::vector<Section> list_;
};

enum class FrameKind : std::uint8_t {
  stored = 0,    ///< the values as they are
  lossless = 1,  ///< pack_values()
  coded = 2,     ///< predicted, quantised, entropy-coded
  constant = 3,  ///< one value at all points that are not missing
};

std::string_view name_of(FrameKind kind);

/// A section as a frame's table lists it; passes count from 0 in every level.
struct SectionEntry {
  SectionId id;
  ByteCount size;
  std::size_t pass = 0;
  std::optional<Unpacked> unpacked = {};  ///< if it is packed
  std::uint64_t wide_id = 0;              ///< of SectionId::optional: which kind, 16 or more
};

/// The sections of the passes of one level, one after the other, and the block_hash of their bytes.
struct LevelEntry {
  std::vector<SectionEntry> sections;
  std::uint64_t hash = 0;

  ByteCount size() const;
  /// The number of passes up to the last one that has sections.
  std::size_t passes() const { return sections.empty() ? 0 : sections.back().pass + 1; }
};

/// What a frame's header says of the bounds that its points have instead of the field's.
struct FrameBounds {
  double largest = 0;      ///< of blocks without one in the section of bounds
  double least = 0;        ///< of any block
  std::uint64_t kept = 0;  ///< points of bound 0, in the mask though they are not missing

  void write(ByteWriter& out) const;
  /// Throws ArchiveError.
  static FrameBounds read(ByteReader& in);
};

/// The table in front of a frame: all that is needed to read it alone. Levels go from coarse to
/// fine, so that a preview needs a prefix of the payload.
struct FrameHeader {
  std::uint64_t index = 0;
  FrameKind kind = FrameKind::stored;
  std::uint64_t missing = 0;
  double min = 0;  ///< of the points that are not missing; restored values are clamped to it
  double max = 0;
  std::optional<PredictorParams> predictor;  ///< of a coded frame
  std::optional<CoderParams> coder;
  std::optional<FrameTransform> transform;  ///< of the values that the predictor has coded
  std::optional<FrameBounds> bounds;        ///< if some points have others than the field's
  std::vector<LevelEntry> levels;

  ByteCount payload_bytes() const;
  /// Whether a second lossless pass packed any section.
  bool is_packed() const;
  /// The points in the mask: those that are missing, and those that are kept bit for bit.
  std::uint64_t masked() const {
    return missing + (transform ? transform->kept : 0) + (bounds ? bounds->kept : 0);
  }
};

/// The least payload, in bytes, that a reader accepts of a frame whose values take `value_bytes`
/// bytes. A frame that claims to expand further is refused as damaged.
ByteCount least_payload_bytes(ByteCount value_bytes);

/// The least bytes in front of a payload: the table of one level without sections.
inline constexpr ByteCount least_table_bytes = 45;

/// Whether `bytes` bytes can be so many frames, whose values take `value_bytes` bytes, and the
/// footer behind them.
bool can_be_frames(ByteCount bytes, std::uint64_t frames, ByteCount value_bytes);

/// Bytes in front of a frame header that say how long it is.
inline constexpr ByteCount frame_prefix_bytes = 8;

/// Writes a frame's header, with its prefix in front and its hash behind.
std::vector<std::byte> write_frame_header(const FrameHeader& header);

/// Reads the prefix: how many bytes of header follow it. Throws ArchiveError.
ByteCount read_frame_prefix(Bytes prefix);

/// Reads what follows the prefix, for a frame of these dims. Throws ArchiveError if it is damaged
/// or claims what cannot be.
FrameHeader read_frame_header(Bytes bytes, const Dims& dims, DType dtype);

/// Computes the block_hash of each string, in the memory of the host or of a backend.
using HashStrings = std::function<std::vector<std::uint64_t>(std::span<const Bytes>)>;
std::vector<std::uint64_t> host_hashes(std::span<const Bytes> strings);

/// The bytes of the first `levels` levels of `payload`. Throws ArchiveError if they are truncated.
std::vector<Bytes> cut_levels(const FrameHeader& header, std::size_t levels, Bytes payload);

/// Throws ArchiveError unless `hashes` are those of the frame's first levels.
void check_levels(const FrameHeader& header, std::span<const std::uint64_t> hashes);

/// The bytes of the first `levels` levels of `payload`, whose hashes are checked, all at once.
/// Throws ArchiveError.
std::vector<Bytes> read_levels(const FrameHeader& header, std::size_t levels, Bytes payload,
                               const HashStrings& hashes = host_hashes);

/// The sections of the `passes` passes of a level with these bytes, but for optional ones. Throws
/// ArchiveError.
std::vector<Sections> read_passes(const LevelEntry& level, std::size_t passes, Bytes bytes);

}  // namespace cuszi
