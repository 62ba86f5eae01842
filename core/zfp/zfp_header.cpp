#include "core/zfp/zfp_header.hpp"

#include <algorithm>
#include <string>

#include "core/base/error.hpp"

namespace cuszi {

namespace {

constexpr unsigned codec_version = 5;
constexpr unsigned dims_bits = 48;  // for all extents
constexpr unsigned short_bits = 12;
constexpr std::uint64_t is_long = 0xFFF;

// Short modes are a number: bits per block, bit planes, reversible, or exponent.
constexpr std::uint64_t most_short_rate = 2048;
constexpr std::uint64_t first_precision = most_short_rate;
constexpr std::uint64_t reversible_mode = first_precision + 128;
constexpr std::uint64_t first_accuracy = reversible_mode + 1;

// Long modes hold all parameters, minus their first values.
constexpr unsigned bits_bits = 15;  // of the bits per block
constexpr unsigned precision_bits = 7;
constexpr unsigned exponent_bits = 15;
constexpr std::int32_t first_exponent = -16495;

using Writer = ZfpBitWriter<std::uint64_t*>;
using Reader = ZfpBitReader<const std::uint64_t*>;

constexpr unsigned extent_bits(int rank) { return dims_bits / static_cast<unsigned>(rank); }

void write_meta(const ZfpHeader& header, Writer& out) {
  const int rank = header.dims.rank();
  const unsigned bits = extent_bits(rank);
  out.put(static_cast<std::uint64_t>(header.scalar), 2);
  out.put(static_cast<std::uint64_t>(rank - 1), 2);
  for (int axis = rank; axis-- > 0;) {  // fastest first
    const std::uint64_t extent = header.dims[axis];
    if (extent - 1 > low_bits(bits)) {
      throw UsageError("the extent " + std::to_string(extent) + " of " + header.dims.to_string() +
                       " does not fit zfp's header, which has " + std::to_string(bits) +
                       " bits for it");
    }
    out.put(extent - 1, bits);
  }
}

/// nullopt if only the long form fits.
std::optional<std::uint64_t> short_mode(const ZfpParams& params) {
  const ZfpParams open;
  if (params == open) return std::nullopt;  // as libzfp does
  ZfpParams others = params;
  others.min_bits = open.min_bits;
  others.max_bits = open.max_bits;
  if (others == open && params.has_fixed_rate() && params.max_bits <= most_short_rate) {
    return params.max_bits - 1;
  }
  others = params;
  others.max_precision = open.max_precision;
  if (others == open) return first_precision + params.max_precision - 1;
  others = params;
  others.min_exponent = open.min_exponent;
  if (others != open) return std::nullopt;
  if (params.is_reversible()) return reversible_mode;
  const auto number =
      static_cast<std::uint64_t>(params.min_exponent - ZfpParams::least_exponent) + first_accuracy;
  return number < is_long ? std::optional(number) : std::nullopt;
}

void write_mode(const ZfpParams& params, Writer& out) {
  if (const auto mode = short_mode(params)) {
    out.put(*mode, short_bits);
    return;
  }
  const auto exponent = static_cast<std::int64_t>(params.min_exponent) - first_exponent;
  out.put(is_long, short_bits);
  out.put(std::max(params.min_bits, 1U) - 1, bits_bits);
  out.put(std::max(params.max_bits, 1U) - 1, bits_bits);
  out.put(params.max_precision - 1, precision_bits);
  out.put(std::min(static_cast<std::uint64_t>(exponent), low_bits(exponent_bits)), exponent_bits);
}

ZfpParams read_mode(Reader& in) {
  ZfpParams params;
  const std::uint64_t mode = in.get(short_bits);
  if (mode < most_short_rate) {
    params.max_bits = static_cast<std::uint32_t>(mode) + 1;
    params.min_bits = params.max_bits;
  } else if (mode < reversible_mode) {
    params.max_precision = static_cast<std::uint32_t>(mode - first_precision) + 1;
  } else if (mode == reversible_mode) {
    params = ZfpParams::reversible();
  } else if (mode < is_long) {
    params.min_exponent = static_cast<std::int32_t>(mode - first_accuracy);
    params.min_exponent += ZfpParams::least_exponent;
  } else {
    params.min_bits = static_cast<std::uint32_t>(in.get(bits_bits)) + 1;
    const auto most = static_cast<std::uint32_t>(in.get(bits_bits)) + 1;
    params.max_bits = std::min(most, ZfpParams::most_bits);
    params.max_precision = static_cast<std::uint32_t>(in.get(precision_bits)) + 1;
    const auto exponent = static_cast<std::int32_t>(in.get(exponent_bits)) + first_exponent;
    params.min_exponent = std::max(exponent, ZfpParams::least_exponent - 1);
  }
  return params;
}

int head_bits(ZfpScalar scalar, bool reversible) {
  switch (scalar) {
    case ZfpScalar::i32: return ZfpType<std::int32_t>::head_bits(reversible);
    case ZfpScalar::i64: return ZfpType<std::int64_t>::head_bits(reversible);
    case ZfpScalar::f32: return ZfpType<float>::head_bits(reversible);
    default: return ZfpType<double>::head_bits(reversible);
  }
}

}  // namespace

std::string_view name_of(ZfpScalar scalar) {
  constexpr std::array<std::string_view, 4> names{"i32", "i64", "f32", "f64"};
  return names.at(static_cast<std::size_t>(scalar));
}

ZfpScalar zfp_scalar_of(DType dtype) {
  return dtype == DType::f32 ? ZfpScalar::f32 : ZfpScalar::f64;
}

std::optional<DType> archived_type(ZfpScalar scalar) {
  if (scalar == ZfpScalar::f32) return DType::f32;
  return scalar == ZfpScalar::f64 ? std::optional(DType::f64) : std::nullopt;
}

ZfpHeaderBits write_zfp_header(const ZfpHeader& header) {
  ZfpHeaderBits bits;
  Writer out(bits.words.data());
  for (const char letter : {'z', 'f', 'p'}) out.put(static_cast<unsigned char>(letter), 8);
  out.put(codec_version, 8);
  write_meta(header, out);
  write_mode(header.params, out);
  bits.count = out.position();
  out.flush();
  return bits;
}

ZfpHeader read_zfp_header(Reader& in) {
  for (const char letter : {'z', 'f', 'p'}) {
    if (in.get(8) != static_cast<unsigned char>(letter)) {
      throw ArchiveError("not a zfp stream with a header (it does not begin with zfp)");
    }
  }
  const std::uint64_t version = in.get(8);
  if (version != codec_version) {
    throw ArchiveError("the zfp stream has codec version " + std::to_string(version) +
                       "; this cuszi reads version " + std::to_string(codec_version));
  }
  ZfpHeader header;
  header.scalar = static_cast<ZfpScalar>(in.get(2));
  const auto rank = static_cast<int>(in.get(2)) + 1;
  std::array<std::uint64_t, Dims::max_rank> extents{};
  for (int axis = rank; axis-- > 0;) {
    extents.at(static_cast<std::size_t>(axis)) = in.get(extent_bits(rank)) + 1;
  }
  const auto dims = Dims::make(std::span(extents).first(static_cast<std::size_t>(rank)));
  if (!dims) throw ArchiveError("the zfp stream's dims are impossible");
  header.dims = *dims;
  header.params = read_mode(in);
  if (const auto fault =
          zfp_fault(header.params, head_bits(header.scalar, header.params.is_reversible()))) {
    throw ArchiveError("the zfp stream has " + *fault);
  }
  return header;
}

}  // namespace cuszi
