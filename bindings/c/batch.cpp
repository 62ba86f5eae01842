#include "bindings/c/batch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <new>
#include <vector>

#include "bindings/c/options.hpp"
#include "codec/frames/device_memory.hpp"
#include "codec/frames/frame_scheduler.hpp"
#include "codec/settings/settings.hpp"
#include "cpu_ref/base/thread_count.hpp"
#include "cpu_ref/base/thread_pool.hpp"

namespace cuszi::api {

void FirstOfMany::add(std::size_t number, cuszi_status status, const char* text) noexcept {
  const std::scoped_lock lock(mutex_);
  if (count_++ != 0 && number > number_) return;
  number_ = number;
  status_ = status;
  try {
    text_ = text;
  } catch (const std::bad_alloc&) {
    text_.clear();
  }
}

std::string FirstOfMany::text(std::string_view each) const {
  const std::string others = count_ == 1 ? "" : fmt::format(" (and {} more)", count_ - 1);
  return fmt::format("{} {}: {}{}", each, number_, text_, others);
}

namespace {

/// Small members mostly launch and wait; memory limits large ones.
std::size_t tracks_on_device(std::size_t threads, ByteCount largest) {
  constexpr ByteCount values_at_once = ByteCount{128} << 20;
  constexpr std::size_t most_small = 16;
  const auto fitting = static_cast<std::size_t>(values_at_once / std::max<ByteCount>(largest, 1));
  return std::clamp(std::min(threads, fitting), most_tracks, most_small);
}

}  // namespace

void run_batch(cuszi_context& context, const cuszi_options* options,
               std::span<const std::size_t> members, const BatchWork& batch,
               const MemberWork& work) {
  if (members.empty()) return;
  constexpr ByteCount least_share = 256 * 1024;  // per thread, worth starting it
  const RunSettings run = run_settings(read_options(options));
  const ThreadsScope scope(run.threads);
  const auto threads = static_cast<std::size_t>(threads_in_use());
  const Weighing weighing = weigh(run.device, batch.work);
  const bool on_device = weighing.prefers_device && device_count() > 0;
  const std::size_t most = on_device ? tracks_on_device(threads, batch.largest) : threads;
  const std::size_t tracks = std::max<std::size_t>(
      std::min({members.size(), most, static_cast<std::size_t>(batch.all / least_share)}), 1);
  const std::vector<cuszi_context*> workers = context.workers(
      tracks, weighing.seconds ? std::optional(weighing.prefers_device) : std::nullopt);
  const int share = static_cast<int>(std::max<std::size_t>(threads / tracks, 1));

  std::atomic<std::size_t> next = 0;
  FirstOfMany failure;
  FirstOfMany warning;
  on_tracks(tracks, [&, device = device_in_use()](std::size_t track) {
    const DeviceScope scope_of_track(device);
    cuszi_context& worker = *workers[track];
    for (std::size_t at = next++; at < members.size(); at = next++) {
      const std::size_t i = members[at];
      const cuszi_status status = work(worker, share, i);
      if (status != CUSZI_OK) failure.add(i, status, worker.error());
      if (*worker.warning() != '\0') warning.add(i, status, worker.warning());
    }
  });
  if (warning.is_there()) context.set_warning(warning.text("member"));
  if (failure.is_there()) context.set(failure.status(), "", failure.text("member").c_str());
}

}  // namespace cuszi::api
