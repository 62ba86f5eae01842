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

/// Where a call tells of its end, and as which.
struct StreamTarget {
  void* stream;
  std::int32_t* status;
  std::uint32_t number;
};

/// Calls that a device makes without the host: those by preset `fast` of fields that come with a
/// batch, whose bound is known, with all memory on one device, or page-locked for sizes and
/// statuses. The first such call decides the device.
class StreamCalls {
 public:
  /// Gives the call to the stream. False, and nothing is given, if it needs the host. Throws what
  /// makes the options impossible.
  bool compress(const cuszi_options& options, const cuszi_field& field, const void* values,
                void* archive, std::size_t capacity, std::size_t* archive_size,
                const StreamTarget& target);
  bool decompress(const cuszi_options& options, const cuszi_field& field, const void* archive,
                  const std::size_t* archive_size, void* values, std::size_t capacity,
                  const StreamTarget& target);

  /// Whether a stream that this has seen a device for is being captured.
  bool is_captured(void* stream) const;

  void wait();
  /// See StreamCoder::mark().
  std::function<void()> mark();
  std::optional<StreamCoder::Failure> take_failure();

  /// Why a call on a device has ended so.
  static const char* text_of(cuszi_status status);

 private:
  /// What options and a field come to.
  struct Plan {
    cuszi_options options;
    cuszi_field field;
    FrameShape shape;
    double bound = 0;  ///< absolute; 0 if the host is needed
    ArchiveDraft draft;
  };

  /// Keeps the last plan: many calls in a row are alike, whatever their streams are.
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
