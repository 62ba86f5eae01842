#include "core/zfp/zfp_coding.hpp"

#include <algorithm>

#include "core/field/chunk_index.hpp"

namespace cuszi {

namespace {

constexpr std::uint64_t max_chunk = std::uint64_t{1} << 16;

std::uint32_t exponent_bits_of(DType dtype) {
  return with_type_of(dtype, [](auto zero) {
    return static_cast<std::uint32_t>(ZfpType<decltype(zero)>::exponent_bits);
  });
}

/// Saturates above any valid parameter.
std::uint32_t read_small(ByteReader& in) {
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(in.varint(), 1U << 31));
}

}  // namespace

ZfpParams zfp_params(const ZfpMode& mode, double bound, int rank, DType dtype) {
  switch (mode.kind) {
    case ZfpMode::Kind::accuracy: break;
    case ZfpMode::Kind::precision:
      return ZfpParams::precision(static_cast<std::uint32_t>(mode.amount));
    case ZfpMode::Kind::rate: return ZfpParams::rate(mode.amount, rank, exponent_bits_of(dtype));
    case ZfpMode::Kind::reversible: return ZfpParams::reversible();
  }
  return ZfpParams::accuracy(bound);
}

ZfpCoding ZfpCoding::draft(const FrameConfig& config, const Dims& dims) {
  ZfpCoding coding;
  coding.rank = zfp_dims(dims).rank();
  coding.index = config.index.kind;
  coding.chunk = config.predictor.zfp.chunk.value_or(open_chunk);
  coding.partition = config.index.partition;
  return coding;
}

void ZfpCoding::choose(const PredictorConfig& config, const FieldScan& /*scan*/, double bound,
                       DType dtype) {
  zfp = zfp_params(config.zfp.mode, bound, rank, dtype);
}

ZfpCoding ZfpCoding::with_chosen_chunk(BitCount bits, std::uint64_t blocks) const {
  ZfpCoding coding = *this;
  if (chunk != open_chunk) return coding;
  constexpr std::uint64_t share = 100;
  constexpr std::uint32_t most_blocks = 256;
  constexpr BitCount length_bits = 16;  // typically
  constexpr BitCount offset_bits = 64;
  const BitCount index_bits = index == IndexKind::offset ? offset_bits
                              : index == IndexKind::length
                                  ? length_bits
                                  : length_bits + ceil_div(offset_bits, partition);
  const std::uint64_t fewest = ceil_div(share * index_bits * blocks, std::max(bits, BitCount{1}));
  coding.chunk = static_cast<std::uint32_t>(std::clamp<std::uint64_t>(fewest, 1, most_blocks));
  return coding;
}

void ZfpCoding::check_stream(ByteCount bytes, std::uint64_t blocks) const {
  const std::uint64_t fewest_bits = std::max(zfp.min_bits, 1U);  // of a block
  if (bytes % 8 != 0 || blocks > bytes * 8 / fewest_bits) {
    throw ArchiveError("a zfp stream is truncated");
  }
}

void ZfpCoding::write(ByteWriter& out) const {
  out.varint(zfp.min_bits);
  out.varint(zfp.max_bits);
  out.varint(zfp.max_precision);
  out.put(zfp.min_exponent);
  out.varint(chunk);
  write_index_params(index, partition, out);
}

ZfpCoding ZfpCoding::read(ByteReader& in, const Dims& dims, DType dtype) {
  ZfpCoding coding;
  coding.zfp.min_bits = read_small(in);
  coding.zfp.max_bits = read_small(in);
  coding.zfp.max_precision = read_small(in);
  coding.zfp.min_exponent = in.get<std::int32_t>();
  const int head_bits = with_type_of(dtype, [&](auto zero) {
    return ZfpType<decltype(zero)>::head_bits(coding.zfp.is_reversible());
  });
  if (const auto fault = zfp_fault(coding.zfp, head_bits)) {
    throw ArchiveError("a zfp frame has " + *fault);
  }
  constexpr std::int32_t most_exponent = 1 << 15;
  if (coding.zfp.min_exponent < ZfpParams::least_exponent - 1 ||
      coding.zfp.min_exponent > most_exponent) {
    throw ArchiveError("a zfp frame has the least exponent " +
                       std::to_string(coding.zfp.min_exponent));
  }
  const std::uint64_t chunk = in.varint();
  if (chunk == 0 || chunk > max_chunk) {
    throw ArchiveError("a zfp frame has chunks of " + std::to_string(chunk) + " blocks");
  }
  coding.rank = zfp_dims(dims).rank();
  coding.chunk = static_cast<std::uint32_t>(chunk);
  read_index_params(in, coding.index, coding.partition);
  return coding;
}

}  // namespace cuszi
