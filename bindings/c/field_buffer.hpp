#pragma once

#include "codec/archive/field_codec.hpp"
#include "core/archive/preview.hpp"

namespace cuszi::api {

/// The caller's memory, host or device, for a part of a field.
class FieldBuffer {
 public:
  /// `part` may be incomplete until the first frame.
  FieldBuffer(MutableBytes memory, DType dtype, const Preview& part);

  /// Throws OutputError if the part does not fit.
  void require_room() const;

  /// Valid as long as this object.
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
