#pragma once

#include "bindings/hdf5/chunk_settings.hpp"
#include "codec/files/container.hpp"

namespace cuszi {

/// The filter parameters for a variable (see ChunkSettings).
inline hdf5::ChunkSettings::Numbers filter_numbers(const FilteredVariable& filtered) {
  hdf5::ChunkSettings settings;
  settings.bound = filtered.bound.bound;
  settings.pointwise = filtered.bound.pointwise;
  settings.preset = filtered.preset;
  for (const double fill : filtered.variable.fills) settings.add_fill(fill);
  return settings.write();
}

}  // namespace cuszi
