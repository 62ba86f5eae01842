#include "bindings/c/field_buffer.hpp"

#include "codec/device_memory.hpp"

namespace cuszi::api {

FieldBuffer::FieldBuffer(MutableBytes memory, const ArchiveHeader& header)
    : memory_(memory), header_(header), on_device_(device_of(memory.data()).has_value()) {}

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

MutableBytes FieldBuffer::place(std::uint64_t index, ByteCount offset, ByteCount size) const {
  return memory_.subspan(header_.plan.first_value(index) * size_of(header_.dtype) + offset, size);
}

/// None where values cannot be worked on.
MutableBytes FieldBuffer::aligned_place(std::uint64_t index, ByteCount size) const {
  const MutableBytes frame = place(index, 0, size);
  const auto address = reinterpret_cast<std::uintptr_t>(frame.data());
  return address % size_of(header_.dtype) == 0 ? frame : MutableBytes{};
}

}  // namespace cuszi::api
