#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "codec/io/background.hpp"
#include "core/pipeline/pipeline.hpp"

namespace cuszi {

class FieldSource;

/// Brings the frames of a field to where a backend wants them: to a device straight from the file,
/// one frame ahead; else to the host's memory. If all frames are used `twice` and the device has
/// room for them, they are read once and stay there.
class FramePrefetcher {
 public:
  /// Prepares for a backend that has `tracks` frames in work at a time.
  FramePrefetcher(Backend& backend, FieldSource& field, bool twice, std::size_t tracks = 1);

  /// Begins to bring frame `i`, if it is not there.
  void expect(std::uint64_t i);

  /// The values of frame `i`, valid until as many others have been asked for as there are tracks.
  /// `user` is the backend that is going to work on it. Throws InputError or DeviceError.
  FrameValues frame(std::uint64_t i, Backend& user);

 private:
  struct ReleaseKept {
    void operator()(Transfer* transfer) const noexcept;
  };

  bool fits_device() const;
  void fetch(std::uint64_t i);

  FieldSource& field_;
  Transfer* transfer_;  ///< none if frames stay on the host
  bool twice_;
  std::size_t tracks_;
  std::optional<std::uint64_t> fetched_;         ///< the frame on its way or there
  MutableBytes values_;                          ///< its place
  std::unique_ptr<Transfer, ReleaseKept> kept_;  ///< what has the frames that stay, if they do
  std::vector<MutableBytes> kept_places_;        ///< of these frames; empty before the first use
  Background fetching_;
};

}  // namespace cuszi
