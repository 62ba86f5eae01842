#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "core/archive/archive_draft.hpp"
#include "core/base/units.hpp"
#include "core/field/frame_shape.hpp"

namespace cuszi {

/// Where a call that the host does not wait for tells how it has ended: in memory that the device
/// reaches. What the numbers mean is up to the caller.
struct StreamReport {
  std::int32_t* status;  ///< none if nobody asks
  std::uint32_t number;  ///< of the call
  std::int32_t done;
  std::int32_t no_room;
  std::int32_t bad_archive;
};

/// A field in a device's memory on its way to an archive of one frame there, which `tiles` codes,
/// or which has the values as they are where that is smaller or some are no numbers.
struct StreamEncoding {
  void* stream;  ///< of the device
  FrameShape shape;
  const ArchiveDraft& draft;
  double bound;  ///< absolute, above 0
  const std::byte* values;
  MutableBytes archive;         ///< room for it
  std::uint64_t* archive_size;  ///< is set, to 0 after a failure
  StreamReport report;
};

/// An archive as a StreamEncoding makes it on its way to values.
struct StreamDecoding {
  void* stream;
  FrameShape shape;
  const ArchiveDraft& draft;  ///< of the same field; mode and bounds of its header do not matter
  const std::byte* archive;
  const std::uint64_t* archive_size;
  std::byte* values;
  StreamReport report;
};

/// Frames of `tiles` that a device codes in the order of the caller's streams, for which the host
/// does not wait. Streams must not be captured. Functions throw DeviceError.
class StreamCoder {
 public:
  StreamCoder() = default;
  StreamCoder(const StreamCoder&) = delete;
  StreamCoder& operator=(const StreamCoder&) = delete;
  /// Waits.
  virtual ~StreamCoder() = default;

  virtual void encode(const StreamEncoding& frame) = 0;
  virtual void decode(const StreamDecoding& frame) = 0;

  /// Waits for all that was given to streams.
  virtual void wait() = 0;

  /// What waits, in any thread, for all that was given to streams before.
  virtual std::function<void()> mark() = 0;

  /// The first call that is known to have failed since this was last called.
  struct Failure {
    std::uint32_t number;
    std::int32_t status;
  };
  virtual std::optional<Failure> take_failure() = 0;
};

}  // namespace cuszi
