#pragma once

#include "bindings/hdf5/chunk_settings.hpp"
#include "codec/files/container.hpp"

namespace cuszi {

/// See ChunkSettings.
inline hdf5::ChunkSettings::Numbers filter_numbers(const FilteredVariable& filtered) {
  hdf5::ChunkSettings settings;
  const ValueBound& bound = filtered.bound;
  constexpr int modes[] = {CUSZI_ABS, CUSZI_PWREL, CUSZI_ABS_OR_PWREL, CUSZI_ABS_AND_PWREL};
  settings.mode = modes[static_cast<std::size_t>(bound.kind)];
  settings.bound = settings.mode == CUSZI_PWREL ? bound.share : bound.bound;
  if (settings.has_share()) settings.share = bound.share;
  settings.preset = filtered.preset;
  for (const double fill : filtered.variable.fills) settings.add_fill(fill);
  settings.isovalues = filtered.variable.isovalues;
  return settings.write();
}

}  // namespace cuszi
