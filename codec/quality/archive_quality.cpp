#include "codec/quality/archive_quality.hpp"

#include "codec/archive/archive_reader.hpp"
#include "codec/field/field_source.hpp"

namespace cuszi {

FrameComparison::FrameComparison(QualityMeter& meter, FieldSource& original, Backends& backends)
    : meter_(meter) {
  if (backends.device() != nullptr) prefetcher_.emplace(*backends.device(), original, false);
}

void FrameComparison::expect(std::uint64_t i) {
  if (prefetcher_) prefetcher_->expect(i);
}

void FrameComparison::add(const RestoredFrame& frame, const Selection& shown) {
  if (frame.there == nullptr) {
    meter_.add(frame.index, shown, frame.values, frame.bounds);
  } else if (frame.bounds != nullptr) {
    prefetcher_.value().frame(frame.index, *frame.there);
    std::vector<std::byte> values(frame.values.size());
    frame.there->copy(frame.values, values);
    meter_.add(frame.index, shown, values, frame.bounds);
  } else {
    const FrameValues original = prefetcher_.value().frame(frame.index, *frame.there);
    meter_.add(frame.index, *frame.there, original.bytes(), frame.values);
  }
}

QualityMeter measure_archive(Backends& backends, ByteSource& archive, FieldSource& field,
                             const IsoValues& isovalues, CallTimes& times, Measures measures,
                             const std::function<void(ByteCount)>& measured) {
  ArchiveReader reader(archive);
  const FieldCuts& plan = reader.header().plan;
  const ArchiveHeader& header = reader.header();
  QualityMeter meter(field, {header.fills, isovalues}, header.value_bound(), measures);
  FrameComparison comparison(meter, field, backends);
  comparison.expect(0);
  FrameUsers users;
  users.look = [&](const RestoredFrame& frame) {
    comparison.add(frame, {plan.frame_dims(frame.index)});
    measured(frame.values.size());
  };
  restore_field(backends, reader, times, users);
  return meter;
}

}  // namespace cuszi
