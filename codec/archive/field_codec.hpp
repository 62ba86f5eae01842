#pragma once

#include <functional>
#include <optional>

#include "codec/archive/field_summary.hpp"
#include "codec/field/fill_watch.hpp"
#include "codec/frames/backend_choice.hpp"
#include "codec/frames/call_times.hpp"
#include "codec/io/byte_sink.hpp"
#include "codec/settings/settings.hpp"
#include "core/archive/archive.hpp"
#include "core/archive/preview.hpp"
#include "core/backend/backend.hpp"
#include "core/pipeline/pipeline.hpp"

namespace cuszi {

class ArchiveReader;
class ByteSource;
class FieldSource;

/// Header of an archive; a relative bound refers to `range`.
ArchiveHeader archive_header(DType dtype, const FieldCuts& plan, const FieldSettings& settings,
                             const ValueRange& range);

/// Bounds of frame `i` where they differ from the field's; `range` as for archive_header().
std::optional<AskedBounds> asked_of_frame(const FieldSettings& settings, const FieldCuts& plan,
                                          std::uint64_t i, const ValueRange& range);

FillWatch fill_watch_for(const FieldSettings& settings);

struct CompressionEvents {
  std::function<void(const LoadedFrame&)> frame_loaded;
  std::function<void()> frame_done = [] {};
};

struct CompressedField {
  ArchiveHeader header;
  ValueRange range;  ///< that a relative bound refers to
  FieldSummary summary;
  ByteCount archive_bytes = 0;
  std::vector<FillWarning> warnings = {};
};

/// Compresses a field. A relative bound of several frames takes two passes, the second from device
/// memory if the field fits. Devices overlap frames with input and output and share them, except
/// from a pipe; a failing one is dropped while others remain. Throws UsageError, before writing, if
/// the field lacks a forced axis.
CompressedField compress_field(Backends& backends, const FieldSettings& settings,
                               FieldSource& field, ByteSink& sink, CallTimes& times,
                               const CompressionEvents& events = {});
/// Compresses a field by one backend.
CompressedField compress_field(Backend& backend, const FieldSettings& settings, FieldSource& field,
                               ByteSink& sink, CallTimes& times,
                               const CompressionEvents& events = {});

/// Work of restoring an archive of random access, or one of its frames, by the method of its first
/// frame. Empty if the archive is damaged.
Workload restoration_of(ByteSource& archive, std::optional<std::uint64_t> frame = {}) noexcept;

/// Takes a restored frame; may change the values.
using FrameUser = std::function<void(std::uint64_t index, MutableBytes values)>;

/// Takes a part of a frame, from byte `offset`; may change it. Called concurrently, in any order,
/// and again if a device fails.
using PartUser = std::function<void(std::uint64_t index, ByteCount offset, MutableBytes values)>;

/// A restored frame in the memory of `there`.
struct RestoredFrame {
  std::uint64_t index;
  Bytes values;
  Backend* there;                              ///< null: host
  const FrameBoundsByPlace* bounds = nullptr;  ///< if not the field's
};

/// Inspects a frame before it is used; on a device, after its parts were used.
using FrameLook = std::function<void(const RestoredFrame&)>;

/// Provides memory for a frame; thread-safe. If empty, a FrameUser or PartUser takes the values.
using FrameMemory = std::function<MutableBytes(std::uint64_t index, ByteCount size)>;

/// Consumers of restored frames, called in frame order unless stated otherwise.
struct FrameUsers {
  FrameUser use = {};             ///< of frames in host memory
  PartUser use_part = {};         ///< replaces `use` for whole frames; concurrent
  FrameMemory place = {};         ///< in host memory
  FrameMemory device_place = {};  ///< in device memory
  FrameLook look = {};
  bool counts_exceptions = false;              ///< also outliers and patches
  std::optional<ByteCount> memory_limit = {};  ///< of all frames in flight

  /// Whether values may stay in device memory.
  bool may_stay_there() const { return !use || use_part || device_place; }
};

/// Restores all frames and checks the footer. Devices overlap frames with copies to the host and
/// share them; a failing one is dropped while others remain. Throws ArchiveError, possibly after
/// some frames were used, on damage or if a frame would exceed the memory limit; MemoryError if
/// memory runs out.
FieldSummary restore_field(Backends& backends, ArchiveReader& archive, CallTimes& times,
                           const FrameUsers& users);

/// Restores a field to host memory of its size, with at most `limit` bytes in flight. Throws as
/// restore_field().
void restore_values(Backends& backends, ArchiveReader& archive, CallTimes& times,
                    std::optional<ByteCount> limit, MutableBytes values);

/// Restores what `preview` selects and reads no more: given random access, only frames that meet
/// the box, and the first table for a stride. Frames without selected points are not used. Sets the
/// preview's axes. Throws as above.
FieldSummary restore_field(Backends& backends, ArchiveReader& archive, Preview& preview,
                           CallTimes& times, const FrameUsers& users);

/// Restores the selected part of frame `index`, which is the preview's plan. Sets `frame_bytes` to
/// its archived size.
FieldSummary restore_frame(Backends& backends, ArchiveReader& archive, std::uint64_t index,
                           Preview& preview, CallTimes& times, const FrameUsers& users,
                           ByteCount& frame_bytes);

}  // namespace cuszi
