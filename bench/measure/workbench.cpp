#include "bench/measure/workbench.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <stdlib.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include "codec/frames/frame_scheduler.hpp"
#include "core/base/error.hpp"

namespace cuszi {

namespace {

[[noreturn]] void fail(const std::string& folder, const char* what) {
  throw OutputError(fmt::format("a temporary file in {} cannot {}: {} (TMPDIR names the folder)",
                                folder, what, std::strerror(errno)));
}

std::string folder() {
  std::error_code no_such_folder;
  return std::filesystem::temp_directory_path(no_such_folder);
}

}  // namespace

ScratchFile::ScratchFile() {
  std::string name = folder() + "/cuszi.XXXXXX";
  file_ = FileDescriptor(::mkostemp(name.data(), O_CLOEXEC));
  if (!file_.is_open()) fail(folder(), "be created");
  ::unlink(name.c_str());
}

void ScratchFile::write(Bytes bytes) {
  if (!write_all(file_.get(), bytes)) fail(folder(), "be written");
}

void ScratchFile::write_at(ByteCount offset, Bytes bytes) {
  if (!parts_.write_at(file_.get(), offset, bytes)) fail(folder(), "be written");
}

std::string ScratchFile::path() const { return fmt::format("/proc/self/fd/{}", file_.get()); }

void Workbench::put(const FrameShape& shape, Bytes values, std::optional<AskedBounds> asked) {
  shape_ = shape;
  values_ = values;
  asked_ = std::move(asked);
  Transfer* const transfer = backend_.transfer();
  if (transfer == nullptr) return;
  const MutableBytes to = transfer->memory(buffer_for(DeviceBuffer::field, 0), values.size());
  backend_.copy(values, to);
  values_ = to;
}

void Workbench::copy(CallTimes& times) {
  restored_ = room(buffer_for(DeviceBuffer::restored, 0), restored_room_, shape_.bytes());
  times.measure([&] { backend_.copy(values_, restored_); });
}

FrameReport Workbench::compress(const FieldSettings& settings, const ValueBound& bound,
                                CallTimes& times, const FrameAdvice& advice) {
  const auto allocate = [&](ByteCount size) {
    archive_ = room(buffer_for(DeviceBuffer::archive, 0), archive_room_, size);
    return archive_;
  };
  std::optional<AskedBounds> asked = asked_;
  return times.measure([&] {
    LoadedFrame frame =
        load_frame(backend_, settings.frame, shape_, Bytes(values_), settings.fills, times.steps());
    frame.asked = std::move(asked);
    if (settings.needs_range()) times.steps().measure("scan", [&] { frame.scan(); });
    FrameReport report = compress_frame(backend_, settings.frame, std::move(frame), bound,
                                        {allocate, 0, advice}, times.steps());
    backend_.synchronize();
    return report;
  });
}

std::optional<FrameBoundsByPlace> Workbench::bounds(const FrameHeader& header) const {
  return bounds_of_frame(backend_, shape_, header, archive().last(header.payload_bytes()));
}

void Workbench::restore(const FrameShape& shape, Bytes archive, CallTimes& times) {
  restored_ = room(buffer_for(DeviceBuffer::restored, 0), restored_room_, shape.bytes());
  times.measure([&] { decompress_frame(backend_, shape, archive, restored_, times.steps()); });
}

Bytes Workbench::restored() {
  if (backend_.transfer() == nullptr) return restored_;
  const MutableBytes host = host_.resize(restored_.size());
  backend_.copy(restored_, host);
  return host;
}

CallTimes Workbench::synchronized_times() const {
  return CallTimes([&backend = backend_] { backend.synchronize(); });
}

/// In the backend's memory.
MutableBytes Workbench::room(std::size_t number, Buffer& on_host, ByteCount size) {
  Transfer* const transfer = backend_.transfer();
  return transfer != nullptr ? transfer->memory(number, size) : on_host.resize(size);
}

const CallTimes& Runs::median() {
  return median_of(
      runs_, [](const CallTimes& a, const CallTimes& b) { return a.seconds() < b.seconds(); });
}

}  // namespace cuszi
