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
class FieldSource;

/// The header of an archive of a field that is cut like this, whose relative bound, if it has one,
/// refers to `range`.
ArchiveHeader archive_header(DType dtype, const FieldCuts& plan, const FieldSettings& settings,
                             const ValueRange& range);

/// What a field's settings ask of the points of its `i`-th frame, besides the field's bound, if
/// anything. Relative bounds refer to `range`.
std::optional<AskedBounds> asked_of_frame(const FieldSettings& settings, const FieldCuts& plan,
                                          std::uint64_t i, const ValueRange& range);

/// Looks for values of a field with these settings that mean "missing" but are not named.
FillWatch fill_watch_for(const FieldSettings& settings);

/// What a caller may want to know while a field is being compressed.
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

/// Compresses a field to an archive. A relative bound of a field of several frames takes two
/// passes over it, the second from the device's memory if the field fits. With a device, several
/// frames are in work at a time, while the next one is read and the last one written. Throws
/// UsageError, before anything is written, if the field lacks the axis that the settings force.
/// Several devices share the frames, unless they come from a pipe; one that fails is given up.
CompressedField compress_field(Backends& backends, const FieldSettings& settings,
                               FieldSource& field, ByteSink& sink, CallTimes& times,
                               const CompressionEvents& events = {});
/// With one backend.
CompressedField compress_field(Backend& backend, const FieldSettings& settings, FieldSource& field,
                               ByteSink& sink, CallTimes& times,
                               const CompressionEvents& events = {});

/// Takes a restored frame, whose values it may change.
using FrameUser = std::function<void(std::uint64_t index, MutableBytes values)>;

/// Takes a part of a restored frame: `values` are those from byte `offset` of the frame on, and may
/// be changed. Called by several threads at once, in any order, and again for a frame that a device
/// has failed on.
using PartUser = std::function<void(std::uint64_t index, ByteCount offset, MutableBytes values)>;

/// The values of a restored frame, in the host's memory or in that of the device that has restored
/// them.
struct RestoredFrame {
  std::uint64_t index;
  Bytes values;
  Backend* there;                              ///< none: in the host's
  const FrameBoundsByPlace* bounds = nullptr;  ///< of its points, if they are not the field's
};

/// Looks at a restored frame before it is used; on a device, after its parts were.
using FrameLook = std::function<void(const RestoredFrame&)>;

/// Gives memory of `size` bytes for a frame's values; for several threads at once. Without such a
/// function, or where it gives none, a FrameUser or PartUser takes the values.
using FrameMemory = std::function<MutableBytes(std::uint64_t index, ByteCount size)>;

/// What is done with restored frames, in their order unless said otherwise.
struct FrameUsers {
  FrameUser use = {};              ///< with those that lie in the host's memory
  PartUser use_part = {};          ///< instead, beside other frames, if given and they are whole
  FrameMemory place = {};          ///< where frames are to be restored to by the host
  FrameMemory device_place = {};   ///< or by a device, in its memory
  FrameLook look = {};             ///< before they are used
  bool counts_exceptions = false;  ///< the summary has outliers and patches
  std::optional<ByteCount> memory_limit = {};  ///< of frames that are in work at a time

  /// Whether frames that a device restores may stay in its memory.
  bool may_stay_there() const { return !use || use_part || device_place; }
};

/// Restores all frames of an archive and checks its footer. A device has several frames in work at
/// a time; frames that are used part by part are copied to the host meanwhile. Several devices
/// share the frames; one that fails is given up. Throws ArchiveError, possibly after some frames
/// have been used, if the archive is damaged or a frame would take more memory than the limit; the
/// memory is not taken then. Throws MemoryError if the system lacks memory.
FieldSummary restore_field(Backends& backends, ArchiveReader& archive, CallTimes& times,
                           const FrameUsers& users);

/// Restores an archive's field to the host's memory, which has room for it. Frames in work take at
/// most `limit` bytes at a time, if there is a limit. Throws as restore_field() does.
void restore_values(Backends& backends, ArchiveReader& archive, CallTimes& times,
                    std::optional<ByteCount> limit, MutableBytes values);

/// Restores what a preview shows of an archive's field. Reads and checks no more of each frame than
/// the preview takes. In an archive that can be read in any order, only frames that meet the box
/// are read, and for a stride the table of the first one. Frames of which nothing is shown are not
/// used. Sets the axes along which `preview` is thinned, which follow from the first header. Throws
/// as the overload for all frames does.
FieldSummary restore_field(Backends& backends, ArchiveReader& archive, Preview& preview,
                           CallTimes& times, const FrameUsers& users);

/// Restores what `preview`, whose plan is this frame, shows of frame `index` of an archive. Sets
/// `frame_bytes` to the frame's size in the archive.
FieldSummary restore_frame(Backends& backends, ArchiveReader& archive, std::uint64_t index,
                           Preview& preview, CallTimes& times, const FrameUsers& users,
                           ByteCount& frame_bytes);

}  // namespace cuszi
