#pragma once

#include <functional>

#include "codec/field_codec.hpp"
#include "codec/quality_meter.hpp"

namespace cuszi {

class ByteSource;

/// Restores an archive of a field and measures what has become of its values. `measured` is told
/// of the bytes of each frame.
QualityMeter measure_archive(
    Backends& backends, ByteSource& archive, FieldSource& field, CallTimes& times,
    const std::function<void(ByteCount)>& measured = [](ByteCount) {});

/// The same without the fidelity. A field in a device's memory is compared there.
QualityMeter measure_errors(Backends& backends, ByteSource& archive, FieldSource& field,
                            CallTimes& times);

}  // namespace cuszi
