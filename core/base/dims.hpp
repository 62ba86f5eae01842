#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace cuszi {

/// Extents along z, y, x.
using Extents3 = std::array<std::uint64_t, 3>;

/// Extents, slowest first as in NumPy and HDF5: 1 to 4 dimensions of at least 1, fewer than 2^60
/// values.
class Dims {
 public:
  static constexpr int max_rank = 4;

  Dims() = default;
  /// Throws UsageError if the extents are invalid.
  Dims(std::initializer_list<std::uint64_t> extents);

  /// Returns nullopt if the extents are invalid.
  static std::optional<Dims> make(std::span<const std::uint64_t> extents);

  /// Parses text like "100x500x500". Throws UsageError.
  static Dims parse(std::string_view text);

  int rank() const { return rank_; }
  std::uint64_t operator[](int axis) const { return extents_.at(static_cast<std::size_t>(axis)); }
  std::span<const std::uint64_t> extents() const {
    return std::span(extents_).first(static_cast<std::size_t>(rank_));
  }
  std::uint64_t count() const;

  /// Without dimensions of extent 1; rank at least 1.
  Dims squeezed() const;

  /// Squeezed, the two slowest of four merged, padded in front.
  Extents3 as_3d() const;

  std::string to_string() const;

  friend bool operator==(const Dims&, const Dims&) = default;

 private:
  std::array<std::uint64_t, max_rank> extents_{1, 1, 1, 1};
  int rank_ = 1;
};

constexpr std::uint64_t count_of(const Extents3& e) { return e[0] * e[1] * e[2]; }

/// The number of extents above 1, at least 1.
constexpr int rank_of(const Extents3& e) {
  const int rank = (e[0] > 1 ? 1 : 0) + (e[1] > 1 ? 1 : 0) + (e[2] > 1 ? 1 : 0);
  return rank == 0 ? 1 : rank;
}

}  // namespace cuszi
