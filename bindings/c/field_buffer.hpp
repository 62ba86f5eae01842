#pragma once

#include "codec/archive/field_codec.hpp"
#include "core/archive/preview.hpp"

namespace cuszi::api {

/// Memory of the caller's, the host's or a device's, that a part of a field is restored to.
class FieldBuffer {
 public:
  /// `part` is settled when the first frame comes.
  FieldBuffer(MutableBytes memory, DType dtype, const Preview& part);

  /// Throws OutputError if the settled part does not fit.
  void require_room() const;

  /// What puts each frame in its place; valid as long as this object.
  FrameUsers users();

 private:
  MutableBytes place(std::uint64_t index, ByteCount offset, ByteCount size) const;
  MutableBytes aligned_place(std::uint64_t index, ByteCount size) const;

  MutableBytes memory_;
  DType dtype_;
  const Preview& part_;
  bool on_device_;
};

}  // namespace cuszi::api
