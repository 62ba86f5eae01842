#include <algorithm>
#include <atomic>
#include <deque>
#include <numeric>
#include <optional>

#include "bindings/c/batch.hpp"
#include "bindings/c/options.hpp"
#include "codec/archive/archive_reader.hpp"
#include "codec/archive/field_batch.hpp"
#include "codec/frames/device_memory.hpp"
#include "cpu_ref/base/thread_count.hpp"
#include "cpu_ref/base/thread_pool.hpp"

namespace cuszi::api {

namespace {

/// Parsed options.
struct Asked {
  const cuszi_options* options;
  RunSettings run = {};
  std::optional<FieldSettings> settings = {};  ///< nullopt: unsupported

  bool goes_alone() const {
    return run.device.kind == DeviceChoice::Kind::cpu || run.memory_limit.has_value();
  }
};

Asked read_asked(const cuszi_options* options, bool compresses) {
  const cuszi_options known = read_options(options);
  Asked asked{options, run_settings(known)};
  if (!compresses || known.verify != 0 || target_of(known)) return asked;
  FieldSettings settings = checked_settings(known);
  if (may_join_batch(settings)) asked.settings = std::move(settings);
  return asked;
}

constexpr std::size_t tracks_together = 8;

/// Joined members, on the first one's device.
class Gathering {
 public:
  Gathering(const cuszi_options* of_call, bool compresses)
      : of_call_(of_call),
        compresses_(compresses),
        threads_(run_settings(read_options(of_call)).threads) {}

  /// Members mostly share options.
  const Asked& asked_by(const cuszi_options* own) {
    const cuszi_options* const options = own != nullptr ? own : of_call_;
    if (asked_.empty() || asked_.back().options != options) {
      asked_.push_back(read_asked(options, compresses_));
    }
    return asked_.back();
  }

  std::optional<int> device_of(const void* memory) { return memory_.device_of(memory); }

  /// Whether the member can join.
  bool takes(const Asked& asked, std::optional<int> device) {
    if (!device) return false;
    const DeviceChoice& choice = asked.run.device;
    if (choice.kind == DeviceChoice::Kind::cuda && !choice.includes(*device)) return false;
    if (!device_) {
      device_ = device;
      choice_ = {choice.kind, *device};
    }
    if (*device_ != *device) return false;
    if (std::find(streams_.begin(), streams_.end(), asked.run.stream) == streams_.end()) {
      streams_.push_back(asked.run.stream);
    }
    return true;
  }

  /// Calls work(backend, part) after the callers' streams. Tracks overlap host and device.
  template <class Work>
  void run(cuszi_context& context, std::size_t parts, const Work& work) const {
    const DeviceScope scope(device_);
    for (void* const stream : streams_) wait_for_stream(stream);
    const std::size_t tracks = std::min(parts, tracks_together);
    const std::vector<cuszi_context*> workers = context.workers(tracks, std::nullopt);
    const ThreadsScope threads(threads_);
    const int share = std::max(threads_in_use() / static_cast<int>(tracks), 1);
    std::atomic<std::size_t> next = 0;
    on_tracks(tracks, [&](std::size_t track) {
      const DeviceScope device_of_track(device_);
      const ThreadsScope threads_of_track(share);
      for (std::size_t part = next++; part < parts; part = next++) {
        try {
          work(workers[track]->backends(choice_, Workload::in_device_memory()).for_frames(), part);
        } catch (...) {
          // Retried singly, which reports errors.
        }
      }
    });
  }

 private:
  const cuszi_options* of_call_;
  bool compresses_;
  std::optional<int> threads_;
  std::deque<Asked> asked_;
  MemoryOwners memory_;
  std::optional<int> device_;
  DeviceChoice choice_;
  std::vector<void*> streams_;
};

/// Weight for cutting parts.
ByteCount work_bytes(const FieldOfBatch& field) { return field.value_bytes(); }
/// Host archives are copied, which takes longer than restoring.
ByteCount work_bytes(const ArchiveOfBatch& archive) {
  return archive.value_bytes() * (archive.is_on_host ? 4 : 1);
}

/// Members with their indices in the batch.
template <class Joint>
struct Joined {
  std::vector<Joint> members;
  std::vector<std::size_t> numbers;

  std::vector<std::span<Joint>> parts() {
    constexpr ByteCount most_bytes = ByteCount{128} << 20;  // amortises the waits
    constexpr std::size_t most_members = 1024;
    // The first parts grow, so that tracks that start together do not all wait for the device, then
    // for the host.
    ByteCount enough_bytes = most_bytes / tracks_together;
    std::vector<std::span<Joint>> parts;
    std::size_t first = 0;
    ByteCount bytes = 0;
    for (std::size_t end = 1; end <= members.size(); ++end) {
      bytes += work_bytes(members[end - 1]);
      const std::size_t count = end - first;
      if (end < members.size() && bytes < enough_bytes && count < most_members) continue;
      parts.push_back(std::span(members).subspan(first, count));
      first = end;
      bytes = 0;
      enough_bytes = std::min(enough_bytes + most_bytes / tracks_together, most_bytes);
    }
    return parts;
  }
};

/// See remember().
void remember_restored(const cuszi_options& options, const ArchiveOfBatch& done) {
  const cuszi_options known = read_options(&options);
  if (known.remember == 0) return;
  const std::unique_ptr<ByteSource> source = make_memory_source(done.archive);
  const ArchiveHeader header = ArchiveReader(*source).header();
  const FieldLayout layout{header.dtype, header.plan.dims};
  remember(known, layout, done.archive, Bytes(done.room).first(layout.field_bytes()));
}

constexpr std::size_t fewest_together = 2;

std::optional<FieldOfBatch> joint(Gathering& gathering, const cuszi_compression& member) try {
  const Asked& asked = gathering.asked_by(member.options);
  if (asked.goes_alone() || !asked.settings) return std::nullopt;
  const FieldLayout layout = field_layout(&member.field);
  if (!is_small_in_batch(layout.field_bytes())) return std::nullopt;
  if (may_be_amended(read_options(asked.options), layout)) return std::nullopt;
  const std::optional<int> device = gathering.device_of(member.values);
  if (gathering.device_of(member.archive) != device || !gathering.takes(asked, device)) {
    return std::nullopt;
  }
  return FieldOfBatch{layout,
                      &*asked.settings,
                      {static_cast<const std::byte*>(member.values), layout.field_bytes()},
                      {static_cast<std::byte*>(member.archive), member.capacity}};
} catch (const Error&) {
  return std::nullopt;
}

std::optional<ArchiveOfBatch> joint(Gathering& gathering, const cuszi_decompression& member) try {
  const Asked& asked = gathering.asked_by(member.options);
  if (asked.goes_alone() || !is_small_in_batch(member.capacity) || member.archive == nullptr) {
    return std::nullopt;
  }
  const std::optional<int> device = gathering.device_of(member.values);
  const std::optional<int> source = gathering.device_of(member.archive);
  if ((source && source != device) || !gathering.takes(asked, device)) return std::nullopt;
  return ArchiveOfBatch{{static_cast<const std::byte*>(member.archive), member.size},
                        {static_cast<std::byte*>(member.values), member.capacity},
                        !source};
} catch (const Error&) {
  return std::nullopt;
}

/// Calls work(backend, members); take(member, joint) returns whether it is done. Returns the
/// others' indices.
template <class Joint, class Member, class Work, class Take>
std::vector<std::size_t> do_together(cuszi_context& context, Gathering& gathering,
                                     std::span<Member> members, const Work& work,
                                     const Take& take) {
  std::vector<std::size_t> left;
  if (members.size() < fewest_together) {
    left.resize(members.size());
    std::iota(left.begin(), left.end(), std::size_t{0});
    return left;
  }
  Joined<Joint> joined;
  for (std::size_t i = 0; i < members.size(); ++i) {
    if (auto one = joint(gathering, members[i])) {
      joined.members.push_back(*one);
      joined.numbers.push_back(i);
    } else {
      left.push_back(i);
    }
  }
  if (joined.members.size() >= fewest_together) {
    try {
      const auto parts = joined.parts();
      gathering.run(context, parts.size(),
                    [&](Backend& backend, std::size_t part) { work(backend, parts[part]); });
    } catch (const Error&) {
    }
  }
  for (std::size_t i = 0; i < joined.members.size(); ++i) {
    const std::size_t number = joined.numbers[i];
    if (!take(members[number], joined.members[i])) left.push_back(number);
  }
  std::sort(left.begin(), left.end());
  return left;
}

}  // namespace

std::vector<std::size_t> compress_together(cuszi_context& context, const cuszi_options* options,
                                           std::span<cuszi_compression> members) {
  Gathering gathering(options, true);
  return do_together<FieldOfBatch>(
      context, gathering, members,
      [](Backend& backend, std::span<FieldOfBatch> fields) { compress_batch(backend, fields); },
      [](cuszi_compression& member, const FieldOfBatch& field) {
        member.size = field.size;
        member.status = CUSZI_OK;
        return field.size != 0;
      });
}

std::vector<std::size_t> decompress_together(cuszi_context& context, const cuszi_options* options,
                                             std::span<cuszi_decompression> members) {
  Gathering gathering(options, false);
  return do_together<ArchiveOfBatch>(
      context, gathering, members,
      [](Backend& backend, std::span<ArchiveOfBatch> archives) {
        restore_batch(backend, archives);
      },
      [&](cuszi_decompression& member, const ArchiveOfBatch& archive) {
        member.status = CUSZI_OK;
        if (archive.is_done)
          remember_restored(*gathering.asked_by(member.options).options, archive);
        return archive.is_done;
      });
}

}  // namespace cuszi::api
