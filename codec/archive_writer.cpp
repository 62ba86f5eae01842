#include "codec/archive_writer.hpp"

namespace cuszi {

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
