#include "codec/archive/archive_writer.hpp"

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

}  // namespace cuszi
