#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "codec/io/background.hpp"
#include "core/pipeline/pipeline.hpp"

namespace cuszi {

class FieldSource;

/// Which frames of a field a device has, as long as all of several do: every so many-th.
struct FrameShare {
  std::uint64_t first = 0;
  std::uint64_t step = 1;

  bool has(std::uint64_t i) const { return i % step == first; }
};

/// Brings the frames of a field to where a backend wants them: to a device straight from the file,
/// one frame ahead; else to the host's memory. If all frames of its share are used `twice` and the
/// device has room for them, they are read once and stay there.
class FramePrefetcher {
 public:
  /// Prepares for a backend that has `tracks` frames in work at a time, those of `share` and what
  /// other devices leave.
  FramePrefetcher(Backend& backend, FieldSource& field, bool twice, std::size_t tracks = 1,
                  FrameShare share = {});

  /// Begins to bring frame `i`, if it is not there.
  void expect(std::uint64_t i);

  /// The values of frame `i`, valid until the track at this place asks for another one. `user` is
  /// the backend that is going to work on it. Throws InputError or DeviceError.
  FrameValues frame(std::uint64_t i, Backend& user, std::size_t place = 0);

 private:
  struct ReleaseKept {
    void operator()(Transfer* transfer) const noexcept;
  };

  bool fits_device() const;
  bool keeps(std::uint64_t i) const { return kept_ && share_.has(i); }
  void fetch(std::uint64_t i);

  FieldSource& field_;
  Transfer* transfer_;  ///< none if frames stay on the host
  bool twice_;
  FrameShare share_;
  std::vector<std::size_t> buffers_;             ///< of each track's frame
  std::size_t free_;                             ///< the buffer for the next one
  std::optional<std::uint64_t> fetched_;         ///< the frame on its way or there, not yet used
  MutableBytes values_;                          ///< its place
  std::unique_ptr<Transfer, ReleaseKept> kept_;  ///< what has the frames that stay, if they do
  std::vector<MutableBytes> kept_places_;        ///< of these frames; empty before the first use
  Background fetching_;
};

}  // namespace cuszi
