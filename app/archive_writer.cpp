#include "app/archive_writer.hpp"

namespace cuszi::app {

ArchiveWriter::ArchiveWriter(ByteSink& sink, const ArchiveHeader& header) : sink_(sink) {
  write(write_archive_header(header));
}

void ArchiveWriter::add_frame(Bytes frame) {
  write(frame);
  frame_bytes_.push_back(frame.size());
}

void ArchiveWriter::finish() { write(write_archive_footer(frame_bytes_)); }

void ArchiveWriter::write(Bytes bytes) {
  sink_.write(bytes);
  written_ += bytes.size();
}

}  // namespace cuszi::app
