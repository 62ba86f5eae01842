#include "codec/archive/archive_output.hpp"

namespace cuszi {

ArchiveOutput::ArchiveOutput(Backend& backend, ByteSink& sink, const ArchiveHeader& header,
                             std::size_t tracks)
    : sink_(sink),
      writer_(sink, header),
      transfer_(sink.takes_any_order() ? backend.transfer() : nullptr),
      tracks_(tracks) {}

ArchiveOutput::OutputRegion ArchiveOutput::take(ByteCount size) {
  OutputRegion region;
  if (sink_.takes_any_order()) {
    region.offset = writer_.set_aside_frame(size);
    region.memory = transfer_ != nullptr ? sink_.device_place(region.offset, size)
                                         : sink_.place(region.offset, size);
    region.is_there = !region.memory.empty();
    if (region.is_there) return region;
  }
  const std::uint64_t number = frames_++;
  region.memory = transfer_ != nullptr
                      ? transfer_->memory(buffer_for(DeviceBuffer::archive, number, tracks_), size)
                      : buffers_[number % (tracks_ + 1)].resize(size);
  return region;
}

void ArchiveOutput::send(const OutputRegion& region) {
  if (region.is_there) return;
  if (!sink_.takes_any_order()) {
    writer_.add_frame(region.memory);
    return;
  }
  writing_.start([this, region] {
    if (transfer_ == nullptr) return sink_.write_at(region.offset, region.memory);
    transfer_->download(region.memory, [&](ByteCount offset, MutableBytes piece) {
      sink_.write_at(region.offset + offset, piece);
    });
  });
}

ByteCount ArchiveOutput::finish() {
  writing_.wait();
  writer_.finish();
  return writer_.bytes_written();
}

}  // namespace cuszi
