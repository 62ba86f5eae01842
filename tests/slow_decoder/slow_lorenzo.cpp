#include "core/field/sparse_list.hpp"
#include "core/lorenzo/lorenzo.hpp"
#include "tests/slow_decoder/slow_frame.hpp"

namespace cuszi::slow {

template <class T>
void restore(const LorenzoParams& params, SlowFrame<T>& frame) {
  const std::uint64_t points = frame.values.size();
  const Sections& sections = frame.passes.front();
  const auto radius = static_cast<std::int32_t>(params.radius);
  const std::vector<QuantCode> codes = decode_codes(frame, 0, points);
  const SparseList outliers = SparseList::decode(sections.find(SectionId::outliers), points);

  std::vector<std::uint64_t> sums;  // of integers; those of damaged archives may overflow
  for (std::uint64_t i = 0; i < points; ++i) {
    const std::int64_t delta = codes[i] == outlier_code ? unzigzag(outliers.find(i).value())
                                                        : delta_of_code(codes[i], radius);
    sums.push_back(static_cast<std::uint64_t>(delta));
  }
  const Extents3 strides{frame.extents[1] * frame.extents[2], frame.extents[2], 1};
  for (const std::size_t axis : {2U, 1U, 0U}) {
    for (std::uint64_t i = 0; i < points; ++i) {
      const std::uint64_t at = coordinates_of(i, frame.extents).at(axis);
      if (at % params.chunk.at(axis) != 0) sums[i] += sums[i - strides.at(axis)];
    }
  }
  for (std::uint64_t i = 0; i < points; ++i) {
    frame.values[i] =
        dequantise(static_cast<std::int64_t>(sums[i]), 2 * params.half_step,
                   static_cast<T>(frame.header.min), static_cast<T>(frame.header.max));
  }
  const SparseList patches = SparseList::decode(sections.find(SectionId::patches), points);
  for (const SparseEntry& patch : patches.entries()) {
    frame.values.at(patch.point) = std::bit_cast<T>(static_cast<BitsOf<T>>(patch.value));
  }
}

template void restore(const LorenzoParams&, SlowFrame<float>&);
template void restore(const LorenzoParams&, SlowFrame<double>&);

}  // namespace cuszi::slow
