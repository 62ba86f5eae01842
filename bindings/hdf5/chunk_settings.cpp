#include "bindings/hdf5/chunk_settings.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
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
  fill_count_at = 14,
  fills_at = 15
};
constexpr unsigned strict_bit = 256;
/// The bits of a mode; none is absolute.
constexpr std::pair<int, unsigned> mode_bits[] = {
    {CUSZI_PWREL, 512}, {CUSZI_ABS_OR_PWREL, 1024}, {CUSZI_ABS_AND_PWREL, 2048}};
constexpr unsigned all_bits = strict_bit | 512 | 1024 | 2048;
enum TypeBit : unsigned { is_f64 = 1, is_big_endian = 2 };

std::uint64_t get(std::span<const unsigned> numbers, std::size_t at) {
  return numbers[at] | std::uint64_t{numbers[at + 1]} << 32;
}

void put(std::uint64_t value, std::size_t at, ChunkSettings::Numbers& numbers) {
  numbers.at(at) = static_cast<unsigned>(value);
  numbers.at(at + 1) = static_cast<unsigned>(value >> 32);
}

}  // namespace

std::optional<ChunkSettings> ChunkSettings::asked(std::span<const unsigned> numbers) {
  if (numbers.size() < least_asked || numbers[0] != version) return std::nullopt;
  ChunkSettings settings;
  settings.bound = std::bit_cast<double>(get(numbers, bound_at));
  if (numbers.size() > preset_at) {
    settings.preset = numbers[preset_at] & ~all_bits;
    settings.strict = (numbers[preset_at] & strict_bit) != 0;
    for (const auto& [mode, bit] : mode_bits) {
      if ((numbers[preset_at] & bit) != 0) settings.mode = mode;
    }
  }
  if (numbers.size() < least_complete) {
    std::size_t at = asked_at;
    if (settings.has_share() && numbers.size() >= at + 2) {
      settings.share = std::bit_cast<double>(get(numbers, at));
      at += 2;
    }
    if (numbers.size() == at + 2) settings.add_fill(std::bit_cast<double>(get(numbers, at)));
    return settings;
  }
  if (settings.has_share()) {
    settings.share = std::bit_cast<double>(get(numbers, numbers.size() - 2));
    numbers = numbers.first(numbers.size() - 2);
  }
  const std::size_t fills =
      std::min<std::size_t>(numbers[fill_count_at], (numbers.size() - fills_at) / 2);
  for (std::size_t i = 0; i < fills; ++i) {
    settings.add_fill(std::bit_cast<double>(get(numbers, fills_at + 2 * i)));
  }
  return settings;
}

std::optional<ChunkSettings> ChunkSettings::read(std::span<const unsigned> numbers) {
  auto settings = numbers.size() < least_complete ? std::nullopt : asked(numbers);
  if (!settings) return settings;
  settings->field.dtype = (numbers[type_at] & is_f64) != 0 ? CUSZI_F64 : CUSZI_F32;
  settings->big_endian = (numbers[type_at] & is_big_endian) != 0;
  settings->field.rank = static_cast<std::int32_t>(std::min<unsigned>(numbers[rank_at], 255));
  for (std::size_t axis = 0; axis < CUSZI_MAX_RANK; ++axis) {
    settings->field.dims[axis] = get(numbers, dims_at + 2 * axis);
  }
  return settings;
}

ChunkSettings::Numbers ChunkSettings::write() const {
  const std::size_t share_at = std::max(least_complete, fills_at + 2 * fills.size());
  Numbers numbers(share_at + (has_share() ? 2 : 0));
  numbers[0] = version;
  put(std::bit_cast<std::uint64_t>(bound), bound_at, numbers);
  numbers[preset_at] = preset | (strict ? strict_bit : 0U);
  for (const auto& [of, bit] : mode_bits) {
    if (mode == of) numbers[preset_at] |= bit;
  }
  if (has_share()) put(std::bit_cast<std::uint64_t>(share), share_at, numbers);
  numbers[type_at] = (field.dtype == CUSZI_F64 ? is_f64 : 0U) | (big_endian ? is_big_endian : 0U);
  numbers[rank_at] = static_cast<unsigned>(field.rank);
  for (std::size_t axis = 0; axis < CUSZI_MAX_RANK; ++axis) {
    put(field.dims[axis], dims_at + 2 * axis, numbers);
  }
  numbers[fill_count_at] = static_cast<unsigned>(fills.size());
  for (std::size_t i = 0; i < fills.size(); ++i) {
    put(std::bit_cast<std::uint64_t>(fills[i]), fills_at + 2 * i, numbers);
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
  options.strict = strict ? 1 : 0;
  return options;
}

}  // namespace cuszi::hdf5
