#include "gpu/field/restoration.cuh"

namespace cuszi::gpu {

void refuse_flaws(std::uint32_t flaws) {
  if ((flaws & bad_sparse_list) != 0) {
    throw ArchiveError("a sparse list leaves the frame, is out of order or miscounts its entries");
  }
  if ((flaws & bad_chunk_index) != 0) {
    throw ArchiveError("the chunk index is not ascending or leaves the stream");
  }
  if ((flaws & codes_leave_chunk) != 0) throw ArchiveError("the quant-codes leave their chunk");
  if ((flaws & unlisted_outlier) != 0) {
    throw ArchiveError("a quant-code stands for an outlier that is not listed");
  }
  if ((flaws & bad_tiles) != 0) {
    throw ArchiveError("the tiles of a frame do not fit their chunks");
  }
  if ((flaws & bad_ans_segment) != 0) {
    throw ArchiveError("an ANS segment does not end as it should");
  }
  if ((flaws & wrong_code_counts) != 0) {
    throw ArchiveError("the contexts of a pass do not agree with the number of its codes");
  }
}

}  // namespace cuszi::gpu
