#include "codec/archive/field_summary.hpp"

#include <algorithm>
#include <array>

#include "core/field/sparse_list.hpp"

namespace cuszi {

namespace {

/// `head` copies the first bytes of a list to host memory.
template <class Head>
Exceptions count_with(const FrameHeader& header, Bytes payload, const HashStrings& hashes,
                      const Head& head) {
  Exceptions sum;
  const std::vector<Bytes> levels = read_levels(header, header.levels.size(), payload, hashes);
  for (std::size_t i = 0; i < levels.size(); ++i) {
    const LevelEntry& level = header.levels[i];
    for (const Sections& pass : read_passes(level, level.passes(), levels[i])) {
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
  if (header.bounds) {
    least_bound = std::min(least_bound.value_or(no_bound), header.bounds->least);
    kept += header.bounds->kept;
  }
  outliers += frame_outliers;
  patches += frame_patches;
  ++frames;
  if (header.is_packed()) lossless = Lossless::bitcomp;
  if (header.kind != FrameKind::coded || predictor != "none") return;
  predictor = name_of(id_of(*header.predictor));
  coder = name_of(*header.coder);
}

Exceptions count_exceptions(const FrameHeader& header, Bytes payload) {
  return count_with(header, payload, host_hashes, [](Bytes list) { return list; });
}

Exceptions count_exceptions(const FrameHeader& header, Bytes payload, Backend& backend) {
  std::array<std::byte, 16> head{};
  const auto to_host = [&](Bytes list) {
    const MutableBytes host = std::span(head).first(std::min(list.size(), head.size()));
    if (!list.empty()) backend.copy(list.first(host.size()), host);
    return Bytes(host);
  };
  return count_with(
      header, payload, [&](std::span<const Bytes> strings) { return backend.hashes(strings); },
      to_host);
}

}  // namespace cuszi
