#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "codec/io/background.hpp"
#include "core/pipeline/pipeline.hpp"

namespace cuszi {

class FieldSource;

/// Every `step`-th frame, while all devices work.
struct FrameShare {
  std::uint64_t first = 0;
  std::uint64_t step = 1;

  bool has(std::uint64_t i) const { return i % step == first; }
};

/// Loads one frame ahead, to the device if there is one. Frames of `share` used `twice` stay there
/// if they fit.
class FramePrefetcher {
 public:
  /// `tracks` is the number of concurrent frames.
  FramePrefetcher(Backend& backend, FieldSource& field, bool twice, std::size_t tracks = 1,
                  FrameShare share = {});

  /// Starts to load frame `i`.
  void expect(std::uint64_t i);

  /// Frame `i`, valid until the track at `place` asks again. `user` works on it. Throws InputError
  /// or DeviceError.
  FrameValues frame(std::uint64_t i, Backend& user, std::size_t place = 0);

 private:
  struct ReleaseKept {
    void operator()(Transfer* transfer) const noexcept;
  };

  bool fits_device() const;
  bool keeps(std::uint64_t i) const { return kept_ && share_.has(i); }
  void fetch(std::uint64_t i);

  FieldSource& field_;
  Transfer* transfer_;  ///< null: host only
  bool twice_;
  FrameShare share_;
  std::vector<std::size_t> buffers_;             ///< per track
  std::size_t free_;                             ///< for the next frame
  std::optional<std::uint64_t> fetched_;         ///< loading or unused
  MutableBytes values_;                          ///< of fetched_
  std::unique_ptr<Transfer, ReleaseKept> kept_;  ///< of frames that stay
  std::vector<MutableBytes> kept_places_;        ///< empty before the first use
  BackgroundThread fetching_;
};

}  // namespace cuszi
