#pragma once

#include <optional>

namespace cuszi {

/// In dB. Higher scores also meet the goal, but can be improved.
struct Goal {
  double least = 0;
  double most = 0;
  bool rises = false;  ///< scores rise with the bound
};

/// Finds the bound whose score just reaches a goal, by secants in its logarithm.
class BoundSearch {
 public:
  BoundSearch(const Goal& goal, double first_bound, int steps);

  double bound() const;
  /// Adds the score of bound(); infinite if lossless.
  void add(double score);
  bool done() const { return steps_ == 0; }

  /// Bound of the lowest score that meets the goal.
  std::optional<double> best() const;

 private:
  struct Tried {
    double log_bound;
    double score;
  };

  double next_log_bound(const Tried& tried) const;
  double slope() const;

  Goal goal_;
  double next_;  ///< logarithm
  int steps_;
  std::optional<Tried> last_;    ///< finite score
  std::optional<Tried> before_;  ///< the one before
  std::optional<Tried> met_;     ///< nearest to the goal
  std::optional<Tried> missed_;  ///< likewise
};

}  // namespace cuszi
