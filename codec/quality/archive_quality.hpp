#pragma once

#include <functional>
#include <map>

#include "codec/archive/field_codec.hpp"
#include "codec/frames/frame_prefetcher.hpp"
#include "codec/quality/quality_meter.hpp"

namespace cuszi {

class ByteSource;

/// Compares in device memory if frames are there and only errors are measured; loads the original
/// one frame ahead.
class FrameComparison {
 public:
  /// `meter` measures against `original`.
  FrameComparison(QualityMeter& meter, FieldSource& original, Backends& backends);

  void expect(std::uint64_t i);

  /// On a device, all points are shown.
  void add(const RestoredFrame& frame, const Selection& shown);

 private:
  FramePrefetcher& prefetcher_for(Backend& user);

  QualityMeter& meter_;
  Backend* device_;                                   ///< the first, or null
  std::map<Transfer*, FramePrefetcher> prefetchers_;  ///< per device
};

/// Restores and measures an archive; also counts crossings of isovalues. `measured` gets each
/// frame's bytes.
QualityMeter measure_archive(
    Backends& backends, ByteSource& archive, FieldSource& field, const IsoValues& isovalues,
    CallTimes& times, const std::function<void(ByteCount)>& measured = [](ByteCount) {});

}  // namespace cuszi
