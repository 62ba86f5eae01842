#include "app/field_codec.hpp"

#include "app/archive_reader.hpp"
#include "app/archive_writer.hpp"
#include "app/buffer.hpp"
#include "app/field_source.hpp"

namespace cuszi::app {

namespace {

/// Loads frames into a backend, each time another one is asked for.
class FrameLoader {
 public:
  FrameLoader(Backend& backend, const FieldSettings& settings, FieldSource& field, CallTimes& times)
      : backend_(backend), settings_(settings), field_(field), times_(times) {}

  const LoadedFrame& load(std::uint64_t i) {
    if (loaded_ == i) return frame_;
    loaded_.reset();
    const FrameShape shape{field_.layout().dtype, field_.plan().frame_dims(i)};
    const Bytes values = field_.frame(i);
    times_.measure([&] {
      frame_ =
          load_frame(backend_, settings_.frame, shape, values, settings_.fills, times_.steps());
    });
    loaded_ = i;
    return frame_;
  }

 private:
  Backend& backend_;
  const FieldSettings& settings_;
  FieldSource& field_;
  CallTimes& times_;
  std::optional<std::uint64_t> loaded_;
  LoadedFrame frame_;
};

ValueRange scan_range(FrameLoader& frames, std::uint64_t count) {
  ValueRange range;
  for (std::uint64_t i = 0; i < count; ++i) {
    const LoadedFrame& frame = frames.load(i);
    if (frame.scan.missing < frame.shape.points()) range.add(frame.scan.min, frame.scan.max);
  }
  return range;
}

ArchiveHeader archive_header(const FieldSettings& settings, const FieldSource& field,
                             FrameLoader& frames) {
  ArchiveHeader header;
  header.dtype = field.layout().dtype;
  header.mode = settings.mode;
  header.bound_asked = settings.bound;
  header.fills = settings.fills;
  header.plan = field.plan();
  const ValueRange range = settings.needs_range() ? scan_range(frames, header.plan.frames())
                                                  : settings.range.value_or(ValueRange{});
  header.bound_absolute = absolute_bound(settings.bound, settings.mode, range);
  return header;
}

void restore(Backends& backends, const ArchiveFrame& frame, Buffer& buffer, CallTimes& times,
             FieldSummary& summary, const FrameUser& use) {
  const MutableBytes values = buffer.resize(frame.shape.bytes());
  Backend& backend = backends.for_frame(frame.header);
  times.measure([&] {
    decompress_frame(backend, frame.shape, frame.header, frame.payload, values, times.steps());
  });
  const Exceptions exceptions = count_exceptions(frame.header, frame.payload);
  summary.add(frame.header, frame.shape.points(), exceptions.outliers, exceptions.patches);
  use(frame.header.index, values);
}

}  // namespace

CompressedField compress_field(Backend& backend, const FieldSettings& settings, FieldSource& field,
                               ByteSink& sink, CallTimes& times, const CompressionEvents& events) {
  FrameLoader frames(backend, settings, field, times);
  CompressedField result;
  result.header = archive_header(settings, field, frames);
  ArchiveWriter writer(sink, result.header);
  for (std::uint64_t i = 0; i < field.plan().frames(); ++i) {
    const LoadedFrame& loaded = frames.load(i);
    events.frame_loaded(loaded);
    const CompressedFrame frame = times.measure([&] {
      return compress_frame(backend, settings.frame, loaded, i, result.header.bound_absolute,
                            times.steps());
    });
    result.summary.add(frame.header, loaded.shape.points(), frame.outliers, frame.patches);
    writer.add_frame(frame.bytes);
    events.frame_done();
  }
  writer.finish();
  result.archive_bytes = writer.bytes_written();
  return result;
}

FieldSummary restore_field(Backends& backends, ArchiveReader& archive, CallTimes& times,
                           const FrameUser& use) {
  FieldSummary summary;
  Buffer buffer;
  for (std::uint64_t i = 0; i < archive.frames(); ++i) {
    restore(backends, archive.next_frame(), buffer, times, summary, use);
  }
  archive.finish();
  return summary;
}

FieldSummary restore_frame(Backends& backends, ArchiveReader& archive, std::uint64_t index,
                           CallTimes& times, const FrameUser& use, ByteCount& frame_bytes) {
  FieldSummary summary;
  Buffer buffer;
  const ArchiveFrame frame = archive.frame(index);
  frame_bytes = frame.size();
  restore(backends, frame, buffer, times, summary, use);
  return summary;
}

}  // namespace cuszi::app
