#include "app/frame_feed.hpp"

#include "app/device_buffers.hpp"
#include "app/field_source.hpp"

namespace cuszi::app {

FrameFeed::FrameFeed(Backend& backend, FieldSource& field)
    : field_(field), transfer_(field.is_stream() ? nullptr : backend.transfer()) {}

Bytes FrameFeed::frame(std::uint64_t i) {
  if (transfer_ == nullptr) return field_.frame(i);
  if (fetched_ != i) fetch(i);
  fetching_.wait();
  const Bytes values = values_;
  if (i + 1 < field_.plan().frames()) fetch(i + 1);
  return values;
}

void FrameFeed::fetch(std::uint64_t i) {
  fetched_.reset();
  fetching_.wait();
  const ByteCount size = field_.plan().frame_dims(i).count() * size_of(field_.layout().dtype);
  values_ = transfer_->memory(buffer_for(DeviceBuffer::field, i), size);
  fetching_.start([this, i, to = values_] {
    transfer_->fill(
        to, [&](ByteCount offset, MutableBytes piece) { field_.read_part(i, offset, piece); });
  });
  fetched_ = i;
}

}  // namespace cuszi::app
