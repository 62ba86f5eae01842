#include "core/base/dims.hpp"

#include <algorithm>
#include <charconv>
#include <vector>

#include "core/base/error.hpp"

namespace cuszi {

namespace {

constexpr std::uint64_t max_values = std::uint64_t{1} << 60;

}  // namespace

std::optional<Dims> Dims::make(std::span<const std::uint64_t> extents) {
  if (extents.empty() || extents.size() > max_rank) return std::nullopt;
  std::uint64_t count = 1;
  for (const std::uint64_t extent : extents) {
    if (extent == 0 || extent >= max_values / count) return std::nullopt;
    count *= extent;
  }
  Dims dims;
  dims.rank_ = static_cast<int>(extents.size());
  std::copy(extents.begin(), extents.end(), dims.extents_.begin());
  return dims;
}

Dims::Dims(std::initializer_list<std::uint64_t> extents) {
  const auto dims = make(std::span(extents.begin(), extents.size()));
  if (!dims) throw UsageError("dims need 1 to 4 extents of at least 1, below 2^60 values in all");
  *this = *dims;
}

Dims Dims::parse(std::string_view text) {
  std::vector<std::uint64_t> extents;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (at != end) {
    std::uint64_t extent = 0;
    const auto [next, status] = std::from_chars(at, end, extent);
    if (status != std::errc{} || (next != end && (*next != 'x' || next + 1 == end))) break;
    extents.push_back(extent);
    at = next == end ? end : next + 1;
    if (next == end) {
      if (const auto dims = make(extents)) return *dims;
      break;
    }
  }
  throw UsageError("dims '" + std::string(text) +
                   "' are not 1 to 4 positive extents, slowest first, like 100x500x500");
}

std::uint64_t Dims::count() const { return extents_[0] * extents_[1] * extents_[2] * extents_[3]; }

Dims Dims::squeezed() const {
  Dims result;
  result.rank_ = 0;
  for (const std::uint64_t extent : extents()) {
    if (extent > 1) result.extents_[static_cast<std::size_t>(result.rank_++)] = extent;
  }
  result.rank_ = std::max(result.rank_, 1);
  return result;
}

Extents3 Dims::as_3d() const {
  const Dims s = squeezed();
  switch (s.rank_) {
    case 1: return {1, 1, s.extents_[0]};
    case 2: return {1, s.extents_[0], s.extents_[1]};
    case 3: return {s.extents_[0], s.extents_[1], s.extents_[2]};
    default: return {s.extents_[0] * s.extents_[1], s.extents_[2], s.extents_[3]};
  }
}

std::string Dims::to_string() const {
  std::string text;
  for (const std::uint64_t extent : extents()) {
    if (!text.empty()) text += 'x';
    text += std::to_string(extent);
  }
  return text;
}

}  // namespace cuszi
