#include "tests/support/frame_codec.hpp"

namespace cuszi::test {

std::optional<AskedBounds> FrameTask::asked() const {
  if (!places.any()) return std::nullopt;
  return places.of_frame(shape.dims, shape.dims, {}, [](double asked) { return asked; });
}

ValueBound bound_of(const FrameTask& task, double range) {
  if (task.mode == ErrorMode::relative) return task.bound * range;
  return value_bound({task.bound, task.mode, task.share}, {});
}

BoundedFrame compress(Backend& backend, const FrameTask& task, Bytes values) {
  StepTimes times;
  LoadedFrame loaded = load_frame(backend, task.config, task.shape, values, task.fills, times);
  const double range = loaded.scan().max - loaded.scan().min;
  const ValueBound bound = bound_of(task, range);
  loaded.asked = task.asked();
  return {compress_frame(backend, task.config, std::move(loaded), bound, times), bound};
}

CompressedFrame compress_at_once(Backend& backend, const FrameTask& task, const ValueBound& bound,
                                 Bytes values) {
  StepTimes times;
  LoadedFrame loaded = load_frame(backend, task.config, task.shape, values, task.fills, times);
  return compress_frame(backend, task.config, std::move(loaded), bound, times);
}

std::vector<std::byte> restore(Backend& backend, const FrameShape& shape, Bytes frame) {
  std::vector<std::byte> values(shape.bytes());
  StepTimes times;
  decompress_frame(backend, shape, frame, values, times);
  return values;
}

std::vector<std::byte> restored_or_refused(Backend& backend, const FrameShape& shape, Bytes frame) {
  try {
    return restore(backend, shape, frame);
  } catch (const ArchiveError&) {
    return {};
  }
}

Bytes payload_of(const CompressedFrame& frame) {
  return Bytes(frame.bytes).subspan(frame.bytes.size() - frame.header.payload_bytes());
}

std::vector<std::byte> with_payload(const CompressedFrame& frame, Bytes payload) {
  FrameHeader header = frame.header;
  const std::vector<std::uint64_t> hashes =
      host_hashes(cut_levels(header, header.levels.size(), payload));
  for (std::size_t i = 0; i < hashes.size(); ++i) header.levels[i].hash = hashes[i];
  std::vector<std::byte> bytes = write_frame_header(header);
  bytes.insert(bytes.end(), payload.begin(), payload.end());
  return bytes;
}

}  // namespace cuszi::test
