#include "codec/archive_outlet.hpp"

#include "codec/device_buffers.hpp"

namespace cuszi {

ArchiveOutlet::ArchiveOutlet(Backend& backend, ByteSink& sink, const ArchiveHeader& header)
    : sink_(sink),
      writer_(sink, header),
      transfer_(sink.takes_any_order() ? backend.transfer() : nullptr) {}

MutableBytes ArchiveOutlet::take(ByteCount size) {
  const ByteCount place = writer_.bytes_written();
  frame_ = transfer_ != nullptr ? sink_.device_place(place, size) : sink_.place(place, size);
  in_place_ = !frame_.empty();
  if (in_place_) return frame_;
  const std::uint64_t number = frames_++;
  frame_ = transfer_ != nullptr ? transfer_->memory(buffer_for(DeviceBuffer::archive, number), size)
                                : buffers_[number % 2].resize(size);
  return frame_;
}

void ArchiveOutlet::send() {
  if (in_place_) {
    writer_.set_aside_frame(frame_.size());
    return;
  }
  if (!sink_.takes_any_order()) {
    writer_.add_frame(frame_);
    return;
  }
  const ByteCount place = writer_.set_aside_frame(frame_.size());
  draining_.start([this, place, frame = frame_] {
    if (transfer_ == nullptr) return sink_.write_at(place, frame);
    transfer_->drain(frame, [&](ByteCount offset, MutableBytes piece) {
      sink_.write_at(place + offset, piece);
    });
  });
}

ByteCount ArchiveOutlet::finish() {
  draining_.wait();
  writer_.finish();
  return writer_.bytes_written();
}

}  // namespace cuszi
