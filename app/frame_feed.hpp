#pragma once

#include <optional>

#include "app/background.hpp"
#include "core/backend.hpp"

namespace cuszi::app {

class FieldSource;

/// Brings the frames of a field to where a backend wants them: for a device with memory of its own
/// straight from the file, one frame ahead; else as they lie.
class FrameFeed {
 public:
  FrameFeed(Backend& backend, FieldSource& field);

  /// The values of frame `i`, valid until the next call. Throws InputError or DeviceError.
  Bytes frame(std::uint64_t i);

 private:
  void fetch(std::uint64_t i);

  FieldSource& field_;
  Transfer* transfer_;                    ///< none if frames stay on the host
  std::optional<std::uint64_t> fetched_;  ///< the frame on its way or there
  MutableBytes values_;                   ///< its place
  Background fetching_;
};

}  // namespace cuszi::app
