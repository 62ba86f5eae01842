#pragma once

#include <memory>
#include <optional>
#include <string>

#include "codec/settings/settings.hpp"
#include "core/backend/backend.hpp"

namespace cuszi {

/// Whether frames are computed on a device where it is up to this choice.
bool computes_on_device(const DeviceChoice& choice);

/// The backends of a run, each made when it is first needed.
class Backends {
 public:
  /// Prepares to compute as `choice` says. Throws DeviceError if a device that it names is not
  /// there.
  explicit Backends(const DeviceChoice& choice);

  /// A device of the caller's own.
  explicit Backends(std::unique_ptr<Backend> device);

  /// The backend that makes frames with these settings. Throws DeviceError.
  Backend& for_config(const FrameConfig& config);
  /// The backend that restores frames.
  Backend& for_frames() { return choose(); }

  /// The device's backend, if there is one.
  Backend* device() { return device_.get(); }

  /// The name of the backend that was used last.
  std::string last_name() const;

 private:
  Backend& choose();

  std::unique_ptr<Backend> cpu_;
  std::unique_ptr<Backend> device_;
  const Backend* last_ = nullptr;
};

/// The version of the CUDA toolkit that this was built with, if there was one.
std::optional<std::string> cuda_toolkit();

/// The version of nvCOMP, which Lossless::bitcomp needs, if it is used and can be loaded.
std::optional<std::string> nvcomp_version();

}  // namespace cuszi
