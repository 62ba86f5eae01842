#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "core/base/dims.hpp"
#include "core/base/dtype.hpp"
#include "core/base/hd.hpp"
#include "core/base/units.hpp"
#include "core/field/point_bits.hpp"

namespace cuszi {

/// Values that mean "missing" besides NaN and infinities, rounded to the field's type.
struct FillValues {
  static constexpr std::size_t max_count = 16;

  std::array<double, max_count> values{};
  std::size_t count = 0;

  /// Throws UsageError beyond max_count.
  void add(double value);
};

/// The union, `fills` first. Throws UsageError if too large.
FillValues joined(FillValues fills, const FillValues& more);

/// NC_FILL_FLOAT and NC_FILL_DOUBLE.
inline constexpr double netcdf_fill_value = 9.9692099683868690e+36;

template <class T>
struct MissingTest {
  std::array<T, FillValues::max_count> fills{};
  std::size_t count = 0;

  MissingTest() = default;
  explicit MissingTest(const FillValues& f) : count(f.count) {
    for (std::size_t i = 0; i < count; ++i) fills[i] = static_cast<T>(f.values[i]);
  }

  CUSZI_HD bool operator()(T value) const {
    const bool finite = value - value == 0;
    return !finite || is_fill(value);
  }

  CUSZI_HD bool is_fill(T value) const {
    for (std::size_t i = 0; i < count; ++i) {
      if (value == fills[i]) return true;
    }
    return false;
  }

  CUSZI_HD bool any_between(T least, T most) const {
    for (std::size_t i = 0; i < count; ++i) {
      if (fills[i] >= least && fills[i] <= most) return true;
    }
    return false;
  }

  /// Only the fills in [min, max], which clamped restored values can hit.
  MissingTest within(double min, double max) const {
    MissingTest inside;
    for (std::size_t i = 0; i < count; ++i) {
      const auto fill = static_cast<double>(fills[i]);
      if (fill >= min && fill <= max) inside.fills[inside.count++] = fills[i];
    }
    return inside;
  }
};

struct Mask {
  std::vector<std::uint64_t> words;  ///< bit i % 64 of word i / 64 is point i; empty if count is 0
  std::uint64_t count = 0;
  std::vector<std::byte> values;  ///< in raster order

  bool any() const { return count != 0; }
  bool operator()(std::uint64_t point) const {
    return ((words[point / 64] >> (point % 64)) & 1) != 0;
  }
};

/// A mask without repetition, as exchanged between backends and archives.
struct FrameMask {
  PointBits bits;
  std::uint64_t count = 0;
  std::vector<std::byte> values;  ///< in raster order, or one for all

  bool any() const { return count != 0; }
  bool has_one_value(DType dtype) const { return values.size() == size_of(dtype); }

  friend bool operator==(const FrameMask&, const FrameMask&) = default;
};

/// Throws ArchiveError if the number of points differs from `count`.
Mask expand(const FrameMask& from, const Dims& dims, DType dtype);
FrameMask compact(const Mask& mask, const Dims& dims, DType dtype);

/// Throws ArchiveError if the numbers differ.
void check_masked_points(std::uint64_t found, std::uint64_t stated);

struct EncodedMask {
  std::vector<std::byte> bits;
  std::vector<std::byte> values;
};

/// Repeating values are stored as a palette.
EncodedMask encode_mask(const FrameMask& mask, DType dtype, const ForEach& for_each);

/// Inverse of encode_mask(). Throws ArchiveError. Does not verify `count`; expand() does.
FrameMask decode_mask(const EncodedMask& encoded, std::uint64_t points, DType dtype,
                      std::uint64_t count, const ForEach& for_each);

}  // namespace cuszi
