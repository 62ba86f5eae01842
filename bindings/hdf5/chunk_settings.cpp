#include "bindings/hdf5/chunk_settings.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>

namespace cuszi::hdf5 {

namespace {

constexpr unsigned version = 1;
enum Place : std::size_t {
  bound_at = 1,
  preset_at = 3,
  asked_at = 4,
  type_at = 4,
  rank_at = 5,
  dims_at = 6,
  counts_at = 14,
  fills_at = 15
};
constexpr unsigned isovalue_unit = 256;
constexpr unsigned strict_bit = 256;
/// Absolute has none.
constexpr std::pair<int, unsigned> mode_bits[] = {
    {CUSZI_PWREL, 512}, {CUSZI_ABS_OR_PWREL, 1024}, {CUSZI_ABS_AND_PWREL, 2048}};
constexpr unsigned mode_mask = 512 | 1024 | 2048;
constexpr unsigned all_bits = strict_bit | mode_mask;
enum TypeBit : unsigned { is_f64 = 1, is_big_endian = 2 };
constexpr unsigned other_type_unit = 4;  ///< of types other than f32 and f64

unsigned type_number(const cuszi_field& field, bool big_endian) {
  const auto dtype = static_cast<unsigned>(field.dtype);
  return (dtype <= CUSZI_F64 ? dtype : other_type_unit * dtype) | (big_endian ? is_big_endian : 0U);
}

/// Throws std::invalid_argument for unknown numbers.
int dtype_of(unsigned number) {
  const unsigned other = number / other_type_unit;
  const unsigned dtype = other == 0 ? number & is_f64 : other;
  const bool is_known = other == 0 || (other > CUSZI_F64 && other <= CUSZI_U64);
  if (!is_known || (other != 0 && (number & is_f64) != 0)) {
    throw std::invalid_argument("cuszi does not support the type " + std::to_string(number));
  }
  return static_cast<int>(dtype);
}

std::uint64_t get(std::span<const unsigned> numbers, std::size_t at) {
  return numbers[at] | std::uint64_t{numbers[at + 1]} << 32;
}

void put(std::uint64_t value, std::size_t at, ChunkSettings::Numbers& numbers) {
  numbers.at(at) = static_cast<unsigned>(value);
  numbers.at(at + 1) = static_cast<unsigned>(value >> 32);
}

ChunkSettings read_head(std::span<const unsigned> numbers) {
  if (numbers.size() < ChunkSettings::least_asked || numbers[0] != version) {
    throw std::invalid_argument("cuszi supports only filter parameters that begin with 1");
  }
  ChunkSettings settings;
  settings.bound = std::bit_cast<double>(get(numbers, bound_at));
  if (numbers.size() <= preset_at) return settings;
  settings.preset = numbers[preset_at] & ~all_bits;
  settings.strict = (numbers[preset_at] & strict_bit) != 0;
  if (std::popcount(numbers[preset_at] & mode_mask) > 1) {
    throw std::invalid_argument(
        "cuszi takes one of the modes 512, 1024 and 2048, added to the preset, not " +
        std::to_string(numbers[preset_at] & mode_mask));
  }
  for (const auto& [mode, bit] : mode_bits) {
    if ((numbers[preset_at] & bit) != 0) settings.mode = mode;
  }
  return settings;
}

[[noreturn]] void refuse_count(std::size_t count, const std::string& wanted) {
  throw std::invalid_argument("cuszi takes " + wanted + ", not " + std::to_string(count));
}

/// The share, then a fill value.
void read_rest_asked(std::span<const unsigned> numbers, ChunkSettings& settings) {
  const std::size_t share_numbers = settings.has_share() ? 2 : 0;
  const std::size_t least = asked_at + share_numbers;
  const bool is_short = numbers.size() < asked_at && share_numbers == 0;
  if (!is_short && numbers.size() != least && numbers.size() != least + 2) {
    refuse_count(numbers.size(), std::to_string(least) + " parameters for this mode, or " +
                                     std::to_string(least + 2) + " with a fill value");
  }
  if (share_numbers != 0) settings.share = std::bit_cast<double>(get(numbers, asked_at));
  if (numbers.size() == least + 2) {
    settings.add_fill(std::bit_cast<double>(get(numbers, least)));
  }
}

/// And the share after them.
void read_lists(std::span<const unsigned> numbers, ChunkSettings& settings) {
  const std::size_t fills = numbers[counts_at] % isovalue_unit;
  const std::size_t isovalues = numbers[counts_at] / isovalue_unit;
  const std::size_t isovalues_at = std::max(ChunkSettings::least_complete, fills_at + 2 * fills);
  const std::size_t share_at = isovalues_at + 2 * isovalues;
  const std::size_t count = share_at + (settings.has_share() ? 2 : 0);
  if (fills > CUSZI_MAX_FILLS || isovalues > CUSZI_MAX_ISOVALUES || numbers.size() != count) {
    refuse_count(numbers.size(), std::to_string(count) + " parameters for " +
                                     std::to_string(fills) + " fill values and " +
                                     std::to_string(isovalues) + " isovalues");
  }
  for (std::size_t i = 0; i < fills; ++i) {
    settings.add_fill(std::bit_cast<double>(get(numbers, fills_at + 2 * i)));
  }
  for (std::size_t i = 0; i < isovalues; ++i) {
    settings.isovalues.push_back(std::bit_cast<double>(get(numbers, isovalues_at + 2 * i)));
  }
  if (settings.has_share()) settings.share = std::bit_cast<double>(get(numbers, share_at));
}

}  // namespace

ChunkSettings ChunkSettings::asked(std::span<const unsigned> numbers) {
  ChunkSettings settings = read_head(numbers);
  if (numbers.size() < least_complete) {
    read_rest_asked(numbers, settings);
  } else {
    read_lists(numbers, settings);
  }
  return settings;
}

ChunkSettings ChunkSettings::read(std::span<const unsigned> numbers) {
  ChunkSettings settings = read_head(numbers);
  if (numbers.size() < least_complete) {
    refuse_count(numbers.size(), "at least 17 parameters in an existing dataset");
  }
  read_lists(numbers, settings);
  settings.field.dtype = dtype_of(numbers[type_at]);
  settings.big_endian = (numbers[type_at] & is_big_endian) != 0;
  settings.field.rank = static_cast<std::int32_t>(std::min<unsigned>(numbers[rank_at], 255));
  for (std::size_t axis = 0; axis < CUSZI_MAX_RANK; ++axis) {
    settings.field.dims[axis] = get(numbers, dims_at + 2 * axis);
  }
  return settings;
}

ChunkSettings::Numbers ChunkSettings::write() const {
  const std::size_t isovalues_at = std::max(least_complete, fills_at + 2 * fills.size());
  const std::size_t share_at = isovalues_at + 2 * isovalues.size();
  Numbers numbers(share_at + (has_share() ? 2 : 0));
  numbers[0] = version;
  put(std::bit_cast<std::uint64_t>(bound), bound_at, numbers);
  numbers[preset_at] = preset | (strict ? strict_bit : 0U);
  for (const auto& [of, bit] : mode_bits) {
    if (mode == of) numbers[preset_at] |= bit;
  }
  if (has_share()) put(std::bit_cast<std::uint64_t>(share), share_at, numbers);
  numbers[type_at] = type_number(field, big_endian);
  numbers[rank_at] = static_cast<unsigned>(field.rank);
  for (std::size_t axis = 0; axis < CUSZI_MAX_RANK; ++axis) {
    put(field.dims[axis], dims_at + 2 * axis, numbers);
  }
  numbers[counts_at] = static_cast<unsigned>(fills.size() + isovalue_unit * isovalues.size());
  for (std::size_t i = 0; i < fills.size(); ++i) {
    put(std::bit_cast<std::uint64_t>(fills[i]), fills_at + 2 * i, numbers);
  }
  for (std::size_t i = 0; i < isovalues.size(); ++i) {
    put(std::bit_cast<std::uint64_t>(isovalues[i]), isovalues_at + 2 * i, numbers);
  }
  return numbers;
}

bool ChunkSettings::add_fill(double value) {
  const bool is_there = std::find(fills.begin(), fills.end(), value) != fills.end();
  if (is_there || std::isnan(value)) return true;
  if (fills.size() == CUSZI_MAX_FILLS) return false;
  fills.push_back(value);
  return true;
}

cuszi_options ChunkSettings::options() const {
  cuszi_options options = cuszi_default_options();
  options.mode = mode;
  options.bound = bound;
  options.pw = share;
  options.preset = static_cast<std::int32_t>(preset);
  options.fill_count = static_cast<std::uint32_t>(fills.size());
  options.fills = fills.data();
  options.isovalue_count = static_cast<std::uint32_t>(isovalues.size());
  std::copy(isovalues.begin(), isovalues.end(), std::begin(options.isovalues));
  options.strict = strict ? 1 : 0;
  options.has_padding = 1;  // 0 beyond the dataset's edge and where nothing was written
  options.remember = 1;
  return options;
}

}  // namespace cuszi::hdf5
