#include "bench/measure/path_parts.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <stdlib.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <future>

#include "bench/measure/workbench.hpp"
#include "codec/frames/call_times.hpp"
#include "codec/frames/frame_scheduler.hpp"
#include "core/base/error.hpp"
#include "cpu_ref/base/thread_count.hpp"

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

namespace {

constexpr ByteCount piece_bytes = ByteCount{2} << 20;
constexpr unsigned most_threads = 16;

/// Exceeds the caches: a device's bytes also come from memory.
constexpr ByteCount source_bytes = ByteCount{256} << 20;

template <class Work>
double seconds_of(const Work& work) {
  const Stopwatch clock;
  work();
  return clock.seconds();
}

/// Calls use(at, size) for all pieces of `size` bytes, in `threads` threads.
template <class Use>
void in_pieces(ByteCount size, unsigned threads, const Use& use) {
  std::atomic<ByteCount> next = 0;
  const auto take_part = [&] {
    for (ByteCount at = 0; (at = next.fetch_add(piece_bytes)) < size;) {
      use(at, std::min(piece_bytes, size - at));
    }
  };
  std::vector<std::future<void>> parts(threads);
  for (std::future<void>& part : parts) part = std::async(std::launch::async, take_part);
  for (std::future<void>& part : parts) part.get();
}

unsigned many_threads() {
  return std::clamp(static_cast<unsigned>(usable_threads()), 1U, most_threads);
}

void read_frame(const FieldSource& field, std::uint64_t i) {
  in_pieces(field.frame_bytes(i), many_threads(), [&](ByteCount at, ByteCount size) {
    thread_local std::vector<std::byte> piece(piece_bytes);
    field.read_part(i, at, MutableBytes(piece).first(size));
  });
}

void send_frame(Transfer& transfer, const FieldSource& field, std::uint64_t i) {
  const std::size_t buffer = buffer_for(DeviceBuffer::field, 0);
  const MutableBytes to = transfer.memory(buffer, field.frame_bytes(i));
  transfer.upload(to, [](ByteCount /*offset*/, MutableBytes /*piece*/) {});
}

void write_file(Bytes source, ByteCount file_bytes, unsigned threads) {
  ScratchFile file;
  file.set_size(file_bytes);
  in_pieces(file_bytes, threads, [&](ByteCount at, ByteCount size) {
    file.write_at(at, source.subspan(at % source_bytes, size));
  });
}

}  // namespace

double PathParts::slowest_of_compress() const {
  return std::max({read_field, field_over_bus, write_archive});
}

double PathParts::slowest_of_decompress() const { return std::max(field_over_bus, write_field); }

PathParts measure_path_parts(Transfer& transfer, const FieldSource& field,
                             ByteCount archive_bytes) {
  const std::vector<std::byte> source(source_bytes, std::byte{1});
  PathParts parts;
  for (std::uint64_t i = 0; i < field.plan().frames(); ++i) {
    parts.read_field += seconds_of([&] { read_frame(field, i); });
    parts.field_over_bus += seconds_of([&] { send_frame(transfer, field, i); });
  }
  parts.write_archive = seconds_of([&] { write_file(source, archive_bytes, 1); });
  parts.write_field =
      seconds_of([&] { write_file(source, field.layout().field_bytes(), many_threads()); });
  return parts;
}

PathParts medians_of(const std::vector<PathParts>& runs) {
  const auto median = [&](double PathParts::*part) {
    std::vector<double> seconds(runs.size());
    std::ranges::transform(runs, seconds.begin(), part);
    return median_of(seconds);
  };
  return {median(&PathParts::read_field), median(&PathParts::field_over_bus),
          median(&PathParts::write_archive), median(&PathParts::write_field)};
}

}  // namespace cuszi
