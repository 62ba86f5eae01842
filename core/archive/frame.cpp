#include "core/archive/frame.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "core/base/bytes.hpp"
#include "core/base/lossless.hpp"
#include "core/tiles/tile_words.hpp"

namespace cuszi {

namespace {

constexpr std::uint32_t frame_magic = 0x4D415246;  // "FRAM"
constexpr ByteCount max_header_bytes = ByteCount{1} << 24;
constexpr ByteCount max_payload_bytes = ByteCount{1} << 60;
constexpr ByteCount free_bytes = 64;  ///< payload that frames of any size may lack

/// Indexed by id.
constexpr std::array<std::string_view, 14> section_names{
    "raw",   "mask-bits", "mask-values", "anchors",      "outliers", "patches", "codebook",
    "index", "codes",     "contexts",    "lattice-hash", "signs",    "bounds",  "optional"};

/// A section's first byte: low bits are its id, high bits the passes since the section before;
/// fillers bridge longer distances. A packed section's unpacked size and hash precede it.
constexpr unsigned id_bits = 4;
constexpr unsigned id_mask = (1U << id_bits) - 1;
constexpr unsigned filler = id_mask;
constexpr unsigned packed_mark = 14;
constexpr std::size_t max_passes = 4096;
/// Ids from 16 on follow a SectionId::optional entry, shifted left by 1; the lowest bit is 1 if
/// readers need the section.
constexpr std::uint64_t first_wide_id = std::uint64_t{1} << id_bits;
constexpr std::uint64_t max_optional_sections = 1024;  // of a frame

/// FrameKind::coded with transformed values.
constexpr std::uint8_t transformed_kind = 4;
/// FrameKind::coded with local bounds.
constexpr std::uint8_t bounded_kind = 5;

std::uint8_t kind_number(const FrameHeader& header) {
  if (header.transform) return transformed_kind;
  return header.bounds ? bounded_kind : static_cast<std::uint8_t>(header.kind);
}

/// Limit of the unpacked bytes of a frame's packed sections.
ByteCount max_unpacked_bytes(const Dims& dims) { return 8 * dims.count() + (1 << 16); }

void write_level_entry(const LevelEntry& level, ByteWriter& out) {
  ByteWriter entries;
  std::uint64_t count = 0;
  std::size_t pass = 0;
  const auto put = [&](unsigned id, std::size_t passes, ByteCount size) {
    entries.put(static_cast<std::uint8_t>(id | passes << id_bits));
    entries.varint(size);
    pass += passes;
    ++count;
  };
  for (const SectionEntry& section : level.sections) {
    while (section.pass - pass > id_mask) put(filler, id_mask, 0);
    if (section.unpacked) {
      put(packed_mark, 0, section.unpacked->size);
      entries.put(section.unpacked->hash);
    }
    put(static_cast<unsigned>(section.id), section.pass - pass, section.size);
    if (section.id == SectionId::optional) entries.varint(section.wide_id << 1);
  }
  out.varint(count);
  out.append(entries.view());
  out.put(level.hash);
}

/// What a frame's further sections may take: bytes, unpacked bytes, optional sections.
struct Allowance {
  ByteCount bytes;
  ByteCount unpacked;
  std::uint64_t optional;
};

Unpacked read_unpacked(ByteReader& in, Allowance& left) {
  Unpacked unpacked;
  unpacked.size = in.varint();
  unpacked.hash = in.get<std::uint64_t>();
  if (unpacked.size > left.unpacked) {
    throw ArchiveError("a frame's packed sections claim more bytes than its values need");
  }
  left.unpacked -= unpacked.size;
  return unpacked;
}

std::uint64_t read_wide_id(ByteReader& in, Allowance& left) {
  const std::uint64_t kind = in.varint();
  const std::uint64_t id = kind >> 1;
  if (id < first_wide_id) throw ArchiveError("a frame has a section of an unknown kind");
  if ((kind & 1) != 0) {
    throw ArchiveError("a frame needs its section of kind " + std::to_string(id) +
                       ", which this version does not support; a later one may");
  }
  if (left.optional-- == 0) throw ArchiveError("a frame has too many optional sections");
  return id;
}

LevelEntry read_level_entry(ByteReader& in, Allowance& left) {
  LevelEntry level;
  const std::uint64_t sections = in.varint();
  if (sections > in.remaining()) throw ArchiveError("a frame's table is truncated");
  std::size_t pass = 0;
  std::optional<Unpacked> unpacked;  // of the next section
  unsigned seen = 0;                 // ids seen in this pass
  for (std::uint64_t i = 0; i < sections; ++i) {
    const auto packed = in.get<std::uint8_t>();
    const auto id = static_cast<SectionId>(packed & id_mask);
    pass += packed >> id_bits;
    if (pass > max_passes) throw ArchiveError("a level has too many passes");
    if (packed >> id_bits != 0) seen = 0;
    if (packed == packed_mark && !unpacked) {
      unpacked = read_unpacked(in, left);
      continue;
    }
    if (packed == (filler | id_mask << id_bits) && in.varint() == 0) continue;
    if (static_cast<std::size_t>(id) >= section_names.size() || name_of(id).empty()) {
      throw ArchiveError("a frame has a section of an unknown kind");
    }
    if (unpacked && !is_packable(id)) {
      throw ArchiveError("a frame has a packed section of a kind that is never packed");
    }
    if ((seen >> (packed & id_mask) & 1) != 0) {
      throw ArchiveError("a pass has two sections of one kind");
    }
    const bool is_optional = id == SectionId::optional;
    if (!is_optional) seen |= 1U << (packed & id_mask);
    const ByteCount size = in.varint();
    if (size > left.bytes) throw ArchiveError("a frame's sections claim more than 2^60 bytes");
    left.bytes -= size;
    const std::uint64_t wide_id = is_optional ? read_wide_id(in, left) : 0;
    level.sections.push_back({id, size, pass, std::exchange(unpacked, std::nullopt), wide_id});
  }
  if (unpacked) throw ArchiveError("a level ends where a packed section should follow");
  level.hash = in.get<std::uint64_t>();
  return level;
}

bool splits_contexts(const FrameHeader& header) {
  const auto* const params =
      header.predictor ? std::get_if<MultilevelParams>(&*header.predictor) : nullptr;
  return params != nullptr && params->split_contexts;
}

std::uint64_t levels_of(const FrameHeader& header) {
  return header.predictor ? static_cast<std::uint64_t>(level_of_pass(*header.predictor).back()) + 1
                          : 1;
}

}  // namespace

std::string_view name_of(SectionId id) { return section_names.at(static_cast<std::size_t>(id)); }

std::string_view name_of(FrameKind kind) {
  constexpr std::array<std::string_view, 8> names{"stored", "lossless", "coded",     "constant",
                                                  "coded",  "coded",    "predicted", "tiled"};
  return names.at(static_cast<std::size_t>(kind));
}

void Sections::add(const Section& section) { list_.push_back(section); }

const Section* Sections::section(SectionId id) const {
  const auto at =
      std::find_if(list_.begin(), list_.end(), [&](const Section& s) { return s.id == id; });
  return at == list_.end() ? nullptr : &*at;
}

bool Sections::has(SectionId id) const { return section(id) != nullptr; }

Bytes Sections::find(SectionId id) const {
  const Section* const found = section(id);
  return found == nullptr ? Bytes{} : found->bytes;
}

Bytes Sections::at(SectionId id) const {
  const Section* const found = section(id);
  if (found == nullptr) throw ArchiveError("a frame lacks its section " + std::string(name_of(id)));
  return found->bytes;
}

Bytes Sections::on_host(SectionId id) const {
  const Section* const found = section(id);
  return found == nullptr ? Bytes{} : found->on_host;
}

ByteCount Sections::size() const {
  ByteCount total = 0;
  for (const Section& section : list_) total += section.bytes.size();
  return total;
}

ByteCount LevelEntry::size() const {
  ByteCount total = 0;
  for (const SectionEntry& section : sections) total += section.size;
  return total;
}

void FrameBounds::write(ByteWriter& out) const {
  out.put(largest);
  out.put(least);
  out.varint(kept);
}

FrameBounds FrameBounds::read(ByteReader& in) {
  FrameBounds bounds;
  bounds.largest = in.get<double>();
  bounds.least = in.get<double>();
  bounds.kept = in.varint();
  if (!std::isfinite(bounds.largest) || !(bounds.least > 0) || bounds.least > bounds.largest) {
    throw ArchiveError("a frame's local bounds are impossible");
  }
  return bounds;
}

ByteCount FrameHeader::payload_bytes() const {
  ByteCount total = 0;
  for (const LevelEntry& level : levels) total += level.size();
  return total;
}

bool FrameHeader::is_packed() const {
  return std::any_of(levels.begin(), levels.end(), [](const LevelEntry& level) {
    return std::any_of(level.sections.begin(), level.sections.end(),
                       [](const SectionEntry& section) { return section.unpacked.has_value(); });
  });
}

ByteCount least_payload_bytes(ByteCount value_bytes) {
  return std::max(value_bytes / max_expansion, free_bytes) - free_bytes;
}

bool can_be_frames(ByteCount bytes, std::uint64_t frames, ByteCount value_bytes) {
  constexpr ByteCount size_in_footer = 1;  // at least
  if (frames > bytes / (least_table_bytes + size_in_footer)) return false;
  // Each frame rounds its share down.
  return value_bytes / max_expansion <= bytes + frames * (free_bytes + 1);
}

std::vector<std::byte> write_frame_header(const FrameHeader& header) {
  ByteWriter body;
  body.varint(header.index);
  body.put(kind_number(header));
  body.varint(header.missing);
  body.put(header.min);
  body.put(header.max);
  if (header.transform) header.transform->write(body);
  if (header.bounds) header.bounds->write(body);
  if (header.kind == FrameKind::coded) {
    write_predictor(header.predictor.value(), body);
    write_coder(header.coder.value(), body);
  }
  body.varint(header.levels.size());
  for (const LevelEntry& level : header.levels) write_level_entry(level, body);
  ByteWriter out;
  out.put(frame_magic);
  out.put(static_cast<std::uint32_t>(body.size() + sizeof(std::uint64_t)));
  out.append(body.view());
  out.put(block_hash(body.view()));
  return out.take();
}

ByteCount read_frame_prefix(Bytes prefix) {
  ByteReader in(prefix, "a frame");
  if (in.get<std::uint32_t>() != frame_magic) {
    throw ArchiveError("a frame does not begin where it should");
  }
  const auto size = in.get<std::uint32_t>();
  if (size < sizeof(std::uint64_t) || size > max_header_bytes) {
    throw ArchiveError("a frame's table claims " + std::to_string(size) + " bytes");
  }
  return size;
}

FrameHeader read_frame_header(Bytes bytes, const Dims& dims, DType dtype) {
  const Bytes body = bytes.first(bytes.size() - sizeof(std::uint64_t));
  ByteReader hash(bytes.subspan(body.size()), "a frame's table");
  if (hash.get<std::uint64_t>() != block_hash(body)) {
    throw ArchiveError("a frame's table is damaged (its checksum does not match)");
  }
  ByteReader in(body, "a frame's table");
  FrameHeader header;
  header.index = in.varint();
  const auto kind = in.get<std::uint8_t>();
  const bool is_coded = kind == transformed_kind || kind == bounded_kind;
  header.kind = is_coded ? FrameKind::coded : static_cast<FrameKind>(kind);
  header.missing = in.varint();
  header.min = in.get<double>();
  header.max = in.get<double>();
  if (header.kind > FrameKind::tiled) throw ArchiveError("a frame is of an unknown kind");
  if (header.missing > dims.count() || !std::isfinite(header.min) || !std::isfinite(header.max) ||
      header.min > header.max) {
    throw ArchiveError("a frame's value range or its missing points are impossible");
  }
  if (is_wide_integer(dtype) && !is_without_loss(header.kind)) {
    throw ArchiveError("a frame of 64-bit integers is coded with loss");
  }
  if (header.kind == FrameKind::tiled && !has_tile_words(dtype)) {
    throw ArchiveError("a frame of words in tiles has values that are not of 32 bits");
  }
  if (kind == transformed_kind) {
    header.transform = FrameTransform::read(in);
    if (header.transform->kept > dims.count() - header.missing) {
      throw ArchiveError("a frame's transform stores more exact points than the frame has");
    }
  }
  if (kind == bounded_kind) {
    header.bounds = FrameBounds::read(in);
    if (header.bounds->kept > dims.count() - header.missing) {
      throw ArchiveError("a frame's bounds store more exact points than the frame has");
    }
  }
  if (header.kind == FrameKind::coded) {
    header.predictor = read_predictor(in, dims, work_of(dtype));
    header.coder = read_coder(in);
    if (has_own_coder(id_of(*header.predictor)) != (id_of(*header.coder) == CoderId::none)) {
      throw ArchiveError("a frame's predictor " + std::string(name_of(id_of(*header.predictor))) +
                         " does not go with its coder " + std::string(name_of(*header.coder)));
    }
  }
  if (header.bounds && !takes_local_bounds(id_of(*header.predictor))) {
    throw ArchiveError("a frame has local bounds, but its predictor is " +
                       std::string(name_of(id_of(*header.predictor))));
  }
  if (!header.bounds && splits_contexts(header)) {
    throw ArchiveError("a frame has contexts of local bounds, but no such bounds");
  }
  const std::uint64_t levels = levels_of(header);
  if (in.varint() != levels) throw ArchiveError("a frame does not have the levels of its kind");
  Allowance left{max_payload_bytes, max_unpacked_bytes(dims), max_optional_sections};
  for (std::uint64_t i = 0; i < levels; ++i) header.levels.push_back(read_level_entry(in, left));
  in.expect_end();
  if (header.payload_bytes() < least_payload_bytes(dims.count() * size_of(dtype))) {
    throw ArchiveError("a frame claims to hold more values than its bytes can");
  }
  return header;
}

std::vector<std::uint64_t> host_hashes(std::span<const Bytes> strings) {
  std::vector<std::uint64_t> hashes;
  hashes.reserve(strings.size());
  for (const Bytes string : strings) hashes.push_back(block_hash(string));
  return hashes;
}

std::vector<Bytes> cut_levels(const FrameHeader& header, std::size_t levels, Bytes payload) {
  if (levels > header.levels.size()) throw ArchiveError("a frame lacks a level");
  std::vector<Bytes> all;
  for (std::size_t i = 0; i < levels; ++i) {
    const ByteCount size = header.levels[i].size();
    if (size > payload.size()) throw ArchiveError("a frame is truncated");
    all.push_back(payload.first(size));
    payload = payload.subspan(size);
  }
  return all;
}

void check_levels(const FrameHeader& header, std::span<const std::uint64_t> hashes) {
  for (std::size_t i = 0; i < hashes.size(); ++i) {
    if (hashes[i] != header.levels[i].hash) {
      throw ArchiveError("a frame is damaged (the checksum of level " + std::to_string(i) +
                         " does not match)");
    }
  }
}

std::vector<Bytes> read_levels(const FrameHeader& header, std::size_t levels, Bytes payload,
                               const HashStrings& hashes) {
  std::vector<Bytes> all = cut_levels(header, levels, payload);
  check_levels(header, hashes(all));
  return all;
}

std::vector<Sections> read_passes(const LevelEntry& level, std::size_t passes, Bytes bytes) {
  std::vector<Sections> sections(passes);
  for (const SectionEntry& section : level.sections) {
    if (section.pass >= passes) throw ArchiveError("a level has more passes than its predictor");
    if (section.id != SectionId::optional) {
      sections[section.pass].add({section.id, bytes.first(section.size), section.unpacked});
    }
    bytes = bytes.subspan(section.size);
  }
  return sections;
}

}  // namespace cuszi
