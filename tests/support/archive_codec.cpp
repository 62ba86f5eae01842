#include "tests/support/archive_codec.hpp"

#include "app/archive_reader.hpp"
#include "app/field_source.hpp"
#include "cpu_ref/cpu_backend.hpp"

namespace cuszi::test {

app::FieldSettings settings_of(const FrameTask& task) {
  app::FieldSettings settings;
  settings.bound = task.bound;
  settings.mode = task.mode;
  settings.fills = task.fills;
  settings.frame = task.config;
  return settings;
}

std::vector<std::byte> make_archive(const Dims& dims, DType dtype, Bytes values,
                                    const app::FieldSettings& settings) {
  app::FieldLayout layout;
  layout.dims = dims;
  layout.dtype = dtype;
  app::FieldSource field(std::make_unique<app::MemorySource>(values), layout,
                         plan_frames(dims, dtype, settings.frame_bytes));
  app::MemorySink archive;
  app::CallTimes times;
  app::compress_field(*cpu::make_backend(), settings, field, archive, times);
  return {archive.bytes().begin(), archive.bytes().end()};
}

std::vector<std::byte> restore_archive(app::ByteSource& archive) {
  app::ArchiveReader reader(archive);
  app::CallTimes times;
  std::vector<std::byte> values;
  app::Backends backends({app::DeviceChoice::Kind::cpu, 0});
  app::restore_field(backends, reader, times, [&](std::uint64_t, Bytes frame) {
    values.insert(values.end(), frame.begin(), frame.end());
  });
  return values;
}

std::vector<std::byte> restore_archive(Bytes archive) {
  app::MemorySource source(archive);
  return restore_archive(source);
}

RestoredPreview restore_preview(app::ByteSource& archive, std::uint64_t stride) {
  app::ArchiveReader reader(archive);
  app::CallTimes times;
  Preview preview(reader.header().plan, stride);
  std::vector<std::byte> values;
  app::Backends backends({app::DeviceChoice::Kind::cpu, 0});
  app::restore_field(backends, reader, preview, times, [&](std::uint64_t, Bytes frame) {
    values.insert(values.end(), frame.begin(), frame.end());
  });
  return {preview.dims(), values, reader.bytes_read()};
}

}  // namespace cuszi::test
