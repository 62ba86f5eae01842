#pragma once

#include <map>

#include "core/mask.hpp"
#include "cpu_ref/energy_rows.hpp"
#include "cpu_ref/multilevel.hpp"

namespace cuszi::cpu {

/// Where the weights of a group of classes come from; the numbers stand in archives.
enum class WeightsKind : std::uint8_t {
  remembered = 0,  ///< the last own weights of a group of the same order, or the default
  own = 1,
  none = 2,  ///< all points in bucket 0
};

struct GroupWeights {
  WeightsKind kind = WeightsKind::remembered;
  EnergyWeights weights = default_weights;
};

/// The own weights met last, by order and whether there are enclosing slices.
class RememberedWeights {
 public:
  EnergyWeights& of(const PointClass& points) {
    return last_.try_emplace({points.order, points.enclosed}, default_weights).first->second;
  }

 private:
  std::map<std::pair<int, bool>, EnergyWeights> last_;
};

/// Weights for each group of a pass by iteratively reweighted least squares on a fixed sample of
/// its points, where they pay; `known` includes the pass's own magnitudes.
template <class T>
std::vector<GroupWeights> fit_weights(const MultilevelParams& params, const Grid& grid,
                                      const Pass& pass, const Known<T>& known, const Mask& mask,
                                      FitSample size, RememberedWeights& remembered);

/// No bytes if all groups use remembered weights.
std::vector<std::byte> write_weights(std::span<const GroupWeights> weights);
/// Throws ArchiveError.
std::vector<GroupWeights> read_weights(Bytes bytes, const Pass& pass,
                                       RememberedWeights& remembered);

}  // namespace cuszi::cpu
