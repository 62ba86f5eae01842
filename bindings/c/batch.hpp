#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <span>

#include "bindings/c/context.hpp"
#include "core/base/units.hpp"

namespace cuszi::api {

/// Calls part(track) for each track, in threads as far as available; track 0 is the caller's.
void on_tracks(std::size_t tracks, const std::function<void(std::size_t)>& part);

/// Processes member `i` with a worker's context. Returns the call's status.
using MemberWork = std::function<cuszi_status(cuszi_context& worker, int threads, std::size_t i)>;

/// Sizes in bytes of values.
struct BatchWork {
  ByteCount all = 0;
  ByteCount largest = 0;
  Workload work = {};  ///< for an automatic choice of the device

  void add(ByteCount bytes) {
    all += bytes;
    largest = std::max(largest, bytes);
  }
};

/// Processes members concurrently, one per thread; on a device 16 small or 3 large ones. `context`
/// gets the first failure, which does not stop other members, and the first warning. Throws
/// UsageError first if options are invalid.
void run_batch(cuszi_context& context, const cuszi_options* options,
               std::span<const std::size_t> members, const BatchWork& batch,
               const MemberWork& work);

}  // namespace cuszi::api
