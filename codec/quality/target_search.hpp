#pragma once

#include "codec/archive/field_codec.hpp"
#include "codec/quality/bound_search.hpp"
#include "codec/settings/target.hpp"

namespace cuszi {

/// Scores that end the search for a target; a ratio's score is ten times its logarithm, too.
Goal goal_of(const Target& target);
double score_of(const Target& target, double reached);

/// Settings with an absolute bound that should reach the target, found by compressing samples of
/// the field (the field itself if it is small), and for a PSNR with the level-wise bounds and the
/// bound_over_half_step that take the fewest bits there. A field without a range is lossless.
FieldSettings settings_for(const Target& target, const FieldSettings& settings, Backend& backend,
                           FieldSource& field);

}  // namespace cuszi
