#include "codec/archive_quality.hpp"

#include "codec/archive_reader.hpp"
#include "codec/field_source.hpp"

namespace cuszi {

QualityMeter measure_archive(Backends& backends, ByteSource& archive, FieldSource& field,
                             CallTimes& times, const std::function<void(ByteCount)>& measured) {
  ArchiveReader reader(archive);
  QualityMeter meter(field, reader.header().fills, reader.header().bound_absolute);
  const FrameUser measure = [&](std::uint64_t i, Bytes values) {
    meter.add(i, values);
    measured(values.size());
  };
  restore_field(backends, reader, times, {measure});
  return meter;
}

QualityMeter measure_errors(Backends& backends, ByteSource& archive, FieldSource& field,
                            CallTimes& times) {
  ArchiveReader reader(archive);
  QualityMeter meter(field, reader.header().fills, reader.header().bound_absolute);
  FrameUsers users{[&](std::uint64_t i, MutableBytes values) { meter.add_errors(i, values); }};
  if (!field.device_frame(0).empty()) {
    users.use_there = [&](std::uint64_t i, Bytes values) { meter.add_errors_there(i, values); };
  }
  restore_field(backends, reader, times, users);
  return meter;
}

}  // namespace cuszi
