#include "app/field_source.hpp"

#include <fmt/format.h>

#include <array>

#include "core/error.hpp"

namespace cuszi::app {

FieldSource::FieldSource(std::unique_ptr<ByteSource> source, const FieldLayout& layout,
                         const FramePlan& plan)
    : source_(std::move(source)), layout_(layout), plan_(plan) {
  const std::optional<ByteCount> size = source_->size();
  const ByteCount expected = layout.skip_bytes + layout.field_bytes();
  if (!size || *size == expected) return;
  const std::string skipped =
      layout.skip_bytes == 0 ? "" : fmt::format(" after {} skipped", layout.skip_bytes);
  throw InputError(fmt::format(
      "{}: has {} bytes, but {} values of {} are {} bytes{}; check --dims, --type, --skip-bytes",
      source_->name(), *size, layout.dims.to_string(), name_of(layout.dtype), layout.field_bytes(),
      skipped));
}

void FieldSource::hold() {
  if (whole_) return;
  move_to(layout_.skip_bytes);
  read(buffer_.resize(layout_.field_bytes()));
  expect_end();
  whole_ = true;
}

Bytes FieldSource::frame(std::uint64_t i) {
  const ByteCount value_size = size_of(layout_.dtype);
  const ByteCount offset = plan_.first_value(i) * value_size;
  const ByteCount size = plan_.frame_dims(i).count() * value_size;
  if (whole_) return buffer_.view().subspan(offset, size);
  if (held_ != i) {
    held_.reset();
    move_to(layout_.skip_bytes + offset);
    read(buffer_.resize(size));
    if (offset + size == layout_.field_bytes()) expect_end();
    held_ = i;
  }
  return buffer_.view();
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

void FieldSource::read(MutableBytes values) {
  const std::size_t got = source_->read(values);
  position_ += got;
  if (got < values.size()) {
    throw InputError(fmt::format("{}: ends {} bytes before its dims {} of {} are filled",
                                 source_->name(), values.size() - got, layout_.dims.to_string(),
                                 name_of(layout_.dtype)));
  }
  to_native(values, layout_.dtype, layout_.byte_order);
}

void FieldSource::expect_end() {
  std::array<std::byte, 1> more{};
  if (!source_->size() && source_->read(more) != 0) {
    throw InputError(fmt::format("{}: goes on after the {} bytes that its dims {} of {} take",
                                 source_->name(), layout_.skip_bytes + layout_.field_bytes(),
                                 layout_.dims.to_string(), name_of(layout_.dtype)));
  }
}

FieldSource open_field(const std::string& path, const FieldOptions& options,
                       ByteCount frame_bytes) {
  auto source = std::make_unique<FileSource>(path);
  const FieldLayout layout = layout_of(path, options, source->size());
  const FramePlan plan = plan_frames(layout.dims, layout.dtype, frame_bytes);
  return {std::move(source), layout, plan};
}

}  // namespace cuszi::app
