#pragma once

#include <optional>

#include "codec/archive/field_codec.hpp"
#include "codec/field/field_name.hpp"
#include "codec/frames/backend_choice.hpp"
#include "codec/settings/target.hpp"
#include "cuszi/cuszi.h"

namespace cuszi::api {

// What stands in the API's structs, checked. Every function throws UsageError, naming the member,
// its value and what would be accepted.

/// Where and how a call works.
struct RunSettings {
  DeviceChoice device;
  std::optional<int> threads;
  void* stream = nullptr;
  std::optional<ByteCount> memory_limit;
};

/// The options as this version of the library knows them: the caller's may be shorter. No byte
/// behind those that it knows is read: longer ones are refused.
cuszi_options read_options(const cuszi_options* options);

RunSettings run_settings(const cuszi_options& options);
FieldSettings field_settings(const cuszi_options& options);
/// The target that the options ask for; nothing where they ask for a bound.
std::optional<Target> target_of(const cuszi_options& options);
/// A part of a field that is cut into frames by `plan`.
Preview preview_of(const cuszi_part* part, const FieldCuts& plan);
FieldLayout field_layout(const cuszi_field* field);

cuszi_field field_of(DType dtype, const Dims& dims);

}  // namespace cuszi::api
