#include "cuszi/cuszi.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <limits>
#include <optional>

#include "bindings/c/batch.hpp"
#include "bindings/c/context.hpp"
#include "bindings/c/options.hpp"
#include "bindings/c/single_call.hpp"
#include "codec/archive/append.hpp"
#include "codec/archive/archive_output.hpp"
#include "codec/archive/archive_reader.hpp"
#include "codec/field/field_source.hpp"
#include "codec/frames/device_memory.hpp"
#include "codec/quality/archive_quality.hpp"
#include "codec/quality/target_search.hpp"
#include "codec/settings/option_table.hpp"
#include "cpu_ref/base/thread_count.hpp"

namespace cuszi::api {

namespace {

using Kind = DeviceChoice::Kind;

/// May be null only if `size` is 0.
template <class T>
auto memory(std::string_view argument, T* address, std::size_t size) {
  if (address == nullptr && size != 0) throw UsageError(fmt::format("{} is NULL", argument));
  if constexpr (std::is_const_v<T>) {
    return Bytes(static_cast<const std::byte*>(address), size);
  } else {
    return MutableBytes(static_cast<std::byte*>(address), size);
  }
}

/// The owner of the memory, if any. Throws UsageError if not in `choice`.
DeviceChoice place_of(DeviceChoice choice, std::optional<int> device) {
  if (!device || choice.kind == Kind::cpu) return choice;
  if (choice.kind == Kind::cuda && !choice.includes(*device)) {
    throw UsageError(fmt::format("memory is on GPU {}, but device selects GPU {}", *device,
                                 fmt::join(choice.numbers(0), ", ")));
  }
  choice.index = *device;
  choice.set = 0;
  return choice;
}

/// The caller's device, threads and stream, for one call.
class Run {
 public:
  Run(const RunSettings& settings, StreamOrder order, std::initializer_list<const void*> memory)
      : Run(settings, order, device_with(memory)) {}

  const DeviceChoice& choice() const { return choice_; }
  /// Whether the work decides: the choice is automatic, values and archive are in host memory.
  bool is_weighed() const { return choice_.kind == Kind::automatic && !is_there_; }
  std::optional<ByteCount> memory_limit() const { return memory_limit_; }

 private:
  Run(const RunSettings& settings, StreamOrder order, std::optional<int> device)
      : choice_(place_of(settings.device, device)),
        is_there_(device.has_value()),
        device_(choice_.kind == Kind::cpu ? std::nullopt : device),
        threads_(settings.threads),
        memory_limit_(settings.memory_limit) {
    const bool is_ordered = settings.stream != nullptr || device;
    if (is_ordered && order == StreamOrder::of_call) wait_for_stream(settings.stream);
  }

  DeviceChoice choice_;
  bool is_there_;
  DeviceScope device_;
  ThreadsScope threads_;
  std::optional<ByteCount> memory_limit_;
};

/// Bytes that the caller reads.
class CallerSource final : public ByteSource {
 public:
  explicit CallerSource(const cuszi_source& source) : source_(source) {
    if (source.size != sizeof source || source.read == nullptr) {
      throw UsageError(fmt::format("a source of {} bytes; initialise size ({}) and read",
                                   source.size, sizeof source));
    }
  }

  std::string name() const override { return "source"; }
  std::optional<ByteCount> size() const override { return source_.bytes; }

  std::size_t read_at(ByteCount offset, MutableBytes out) const override {
    const ByteCount left = source_.bytes - std::min(offset, source_.bytes);
    const MutableBytes part = out.first(std::min<ByteCount>(out.size(), left));
    if (!part.empty() && source_.read(source_.user, offset, part.data(), part.size()) != 0) {
      throw InputError(
          fmt::format("the source's {} bytes from {} cannot be read", part.size(), offset));
    }
    return part.size();
  }

 private:
  cuszi_source source_;
};

std::unique_ptr<ByteSource> read_source(const void* source) {
  return std::make_unique<CallerSource>(
      required("archive", static_cast<const cuszi_source*>(source)));
}

Workload work_on(ByteCount bytes, const FieldSettings& settings, bool verified) {
  Workload work;
  work.add_compression(bytes, settings.frame);
  if (verified) work.add_restoration(bytes, settings.frame.predictor.id);
  return work;
}

Workload work_on(Bytes archive) {
  if (archive.data() == nullptr) return {};
  MemorySource source(archive);
  return restoration_of(source);
}

TargetArchive archive_for(const Target& target, const FieldSettings& settings, Backends& backends,
                          FieldSource& field) {
  CallTimes times;
  return compress_to_target(
      target, settings, backends.for_config(settings.frame), field,
      [&](const FieldSettings& tried, int /*pass*/) {
        MemorySink archive;
        TargetArchive attempt{compress_field(backends, tried, field, archive, times), {}, {}};
        attempt.archive = archive.take();
        if (target.kind == Target::Kind::psnr) {
          MemorySource written(attempt.archive);
          attempt.meter =
              measure_archive(backends, written, field, settings.frame.isovalues, times);
        }
        return attempt;
      });
}

/// Joins non-empty texts.
std::string joined(const std::string& one, const std::string& other) {
  return one.empty() || other.empty() ? one + other : one + "; " + other;
}

/// Fill values; throws if `strict`.
std::string warning_of(const std::vector<FillWarning>& warnings, bool strict) {
  std::string warning = spoiling(warnings, "fills");
  if (strict && !warning.empty()) throw InputError(warning);
  return warning;
}

/// Includes a missed target.
std::string warning_of(const TargetArchive& made, const std::optional<Target>& target,
                       bool strict) {
  std::string warning = warning_of(made.result.warnings, strict);
  if (!target || is_met(*target, made.reached)) return warning;
  const std::string unmet = fmt::format("target {} not met; the archive reaches {:.4g}",
                                        to_string(*target), made.reached);
  if (strict) throw BoundError(unmet);
  return joined(warning, unmet);
}

void require_field(const ArchiveHeader& header, const FieldLayout& expected) {
  if (header.dtype == expected.dtype && header.plan.dims == expected.dims) return;
  throw ArchiveError(fmt::format("the archive contains {} of {}, not {} of {}",
                                 header.plan.dims.to_string(), name_of(header.dtype),
                                 expected.dims.to_string(), name_of(expected.dtype)));
}

void verify(Backends& backends, Bytes archive, FieldSource& field, const IsoValues& isovalues) {
  CallTimes times;
  const QualityMeter meter =
      measure_archive(backends, *make_memory_source(archive), field, isovalues, times);
  require_within_bound(meter, field.layout().dims, "this is a bug, please report it");
  require_same_sides(meter, field.layout().dims);
}

}  // namespace

std::optional<int> device_with(std::initializer_list<const void*> memory) {
  std::optional<int> found;
  for (const void* const address : memory) {
    const std::optional<int> device = device_of(address);
    if (found && device && *found != *device) {
      throw UsageError(fmt::format("memory is on GPUs {} and {}; one call takes memory of one GPU",
                                   *found, *device));
    }
    if (device) found = device;
  }
  return found;
}

ByteCount bound(const cuszi_field* field, const cuszi_options* caller_options) {
  const FieldLayout layout = field_layout(field);
  const cuszi_options options = read_options(caller_options);
  const FieldSettings settings = checked_settings(options);
  ArchiveHeader header;
  header.dtype = layout.dtype;
  header.mode = settings.mode;
  header.fills = settings.fills;
  if (caller_options == nullptr) {  // the longest header
    header.mode = ErrorMode::absolute_or_pointwise;
    header.fills.count = FillValues::max_count;
  }
  header.plan = plan_frames(layout.dims, layout.dtype, settings.frame_bytes);
  return most_archive_bytes(header) + (options.remember != 0 ? most_amendment_bytes : 0);
}

void compress(cuszi_context& context, const cuszi_options* caller_options, const cuszi_field* field,
              const void* values, void* archive, std::size_t capacity, std::size_t* archive_size) {
  const cuszi_options options = read_options(caller_options);
  const FieldLayout layout = field_layout(field);
  const FieldSettings settings = checked_settings(options);
  const Bytes input = memory("values", values, layout.field_bytes());
  BufferSink sink(memory("archive", archive, capacity), bound(field, caller_options));
  std::size_t& size = required("archive_size", archive_size);
  const Run run(run_settings(options), context.stream_order(), {values, archive});

  FieldSource source(make_memory_source(input), layout,
                     plan_frames(layout.dims, layout.dtype, settings.frame_bytes));
  const Workload work = run.is_weighed()
                            ? work_on(layout.field_bytes(), settings, options.verify != 0)
                            : Workload::in_device_memory();
  Backends& backends = context.backends(run.choice(), work);
  context.set_reached(std::numeric_limits<double>::quiet_NaN());
  if (const auto amended = amend_remembered(backends, options, settings, layout, input)) {
    sink.write(amended->archive);
    size = amended->archive.size();
    const std::string warning = warning_of(amended->warnings, options.strict != 0);
    return context.set_warning(joined(warning, context.new_losses()));
  }
  const std::optional<Target> target = target_of(options);
  CallTimes times;
  const TargetArchive made =
      target ? archive_for(*target, settings, backends, source)
             : TargetArchive{compress_field(backends, settings, source, sink, times), {}, {}};
  if (target) sink.write(made.archive);
  size = made.result.archive_bytes;
  if (options.verify != 0)
    verify(backends, memory("archive", archive, size), source, settings.frame.isovalues);
  const std::string warning = warning_of(made, target, options.strict != 0);
  if (target) context.set_reached(made.reached);
  context.set_warning(joined(warning, context.new_losses()));
}

void decompress(cuszi_context& context, const cuszi_options* caller_options, const void* archive,
                std::size_t size, const cuszi_part& part, void* values, std::size_t capacity,
                const cuszi_field* expected) {
  const cuszi_options options = read_options(caller_options);
  const bool is_read = size == CUSZI_SOURCE;
  const MutableBytes room = memory("values", values, capacity);
  const Run run(run_settings(options), context.stream_order(),
                {is_read ? nullptr : archive, values});

  const std::unique_ptr<ByteSource> source =
      is_read ? read_source(archive) : make_memory_source(memory("archive", archive, size));
  const Workload work = run.is_weighed() ? restoration_of(*source) : Workload::in_device_memory();
  source->seek(0);
  ArchiveReader reader(*source);
  if (expected != nullptr) require_field(reader.header(), field_layout(expected));
  Preview preview = preview_of(&part, reader.header().plan);
  FieldBuffer restored(room, reader.header().dtype, preview);
  if (preview.stride() == 1) restored.require_room();
  FrameUsers users = restored.users();
  users.memory_limit = run.memory_limit();
  CallTimes times;
  Backends& backends = context.backends(run.choice(), work);
  restore_field(backends, reader, preview, times, users);
  if (preview.stride() == 1 && !preview.has_box() && reader.members() == 1 && !is_read) {
    const FieldLayout layout{reader.header().dtype, reader.header().plan.dims};
    remember(options, layout, memory("archive", archive, size), room.first(layout.field_bytes()));
  }
  context.set_warning(joined(reader.unfinished_warning(), context.new_losses()));
}

void append(const char* path, const void* archive, std::size_t size) {
  const Bytes given = memory("archive", archive, size);
  std::vector<std::byte> member(size);
  copy_memory(given, member);
  append_member(&required("path", path), member);
}

/// The member's own, else the call's, with the call's threads.
cuszi_options member_options(const cuszi_options* own, const cuszi_options* of_call, int threads) {
  cuszi_options options = read_options(own != nullptr ? own : of_call);
  options.threads = threads;
  return options;
}

/// Belongs to no stream of the call: reads after the default stream.
std::unique_ptr<ByteSource> archive_source(const void* archive, std::size_t size) {
  if (size == CUSZI_SOURCE) return read_source(archive);
  if (const std::optional<int> device = device_of(archive)) {
    const DeviceScope scope(device);
    wait_for_stream(nullptr);
  }
  return make_memory_source(memory("archive", archive, size));
}

/// 0 if the field is invalid.
ByteCount value_bytes(const cuszi_compression& member) {
  return ::cuszi_field_bytes(&member.field);
}
ByteCount value_bytes(const cuszi_decompression& member) { return member.capacity; }

/// Work of a member in host memory. Throws if its options are invalid.
Workload work_of(const cuszi_compression& member, const cuszi_options* of_call) {
  const cuszi_options options = read_options(member.options != nullptr ? member.options : of_call);
  return work_on(value_bytes(member), checked_settings(options), options.verify != 0);
}
Workload work_of(const cuszi_decompression& member, const cuszi_options* /*of_call*/) {
  return work_on(Bytes(static_cast<const std::byte*>(member.archive), member.size));
}

/// What an automatic choice weighs.
template <class Member>
Workload work_of_batch(std::span<const Member> members, std::span<const std::size_t> left,
                       const cuszi_options* options) {
  Workload all;
  for (const std::size_t i : left) {
    try {
      const bool is_there = device_of(members[i].values) || device_of(members[i].archive);
      all.add(is_there ? Workload::in_device_memory() : work_of(members[i], options));
    } catch (const Error&) {
      // The member's call reports it.
    }
  }
  return all;
}

/// Calls work(worker, options, member) for members that together() leaves. Unstarted members get
/// the call's status.
template <class Member, class Together, class Work>
cuszi_status do_batch(cuszi_context& context, const cuszi_options* options, Member* members,
                      std::size_t count, const Together& together, const Work& work) {
  bool is_done = false;
  const cuszi_status status = context.call([&] {
    context.set_reached(std::numeric_limits<double>::quiet_NaN());
    if (members == nullptr && count != 0) throw UsageError("members is NULL");
    const RunSettings run = run_settings(read_options(options));  // throws early
    const std::vector<std::size_t> left = together(context, options, std::span(members, count));
    BatchWork batch;
    for (const std::size_t i : left) batch.add(value_bytes(members[i]));
    if (run.device.kind == Kind::automatic) {
      batch.work = work_of_batch(std::span<const Member>(members, count), left, options);
    }
    run_batch(context, options, left, batch,
              [&](cuszi_context& worker, int threads, std::size_t i) {
                Member& member = members[i];
                const cuszi_status own = worker.call([&] {
                  const cuszi_options known = member_options(member.options, options, threads);
                  work(worker, &known, member);
                });
                member.status = own;
                return own;
              });
    is_done = true;
  });
  if (!is_done && members != nullptr) {
    std::for_each_n(members, count, [&](Member& member) { member.status = status; });
  }
  return status;
}

void frame_part(const void* archive, std::size_t size, std::uint64_t frame, cuszi_part* part) {
  const std::unique_ptr<ByteSource> source = archive_source(archive, size);
  const FieldCuts plan = ArchiveReader(*source).header().plan;
  if (frame >= plan.frames()) {
    throw UsageError(fmt::format("there is no frame {}; the archive has frames 0 to {}", frame,
                                 plan.frames() - 1));
  }
  cuszi_part& out = required("part", part);
  out = cuszi_whole_field();
  const auto first = plan.origin(frame);
  const Dims dims = plan.frame_dims(frame);
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(dims.rank()); ++axis) {
    out.first[axis] = first[axis];
    out.end[axis] = first[axis] + dims[static_cast<int>(axis)];
  }
}

/// A stride's axes are in the first frame's table.
void read_part_field(const void* archive, std::size_t size, const cuszi_part* part,
                     cuszi_field* field) {
  const std::unique_ptr<ByteSource> source = archive_source(archive, size);
  ArchiveReader reader(*source);
  Preview preview = preview_of(part, reader.header().plan);
  if (preview.stride() > 1) {
    reader.next_frame([&](const ArchiveFrame& frame) {
      preview.choose_axes(frame.shape.dims, frame.header);
      return std::size_t{0};
    });
  }
  required("field", field) = field_of(reader.header().dtype, preview.dims());
}

void read_info(const void* archive, std::size_t size, cuszi_info* caller_info) {
  constexpr std::size_t least = offsetof(cuszi_info, pw_asked);
  cuszi_info& out = required("info", caller_info);
  if (out.size < least) {
    throw UsageError(
        fmt::format("info has {} bytes; initialise it with cuszi_empty_info() ({} bytes)", out.size,
                    sizeof(cuszi_info)));
  }
  const std::unique_ptr<ByteSource> source = archive_source(archive, size);
  const ArchiveHeader header = ArchiveReader::header_of(*source);
  cuszi_info info = cuszi_empty_info();
  info.size = out.size;
  info.format_version = format_version;
  info.field = field_of(header.dtype, header.plan.dims);
  info.mode = mode_number(header.mode);
  info.bound_asked = header.bound_asked;
  info.bound_absolute = header.bound_absolute;
  info.fill_count = static_cast<std::uint32_t>(header.fills.count);
  std::copy_n(header.fills.values.begin(), header.fills.count, std::begin(info.fills));
  info.frames = header.plan.frames();
  info.frame_height = header.plan.height;
  info.frame_axis = header.plan.axis;
  info.pw_asked = header.share_asked;
  std::memcpy(&out, &info, std::min<std::size_t>(out.size, sizeof info));
}

}  // namespace cuszi::api

extern "C" {

const char* cuszi_version() { return CUSZI_VERSION; }

int cuszi_h5_filter() { return CUSZI_H5_FILTER; }

cuszi_context* cuszi_context_create() { return new (std::nothrow) cuszi_context; }

void cuszi_context_destroy(cuszi_context* context) { delete context; }

cuszi_status cuszi_last_status(const cuszi_context* context) {
  return context == nullptr ? CUSZI_BAD_USAGE : context->status();
}

const char* cuszi_last_error(const cuszi_context* context) {
  return context == nullptr ? "context is NULL" : context->error();
}

const char* cuszi_last_warning(const cuszi_context* context) {
  return context == nullptr ? "" : context->warning();
}

const cuszi_option* cuszi_option_at(size_t index) {
  const auto table = cuszi::option_table();
  return index < table.size() ? &table[index].info : nullptr;
}

int cuszi_set_option(cuszi_options* options, const char* name, const char* text) {
  cuszi_context unused;
  return unused.call([&] { cuszi::api::set_option(options, name, text); });
}

size_t cuszi_option_error(const cuszi_options* options, const char* name, const char* text,
                          char* line, size_t capacity) {
  cuszi_context failure;
  failure.call([&] {
    cuszi_options copy = cuszi::api::read_options(options);
    cuszi::api::set_option(options == nullptr ? nullptr : &copy, name, text);
  });
  const std::string_view error = failure.error();
  if (capacity != 0) line[error.copy(line, capacity - 1)] = '\0';
  return error.size();
}

size_t cuszi_field_bytes(const cuszi_field* field) {
  std::size_t bytes = 0;
  cuszi_context unused;
  unused.call([&] { bytes = cuszi::api::field_layout(field).field_bytes(); });
  return bytes;
}

size_t cuszi_bound(const cuszi_field* field, const cuszi_options* options) {
  std::size_t bytes = 0;
  cuszi_context unused;
  unused.call([&] { bytes = cuszi::api::bound(field, options); });
  return bytes;
}

cuszi_status cuszi_compress(cuszi_context* context, const cuszi_options* options,
                            const cuszi_field* field, const void* values, void* archive,
                            size_t capacity, size_t* archive_size) {
  if (context == nullptr) return CUSZI_BAD_USAGE;
  return context->call([&] {
    cuszi::api::compress(*context, options, field, values, archive, capacity, archive_size);
  });
}

cuszi_status cuszi_compress_batch(cuszi_context* context, const cuszi_options* options,
                                  cuszi_compression* members, size_t count) {
  if (context == nullptr) return CUSZI_BAD_USAGE;
  if (members != nullptr) {
    std::for_each_n(members, count, [](cuszi_compression& member) { member.size = 0; });
  }
  return cuszi::api::do_batch(
      *context, options, members, count, cuszi::api::compress_together,
      [](cuszi_context& worker, const cuszi_options* own, cuszi_compression& member) {
        std::size_t size = 0;
        cuszi::api::compress(worker, own, &member.field, member.values, member.archive,
                             member.capacity, &size);
        member.size = size;
      });
}

cuszi_status cuszi_decompress_batch(cuszi_context* context, const cuszi_options* options,
                                    cuszi_decompression* members, size_t count) {
  if (context == nullptr) return CUSZI_BAD_USAGE;
  return cuszi::api::do_batch(
      *context, options, members, count, cuszi::api::decompress_together,
      [](cuszi_context& worker, const cuszi_options* own, cuszi_decompression& member) {
        cuszi::api::decompress(worker, own, member.archive, member.size, cuszi_whole_field(),
                               member.values, member.capacity);
      });
}

double cuszi_reached(const cuszi_context* context) {
  return context == nullptr ? std::numeric_limits<double>::quiet_NaN() : context->reached();
}

cuszi_status cuszi_read_info(cuszi_context* context, const void* archive, size_t size,
                             cuszi_info* info) {
  if (context == nullptr) return CUSZI_BAD_USAGE;
  return context->call([&] { cuszi::api::read_info(archive, size, info); });
}

cuszi_status cuszi_append(cuszi_context* context, const char* path, const void* archive,
                          size_t size) {
  if (context == nullptr) return CUSZI_BAD_USAGE;
  return context->call([&] { cuszi::api::append(path, archive, size); });
}

cuszi_status cuszi_decompress(cuszi_context* context, const cuszi_options* options,
                              const void* archive, size_t size, void* values, size_t capacity) {
  if (context == nullptr) return CUSZI_BAD_USAGE;
  const cuszi_part whole = cuszi_whole_field();
  return cuszi_decompress_part(context, options, archive, size, &whole, values, capacity);
}

cuszi_status cuszi_frame_part(cuszi_context* context, const void* archive, size_t size,
                              uint64_t frame, cuszi_part* part) {
  if (context == nullptr) return CUSZI_BAD_USAGE;
  return context->call([&] { cuszi::api::frame_part(archive, size, frame, part); });
}

cuszi_status cuszi_part_field(cuszi_context* context, const void* archive, size_t size,
                              const cuszi_part* part, cuszi_field* field) {
  if (context == nullptr) return CUSZI_BAD_USAGE;
  return context->call([&] { cuszi::api::read_part_field(archive, size, part, field); });
}

cuszi_status cuszi_decompress_part(cuszi_context* context, const cuszi_options* options,
                                   const void* archive, size_t size, const cuszi_part* part,
                                   void* values, size_t capacity) {
  if (context == nullptr) return CUSZI_BAD_USAGE;
  return context->call([&] {
    cuszi::api::decompress(*context, options, archive, size, cuszi::api::required("part", part),
                           values, capacity);
  });
}

}  // extern "C"
