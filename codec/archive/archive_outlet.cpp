#include "codec/archive/archive_outlet.hpp"

namespace cuszi {

ArchiveOutlet::ArchiveOutlet(Backend& backend, ByteSink& sink, const ArchiveHeader& header,
                             std::size_t tracks)
    : sink_(sink),
      writer_(sink, header),
      transfer_(sink.takes_any_order() ? backend.transfer() : nullptr),
      tracks_(tracks) {}

ArchiveOutlet::Berth ArchiveOutlet::take(ByteCount size) {
  Berth berth;
  if (sink_.takes_any_order()) {
    berth.offset = writer_.set_aside_frame(size);
    berth.memory = transfer_ != nullptr ? sink_.device_place(berth.offset, size)
                                        : sink_.place(berth.offset, size);
    berth.is_there = !berth.memory.empty();
    if (berth.is_there) return berth;
  }
  const std::uint64_t number = frames_++;
  berth.memory = transfer_ != nullptr
                     ? transfer_->memory(buffer_for(DeviceBuffer::archive, number, tracks_), size)
                     : buffers_[number % (tracks_ + 1)].resize(size);
  return berth;
}

void ArchiveOutlet::send(const Berth& berth) {
  if (berth.is_there) return;
  if (!sink_.takes_any_order()) {
    writer_.add_frame(berth.memory);
    return;
  }
  draining_.start([this, berth] {
    if (transfer_ == nullptr) return sink_.write_at(berth.offset, berth.memory);
    transfer_->drain(berth.memory, [&](ByteCount offset, MutableBytes piece) {
      sink_.write_at(berth.offset + offset, piece);
    });
  });
}

ByteCount ArchiveOutlet::finish() {
  draining_.wait();
  writer_.finish();
  return writer_.bytes_written();
}

}  // namespace cuszi
