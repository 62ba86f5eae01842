#include "codec/field_summary.hpp"

#include <algorithm>
#include <array>

#include "core/hash.hpp"
#include "core/sparse_list.hpp"

namespace cuszi {

namespace {

/// `head` gives the first bytes of a list in the host's memory.
template <class Head>
Exceptions count_with(const FrameHeader& header, Bytes payload, const HashBytes& hash,
                      const Head& head) {
  Exceptions sum;
  for (std::size_t i = 0; i < header.levels.size(); ++i) {
    for (const Sections& pass : read_level(header, i, header.levels[i].passes(), payload, hash)) {
      sum.outliers += SparseList::encoded_count(head(pass.find(SectionId::outliers)));
      sum.patches += SparseList::encoded_count(head(pass.find(SectionId::patches)));
    }
  }
  return sum;
}

}  // namespace

void FieldSummary::add(const FrameHeader& header, std::uint64_t points,
                       std::uint64_t frame_outliers, std::uint64_t frame_patches) {
  if (header.missing < points) range.add(header.min, header.max);
  masked += header.missing;
  outliers += frame_outliers;
  patches += frame_patches;
  ++frames;
  if (header.is_packed()) lossless = Lossless::bitcomp;
  if (header.kind != FrameKind::coded || predictor != "none") return;
  predictor = name_of(id_of(*header.predictor));
  coder = name_of(*header.coder);
}

Exceptions count_exceptions(const FrameHeader& header, Bytes payload) {
  return count_with(header, payload, block_hash, [](Bytes list) { return list; });
}

Exceptions count_exceptions(const FrameHeader& header, Bytes payload, Backend& backend) {
  std::array<std::byte, 16> head{};
  const auto to_host = [&](Bytes list) {
    const MutableBytes host = std::span(head).first(std::min(list.size(), head.size()));
    if (!list.empty()) backend.copy(list.first(host.size()), host);
    return Bytes(host);
  };
  return count_with(
      header, payload, [&](Bytes bytes) { return backend.hash(bytes); }, to_host);
}

}  // namespace cuszi
