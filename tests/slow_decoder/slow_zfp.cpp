#include <cstring>

#include "core/field/quantizer.hpp"
#include "core/field/sparse_list.hpp"
#include "core/zfp/zfp_codec.hpp"
#include "core/zfp/zfp_grid.hpp"
#include "tests/slow_decoder/slow_frame.hpp"

namespace cuszi::slow {

namespace {

/// Decodes block after block, without the index.
template <int rank, class T>
void restore_blocks(const ZfpParams& params, const ZfpGrid& grid,
                    const std::vector<std::uint64_t>& words, std::vector<T>& values) {
  using Block = ZfpBlock<T, rank>;
  ZfpBitReader<const std::uint64_t*> in(words.data(), words.size(), 0);
  for (std::uint64_t i = 0; i < grid.count(); ++i) {
    typename Block::Word planes[Block::Layout::words] = {};
    int exponent = 0;
    const ZfpHead head = Block::read(params, in, exponent, planes);
    T block[Block::values];
    Block::from_planes(params, head, exponent, planes, block);
    scatter_block<rank>(grid, ZfpPlace<rank>(grid, i), block, values.data());
  }
  if (in.position() > words.size() * 64) throw ArchiveError("a zfp stream is truncated");
}

}  // namespace

template <class T>
void restore(const ZfpCoding& params, SlowFrame<T>& frame) {
  const Sections& sections = frame.passes.front();
  const Bytes codes = sections.at(SectionId::codes);
  std::vector<std::uint64_t> words(codes.size() / 8);
  std::memcpy(words.data(), codes.data(), words.size() * 8);

  const ZfpGrid grid(zfp_dims(frame.dims));
  switch (grid.rank) {
    case 1: restore_blocks<1>(params.zfp, grid, words, frame.values); break;
    case 2: restore_blocks<2>(params.zfp, grid, words, frame.values); break;
    case 3: restore_blocks<3>(params.zfp, grid, words, frame.values); break;
    default: restore_blocks<4>(params.zfp, grid, words, frame.values);
  }
  if (!params.zfp.is_reversible()) {
    for (T& value : frame.values) {
      value = clamp_to(value, static_cast<T>(frame.header.min), static_cast<T>(frame.header.max));
    }
  }
  const SparseList patches =
      SparseList::decode(sections.find(SectionId::patches), frame.values.size());
  for (const SparseEntry& patch : patches.entries()) {
    frame.values.at(patch.point) = std::bit_cast<T>(static_cast<BitsOf<T>>(patch.value));
  }
}

template void restore(const ZfpCoding&, SlowFrame<float>&);
template void restore(const ZfpCoding&, SlowFrame<double>&);

}  // namespace cuszi::slow
