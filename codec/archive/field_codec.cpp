#include "codec/archive/field_codec.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "codec/archive/amend.hpp"
#include "codec/archive/archive_output.hpp"
#include "codec/archive/archive_reader.hpp"
#include "codec/field/field_source.hpp"
#include "codec/frames/frame_prefetcher.hpp"
#include "codec/frames/frame_scheduler.hpp"
#include "codec/frames/track_times.hpp"
#include "core/base/growing_memory.hpp"
#include "core/field/stored_type.hpp"
#include "cpu_ref/base/thread_count.hpp"
#include "cpu_ref/base/thread_pool.hpp"

namespace cuszi {

namespace {

/// Beyond this, kept scans take more memory than frames.
constexpr std::uint64_t most_kept_scans = 4096;

/// Below this, waking threads costs more than it gains.
constexpr std::uint64_t fewest_for_threads = std::uint64_t{1} << 16;

/// Nullopt: all. With a device, threads mostly wait.
std::optional<int> threads_for(Backend& backend, std::uint64_t points) {
  const bool is_on_host = backend.transfer() == nullptr;
  return is_on_host && points < fewest_for_threads ? std::optional(1) : std::nullopt;
}

ByteCount largest_frame(const FieldCuts& plan, DType dtype) {
  return plan.largest_frame().count() * size_of(work_of(dtype));
}

std::string text_of(const FrameShape& shape) {
  return fmt::format("{} of {}", shape.dims.to_string(), name_of(shape.dtype));
}

class FieldCompressor {
 public:
  FieldCompressor(std::span<Backend* const> devices, DeviceLoss lost, const FieldSettings& settings,
                  FieldSource& field, CallTimes& times)
      : settings_(settings),
        field_(field),
        tracks_(side_by_side(devices, field.is_stream() ? 1 : frames(),
                             largest_frame(field.plan(), field.layout().dtype))),
        scheduler_(tracks_, std::move(lost)),
        brought_(scheduler_.count()),
        times_(times, scheduler_.count()),
        watch_(fill_watch_for(settings)) {
    for (std::size_t device = 0; device < scheduler_.devices(); ++device) {
      const auto count = std::ranges::count(tracks_, device, &Track::device);
      prefetchers_.push_back(std::make_unique<FramePrefetcher>(
          *devices[device], field, settings.needs_range(), static_cast<std::size_t>(count),
          FrameShare{device, scheduler_.devices()}));
    }
  }

  std::size_t tracks() const { return scheduler_.count(); }

  ArchiveHeader header() {
    range_ = settings_.needs_range() ? scan() : settings_.range.value_or(ValueRange{});
    return archive_header(field_.layout().dtype, field_.plan(), settings_, range_);
  }

  FieldSummary compress(const ValueBound& bound, ArchiveOutput& output,
                        const CompressionEvents& events) {
    FieldSummary summary;
    run([&](const FrameTicket& ticket) {
      LoadedFrame loaded = only_ ? *std::exchange(only_, {}) : load(ticket, true);
      loaded.asked = asked_of_frame(settings_, field_.plan(), ticket.frame(), range_);
      ticket.in_order(FrameStep::look, [&] {
        watch_.look_at(loaded, ordinary_magnitude(ticket, bound));
        if (events.frame_loaded) events.frame_loaded(loaded);
      });
      const std::uint64_t points = loaded.shape.points();
      const ThreadsScope threads(threads_for(*track_of(ticket).backend, points));
      ArchiveOutput::OutputRegion region;
      const Allocate allocate = [&](ByteCount size) {
        ticket.again_in_order(FrameStep::place, [&] {
          region = output.take(ticket.frame(), size, track_of(ticket), ticket.track());
        });
        return region.memory;
      };
      const FrameReport frame = times_.measure(ticket, [&](StepTimes& steps) {
        return compress_frame(*track_of(ticket).backend, settings_.frame, std::move(loaded), bound,
                              {allocate, ticket.frame(), advice_for(ticket)}, steps);
      });
      output.bring(region);
      ticket.in_order(FrameStep::end, [&] {
        summary.add(frame.header, points, frame.outliers, frame.patches);
        output.send(region);
        events.frame_done();
      });
    });
    return summary;
  }

  /// Valid once the header is written.
  const ValueRange& range() const { return range_; }

  std::vector<FillWarning> warnings() const { return watch_.warnings(); }

 private:
  std::uint64_t frames() const { return field_.plan().frames(); }

  const Track& track_of(const FrameTicket& ticket) const { return tracks_[ticket.track()]; }

  void run(const FrameScheduler::Work& work) {
    const auto bring = [&](const FrameTicket& ticket) {
      if (only_) return;
      const Track& track = track_of(ticket);
      brought_[ticket.track()] =
          prefetchers_[track.device]->frame(ticket.frame(), *track.backend, track.place);
    };
    scheduler_.run(frames(), bring, work);
  }

  /// A single frame stays loaded.
  ValueRange scan() {
    ValueRange range;
    if (frames() > 1 && frames() <= most_kept_scans) scans_.resize(frames());
    run([&](const FrameTicket& ticket) {
      LoadedFrame frame = load(ticket, false);
      const FieldScan& scan = frame.scan();
      ticket.in_order(FrameStep::end, [&] {
        if (scan.missing < frame.shape.points()) range.add(scan.min, scan.max);
      });
      if (!scans_.empty()) scans_[ticket.frame()] = scan;
      if (frames() == 1) only_ = std::move(frame);
    });
    return range;
  }

  /// Later frames start from the first one's method.
  FrameAdvice advice_for(const FrameTicket& ticket) {
    if (frames() == 1) return {};
    if (ticket.frame() == 0) {
      return {{}, [this, &ticket](const ChosenMethod& chosen) {
                ticket.in_order(FrameStep::choose, [&] { first_choice_ = chosen; });
              }};
    }
    return {[this, &ticket] {
              ticket.await_first(FrameStep::choose);
              return first_choice_ ? &*first_choice_ : nullptr;
            },
            {}};
  }

  /// Magnitude below which a device frame is not checked for fill values, because the check waits
  /// for the device.
  double ordinary_magnitude(const FrameTicket& ticket, const ValueBound& bound) const {
    const bool on_host = track_of(ticket).backend->transfer() == nullptr;
    return on_host || bound.goes_with_values() ? 0 : ordinary_bounds * bound.bound;
  }

  /// Scans the frame unless it can be coded without.
  LoadedFrame load(const FrameTicket& ticket, bool bound_is_known) {
    const std::uint64_t i = ticket.frame();
    const FrameShape shape{field_.layout().dtype, field_.plan().frame_dims(i)};
    Backend& backend = *track_of(ticket).backend;
    const ThreadsScope threads(threads_for(backend, shape.points()));
    FrameValues values = std::exchange(brought_[ticket.track()], {});
    return times_.measure(ticket, [&](StepTimes& steps) {
      LoadedFrame frame =
          load_frame(backend, settings_.frame, shape, std::move(values), settings_.fills, steps,
                     scans_.empty() ? std::nullopt : scans_[i]);
      if (!bound_is_known || settings_.fills.count != 0 || settings_.range_counts()) {
        steps.measure("scan", [&] { frame.scan(); });
      }
      return frame;
    });
  }

  const FieldSettings& settings_;
  FieldSource& field_;
  std::vector<Track> tracks_;
  FrameScheduler scheduler_;
  std::vector<std::unique_ptr<FramePrefetcher>> prefetchers_;  ///< per device
  std::vector<FrameValues> brought_;                           ///< per track
  TrackTimes times_;
  std::vector<std::optional<FieldScan>> scans_;  ///< from the first pass
  ValueRange range_;
  std::optional<LoadedFrame> only_;
  std::optional<ChosenMethod> first_choice_;
  FillWatch watch_;
};

/// Frames used in parts are copied to the host in the background.
class FrameRestorer {
 public:
  FrameRestorer(Backends& backends, ArchiveReader& archive, Preview& preview, CallTimes& times,
                const FrameUsers& users, std::uint64_t frames)
      : archive_(archive),
        preview_(preview),
        users_(users),
        frames_(frames),
        devices_(backends.all_for_frames()),
        tracks_(side_by_side(devices_, frames,
                             largest_frame(archive.header().plan, archive.header().dtype))),
        scheduler_(tracks_,
                   [this, &backends](std::size_t device, const std::string& why) {
                     backends.lose(*devices_[device], why);
                   }),
        times_(times, scheduler_.count()),
        places_(scheduler_.count()) {
    if (users_.may_stay_there() || archive.is_in_memory()) archive.leave_payloads();
  }

  void amend_with(const AmendedPoints& points) { amended_ = &points; }

  /// Nullopt skips the frame.
  using ReadFrame =
      std::function<std::optional<ArchiveFrame>(std::uint64_t i, const LevelsWanted& wanted)>;

  FieldSummary run(const ReadFrame& read) {
    scheduler_.run(frames_, [&](const FrameTicket& ticket) {
      Need need;
      try {
        ticket.in_order(FrameStep::start, [&] { read_head(ticket.frame(), read, need); });
        if (const std::shared_ptr<const Head> head = head_of(ticket.frame())) {
          restore(ticket, job_for(ticket, *head));
        }
      } catch (const std::bad_alloc&) {
        throw MemoryError("not enough memory: " + need.text());
      }
    });
    writing_.wait();
    return summary_;
  }

 private:
  /// Memory to restore a frame, for error messages.
  struct Need {
    std::uint64_t frame = 0;
    FrameShape shape = {};
    ByteCount bytes = 0;

    std::string text() const {
      return fmt::format("frame {} ({}) needs about {} bytes to restore", frame, text_of(shape),
                         bytes);
    }
  };

  struct Head {
    ArchiveFrame frame;
    std::optional<FramePreview> shown;  ///< nullopt: not shown
  };

  struct Job {
    const ArchiveFrame& frame;
    const std::optional<FramePreview>& shown;
    const Track& track;
    Transfer* transfer = nullptr;  ///< null: to host memory
    MutableBytes values = {};
    bool in_place = false;                          ///< in the user's memory
    std::optional<FrameBoundsByPlace> bounds = {};  ///< for frame checks

    Backend& backend() const { return *track.backend; }
    bool is_whole() const { return shown && shown->shown.all(); }
  };

  struct HostPlace {
    Buffer payload;
    Buffer values[2];  ///< double buffer
    std::size_t turn = 0;
  };

  void read_head(std::uint64_t i, const ReadFrame& read, Need& need) {
    auto head = std::make_shared<Head>();
    auto frame = read(i, [&](const ArchiveFrame& table) {
      head->shown = what_is_shown(i, table);
      if (!head->shown) return std::size_t{0};
      need = {table.header.index, table.shape,
              restoring_bytes(table.shape, table.header, *head->shown)};
      require_memory(need);
      return head->shown->levels;
    });
    if (!frame) return;
    head->frame = *std::move(frame);
    const std::scoped_lock lock(mutex_);
    heads_[i] = std::move(head);
  }

  std::shared_ptr<const Head> head_of(std::uint64_t i) {
    const std::scoped_lock lock(mutex_);
    const auto head = heads_.find(i);
    return head == heads_.end() ? nullptr : head->second;
  }

  void forget(std::uint64_t i) {
    const std::scoped_lock lock(mutex_);
    heads_.erase(i);
  }

  Job job_for(const FrameTicket& ticket, const Head& head) {
    const Track& track = tracks_[ticket.track()];
    Job job{head.frame, head.shown, track};
    if (!job.shown) return job;
    const bool may_stay_there = users_.may_stay_there() && amended_ == nullptr;
    if (job.is_whole() && may_stay_there && !is_wide_integer(job.frame.shape.dtype))
      job.transfer = track.backend->transfer();
    const std::uint64_t index = job.frame.header.index;
    const ByteCount size = job.shown->shown.points() * size_of(job.frame.shape.dtype);
    const FrameMemory& place = job.transfer != nullptr ? users_.device_place : users_.place;
    if (place) job.values = place(index, size);
    job.in_place = !job.values.empty();
    if (!job.in_place) job.values = memory_for(ticket, size, job.transfer);
    return job;
  }

  void require_memory(const Need& need) const {
    if (!users_.memory_limit || need.bytes <= *users_.memory_limit / scheduler_.count()) return;
    throw ArchiveError(fmt::format("{}; the limit is {} for each frame in progress", need.text(),
                                   *users_.memory_limit / scheduler_.count()));
  }

  /// The first frame decides the axes.
  std::optional<FramePreview> what_is_shown(std::uint64_t i, const ArchiveFrame& frame) {
    if (!axes_chosen_) preview_.choose_axes(frame.shape.dims, frame.header);
    axes_chosen_ = true;
    const Selection wanted = preview_.of_frame(i);
    if (wanted.points() == 0) return std::nullopt;
    return FramePreview::of(frame.shape.dims, frame.header, wanted);
  }

  void restore(const FrameTicket& ticket, Job job) {
    const ArchiveFrame& frame = job.frame;
    const Bytes payload = payload_of(ticket, job);
    const ThreadsScope threads(threads_for(job.backend(), frame.shape.points()));
    if (job.shown) {
      times_.measure(ticket, [&](StepTimes& steps) {
        decompress_frame(job.backend(), frame.shape, frame.header, *job.shown, payload, job.values,
                         steps);
      });
      if (amended_ != nullptr) {
        amended_->put(archive_.header().plan.origin(frame.header.index),
                      preview_.of_frame(ticket.frame()), job.values);
      }
      if (users_.look) {
        job.bounds = bounds_of_frame(job.backend(), frame.shape, frame.header, payload);
      }
    }
    const Exceptions exceptions = users_.counts_exceptions
                                      ? count_exceptions(frame.header, payload, job.backend())
                                      : Exceptions{};
    take_from_device(job);
    ticket.in_order(FrameStep::end, [&] {
      if (job.shown) use(job);
      summary_.add(frame.header, frame.shape.points(), exceptions.outliers, exceptions.patches);
      forget(ticket.frame());
    });
  }

  bool is_used_in_parts(const Job& job) const {
    return job.is_whole() && !job.in_place && users_.use_part;
  }

  void take_from_device(const Job& job) const {
    if (job.transfer == nullptr || !is_used_in_parts(job)) return;
    job.transfer->download(job.values, [&](ByteCount offset, MutableBytes piece) {
      users_.use_part(job.frame.header.index, offset, piece);
    });
  }

  void use(const Job& job) {
    const std::uint64_t index = job.frame.header.index;
    const MutableBytes values = job.values;
    if (users_.look) {
      users_.look({index, values, job.transfer != nullptr ? &job.backend() : nullptr,
                   job.bounds ? &*job.bounds : nullptr});
    }
    if (job.in_place) return;
    if (!is_used_in_parts(job)) {
      if (users_.use) users_.use(index, values);
    } else if (job.transfer == nullptr) {
      writing_.start([this, index, values] { users_.use_part(index, 0, values); });
    }
  }

  MutableBytes memory_for(const FrameTicket& ticket, ByteCount size, Transfer* transfer) {
    const Track& track = tracks_[ticket.track()];
    if (transfer != nullptr) {
      return transfer->memory(buffer_for(DeviceBuffer::restored, track.place), size);
    }
    HostPlace& own = places_[ticket.track()];
    return own.values[own.turn++ % 2].resize(size);
  }

  /// To the device, if there is one.
  Bytes payload_of(const FrameTicket& ticket, const Job& job) {
    const ArchiveFrame& frame = job.frame;
    if (!frame.place) return frame.payload;
    if (const Bytes here = archive_.host_payload(frame); job.transfer == nullptr && !here.empty()) {
      return here;
    }
    const ByteCount size = frame.header.payload_bytes();
    const auto read = [&](ByteCount offset, MutableBytes piece) {
      archive_.read_payload(frame, offset, piece);
    };
    if (job.transfer == nullptr) {
      const MutableBytes payload = places_[ticket.track()].payload.resize(size);
      read(0, payload);
      return payload;
    }
    if (const Bytes there = archive_.device_payload(frame); !there.empty()) return there;
    const std::size_t buffer = buffer_for(DeviceBuffer::archive, job.track.place);
    const MutableBytes payload = job.transfer->memory(buffer, size);
    job.transfer->upload(payload, read);
    return payload;
  }

  ArchiveReader& archive_;
  Preview& preview_;
  const FrameUsers& users_;
  std::uint64_t frames_;
  std::vector<Backend*> devices_;
  std::vector<Track> tracks_;
  FrameScheduler scheduler_;
  TrackTimes times_;
  std::vector<HostPlace> places_;  ///< per track
  std::mutex mutex_;               ///< guards heads_
  std::map<std::uint64_t, std::shared_ptr<const Head>> heads_;
  bool axes_chosen_ = false;
  const AmendedPoints* amended_ = nullptr;  ///< null if not amended
  FieldSummary summary_;
  Task writing_;
};

/// Nullopt for a plain archive.
std::optional<AmendedPoints> amended_points(Backends& backends, ArchiveReader& archive,
                                            CallTimes& times, const FrameUsers& users) {
  if (!archive.amendment()) return std::nullopt;
  return AmendedPoints(archive, users.memory_limit, [&](ArchiveReader& inner, MutableBytes values) {
    restore_values(backends, inner, times, users.memory_limit, values);
  });
}

CompressedField compress_on(std::span<Backend* const> devices, DeviceLoss lost,
                            const FieldSettings& settings, FieldSource& field, ByteSink& sink,
                            CallTimes& times, const CompressionEvents& events) try {
  if (const auto& axes = settings.frame.predictor.multilevel.axes) {
    check_axes(*axes, field.plan().dims);
  }
  settings.places.check(field.plan().dims);
  check_type(field.layout().dtype, settings);
  FieldCompressor compressor(devices, std::move(lost), settings, field, times);
  CompressedField result;
  result.header = compressor.header();
  result.range = compressor.range();
  ArchiveOutput output(sink, result.header, compressor.tracks());
  result.summary = compressor.compress(result.header.value_bound(), output, events);
  result.archive_bytes = output.finish();
  result.warnings = compressor.warnings();
  return result;
} catch (const std::bad_alloc&) {
  const FrameShape largest{field.layout().dtype, field.plan().frame_dims(0)};
  throw MemoryError(fmt::format("not enough memory to compress frames of {} ({} bytes each)",
                                text_of(largest), largest_frame(field.plan(), largest.dtype)),
                    Setting::frame_size);
}

}  // namespace

ArchiveHeader archive_header(DType dtype, const FieldCuts& plan, const FieldSettings& settings,
                             const ValueRange& range) {
  ArchiveHeader header;
  header.dtype = dtype;
  header.mode = settings.mode;
  header.bound_asked = settings.bound;
  header.share_asked = settings.share;
  header.fills = settings.fills;
  header.plan = plan;
  header.bound_absolute = stored_bound(dtype, value_bound(settings.asked(), range)).absolute();
  return header;
}

std::optional<AskedBounds> asked_of_frame(const FieldSettings& settings, const FieldCuts& plan,
                                          std::uint64_t i, const ValueRange& range) {
  if (!settings.places.any()) return std::nullopt;
  return settings.places.of_frame(plan.dims, plan.frame_dims(i), plan.origin(i), [&](double bound) {
    return value_bound({bound, settings.mode}, range).bound;
  });
}

FillWatch fill_watch_for(const FieldSettings& settings) {
  return FillWatch(settings.fills, {settings.expected_fills, settings.fill_samples,
                                    settings.padding, settings.range_counts()});
}

CompressedField compress_field(Backends& backends, const FieldSettings& settings,
                               FieldSource& field, ByteSink& sink, CallTimes& times,
                               const CompressionEvents& events) {
  const std::vector<Backend*> devices = backends.all_for_config(settings.frame);
  const auto lost = [&](std::size_t device, const std::string& why) {
    backends.lose(*devices[device], why);
  };
  return compress_on(devices, lost, settings, field, sink, times, events);
}

CompressedField compress_field(Backend& backend, const FieldSettings& settings, FieldSource& field,
                               ByteSink& sink, CallTimes& times, const CompressionEvents& events) {
  Backend* const only[] = {&backend};
  return compress_on(only, {}, settings, field, sink, times, events);
}

Workload restoration_of(ByteSource& archive, std::optional<std::uint64_t> frame) noexcept try {
  Workload work;
  ArchiveReader reader(archive);
  reader.leave_payloads();
  const FrameHeader first = reader.next_frame().header;
  const ArchiveHeader& header = reader.header();
  const std::uint64_t values = frame && *frame < reader.frames()
                                   ? header.plan.frame_dims(*frame).count()
                                   : header.plan.dims.count();
  work.add_restoration(values * size_of(header.dtype),
                       first.predictor ? id_of(*first.predictor) : PredictorId::multilevel);
  if (first.is_packed()) work.needs_device = "Bitcomp";
  return work;
} catch (const std::exception&) {
  return {};  // restoring reports it
}

FieldSummary restore_field(Backends& backends, ArchiveReader& archive, CallTimes& times,
                           const FrameUsers& users) {
  Preview whole(archive.header().plan, 1);
  return restore_field(backends, archive, whole, times, users);
}

void restore_values(Backends& backends, ArchiveReader& archive, CallTimes& times,
                    std::optional<ByteCount> limit, MutableBytes values) {
  const ArchiveHeader& header = archive.header();
  FrameUsers users;
  users.place = [&](std::uint64_t i, ByteCount size) {
    return values.subspan(header.plan.first_value(i) * size_of(header.dtype), size);
  };
  users.use = [&](std::uint64_t i, MutableBytes frame) {
    std::ranges::copy(frame, users.place(i, frame.size()).begin());
  };
  users.memory_limit = limit;
  restore_field(backends, archive, times, users);
}

FieldSummary restore_field(Backends& backends, ArchiveReader& archive, Preview& preview,
                           CallTimes& times, const FrameUsers& users) {
  const auto amended = amended_points(backends, archive, times, users);
  FrameRestorer restorer(backends, archive, preview, times, users, archive.frames());
  if (amended) restorer.amend_with(*amended);
  const bool leaves_out = preview.has_box() && archive.finds_frames();
  FieldSummary summary =
      restorer.run([&](std::uint64_t i, const LevelsWanted& wanted) -> std::optional<ArchiveFrame> {
        if (!leaves_out) return archive.next_frame(wanted);
        const bool chooses_axes = i == 0 && preview.stride() > 1;
        if (!chooses_axes && preview.of_frame(i).points() == 0) return std::nullopt;
        return archive.frame(i, wanted);
      });
  if (!leaves_out) archive.finish();
  return summary;
}

FieldSummary restore_frame(Backends& backends, ArchiveReader& archive, std::uint64_t index,
                           Preview& preview, CallTimes& times, const FrameUsers& users,
                           ByteCount& frame_bytes) {
  const auto amended = amended_points(backends, archive, times, users);
  FrameRestorer restorer(backends, archive, preview, times, users, 1);
  if (amended) restorer.amend_with(*amended);
  return restorer.run([&](std::uint64_t /*i*/, const LevelsWanted& wanted) {
    std::optional<ArchiveFrame> frame = archive.frame(index, wanted);
    frame_bytes = frame->size();
    return frame;
  });
}

}  // namespace cuszi
