#pragma once

#include <optional>

namespace cuszi {

/// The scores, in dB, that end a search. A score above the goal meets it, but a better one is
/// searched for.
struct Goal {
  double least = 0;
  double most = 0;
  bool rises = false;  ///< whether scores rise with the bound (as ratios do) or fall (as PSNR does)
};

/// Looks for the bound whose score just reaches a goal, by secants in the logarithm of the bound
/// between those already tried:
///   while (!search.done()) search.add(score_at(search.bound()));
class BoundSearch {
 public:
  BoundSearch(const Goal& goal, double first_bound, int steps);

  /// The bound to be tried next.
  double bound() const;
  /// What bound() scored; infinite if nothing was lost.
  void add(double score);
  bool done() const { return steps_ == 0; }

  /// The bound that meets the goal with the lowest score, if one does.
  std::optional<double> best() const;

 private:
  struct Tried {
    double log_bound;
    double score;
  };

  double next_log_bound(const Tried& tried) const;
  double slope() const;

  Goal goal_;
  double next_;  ///< logarithm of the bound
  int steps_;
  std::optional<Tried> last_;    ///< whose score is finite
  std::optional<Tried> before_;  ///< the one before it
  std::optional<Tried> met_;     ///< nearest to the goal of those that met it
  std::optional<Tried> missed_;  ///< of those that did not
};

}  // namespace cuszi
