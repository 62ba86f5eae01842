#include "core/pipeline/kept_values.hpp"

namespace cuszi {

namespace {

/// Whether byte planes by zstd may be smaller than `bytes`: told by a sample of large frames.
bool may_pack_better(Bytes values, ByteCount value_size, ByteCount bytes) {
  constexpr ByteCount piece = ByteCount{1} << 18;
  constexpr ByteCount pieces = 16;
  if (values.size() <= piece * pieces) return true;
  ByteCount packed = 0;
  for (ByteCount i = 0; i < pieces; ++i) {
    const ByteCount first = (values.size() - piece) / (pieces - 1) * i / value_size * value_size;
    packed += pack_values(values.subspan(first, piece), value_size).size();
  }
  constexpr ByteCount doubt = 10;  // samples err by less than a tenth
  return packed * (values.size() / piece) / (doubt + 1) < bytes * pieces / doubt;
}

}  // namespace

Sections KeptValues::sections(Bytes values) const {
  Sections sections;
  if (kind != FrameKind::predicted) {
    sections.add(SectionId::raw, kind == FrameKind::lossless ? Bytes(packed) : values);
    return sections;
  }
  sections.add(SectionId::codebook, words.head);
  sections.add(SectionId::index, words.index);
  sections.add(SectionId::contexts, words.classes);
  if (!words.codes.empty()) sections.add(SectionId::codes, words.codes);
  return sections;
}

KeptValues keep_values(const FrameShape& shape, Bytes values, const ForEach& for_each,
                       std::uint64_t step) {
  KeptValues kept;
  kept.bytes = values.size();
  kept.words = encode_predicted(values, shape, for_each, step);
  constexpr ByteCount entries = 16;  // of three more sections
  const ByteCount size = kept.words.size();
  if (size + entries < kept.bytes && size >= least_payload_bytes(kept.bytes)) {
    kept.bytes = size + entries;
    kept.kind = FrameKind::predicted;
  }
  const ByteCount value_size = size_of(shape.dtype);
  if (may_pack_better(values, value_size, kept.bytes)) {
    kept.packed = pack_values(values, value_size);
    if (kept.packed.size() < kept.bytes) {
      kept.bytes = kept.packed.size();
      kept.kind = FrameKind::lossless;
    }
  }
  return kept;
}

}  // namespace cuszi
