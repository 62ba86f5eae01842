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

}  // namespace cuszi
