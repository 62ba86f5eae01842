#include "tests/support/archive_codec.hpp"

#include "codec/archive/archive_reader.hpp"
#include "codec/field/field_source.hpp"
#include "cpu_ref/session/cpu_backend.hpp"

namespace cuszi::test {

FieldSettings settings_of(const FrameTask& task) {
  FieldSettings settings;
  settings.bound = task.bound;
  settings.mode = task.mode;
  settings.share = task.share;
  settings.fills = task.fills;
  settings.frame = task.config;
  settings.places = task.places;
  return settings;
}

std::vector<std::byte> make_archive(Backend& backend, const FieldCuts& plan, DType dtype,
                                    Bytes values, const FieldSettings& settings) {
  FieldLayout layout;
  layout.dims = plan.dims;
  layout.dtype = dtype;
  FieldSource field(std::make_unique<MemorySource>(values), layout, plan);
  MemorySink archive;
  CallTimes times;
  compress_field(backend, settings, field, archive, times);
  return {archive.bytes().begin(), archive.bytes().end()};
}

std::vector<std::byte> make_archive(const Dims& dims, DType dtype, Bytes values,
                                    const FieldSettings& settings) {
  return make_archive(*cpu::make_backend(), plan_frames(dims, dtype, settings.frame_bytes, 1),
                      dtype, values, settings);
}

std::vector<std::byte> restore_archive(ByteSource& archive, const DeviceChoice& device) {
  ArchiveReader reader(archive);
  CallTimes times;
  std::vector<std::byte> values;
  Backends backends(device);
  const FrameUser append = [&](std::uint64_t, Bytes frame) {
    values.insert(values.end(), frame.begin(), frame.end());
  };
  restore_field(backends, reader, times, {append});
  return values;
}

std::vector<std::byte> restore_archive(Bytes archive, const DeviceChoice& device) {
  MemorySource source(archive);
  return restore_archive(source, device);
}

RestoredPreview restore_preview(ByteSource& archive, std::uint64_t stride, const Box& box) {
  ArchiveReader reader(archive);
  CallTimes times;
  Preview preview(reader.header().plan, stride, box);
  std::vector<std::byte> values;
  Backends backends(on_cpu);
  const FrameUser append = [&](std::uint64_t, Bytes frame) {
    values.insert(values.end(), frame.begin(), frame.end());
  };
  restore_field(backends, reader, preview, times, {append});
  return {preview.dims(), values, reader.bytes_read()};
}

std::vector<std::byte> thinned(Bytes values, ByteCount size, const Dims& dims, const Dims& shown,
                               std::uint64_t stride) {
  std::vector<std::byte> result;
  for (std::uint64_t i = 0; i < shown.count(); ++i) {
    std::uint64_t rest = i;
    std::uint64_t point = 0;
    std::uint64_t slice = 1;
    for (int axis = dims.rank() - 1; axis >= 0; --axis) {
      const std::uint64_t step = shown[axis] == dims[axis] ? 1 : stride;
      point += rest % shown[axis] * step * slice;
      rest /= shown[axis];
      slice *= dims[axis];
    }
    const Bytes value = values.subspan(point * size, size);
    result.insert(result.end(), value.begin(), value.end());
  }
  return result;
}

}  // namespace cuszi::test
