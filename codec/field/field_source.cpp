#include "codec/field/field_source.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>

#include "core/base/bytes.hpp"
#include "core/base/error.hpp"
#include "cpu_ref/base/parallel.hpp"

namespace cuszi {

namespace {

/// Reads from `offset` by several threads: one is slower than memory, or than several disks.
std::size_t read_in_threads(const ByteSource& source, ByteCount offset, MutableBytes out) {
  constexpr ByteCount piece = ByteCount{1} << 24;
  std::atomic<std::size_t> got = 0;
  cpu::in_threads(ceil_div(out.size(), piece), [&](std::size_t i) {
    const ByteCount first = i * piece;
    got += source.read_at(offset + first, out.subspan(first, std::min(piece, out.size() - first)));
  });
  return got;
}

}  // namespace

FieldSource::FieldSource(std::unique_ptr<ByteSource> source, const FieldLayout& layout,
                         const FieldCuts& plan)
    : source_(std::move(source)), layout_(layout), plan_(plan) {
  const std::optional<ByteCount> size = source_->size();
  const ByteCount expected = layout.skip_bytes + layout.field_bytes();
  if (!size) return;
  if (*size == expected || (layout.may_go_on && *size > expected)) {
    hashes_.resize(plan.frames());
    return;
  }
  const std::string skipped =
      layout.skip_bytes == 0 ? "" : fmt::format(" after {} skipped", layout.skip_bytes);
  throw InputError(fmt::format(
      "{}: has {} bytes, but {} values of {} are {} bytes{}; check --dims, --type, --skip-bytes",
      source_->name(), *size, layout.dims.to_string(), name_of(layout.dtype), layout.field_bytes(),
      skipped));
}

void FieldSource::hold() {
  if (whole_) return;
  read(layout_.skip_bytes, buffer_.resize(layout_.field_bytes()));
  expect_end();
  whole_ = true;
  hashes_.resize(plan_.frames());
}

Bytes FieldSource::frame(std::uint64_t i) {
  const ByteCount offset = plan_.first_value(i) * size_of(layout_.dtype);
  const ByteCount size = frame_bytes(i);
  if (whole_) return buffer_.view().subspan(offset, size);
  if (const Bytes there = usable(source_->view(), i); !there.empty()) return there;
  if (held_ != i) {
    held_.reset();
    if (!take_ahead(i)) {
      read(layout_.skip_bytes + offset, buffer_.resize(size));
      if (offset + size == layout_.field_bytes()) expect_end();
    }
    if (source_->is_read_in_threads() && i + 1 < plan_.frames()) read_ahead(i + 1);
    if (!is_stream() && plan_.frames() > 1) recognise(i, block_hash(buffer_.view()));
    held_ = i;
  }
  return buffer_.view();
}

FrameValues FieldSource::take(std::uint64_t i) {
  const Bytes values = frame(i);
  if (!is_used_once_ || whole_ || held_ != i) return values;
  held_.reset();
  return {values, std::exchange(buffer_, {})};
}

bool FieldSource::take_ahead(std::uint64_t i) {
  if (!ahead_) return false;
  ahead_->reading.wait();
  if (ahead_->frame != i) return false;
  ahead_->frame.reset();
  std::swap(buffer_, ahead_->buffer);
  require_all(buffer_.view().size() - ahead_->got);
  to_native(buffer_.view(), layout_.dtype, layout_.byte_order);
  return true;
}

void FieldSource::read_ahead(std::uint64_t i) {
  if (!ahead_) ahead_ = std::make_unique<Ahead>();
  const MutableBytes values = ahead_->buffer.resize(frame_bytes(i));
  const ByteCount offset = layout_.skip_bytes + plan_.first_value(i) * size_of(layout_.dtype);
  ahead_->frame = i;
  ahead_->reading.start([source = source_.get(), ahead = ahead_.get(), offset, values] {
    ahead->got = source->read_at(offset, values);
  });
}

void FieldSource::recognise(std::uint64_t i, std::uint64_t hash) {
  if (!hashes_[i]) hashes_[i] = hash;
  if (hashes_[i] == hash) return;
  throw InputError(source_->name() + ": was changed while it was read; wait until it is written");
}

Bytes FieldSource::device_frame(std::uint64_t i) const { return usable(source_->device_view(), i); }

void FieldSource::read_part(std::uint64_t i, ByteCount offset, MutableBytes part) const {
  const ByteCount at = plan_.first_value(i) * size_of(layout_.dtype) + offset;
  if (whole_) {
    const Bytes values = Bytes(buffer_.view()).subspan(at, part.size());
    std::copy(values.begin(), values.end(), part.begin());
    return;
  }
  const std::size_t got = source_->read_at(layout_.skip_bytes + at, part);
  require_all(part.size() - got);
  to_native(part, layout_.dtype, layout_.byte_order);
}

/// Empty unless the values are usable in place: native byte order and aligned.
Bytes FieldSource::usable(Bytes all, std::uint64_t i) const {
  if (all.empty() || layout_.byte_order != ByteOrder::little) return {};
  const ByteCount offset = layout_.skip_bytes + plan_.first_value(i) * size_of(layout_.dtype);
  const Bytes values = all.subspan(offset, frame_bytes(i));
  const auto address = reinterpret_cast<std::uintptr_t>(values.data());
  return address % size_of(layout_.dtype) == 0 ? values : Bytes{};
}

void FieldSource::move_to(ByteCount offset) {
  if (source_->size()) {
    source_->seek(offset);
  } else if (offset < position_) {
    throw InputError(source_->name() + ": cannot be read twice; give a file instead of a pipe");
  } else {
    position_ += discard(*source_, offset - position_);
  }
}

void FieldSource::read(ByteCount offset, MutableBytes values) {
  std::size_t got = 0;
  if (source_->is_read_in_threads()) {
    got = read_in_threads(*source_, offset, values);
  } else {
    move_to(offset);
    got = source_->read(values);
    position_ += got;
  }
  require_all(values.size() - got);
  to_native(values, layout_.dtype, layout_.byte_order);
}

void FieldSource::require_all(ByteCount missing) const {
  if (missing == 0) return;
  throw InputError(fmt::format("{}: is {} bytes too short for dims {} of {}", source_->name(),
                               missing, layout_.dims.to_string(), name_of(layout_.dtype)));
}

void FieldSource::expect_end() {
  std::array<std::byte, 1> more{};
  if (!source_->size() && !layout_.may_go_on && source_->read(more) != 0) {
    throw InputError(fmt::format("{}: is longer than the {} bytes of dims {} of {}",
                                 source_->name(), layout_.skip_bytes + layout_.field_bytes(),
                                 layout_.dims.to_string(), name_of(layout_.dtype)));
  }
}

FieldSource open_field(const std::string& path, const FieldOptions& options,
                       std::optional<ByteCount> frame_bytes) {
  auto source = std::make_unique<FileSource>(path);
  const FieldLayout layout = layout_of(path, options, source->size());
  const FieldCuts plan = plan_frames(layout.dims, layout.dtype, frame_bytes);
  return {std::move(source), layout, plan};
}

}  // namespace cuszi
