#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "core/archive/archive_draft.hpp"
#include "core/backend/stream_coder.hpp"
#include "cuszi/cuszi.h"

namespace cuszi::api {

struct StreamTarget {
  void* stream;
  std::int32_t* status;
  std::uint32_t number;
};

/// Calls that need no host: preset `fast`, small fields of known bound, memory on one device (sizes
/// and statuses may be page-locked). The first decides the device.
class StreamCalls {
 public:
  /// Queues the call; false if it needs the host. Throws for invalid options.
  bool compress(const cuszi_options& options, const cuszi_field& field, const void* values,
                void* archive, std::size_t capacity, std::size_t* archive_size,
                const StreamTarget& target);
  bool decompress(const cuszi_options& options, const cuszi_field& field, const void* archive,
                  const std::size_t* archive_size, void* values, std::size_t capacity,
                  const StreamTarget& target);

  void wait();
  /// See StreamCoder::mark().
  std::function<void()> mark();
  std::optional<StreamCoder::Failure> take_failure();

  static const char* text_of(cuszi_status status);

 private:
  struct Plan {
    cuszi_options options;
    cuszi_field field;
    FrameShape shape;
    double bound = 0;  ///< absolute; 0 if the host is needed
    ArchiveDraft draft;
  };

  /// Caches the last plan: calls mostly differ in their streams only.
  class Plans {
   public:
    const Plan& find(const cuszi_options& options, const cuszi_field& field);

   private:
    static void make(Plan& plan);

    std::optional<Plan> last_;
  };

  bool takes_device_of(const cuszi_options& options, const void* one, const void* other);

  Plans compressing_;
  Plans restoring_;
  std::optional<int> device_;
  std::unique_ptr<StreamCoder> coder_;
};

}  // namespace cuszi::api
