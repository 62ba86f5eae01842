#include "codec/archive/archive_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/base/error.hpp"

namespace cuszi {

namespace {

/// How much is read at first from a pipe that cannot say how much it holds.
constexpr ByteCount first_step = ByteCount{1} << 20;

ArchiveError truncated(const char* what) {
  return ArchiveError(fmt::format("{} is truncated", what));
}

/// A frame's payload in the bytes of all the archive, if those are there.
Bytes payload_in(Bytes archive, const ArchiveFrame& frame) {
  if (archive.empty()) return {};
  return archive.subspan(frame.place.value(), frame.header.payload_bytes());
}

}  // namespace

ArchiveReader::ArchiveReader(ByteSource& source) : source_(source) {
  std::array<std::byte, archive_prefix_bytes> prefix{};
  const std::size_t got = source_.read(prefix);
  const ByteCount body = read_archive_prefix(Bytes(prefix).first(got));
  bytes_read_ = got;
  position_ = got;
  header_ = read_archive_header(take(body, "the header"));
  header_bytes_ = bytes_read_;
}

ArchiveFrame ArchiveReader::next_frame(const LevelsWanted& wanted) {
  ArchiveFrame frame;
  frame.shape = {header_.dtype, header_.plan.frame_dims(next_)};
  const ByteCount table = read_frame_prefix(take(frame_prefix_bytes, "a frame's table"));
  frame.header = read_frame_header(take(table, "a frame's table"), frame.shape.dims, header_.dtype);
  if (frame.header.index != next_) {
    throw ArchiveError(
        fmt::format("frame {} stands where frame {} should", frame.header.index, next_));
  }
  frame.table_bytes = frame_prefix_bytes + table;
  frame.payload_bytes = frame.header.payload_bytes();
  std::vector<LevelEntry>& levels = frame.header.levels;
  levels.resize(std::min(wanted(frame), levels.size()));
  if (leaves_payloads_) {
    frame.place = leave(frame.header.payload_bytes(), frame.payload_bytes, "a frame");
  } else {
    frame.payload = take(frame.header.payload_bytes(), "a frame");
    skip(frame.payload_bytes - frame.payload.size());
  }
  frame_bytes_.push_back(frame.size());
  ++next_;
  return frame;
}

ByteCount ArchiveReader::finish() {
  const std::vector<std::byte> expected = write_archive_footer(frame_bytes_);
  if (take(expected.size(), "the footer") != expected) {
    throw ArchiveError("the footer does not agree with the frames");
  }
  std::array<std::byte, 1> more{};
  if (source_.read(more) != 0) throw ArchiveError("unknown bytes follow the archive's footer");
  return expected.size();
}

ArchiveFrame ArchiveReader::frame(std::uint64_t i, const LevelsWanted& wanted) {
  if (i >= frames()) {
    throw UsageError(
        fmt::format("frame {} is not there; the archive has frames 0 to {}", i, frames() - 1));
  }
  if (!source_.size()) {
    const auto none = [](const ArchiveFrame&) { return std::size_t{0}; };
    while (next_ < i) next_frame(none);
    return next_frame(wanted);
  }
  const std::vector<ByteCount>& sizes = footer();
  ByteCount offset = header_bytes_;
  for (std::uint64_t before = 0; before < i; ++before) offset += sizes[before];
  move_to(offset);
  next_ = i;
  ArchiveFrame frame = next_frame(wanted);
  if (frame.size() != sizes[i]) throw ArchiveError("the footer does not agree with the frames");
  return frame;
}

const std::vector<ByteCount>& ArchiveReader::footer() {
  if (!footer_.empty()) return footer_;
  const ByteCount end = source_.size().value();
  if (end < header_bytes_ + archive_trailer_bytes) throw ArchiveError("the archive is truncated");
  move_to(end - archive_trailer_bytes);
  const ByteCount footer = read_archive_trailer(take(archive_trailer_bytes, "the footer"));
  if (footer > end - header_bytes_) throw ArchiveError("the footer claims more than the archive");
  move_to(end - footer);
  std::vector<ByteCount> sizes = read_archive_footer(take(footer, "the footer"), frames());
  ByteCount left = end - footer - header_bytes_;
  for (const ByteCount size : sizes) {
    if (size > left) throw ArchiveError("the footer's frames are larger than the archive");
    left -= size;
  }
  if (left != 0) throw ArchiveError("the footer's frames are smaller than the archive");
  footer_ = std::move(sizes);
  return footer_;
}

void ArchiveReader::skip(ByteCount size) {
  if (source_.skip(size) < size) throw truncated("a frame");
  bytes_skipped_ += size;
  position_ += size;
}

/// The next `size` bytes. Memory grows with what has been read, so that a false claim costs
/// nothing.
std::vector<std::byte> ArchiveReader::take(ByteCount size, const char* what) {
  std::vector<std::byte> bytes;
  const auto total = source_.size();
  if (total) bytes.reserve(std::min(size, *total));
  while (bytes.size() < size) {
    const std::size_t before = bytes.size();
    const ByteCount step = std::min(size - before, std::max<ByteCount>(first_step, before));
    bytes.resize(before + step);
    const std::size_t got = source_.read(MutableBytes(bytes).subspan(before));
    bytes_read_ += got;
    position_ += got;
    if (got < step) throw truncated(what);
  }
  return bytes;
}

/// Passes over the next `size` bytes, of which the first `wanted` will be read from where they
/// start.
ByteCount ArchiveReader::leave(ByteCount wanted, ByteCount size, const char* what) {
  const ByteCount start = position_;
  if (size > *source_.size() - start) throw truncated(what);
  bytes_read_ += wanted;
  bytes_skipped_ += size - wanted;
  move_to(start + size);
  return start;
}

void ArchiveReader::move_to(ByteCount position) {
  source_.seek(position);
  position_ = position;
}

Bytes ArchiveReader::host_payload(const ArchiveFrame& frame) const {
  return payload_in(source_.view(), frame);
}

Bytes ArchiveReader::device_payload(const ArchiveFrame& frame) const {
  return payload_in(source_.device_view(), frame);
}

void ArchiveReader::read_payload(const ArchiveFrame& frame, ByteCount offset,
                                 MutableBytes part) const {
  if (source_.read_at(frame.place.value() + offset, part) < part.size()) throw truncated("a frame");
}

}  // namespace cuszi
