#include "codec/quality/archive_quality.hpp"

#include "codec/archive/archive_reader.hpp"
#include "codec/field/field_source.hpp"

namespace cuszi {

FrameComparison::FrameComparison(QualityMeter& meter, FieldSource& original, Backends& backends)
    : meter_(meter), device_(backends.device()) {
  const std::vector<Backend*> devices = backends.all_for_frames();
  for (std::uint64_t i = 0; i < devices.size(); ++i) {
    prefetchers_.try_emplace(devices[i]->transfer(), *devices[i], original, false, std::size_t{1},
                             FrameShare{i, devices.size()});
  }
}

FramePrefetcher& FrameComparison::prefetcher_for(Backend& user) {
  return prefetchers_.at(user.transfer());
}

void FrameComparison::expect(std::uint64_t i) {
  if (device_ != nullptr && meter_.measures() == Measures::errors)
    prefetcher_for(*device_).expect(i);
}

void FrameComparison::add(const RestoredFrame& frame, const Selection& shown) {
  if (frame.there == nullptr) return meter_.add(frame.index, shown, frame.values, frame.bounds);
  if (frame.bounds == nullptr && meter_.measures() == Measures::errors) {
    const FrameValues original = prefetcher_for(*frame.there).frame(frame.index, *frame.there);
    return meter_.add(*frame.there, original.bytes(), frame.values);
  }
  std::vector<std::byte> values(frame.values.size());
  frame.there->copy(frame.values, values);
  meter_.add(frame.index, shown, values, frame.bounds);
}

QualityMeter measure_archive(Backends& backends, ByteSource& archive, FieldSource& field,
                             const IsoValues& isovalues, CallTimes& times,
                             const std::function<void(ByteCount)>& measured) {
  ArchiveReader reader(archive);
  const FieldCuts& plan = reader.header().plan;
  const ArchiveHeader& header = reader.header();
  QualityMeter meter(field, {header.fills, isovalues}, header.value_bound());
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
