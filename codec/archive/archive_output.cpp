#include "codec/archive/archive_output.hpp"

#include "codec/frames/device_buffers.hpp"

namespace cuszi {

ArchiveOutput::OutputRegion ArchiveOutput::take(std::uint64_t i, ByteCount size, const Track& track,
                                                std::size_t number) {
  OutputRegion region;
  if (sink_.takes_any_order()) {
    region.offset = place_of(i, size);
    region.transfer = track.backend->transfer();
    region.memory = region.transfer != nullptr ? sink_.device_place(region.offset, size)
                                               : sink_.place(region.offset, size);
    region.is_there = !region.memory.empty();
    if (region.is_there) return region;
  }
  Pair& own = buffers_[number];
  region.memory =
      region.transfer != nullptr
          ? region.transfer->memory(buffer_for(DeviceBuffer::archive, track.place), size)
          : own.buffers[own.turn++ % 2].resize(size);
  return region;
}

ByteCount ArchiveOutput::place_of(std::uint64_t i, ByteCount size) {
  const std::scoped_lock lock(mutex_);
  if (i == places_.size()) places_.push_back(writer_.set_aside_frame(size));
  return places_.at(i);
}

void ArchiveOutput::bring(const OutputRegion& region) {
  if (region.transfer == nullptr || region.is_there) return;
  region.transfer->download(region.memory, [&](ByteCount offset, MutableBytes piece) {
    sink_.write_at(region.offset + offset, piece);
  });
}

void ArchiveOutput::send(const OutputRegion& region) {
  if (region.transfer != nullptr || region.is_there) return;
  if (!sink_.takes_any_order()) {
    writer_.add_frame(region.memory);
    return;
  }
  writing_.start([this, region] { sink_.write_at(region.offset, region.memory); });
}

ByteCount ArchiveOutput::finish() {
  writing_.wait();
  writer_.finish();
  return writer_.bytes_written();
}

}  // namespace cuszi
