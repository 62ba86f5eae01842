#include "codec/archive/archive_output.hpp"

#include "codec/frames/frame_scheduler.hpp"
#include "core/archive/frame.hpp"

namespace cuszi {

ByteCount most_archive_bytes(const ArchiveHeader& header) {
  const std::uint64_t frames = header.plan.frames();
  const std::uint64_t points = header.plan.frame_dims(0).count();
  const ByteCount field_bytes = header.plan.dims.count() * size_of(header.dtype);
  // A stored frame is the largest.
  FrameHeader stored;
  stored.index = frames - 1;
  stored.missing = points;
  stored.levels.push_back({{{SectionId::raw, points * size_of(header.dtype)}}});
  constexpr ByteCount most_of_size = 10;  // footer entry
  return write_archive_header(header).size() + field_bytes + write_archive_footer({}).size() +
         frames * (write_frame_header(stored).size() + most_of_size);
}

ArchiveWriter::ArchiveWriter(ByteSink& sink, const ArchiveHeader& header) : sink_(sink) {
  write(write_archive_header(header));
}

void ArchiveWriter::add_frame(Bytes frame) {
  write(frame);
  frame_bytes_.push_back(frame.size());
}

ByteCount ArchiveWriter::set_aside_frame(ByteCount size) {
  frame_bytes_.push_back(size);
  written_ += size;
  return written_ - size;
}

void ArchiveWriter::finish() { write(write_archive_footer(frame_bytes_)); }

void ArchiveWriter::write(Bytes bytes) {
  if (sink_.takes_any_order()) {
    sink_.write_at(written_, bytes);
  } else {
    sink_.write(bytes);
  }
  written_ += bytes.size();
}

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
