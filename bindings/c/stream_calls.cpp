#include "bindings/c/stream_calls.hpp"

#include <cstring>

#include "bindings/c/options.hpp"
#include "codec/archive/field_batch.hpp"
#include "codec/archive/field_codec.hpp"
#include "codec/frames/device_memory.hpp"

namespace cuszi::api {

namespace {

template <class T>
bool are_alike(const T& one, const T& other) {
  return std::memcmp(&one, &other, sizeof(T)) == 0;
}

/// Absolute; 0 if the host is needed.
double bound_of(const cuszi_options& options, const FieldSettings& settings) {
  if (options.verify != 0 || options.strict != 0 || !may_join_batch(settings) ||
      settings.places.any() || settings.needs_range()) {
    return 0;
  }
  return value_bound(settings.asked(), settings.range.value_or(ValueRange{})).absolute();
}

bool is_aligned(const void* values, DType dtype) {
  return reinterpret_cast<std::uintptr_t>(values) % size_of(dtype) == 0;
}

/// Whether kernels may make the call. The calls of a thread refuse streams in capture.
bool may_run(const cuszi_options& options, const std::size_t* size, const StreamTarget& target) {
  return options.preset == CUSZI_PRESET_FAST && is_reached_by_devices(size) &&
         (target.status == nullptr || is_reached_by_devices(target.status)) &&
         !is_being_captured(target.stream);
}

StreamReport report_to(const StreamTarget& target) {
  return {target.status, target.number, CUSZI_OK, CUSZI_NO_ROOM, CUSZI_BAD_ARCHIVE};
}

}  // namespace

const StreamCalls::Plan& StreamCalls::Plans::find(const cuszi_options& options,
                                                  const cuszi_field& field) {
  cuszi_options of_any_stream = options;
  of_any_stream.stream = nullptr;
  if (last_ && are_alike(last_->options, of_any_stream) && are_alike(last_->field, field)) {
    return *last_;
  }
  last_.emplace(Plan{of_any_stream, field, {}, 0, {}});
  try {
    make(*last_);
  } catch (const UsageError&) {
    last_->bound = 0;  // the host reports it
  }
  return *last_;
}

void StreamCalls::Plans::make(Plan& plan) {
  const FieldLayout layout = field_layout(&plan.field);
  if (is_cast(layout.dtype) || target_of(plan.options) || !is_small_in_batch(layout.field_bytes()))
    return;
  const FieldSettings settings = checked_settings(plan.options);
  const FieldCuts cuts = plan_frames(layout.dims, layout.dtype, settings.frame_bytes);
  if (cuts.frames() != 1) return;
  plan.shape = {layout.dtype, layout.dims};
  const ArchiveHeader header =
      archive_header(layout.dtype, cuts, settings, settings.range.value_or(ValueRange{}));
  plan.draft = ArchiveDraft::of(header);
  plan.bound = bound_of(plan.options, settings);
}

bool StreamCalls::takes_device_of(const cuszi_options& options, const void* one,
                                  const void* other) {
  const DeviceChoice choice = run_settings(options).device;
  if (choice.kind == DeviceChoice::Kind::cpu) return false;
  const std::optional<int> device = device_of(one);
  if (!device || device_of(other) != device || (device_ && *device_ != *device)) return false;
  if (choice.kind == DeviceChoice::Kind::cuda && !choice.includes(*device)) return false;
  if (!coder_) coder_ = make_stream_coder(*device);
  device_ = device;
  return coder_ != nullptr;
}

bool StreamCalls::compress(const cuszi_options& options, const cuszi_field& field,
                           const void* values, void* archive, std::size_t capacity,
                           std::size_t* archive_size, const StreamTarget& target) {
  if (!may_run(options, archive_size, target)) return false;
  const Plan& plan = compressing_.find(options, field);
  if (plan.bound <= 0 || !is_aligned(values, plan.shape.dtype) ||
      !takes_device_of(options, values, archive)) {
    return false;
  }
  const DeviceScope scope(device_);
  coder_->encode({target.stream,
                  plan.shape,
                  plan.draft,
                  plan.bound,
                  static_cast<const std::byte*>(values),
                  {static_cast<std::byte*>(archive), capacity},
                  archive_size,
                  report_to(target)});
  return true;
}

bool StreamCalls::decompress(const cuszi_options& options, const cuszi_field& field,
                             const void* archive, const std::size_t* archive_size, void* values,
                             std::size_t capacity, const StreamTarget& target) {
  if (!may_run(options, archive_size, target)) return false;
  cuszi_options any_bound = options;
  any_bound.mode = CUSZI_ABS;
  any_bound.bound = 1;  // the draft leaves it open
  const Plan& plan = restoring_.find(any_bound, field);
  if (plan.bound <= 0 || !is_aligned(values, plan.shape.dtype) || capacity < plan.shape.bytes() ||
      !takes_device_of(options, archive, values)) {
    return false;
  }
  const DeviceScope scope(device_);
  coder_->decode({target.stream, plan.shape, plan.draft, static_cast<const std::byte*>(archive),
                  archive_size, static_cast<std::byte*>(values), report_to(target)});
  return true;
}

void StreamCalls::wait() {
  if (coder_) coder_->wait();
}

std::function<void()> StreamCalls::mark() {
  return coder_ ? coder_->mark() : [] {};
}

std::optional<StreamCoder::Failure> StreamCalls::take_failure() {
  return coder_ ? coder_->take_failure() : std::nullopt;
}

const char* StreamCalls::text_of(cuszi_status status) {
  return status == CUSZI_NO_ROOM ? "the buffer is too small for the archive"
                                 : "the archive is damaged, is not of this field, or cannot be "
                                   "decoded on the device alone";
}

}  // namespace cuszi::api
