#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "core/field/config.hpp"
#include "core/multilevel/multilevel.hpp"

namespace cuszi {

/// Padded to four axes.
struct Axes {
  bool merged = false;
  std::array<AxisRole, max_axes> roles{};
};

/// The first candidate wins ties.
std::vector<Axes> axes_to_try(int rank);

/// Level-wise bounds e_l = e / min(alpha^(l-1), beta), in 64ths.
struct LevelBounds {
  std::uint8_t alpha;
  std::uint8_t beta;
};

inline constexpr LevelBounds usual_bounds{80, 128};
inline constexpr LevelBounds middle_bounds{72, 96};
inline constexpr LevelBounds equal_bounds{64, 64};

bool has_bounds(const MultilevelParams& params, LevelBounds bounds);
void set_bounds(MultilevelParams& params, LevelBounds bounds);
MultilevelParams with_bounds(MultilevelParams params, LevelBounds bounds);

inline constexpr std::array<int, 3> all_reaches{3, 5, 7};

}  // namespace cuszi
