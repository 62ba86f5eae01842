#include "codec/quality/target_passes.hpp"

#include <limits>
#include <utility>

#include "codec/field/field_source.hpp"
#include "codec/quality/target_search.hpp"

namespace cuszi {

namespace {

double reached_by(const TargetArchive& attempt, const Target& target, const FieldSource& field) {
  if (target.kind == Target::Kind::psnr) {
    return attempt.meter->quality().psnr().value_or(std::numeric_limits<double>::infinity());
  }
  return static_cast<double>(field.layout().field_bytes()) /
         static_cast<double>(attempt.result.archive_bytes);
}

bool is_better(const Target& target, double a, double b) {
  if (is_met(target, a) != is_met(target, b)) return is_met(target, a);
  return is_met(target, a) ? a < b : a > b;
}

}  // namespace

TargetArchive compress_to_target(const Target& target, const FieldSettings& settings,
                                 Backend& backend, FieldSource& field, const TargetPass& make) {
  FieldSettings tried = settings_for(target, settings, backend, field);
  BoundSearch search(goal_of(target), tried.bound, tried.bound == 0 ? 1 : most_target_passes);
  std::optional<TargetArchive> best;
  for (int pass = 1; !search.done(); ++pass) {
    tried.bound = search.bound();
    TargetArchive attempt = make(tried, pass);
    attempt.reached = reached_by(attempt, target, field);
    search.add(score_of(target, attempt.reached));
    if (!best || is_better(target, attempt.reached, best->reached)) best = std::move(attempt);
  }
  return std::move(*best);
}

}  // namespace cuszi
