#include "core/lorenzo/lorenzo.hpp"

#include "core/field/quantizer.hpp"

namespace cuszi {

namespace {

constexpr std::uint64_t max_chunk_points = std::uint64_t{1} << 20;

}  // namespace

LorenzoParams LorenzoParams::draft(const PredictorConfig& /*config*/, const Extents3& extents) {
  LorenzoParams params;
  switch (rank_of(extents)) {
    case 1: params.chunk = {1, 1, 256}; break;
    case 2: params.chunk = {1, 16, 16}; break;
    default: params.chunk = {8, 8, 8};
  }
  return params;
}

void LorenzoParams::choose(const PredictorConfig& config, const FieldScan& scan, double bound,
                           DType dtype) {
  half_step = half_step_for(bound, scan.min, scan.max, dtype);
  radius = choose_radius(config, scan.errors, 2 * half_step);
}

bool LorenzoParams::is_usable(DType dtype) const { return is_usable_half_step(half_step, dtype); }

void LorenzoParams::write(ByteWriter& out) const {
  for (const std::uint64_t extent : chunk) out.varint(extent);
  out.varint(radius);
  out.put(half_step);
}

LorenzoParams LorenzoParams::read(ByteReader& in, const Extents3& /*extents*/, DType dtype) {
  LorenzoParams params;
  std::uint64_t points = 1;
  for (std::uint64_t& extent : params.chunk) {
    extent = in.varint();
    if (extent == 0 || extent > max_chunk_points / points) {
      throw ArchiveError("a Lorenzo chunk is empty or larger than 2^20 points");
    }
    points *= extent;
  }
  params.radius = read_radius(in);
  params.half_step = read_half_step(in, dtype);
  return params;
}

}  // namespace cuszi
