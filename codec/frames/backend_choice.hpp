#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "codec/settings/settings.hpp"
#include "core/backend/backend.hpp"

namespace cuszi {

/// Whether frames are computed on a device where it is up to this choice.
bool computes_on_device(const DeviceChoice& choice);

/// The backends of a run: the devices', or the CPU's, which is made when it is first needed.
class Backends {
 public:
  /// Prepares to compute as `choice` says. Throws DeviceError if a device that it names is not
  /// there.
  explicit Backends(const DeviceChoice& choice);

  /// Devices of the caller's own.
  explicit Backends(std::unique_ptr<Backend> device);
  explicit Backends(std::vector<std::unique_ptr<Backend>> devices)
      : devices_(std::move(devices)), why_lost_(devices_.size()) {}

  /// The backends that make frames with these settings, side by side: one of each device that was
  /// not given up. Throws DeviceError.
  std::vector<Backend*> all_for_config(const FrameConfig& config);
  /// The backends that restore frames.
  std::vector<Backend*> all_for_frames();

  /// The first of them, for what one backend does.
  Backend& for_config(const FrameConfig& config) { return *all_for_config(config).front(); }
  Backend& for_frames() { return *all_for_frames().front(); }

  /// The first device's backend, if there is a device.
  Backend* device() { return devices_.empty() ? nullptr : &for_frames(); }

  /// Gives up a device, of several, that has failed.
  void lose(const Backend& device, const std::string& why);

  /// What there is to tell of devices that were given up, each in one line.
  std::vector<std::string> losses() const;

  /// The names of the backends that were used last: "cpu", or "NVIDIA H100 + NVIDIA H100".
  std::string last_name() const { return last_name_; }

 private:
  std::unique_ptr<Backend> cpu_;
  std::vector<std::unique_ptr<Backend>> devices_;
  std::vector<std::optional<std::string>> why_lost_;  ///< each device; nothing if it was not
  std::string last_name_;
};

/// The version of the CUDA toolkit that this was built with, if there was one.
std::optional<std::string> cuda_toolkit();

/// The version of nvCOMP, which Lossless::bitcomp needs, if it is used and can be loaded.
std::optional<std::string> nvcomp_version();

}  // namespace cuszi
