#include "app/field_sample.hpp"

#include <algorithm>

#include "app/field_source.hpp"
#include "cpu_ref/metrics.hpp"

namespace cuszi::app {

namespace {

constexpr std::uint64_t small_field = std::uint64_t{1} << 21;  ///< points
constexpr std::uint64_t box_points = std::uint64_t{1} << 18;
constexpr std::uint64_t most_boxes = 8;

/// The box around the middle of an array of these dims, at `part` of `parts` along its longest
/// axis.
SampleBox crop(const FrameShape& frame, Bytes values, std::uint64_t part, std::uint64_t parts) {
  std::array<std::uint64_t, Dims::max_rank> extents{};
  const auto rank = static_cast<std::size_t>(frame.dims.rank());
  std::copy(frame.dims.extents().begin(), frame.dims.extents().end(), extents.begin());
  const std::span box(extents.data(), rank);
  while (Dims::make(box)->count() > box_points) {
    std::uint64_t& longest = *std::max_element(box.begin(), box.end());
    longest = (longest + 1) / 2;
  }
  SampleBox result{{frame.dtype, *Dims::make(box)}, {}};
  const ByteCount size = size_of(frame.dtype);
  result.values.reserve(result.shape.bytes());
  for (std::uint64_t i = 0; i < result.shape.points(); i += box.back()) {
    std::uint64_t left = i;
    std::uint64_t point = 0;
    std::uint64_t slice = 1;
    for (std::size_t axis = rank; axis-- > 0; left /= extents[axis]) {
      const std::uint64_t free = frame.dims.extents()[axis] - extents[axis];
      point += (free * (2 * part + 1) / (2 * parts) + left % extents[axis]) * slice;
      slice *= frame.dims.extents()[axis];
    }
    const Bytes row = values.subspan(point * size, box.back() * size);
    result.values.insert(result.values.end(), row.begin(), row.end());
  }
  return result;
}

}  // namespace

FieldSample take_sample(Backend& backend, const FieldSettings& settings, FieldSource& field) {
  FieldSample sample;
  const FramePlan& plan = field.plan();
  const DType dtype = field.layout().dtype;
  sample.whole = plan.frames() == 1 && plan.dims.count() <= small_field;
  const std::uint64_t boxes_per_frame = std::max<std::uint64_t>(most_boxes / plan.frames(), 1);
  const std::uint64_t frames_per_box = ceil_div(plan.frames(), most_boxes);
  for (std::uint64_t i = 0; i < plan.frames(); ++i) {
    const FrameShape shape{dtype, plan.frame_dims(i)};
    const Bytes values = field.frame(i);
    StepTimes times;
    const FieldScan scan =
        load_frame(backend, settings.frame, shape, values, settings.fills, times).scan;
    if (scan.missing < shape.points()) sample.range.add(scan.min, scan.max);
    if (sample.whole) {
      sample.boxes.push_back({shape, {values.begin(), values.end()}});
    } else if (i % frames_per_box == 0) {
      for (std::uint64_t part = 0; part < boxes_per_frame; ++part) {
        sample.boxes.push_back(crop(shape, values, part, boxes_per_frame));
      }
    }
  }
  return sample;
}

Trial try_on(const FieldSample& sample, Backend& backend, const FieldSettings& settings,
             bool measure) {
  Trial trial;
  StepTimes times;
  for (const SampleBox& box : sample.boxes) {
    const LoadedFrame loaded =
        load_frame(backend, settings.frame, box.shape, box.values, settings.fills, times);
    const CompressedFrame frame =
        compress_frame(backend, settings.frame, loaded, 0, settings.bound, times);
    trial.field_bytes += box.values.size();
    trial.archive_bytes += frame.bytes.size();
    if (!trial.method && frame.header.kind == FrameKind::coded) {
      trial.method = Method{frame.header.predictor.value(), id_of(frame.header.coder.value())};
    }
    if (!measure) continue;
    std::vector<std::byte> restored(box.values.size());
    const Bytes payload = Bytes(frame.bytes).last(frame.header.payload_bytes());
    decompress_frame(backend, box.shape, frame.header, payload, restored, times);
    trial.quality.merge(cpu::measure_quality(box.shape.dtype, box.values, restored, settings.fills,
                                             settings.bound));
  }
  trial.quality.min = sample.range.min;
  trial.quality.max = sample.range.max;
  return trial;
}

}  // namespace cuszi::app
