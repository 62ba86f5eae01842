#pragma once

#include <optional>
#include <vector>

#include "codec/archive/field_codec.hpp"
#include "codec/frames/call_times.hpp"
#include "core/base/growing_memory.hpp"

namespace cuszi {

/// Compresses and restores single frames in the memory of a backend: no files, no transfers.
class Workbench {
 public:
  explicit Workbench(Backend& backend) : backend_(backend) {}

  Backend& backend() const { return backend_; }

  /// Brings in a frame, which must stay valid, to be compressed, whose points are to keep to these
  /// bounds, too.
  void put(const FrameShape& shape, Bytes values, std::optional<AskedBounds> asked = {});

  /// Copies the frame's values within the memory.
  void copy(CallTimes& times);

  /// Compresses the frame.
  FrameReport compress(const FieldSettings& settings, const ValueBound& bound, CallTimes& times,
                       const FrameAdvice& advice = {});

  /// The compressed frame, in the backend's memory.
  Bytes archive() const { return archive_; }

  /// The bounds of the points of what was compressed last, whose header this is.
  std::optional<FrameBoundsByPlace> bounds(const FrameHeader& header) const;

  /// Restores a frame of this shape, which may lie anywhere, from its header on.
  void restore(const FrameShape& shape, Bytes archive, CallTimes& times);

  /// The values restored last, in the host's memory.
  Bytes restored();

  /// Waits at the end of each step, so that its time can be told.
  CallTimes synchronized_times() const;

 private:
  MutableBytes room(std::size_t number, Buffer& on_host, ByteCount size);

  Backend& backend_;
  FrameShape shape_;
  Bytes values_;
  std::optional<AskedBounds> asked_;
  MutableBytes archive_;
  MutableBytes restored_;
  Buffer archive_room_;
  Buffer restored_room_;
  Buffer host_;
};

/// Runs of one kind of work.
class Runs {
 public:
  void add(CallTimes times) { runs_.push_back(std::move(times)); }

  /// The run that took the median time; the faster of two.
  const CallTimes& median();

 private:
  std::vector<CallTimes> runs_;
};

}  // namespace cuszi
