#include "core/pipeline/frame_check.hpp"

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "core/cells/head.hpp"
#include "core/coders/ans_chain.hpp"
#include "core/coders/huffman.hpp"
#include "core/field/sparse_list.hpp"
#include "core/lossless/predicted.hpp"
#include "core/signs/signs.hpp"

namespace cuszi {

namespace {

constexpr ByteCount usual_head_bytes = ByteCount{1} << 14;  ///< exceeds the head of most chains

/// Errors of readers become internal errors.
template <class Read>
auto read_own(const Read& read) {
  try {
    return read();
  } catch (const ArchiveError& error) {
    throw InternalError(std::string("the encoder made an invalid frame: ") + error.what());
  }
}

FrameHeader read_whole_header(const FrameShape& shape, Bytes header) {
  const ByteCount size = read_frame_prefix(header.first(frame_prefix_bytes));
  const Bytes table = header.subspan(frame_prefix_bytes);
  if (table.size() != size) throw ArchiveError("a frame ends within its header");
  return read_frame_header(table, shape.dims, shape.dtype);
}

ByteCount head_bytes(const Section& section, ByteCount most_of_codes) {
  switch (section.id) {
    case SectionId::outliers:
    case SectionId::patches: return SparseList::max_head_bytes;
    case SectionId::signs: return SignHead::most_bytes;
    case SectionId::codebook: return section.unpacked ? 0 : section.bytes.size();
    case SectionId::codes: return section.unpacked ? 0 : most_of_codes;
    default: return 0;
  }
}

/// In host memory.
class Heads {
 public:
  Heads(Backend& backend, std::span<const Sections> passes, ByteCount most_of_codes)
      : passes_(passes.size()) {
    std::vector<Sections> cut(passes.size());
    ByteCount size = 0;
    for (std::size_t pass = 0; pass < passes.size(); ++pass) {
      for (const Section& section : passes[pass].list()) {
        const ByteCount bytes =
            std::min<ByteCount>(section.bytes.size(), head_bytes(section, most_of_codes));
        if (bytes == 0) continue;
        if (!section.on_host.empty()) {
          passes_[pass].add(section.id, section.on_host.first(bytes));
          continue;
        }
        cut[pass].add(section.id, section.bytes.first(bytes));
        size += bytes;
      }
    }
    if (size == 0) return;
    bytes_.resize(size);
    backend.gather(cut, bytes_);
    Bytes rest = bytes_;
    for (std::size_t pass = 0; pass < passes.size(); ++pass) {
      for (const Section& section : cut[pass].list()) {
        passes_[pass].add(section.id, rest.first(section.bytes.size()));
        rest = rest.subspan(section.bytes.size());
      }
    }
  }

  const Sections& of(std::size_t pass) const { return passes_[pass]; }

 private:
  std::vector<std::byte> bytes_;
  std::vector<Sections> passes_;
};

void check_codes(const AnsParams& /*coder*/, const Sections& /*sections*/, const Sections& heads,
                 std::span<const PassShape> shapes) {
  const Bytes codes = heads.find(SectionId::codes);
  if (codes.empty()) return;
  BitReader head(codes, "the quant-codes");
  ChainPlan::read(shapes, head);
}

void check_codes(const HuffmanParams& /*coder*/, const Sections& sections, const Sections& heads,
                 std::span<const PassShape> /*shapes*/) {
  const bool has_codes = !sections.find(SectionId::codes).empty();
  if (has_codes && heads.has(SectionId::codebook))
    CanonicalCode(read_lengths(heads.at(SectionId::codebook)));
}

void check_codes(const NoCoderParams& /*coder*/, const Sections& /*sections*/,
                 const Sections& /*heads*/, std::span<const PassShape> /*shapes*/) {}

void check_list(SectionId id, const Sections& sections, const Sections& heads,
                std::uint64_t points) {
  const ByteCount size = sections.find(id).size();
  if (size != 0) SparseList::layout(heads.find(id), size, points);
}

void check_signs(const FrameShape& shape, Bytes section, Bytes begin) {
  if (!section.empty()) SignSection::read(section, begin, SignGrid::of(shape.dims));
}

void read_codebook(const FrameHeader& header, Bytes codebook) {
  const auto* const cells = std::get_if<CellsParams>(&*header.predictor);
  if (cells != nullptr) CellsHead::read(codebook, cells->rank);
}

void check_heads(Backend& backend, const FrameShape& shape, const FrameHeader& header,
                 std::span<const Sections> passes, ByteCount most_of_codes) {
  const Heads heads(backend, passes, most_of_codes);
  const std::vector<PassShape> shapes = pass_shapes(*header.predictor, shape.points());
  for (const PassRange& level : passes_of_levels(level_of_pass(*header.predictor))) {
    const auto of_level = of_range(std::span(shapes), level);
    std::visit(
        [&](const auto& coder) {
          const auto first = static_cast<std::size_t>(level.first);
          check_codes(coder, passes[first], heads.of(first), of_level);
        },
        *header.coder);
  }
  check_signs(shape, passes[0].find(SectionId::signs), heads.of(0).find(SectionId::signs));
  read_codebook(header, heads.of(0).find(SectionId::codebook));
  for (std::size_t pass = 0; pass < passes.size(); ++pass) {
    check_list(SectionId::outliers, passes[pass], heads.of(pass), shapes[pass].points);
    check_list(SectionId::patches, passes[pass], heads.of(pass), shapes[pass].points);
  }
}

/// Whether heads were read completely.
bool is_whole(std::span<const Sections> passes, ByteCount most_of_codes) {
  return std::all_of(passes.begin(), passes.end(), [&](const Sections& sections) {
    return sections.find(SectionId::codes).size() <= most_of_codes;
  });
}

}  // namespace

FrameHeader check_header(const FrameShape& shape, Bytes header) {
  return read_own([&] { return read_whole_header(shape, header); });
}

void check_codebook(const FrameHeader& header, Bytes codebook) {
  read_own([&] { read_codebook(header, codebook); });
}

void check_frame(Backend& backend, const FrameShape& shape, Bytes header,
                 std::span<const Sections> passes) {
  const FrameHeader read = check_header(shape, header);
  if (read.kind == FrameKind::predicted)  // in host memory
    read_own([&] { check_predicted_head(passes.front().at(SectionId::codebook), shape); });
  if (read.kind != FrameKind::coded) return;
  const bool has_chains = std::holds_alternative<AnsParams>(*read.coder);
  const ByteCount usual_bytes = has_chains ? usual_head_bytes : 0;
  read_own([&] {
    try {
      check_heads(backend, shape, read, passes, usual_bytes);
    } catch (const ArchiveError&) {
      if (!has_chains || is_whole(passes, usual_bytes)) throw;
      check_heads(backend, shape, read, passes, std::numeric_limits<ByteCount>::max());
    }
  });
}

}  // namespace cuszi
