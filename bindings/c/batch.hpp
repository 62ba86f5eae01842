#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bindings/c/context.hpp"
#include "core/base/units.hpp"
#include "cuszi/cuszi.h"

namespace cuszi::api {

/// Keeps the lowest number's message; thread-safe.
class FirstOfMany {
 public:
  void add(std::size_t number, cuszi_status status, const char* text) noexcept;

  bool is_there() const { return count_ != 0; }
  cuszi_status status() const { return status_; }
  /// "member 7: ... (and 2 more)"
  std::string text(std::string_view each) const;

 private:
  std::mutex mutex_;  ///< guards the rest
  std::size_t count_ = 0;
  std::size_t number_ = 0;
  cuszi_status status_ = CUSZI_OK;
  std::string text_;
};

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

/// Processes members that can share a device's launches and waits; archives may be on the host.
/// Returns the indices of the others, also failed ones, to process singly.
std::vector<std::size_t> compress_together(cuszi_context& context, const cuszi_options* options,
                                           std::span<cuszi_compression> members);
std::vector<std::size_t> decompress_together(cuszi_context& context, const cuszi_options* options,
                                             std::span<cuszi_decompression> members);

}  // namespace cuszi::api
