#include "codec/field_codec.hpp"

#include "codec/archive_outlet.hpp"
#include "codec/archive_reader.hpp"
#include "codec/background.hpp"
#include "codec/buffer.hpp"
#include "codec/device_buffers.hpp"
#include "codec/field_source.hpp"
#include "codec/frame_feed.hpp"

namespace cuszi {

namespace {

/// Loads frames into a backend, each time another one is asked for.
class FrameLoader {
 public:
  FrameLoader(Backend& backend, const FieldSettings& settings, FieldSource& field, CallTimes& times)
      : backend_(backend),
        settings_(settings),
        field_(field),
        feed_(backend, field, settings.needs_range()),
        times_(times) {}

  /// Frame `i`, for a bound if that is known.
  LoadedFrame& load(std::uint64_t i, std::optional<double> bound = {}) {
    if (loaded_ == i) return *frame_;
    loaded_.reset();
    frame_.reset();
    const FrameShape shape{field_.layout().dtype, field_.plan().frame_dims(i)};
    const Bytes values = feed_.frame(i);
    times_.measure([&] {
      frame_ = bound ? load_frame(backend_, settings_.frame, shape, values, settings_.fills, *bound,
                                  times_.steps())
                     : load_frame(backend_, settings_.frame, shape, values, settings_.fills,
                                  times_.steps());
    });
    loaded_ = i;
    return *frame_;
  }

 private:
  Backend& backend_;
  const FieldSettings& settings_;
  FieldSource& field_;
  FrameFeed feed_;
  CallTimes& times_;
  std::optional<std::uint64_t> loaded_;
  std::optional<LoadedFrame> frame_;
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

/// Restores frames so far as a preview shows them, in the order of its plan, and takes those that
/// are used part by part away in the background.
class FrameRestorer {
 public:
  FrameRestorer(Backends& backends, ArchiveReader& archive, Preview& preview, CallTimes& times,
                const FrameUsers& users)
      : backends_(backends), archive_(archive), preview_(preview), times_(times), users_(users) {
    if (may_stay_there() || archive.is_in_memory()) archive.leave_payloads();
  }

  /// How much of frame `i` of the plan is wanted, the first time of the first frame.
  LevelsWanted levels_wanted(std::uint64_t i) {
    return [this, i](const ArchiveFrame& frame) {
      if (!settled_) preview_.settle(frame.shape.dims, frame.header);
      settled_ = true;
      const Selection wanted = preview_.of_frame(i);
      shown_.reset();
      if (wanted.points() == 0) return std::size_t{0};
      shown_ = FramePreview::of(frame.shape.dims, frame.header, wanted);
      return shown_->levels;
    };
  }

  /// Restores the frame that was asked about last.
  void restore(const ArchiveFrame& frame) {
    const std::uint64_t index = frame.header.index;
    Backend& backend = backends_.for_frames();
    const bool whole = shown_ && shown_->shown.all();
    Transfer* const transfer = whole && may_stay_there() ? backend.transfer() : nullptr;
    const Bytes payload = payload_of(frame, transfer);
    const std::uint64_t points = shown_ ? shown_->shown.points() : 0;
    const ByteCount size = points * size_of(frame.shape.dtype);
    const FrameMemory& place = transfer != nullptr ? users_.device_place : users_.place;
    MutableBytes values = place && size != 0 ? place(index, size) : MutableBytes{};
    const bool in_place = !values.empty();
    if (!in_place) values = memory_for(index, size, transfer);
    if (shown_) {
      times_.measure([&] {
        decompress_frame(backend, frame.shape, frame.header, *shown_, payload, values,
                         times_.steps());
      });
    }
    const Exceptions exceptions =
        users_.counts_exceptions ? count_exceptions(frame.header, payload, backend) : Exceptions{};
    summary_.add(frame.header, frame.shape.points(), exceptions.outliers, exceptions.patches);
    if (!shown_ || in_place) return;
    if (transfer == nullptr && !(whole && users_.use_part)) {
      users_.use(index, values);
      return;
    }
    if (transfer != nullptr && users_.use_there) {
      users_.use_there(index, values);
      return;
    }
    draining_.start([this, index, transfer, values] {
      if (transfer == nullptr) return users_.use_part(index, 0, values);
      transfer->drain(values, [&](ByteCount offset, MutableBytes piece) {
        users_.use_part(index, offset, piece);
      });
    });
  }

  /// Waits for the last frame.
  FieldSummary finish() {
    draining_.wait();
    return summary_;
  }

 private:
  /// Whether frames that a device restores may stay in its memory.
  bool may_stay_there() const { return users_.use_part || users_.use_there || users_.device_place; }

  MutableBytes memory_for(std::uint64_t index, ByteCount size, Transfer* transfer) {
    return transfer != nullptr ? transfer->memory(buffer_for(DeviceBuffer::restored, index), size)
                               : buffers_[index % 2].resize(size);
  }

  /// Reads what was left in the archive, to the device if there is one and it is not there.
  Bytes payload_of(const ArchiveFrame& frame, Transfer* transfer) {
    if (!frame.place) return frame.payload;
    if (const Bytes here = archive_.host_payload(frame); transfer == nullptr && !here.empty()) {
      return here;
    }
    const ByteCount size = frame.header.payload_bytes();
    const auto read = [&](ByteCount offset, MutableBytes piece) {
      archive_.read_payload(frame, offset, piece);
    };
    if (transfer == nullptr) {
      read(0, payload_.resize(size));
      return payload_.view();
    }
    if (const Bytes there = archive_.device_payload(frame); !there.empty()) return there;
    const MutableBytes payload = transfer->memory(buffer_for(DeviceBuffer::archive, 0), size);
    transfer->fill(payload, read);
    return payload;
  }

  Backends& backends_;
  ArchiveReader& archive_;
  Preview& preview_;
  CallTimes& times_;
  const FrameUsers& users_;
  Buffer buffers_[2];  ///< of the host: one is filled while the other is taken away
  Buffer payload_;
  bool settled_ = false;  ///< the preview is
  std::optional<FramePreview> shown_;
  FieldSummary summary_;
  Background draining_;
};

}  // namespace

CompressedField compress_field(Backend& backend, const FieldSettings& settings, FieldSource& field,
                               ByteSink& sink, CallTimes& times, const CompressionEvents& events) {
  if (const auto& axes = settings.frame.predictor.multilevel.axes) {
    check_axes(*axes, field.plan().dims);
  }
  FrameLoader frames(backend, settings, field, times);
  CompressedField result;
  result.header = archive_header(settings, field, frames);
  ArchiveOutlet outlet(backend, sink, result.header);
  for (std::uint64_t i = 0; i < field.plan().frames(); ++i) {
    LoadedFrame& loaded = frames.load(i, result.header.bound_absolute);
    if (events.frame_loaded) events.frame_loaded(loaded);
    const std::uint64_t points = loaded.shape.points();
    const FrameReport frame = times.measure([&] {
      return compress_frame(
          backend, settings.frame, std::move(loaded), i, result.header.bound_absolute,
          [&](ByteCount size) { return outlet.take(size); }, times.steps());
    });
    result.summary.add(frame.header, points, frame.outliers, frame.patches);
    outlet.send();
    events.frame_done();
  }
  result.archive_bytes = outlet.finish();
  return result;
}

FieldSummary restore_field(Backends& backends, ArchiveReader& archive, CallTimes& times,
                           const FrameUsers& users) {
  Preview whole(archive.header().plan, 1);
  return restore_field(backends, archive, whole, times, users);
}

FieldSummary restore_field(Backends& backends, ArchiveReader& archive, Preview& preview,
                           CallTimes& times, const FrameUsers& users) {
  FrameRestorer restorer(backends, archive, preview, times, users);
  const bool leaves_out = preview.has_box() && archive.finds_frames();
  for (std::uint64_t i = 0; i < archive.frames(); ++i) {
    if (!leaves_out) {
      restorer.restore(archive.next_frame(restorer.levels_wanted(i)));
    } else if ((i == 0 && preview.stride() > 1) || preview.of_frame(i).points() != 0) {
      restorer.restore(archive.frame(i, restorer.levels_wanted(i)));
    }
  }
  if (!leaves_out) archive.finish();
  return restorer.finish();
}

FieldSummary restore_frame(Backends& backends, ArchiveReader& archive, std::uint64_t index,
                           Preview& preview, CallTimes& times, const FrameUsers& users,
                           ByteCount& frame_bytes) {
  FrameRestorer restorer(backends, archive, preview, times, users);
  const ArchiveFrame frame = archive.frame(index, restorer.levels_wanted(0));
  frame_bytes = frame.size();
  restorer.restore(frame);
  return restorer.finish();
}

}  // namespace cuszi
