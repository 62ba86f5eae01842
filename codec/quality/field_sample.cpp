#include "codec/quality/field_sample.hpp"

#include <algorithm>

#include "codec/field/field_source.hpp"
#include "core/field/selection.hpp"
#include "cpu_ref/field/metrics.hpp"

namespace cuszi {

namespace {

// A quarter of the field, between these limits; likewise boxes.
constexpr std::uint64_t least_points = std::uint64_t{1} << 16;
constexpr std::uint64_t most_points = std::uint64_t{1} << 21;
constexpr std::uint64_t least_box = std::uint64_t{1} << 15;
constexpr std::uint64_t most_boxes = 8;

/// Disjoint boxes in frames.
struct SamplePlan {
  std::uint64_t box_points;
  std::uint64_t boxes_per_frame;
  std::uint64_t frames_per_box;

  static SamplePlan of(const FieldCuts& plan) {
    const std::uint64_t points = std::clamp(plan.dims.count() / 4, least_points, most_points);
    const std::uint64_t box_points = std::max(points / most_boxes, least_box);
    const std::uint64_t boxes = points / box_points;
    const std::uint64_t in_frame = ceil_div(plan.frame_dims(0).count(), box_points);
    return {box_points, std::clamp<std::uint64_t>(boxes / plan.frames(), 1, in_frame),
            plan.dims.count() <= points ? 1 : ceil_div(plan.frames(), boxes)};
  }
};

SampleBox crop(const FrameShape& frame, Bytes values, const SamplePlan& plan, std::uint64_t part) {
  const Selection box = box_of(frame.dims, plan.box_points, part, plan.boxes_per_frame);
  SampleBox result{{frame.dtype, box.dims()}, {}};
  result.values.resize(result.shape.bytes());
  pick(box, frame.dtype, values, result.values);
  return result;
}

}  // namespace

FieldSample take_sample(Backend& backend, const FieldSettings& settings, FieldSource& field) {
  FieldSample sample;
  const FieldCuts& plan = field.plan();
  const DType dtype = field.layout().dtype;
  const SamplePlan boxes = SamplePlan::of(plan);
  sample.whole = plan.frames() == 1 && plan.dims.count() <= least_points;
  for (std::uint64_t i = 0; i < plan.frames(); ++i) {
    const FrameShape shape{dtype, plan.frame_dims(i)};
    const Bytes values = field.frame(i);
    StepTimes times;
    const FieldScan scan =
        load_frame(backend, settings.frame, shape, values, settings.fills, times).scan();
    if (scan.missing < shape.points()) sample.range.add(scan.min, scan.max);
    if (sample.whole) {
      sample.boxes.push_back({shape, {values.begin(), values.end()}});
    } else if (i % boxes.frames_per_box == 0) {
      for (std::uint64_t part = 0; part < boxes.boxes_per_frame; ++part) {
        sample.boxes.push_back(crop(shape, values, boxes, part));
      }
    }
  }
  return sample;
}

SampleResult code_sample(const FieldSample& sample, Backend& backend, const FieldSettings& settings,
                         bool measure) {
  SampleResult result;
  StepTimes times;
  for (const SampleBox& box : sample.boxes) {
    LoadedFrame loaded =
        load_frame(backend, settings.frame, box.shape, Bytes(box.values), settings.fills, times);
    const CompressedFrame frame =
        compress_frame(backend, settings.frame, std::move(loaded), settings.bound, times);
    result.field_bytes += box.values.size();
    result.archive_bytes += frame.bytes.size();
    if (!result.method && frame.header.kind == FrameKind::coded) {
      result.method = Method{frame.header.predictor.value(), id_of(frame.header.coder.value())};
    }
    if (!measure) continue;
    std::vector<std::byte> restored(box.values.size());
    const Bytes payload = Bytes(frame.bytes).last(frame.header.payload_bytes());
    decompress_frame(backend, box.shape, frame.header, payload, restored, times);
    result.quality.merge(cpu::measure_quality(box.shape.dtype, box.values, restored,
                                              {settings.fills, {}}, settings.bound));
  }
  result.quality.min = sample.range.min;
  result.quality.max = sample.range.max;
  return result;
}

}  // namespace cuszi
