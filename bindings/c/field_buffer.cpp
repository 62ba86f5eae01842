#include <fmt/format.h>

#include "bindings/c/single_call.hpp"
#include "codec/frames/device_memory.hpp"
#include "core/base/error.hpp"

namespace cuszi::api {

FieldBuffer::FieldBuffer(MutableBytes memory, DType dtype, const Preview& part)
    : memory_(memory),
      dtype_(dtype),
      part_(part),
      on_device_(device_of(memory.data()).has_value()) {}

FrameUsers FieldBuffer::users() {
  FrameUsers users;
  users.use = [this](std::uint64_t i, MutableBytes values) {
    copy_memory(values, place(i, 0, values.size()));
  };
  const FrameMemory in_place = [this](std::uint64_t i, ByteCount size) {
    return aligned_place(i, size);
  };
  if (on_device_) {
    users.device_place = in_place;
  } else {
    users.place = in_place;
  }
  users.use_part = [this](std::uint64_t i, ByteCount offset, MutableBytes values) {
    copy_memory(values, place(i, offset, values.size()));
  };
  return users;
}

void FieldBuffer::require_room() const {
  const ByteCount needed = part_.dims().count() * size_of(dtype_);
  if (needed <= memory_.size()) return;
  throw OutputError(fmt::format("values has {} bytes; {} of {} needs {}", memory_.size(),
                                part_.dims().to_string(), name_of(dtype_), needed));
}

MutableBytes FieldBuffer::place(std::uint64_t index, ByteCount offset, ByteCount size) const {
  require_room();
  return memory_.subspan(part_.points_before(index) * size_of(dtype_) + offset, size);
}

/// Empty if not aligned.
MutableBytes FieldBuffer::aligned_place(std::uint64_t index, ByteCount size) const {
  const MutableBytes frame = place(index, 0, size);
  const auto address = reinterpret_cast<std::uintptr_t>(frame.data());
  return address % size_of(dtype_) == 0 ? frame : MutableBytes{};
}

}  // namespace cuszi::api
