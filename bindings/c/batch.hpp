#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <span>

#include "bindings/c/context.hpp"
#include "core/base/units.hpp"

namespace cuszi::api {

/// Calls part(track) for tracks 0 to `tracks` - 1 in a thread each, as many as are to be had. Track
/// 0 is the caller's thread.
void on_tracks(std::size_t tracks, const std::function<void(std::size_t)>& part);

/// Does one member of a batch with a context of its thread's, in a call of that context, on so many
/// threads. Returns the call's status.
using MemberWork = std::function<cuszi_status(cuszi_context& worker, int threads, std::size_t i)>;

/// What members take, in bytes of values.
struct MemberSizes {
  ByteCount all = 0;
  ByteCount largest = 0;

  void add(ByteCount bytes) {
    all += bytes;
    largest = std::max(largest, bytes);
  }
};

/// Does the members with these numbers side by side: as many as there are threads, which they
/// share, on a device up to sixteen, or three if they are large; fewer where there is too little
/// work for so many. A member that fails lets the others go on; `context` then tells of the first
/// that did, and of the first warning. Throws UsageError, before any member begins, if the options
/// cannot be.
void run_batch(cuszi_context& context, const cuszi_options* options,
               std::span<const std::size_t> members, const MemberSizes& sizes,
               const MemberWork& work);

}  // namespace cuszi::api
