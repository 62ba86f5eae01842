#pragma once

#include <functional>
#include <map>

#include "codec/archive/field_codec.hpp"
#include "codec/frames/frame_prefetcher.hpp"
#include "codec/quality/quality_meter.hpp"

namespace cuszi {

class ByteSource;

/// Compares restored frames with those of an original where they lie: on a device in its memory, to
/// which the original's frames travel one ahead.
class FrameComparison {
 public:
  /// `meter` is one of `original`, frames are restored by one of these backends.
  FrameComparison(QualityMeter& meter, FieldSource& original, Backends& backends);

  /// Begins to bring the original's frame `i` to the first device, if there is one.
  void expect(std::uint64_t i);

  /// The next frame, of which these points are shown: all of them on a device.
  void add(const RestoredFrame& frame, const Selection& shown);

 private:
  FramePrefetcher& prefetcher_for(Backend& user);

  QualityMeter& meter_;
  Backend* device_;                                   ///< the first one, if there is any
  std::map<Transfer*, FramePrefetcher> prefetchers_;  ///< of each device
};

/// Restores an archive of a field and measures what has become of its values, also where
/// isovalues were to be kept. `measured` is told of the bytes of each frame.
QualityMeter measure_archive(
    Backends& backends, ByteSource& archive, FieldSource& field, const IsoValues& isovalues,
    CallTimes& times, Measures measures = Measures::errors_and_fidelity,
    const std::function<void(ByteCount)>& measured = [](ByteCount) {});

}  // namespace cuszi
