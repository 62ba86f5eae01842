#include "app/field_summary.hpp"

#include "core/sparse_list.hpp"

namespace cuszi::app {

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
  Exceptions count;
  for (std::size_t i = 0; i < header.levels.size(); ++i) {
    for (const Sections& pass : read_level(header, i, header.levels[i].passes(), payload)) {
      count.outliers += SparseList::encoded_count(pass.find(SectionId::outliers));
      count.patches += SparseList::encoded_count(pass.find(SectionId::patches));
    }
  }
  return count;
}

}  // namespace cuszi::app
