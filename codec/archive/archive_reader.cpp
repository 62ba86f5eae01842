#include "codec/archive/archive_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/base/bytes.hpp"
#include "core/base/error.hpp"

namespace cuszi {

namespace {

/// First read from a pipe of unknown length.
constexpr ByteCount first_step = ByteCount{1} << 20;

struct Truncated final : ArchiveError {
  using ArchiveError::ArchiveError;
};

Truncated truncated(const char* what) {
  Truncated error(fmt::format("{} is truncated", what));
  return error;
}

/// Memory grows with the bytes read, so that a false size costs nothing.
std::vector<std::byte> taken(ByteSource& source, ByteCount size, const char* what) {
  std::vector<std::byte> bytes;
  if (const auto total = source.size()) bytes.reserve(std::min(size, *total));
  while (bytes.size() < size) {
    const std::size_t before = bytes.size();
    const ByteCount step = std::min(size - before, std::max<ByteCount>(first_step, before));
    bytes.resize(before + step);
    if (source.read(MutableBytes(bytes).subspan(before)) < step) throw truncated(what);
  }
  return bytes;
}

void expect_nothing(ByteSource& source) {
  std::array<std::byte, archive_prefix_bytes> more{};
  const std::size_t count = source.read(more);
  if (count == 0) return;
  if (!source.size() && begins_archive(Bytes(more).first(count))) {
    throw ArchiveError("another member follows, which cannot be read from a pipe; name the file");
  }
  throw ArchiveError("unknown bytes follow the archive");
}

Bytes payload_in(Bytes archive, const ArchiveFrame& frame) {
  if (archive.empty()) return {};
  return archive.subspan(frame.place.value(), frame.header.payload_bytes());
}

}  // namespace

ArchiveReader::ArchiveReader(ByteSource& source, Claims claims) : source_(begin(source)) {
  read_header();
  if (!amendment_ && source_.size() && source_.device_view().empty()) find_members();
  if (claims == Claims::checked && source_.size() && members_.empty()) {
    expect_frames_in(std::max(end(), header_bytes_) - header_bytes_);
  }
}

ArchiveReader::ArchiveReader(ByteSource& source, ByteCount start)
    : start_(start), source_(begin(source)) {
  if (amendment_) throw ArchiveError("an amended archive is a member of another");
  read_header();
  expect_frames_in(end() - position_);
}

void ArchiveReader::read_header() {
  if (amendment_) {
    const std::vector<std::byte> prefix = take(archive_prefix_bytes, "the header");
    begin_ = take(read_archive_prefix(prefix), "the header");
  }
  header_ = read_archive_header(begin_);
  if (amendment_) check_amendment(*amendment_, header_);
  header_bytes_ = bytes_read_;
}

/// Throws ArchiveError if `bytes` cannot hold the claimed frames.
void ArchiveReader::expect_frames_in(ByteCount bytes) const {
  const ByteCount value_bytes = header_.plan.dims.count() * size_of(header_.dtype);
  if (can_be_frames(bytes, frames(), value_bytes)) return;
  throw Truncated(
      fmt::format("the header claims {} frames with {} bytes of values, more than the {} bytes "
                  "after it can hold (is it truncated?)",
                  frames(), value_bytes, bytes));
}

/// Returns the source of the rest. A piped amended archive is buffered: its values need its end.
ByteSource& ArchiveReader::begin(ByteSource& source) {
  std::array<std::byte, archive_prefix_bytes> prefix{};
  const std::size_t got = source.read(prefix);
  begin_ = taken(source, read_archive_prefix(Bytes(prefix).first(got)), "the header");
  bytes_read_ = got + begin_.size();
  position_ = start_ + bytes_read_;
  amendment_ = read_amended_header(begin_);
  if (!amendment_) return source;
  base_end_ = position_ + amendment_->base_bytes;
  if (source.size()) return source;
  piped_.assign(prefix.begin(), prefix.end());
  piped_.insert(piped_.end(), begin_.begin(), begin_.end());
  const std::vector<std::byte> rest = taken(source, amendment_->bytes(), "the amended archive");
  piped_.insert(piped_.end(), rest.begin(), rest.end());
  expect_nothing(source);
  whole_ = std::make_unique<MemorySource>(piped_);
  whole_->seek(position_);
  return *whole_;
}

/// Keeps nothing if there is a single whole member.
void ArchiveReader::find_members() {
  const ByteCount size = source_.size().value();
  std::vector<ArchiveMember> members = members_from_end(source_);
  if (members.empty()) members = walked_members();
  source_.seek(position_);
  if (members.empty()) return;
  is_whole_ = true;
  unfinished_bytes_ = size - members.back().end;
  if (members.size() == 1) return;
  header_ = stacked_header(members);
  for (const ArchiveMember& member : members) {
    const ByteCount bytes = member.end - member.frames_start;
    const FieldCuts& plan = member.header.plan;
    if (!can_be_frames(bytes, plan.frames(), plan.dims.count() * size_of(header_.dtype))) {
      throw ArchiveError("a member claims more values than its bytes can hold");
    }
    header_bytes_ += member.header_bytes();
  }
  header_bytes_ -= members.front().header_bytes();
  members_ = std::move(members);
}

/// Reads all tables and footers. Empty if the first member is damaged: reading it says how.
std::vector<ArchiveMember> ArchiveReader::walked_members() {
  const ByteCount size = source_.size().value();
  std::vector<ArchiveMember> members;
  for (ByteCount start = 0; start < size; start = members.back().end) {
    bool is_cut = false;
    std::string why;
    try {
      source_.seek(start);
      members.push_back(ArchiveReader(source_, start).walk());
      continue;
    } catch (const Truncated&) {
      is_cut = true;
    } catch (const ArchiveError& error) {
      why = error.what();
    }
    if (members.empty() || is_unfinished_member(source_, start, is_cut)) return members;
    throw ArchiveError(fmt::format("member {} at byte {}: {}", members.size(), start, why));
  }
  return members;
}

/// Returns the member's sizes.
ArchiveMember ArchiveReader::walk() {
  leave_payloads();
  const ByteCount frames_start = position_;
  while (next_ < frames()) next_frame([](const ArchiveFrame&) { return std::size_t{0}; });
  take_footer();
  return {header_, start_, frames_start, frame_bytes_, position_};
}

std::string ArchiveReader::unfinished_warning() const {
  if (unfinished_bytes_ == 0) return {};
  return fmt::format("the last {} bytes are an unfinished member, which is passed over",
                     unfinished_bytes_);
}

AmendmentParts ArchiveReader::read_amendment() {
  const Amendment& amendment = amendment_.value();
  const ByteCount before = position_;
  move_to(base_end_);
  AmendmentParts parts;
  parts.exact = take(amendment.exact_bytes, "the amended archive");
  parts.inner = take(amendment.inner_bytes, "the amended archive");
  expect_nothing(source_);
  if (block_hash(parts.exact) != amendment.exact_hash) {
    throw ArchiveError("the amendment's exact values are damaged (their checksum does not match)");
  }
  is_amendment_read_ = true;
  move_to(before);
  return parts;
}

ArchiveFrame ArchiveReader::next_frame(const LevelsWanted& wanted) {
  if (!members_.empty()) leave_member();
  const std::uint64_t first = member_ == 0 ? 0 : header_.plan.stack->first_frames[member_];
  ArchiveFrame frame;
  frame.shape = {header_.dtype, header_.plan.frame_dims(next_)};
  const ByteCount table = read_frame_prefix(take(frame_prefix_bytes, "a frame's table"));
  frame.header = read_frame_header(take(table, "a frame's table"), frame.shape.dims, header_.dtype);
  if (frame.header.index != next_ - first) {
    throw ArchiveError(
        fmt::format("found frame {} instead of frame {}", frame.header.index, next_ - first));
  }
  frame.header.index = next_;
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

/// After a member's last frame, goes on to the next member.
void ArchiveReader::leave_member() {
  if (next_ != header_.plan.stack->first_frames[member_ + 1]) return;
  take_footer();
  frame_bytes_.clear();
  const ArchiveMember& next = members_[++member_];
  if (position_ != next.start) throw ArchiveError("the footer does not match the frames");
  bytes_read_ += next.header_bytes();
  move_to(next.frames_start);
}

void ArchiveReader::take_footer() {
  const std::vector<std::byte> expected = write_archive_footer(frame_bytes_);
  if (take(expected.size(), "the footer") != expected) {
    throw ArchiveError("the footer does not match the frames");
  }
  footer_bytes_ += expected.size();
}

ByteCount ArchiveReader::finish() {
  take_footer();
  if (!amendment_) {
    skip(unfinished_bytes_);
    expect_nothing(source_);
  } else if (position_ != base_end_) {
    throw ArchiveError("the size of the amended archive's base does not match its header");
  } else if (!is_amendment_read_) {
    skip(amendment_->exact_bytes + amendment_->inner_bytes);
    expect_nothing(source_);
  }
  return footer_bytes_;
}

ArchiveFrame ArchiveReader::frame(std::uint64_t i, const LevelsWanted& wanted) {
  if (i >= frames()) {
    throw UsageError(
        fmt::format("there is no frame {}; the archive has frames 0 to {}", i, frames() - 1));
  }
  if (!source_.size()) {
    const auto none = [](const ArchiveFrame&) { return std::size_t{0}; };
    while (next_ < i) next_frame(none);
    return next_frame(wanted);
  }
  const FramePlace place = frame_places()[i];
  move_to(place.start);
  next_ = i;
  if (!members_.empty()) member_ = header_.plan.stack->field_of(i);
  ArchiveFrame frame = next_frame(wanted);
  if (frame.size() != place.bytes) throw ArchiveError("the footer does not match the frames");
  return frame;
}

void ArchiveReader::add_places(ByteCount start, const std::vector<ByteCount>& frame_bytes) {
  for (const ByteCount bytes : frame_bytes) {
    frame_places_.push_back({start, bytes});
    start += bytes;
  }
}

const std::vector<ArchiveReader::FramePlace>& ArchiveReader::frame_places() {
  if (!frame_places_.empty()) return frame_places_;
  for (const ArchiveMember& member : members_) {
    add_places(member.frames_start, member.frame_bytes);
    bytes_read_ += member.footer_bytes();
  }
  if (!members_.empty()) return frame_places_;
  if (amendment_ &&
      *source_.size() != base_end_ + amendment_->exact_bytes + amendment_->inner_bytes) {
    throw ArchiveError("the size of the amended archive does not match its header");
  }
  const ByteCount end = this->end();
  if (end < header_bytes_ + archive_trailer_bytes) throw ArchiveError("the archive is truncated");
  move_to(end - archive_trailer_bytes);
  const ByteCount footer = read_archive_trailer(take(archive_trailer_bytes, "the footer"));
  if (footer > end - header_bytes_) throw ArchiveError("the footer is larger than the archive");
  move_to(end - footer);
  const std::vector<ByteCount> sizes = read_archive_footer(take(footer, "the footer"));
  if (sizes.size() != frames()) throw ArchiveError("the footer does not match the frames");
  ByteCount left = end - footer - header_bytes_;
  for (const ByteCount size : sizes) {
    if (size > left) throw ArchiveError("the footer's frames are larger than the archive");
    left -= size;
  }
  if (left != 0) throw ArchiveError("the footer's frames are smaller than the archive");
  add_places(header_bytes_, sizes);
  return frame_places_;
}

void ArchiveReader::skip(ByteCount size) {
  if (source_.skip(size) < size) throw truncated("a frame");
  bytes_skipped_ += size;
  position_ += size;
}

std::vector<std::byte> ArchiveReader::take(ByteCount size, const char* what) {
  std::vector<std::byte> bytes = taken(source_, size, what);
  bytes_read_ += size;
  position_ += size;
  return bytes;
}

/// End of the readable part; requires a known size.
ByteCount ArchiveReader::end() const {
  const ByteCount all = source_.size().value() - unfinished_bytes_;
  return amendment_ ? std::min(base_end_, all) : all;
}

/// Skips `size` bytes, of which `wanted` are read later. Returns their position.
ByteCount ArchiveReader::leave(ByteCount wanted, ByteCount size, const char* what) {
  const ByteCount start = position_;
  if (end() < start || size > end() - start) throw truncated(what);
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
