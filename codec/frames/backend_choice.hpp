#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "codec/settings/settings.hpp"
#include "core/backend/backend.hpp"

namespace cuszi {

bool computes_on_device(const DeviceChoice& choice);

/// Devices, or the CPU, created on first use.
class Backends {
 public:
  /// Throws DeviceError if a device is missing.
  explicit Backends(const DeviceChoice& choice);

  /// The caller's devices.
  explicit Backends(std::unique_ptr<Backend> device);
  explicit Backends(std::vector<std::unique_ptr<Backend>> devices)
      : devices_(std::move(devices)), why_lost_(devices_.size()) {}

  /// Backends that compress, one per device in use. Throws DeviceError.
  std::vector<Backend*> all_for_config(const FrameConfig& config);
  std::vector<Backend*> all_for_frames();

  /// The first backend.
  Backend& for_config(const FrameConfig& config) { return *all_for_config(config).front(); }
  Backend& for_frames() { return *all_for_frames().front(); }

  /// Null without a device.
  Backend* device() { return devices_.empty() ? nullptr : &for_frames(); }

  /// Drops a failed device.
  void lose(const Backend& device, const std::string& why);

  /// Reasons of dropped devices, a line each.
  std::vector<std::string> losses() const;

  /// Last used: "cpu", or "NVIDIA H100 + NVIDIA H100".
  std::string last_name() const { return last_name_; }

 private:
  std::unique_ptr<Backend> cpu_;
  std::vector<std::unique_ptr<Backend>> devices_;
  std::vector<std::optional<std::string>> why_lost_;  ///< nullopt while in use
  std::string last_name_;
};

/// Nullopt without CUDA.
std::optional<std::string> cuda_toolkit();

/// Nullopt without nvCOMP.
std::optional<std::string> nvcomp_version();

}  // namespace cuszi
