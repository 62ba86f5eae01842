#include "tests/support/frame_codec.hpp"

namespace cuszi::test {

namespace {

struct SplitFrame {
  Bytes header;
  Bytes payload;
};

SplitFrame split(Bytes frame) {
  if (frame.size() < frame_prefix_bytes) throw ArchiveError("a frame is truncated");
  const ByteCount header = read_frame_prefix(frame.first(frame_prefix_bytes));
  const Bytes rest = frame.subspan(frame_prefix_bytes);
  if (header > rest.size()) throw ArchiveError("a frame is truncated");
  return {rest.first(header), rest.subspan(header)};
}

}  // namespace

BoundedFrame compress(Backend& backend, const FrameTask& task, Bytes values) {
  StepTimes times;
  const LoadedFrame loaded =
      load_frame(backend, task.config, task.shape, values, task.fills, times);
  const double range = loaded.scan.max - loaded.scan.min;
  const double bound = task.mode == ErrorMode::relative ? task.bound * range : task.bound;
  return {compress_frame(backend, task.config, loaded, 0, bound, times), bound};
}

FrameHeader read_header(const FrameShape& shape, Bytes frame) {
  return read_frame_header(split(frame).header, shape.dims, shape.dtype);
}

std::vector<std::byte> restore(Backend& backend, const FrameShape& shape, Bytes frame) {
  const FrameHeader header = read_header(shape, frame);
  std::vector<std::byte> values(shape.bytes());
  StepTimes times;
  decompress_frame(backend, shape, header, split(frame).payload, values, times);
  return values;
}

}  // namespace cuszi::test
