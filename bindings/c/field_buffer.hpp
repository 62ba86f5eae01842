#pragma once

#include "codec/field_codec.hpp"
#include "core/preview.hpp"

namespace cuszi::api {

/// Memory of the caller's, the host's or a device's, that a field is restored to.
class FieldBuffer {
 public:
  /// `memory` has room for the field exactly.
  FieldBuffer(MutableBytes memory, const ArchiveHeader& header);

  /// What puts each frame in its place; valid as long as this object.
  FrameUsers users();

 private:
  MutableBytes place(std::uint64_t index, ByteCount offset, ByteCount size) const;
  MutableBytes aligned_place(std::uint64_t index, ByteCount size) const;

  MutableBytes memory_;
  const ArchiveHeader& header_;
  bool on_device_;
};

}  // namespace cuszi::api
