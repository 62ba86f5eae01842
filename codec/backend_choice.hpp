#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "core/backend.hpp"

namespace cuszi {

/// Where to compute, as the user asks.
struct DeviceChoice {
  enum class Kind { automatic, cpu, cuda };

  Kind kind = Kind::automatic;
  int index = 0;  ///< which of several devices

  friend bool operator==(const DeviceChoice&, const DeviceChoice&) = default;
};

/// The backends of a run, each made when it is first needed. What the device asked for cannot do
/// yet goes to the CPU if the choice is automatic, which `Notice` is told once.
class Backends {
 public:
  /// Takes one line of text for the user.
  using Notice = std::function<void(std::string_view)>;

  /// Throws DeviceError if a device asked for is not there.
  explicit Backends(
      const DeviceChoice& choice, Notice notice = [](std::string_view) {});

  /// A device of the caller's own, which can do everything.
  explicit Backends(std::unique_ptr<Backend> device);

  /// The backend that makes frames with these settings. Throws DeviceError.
  Backend& for_config(const FrameConfig& config);
  /// The backend that restores this frame. Throws DeviceError.
  Backend& for_frame(const FrameHeader& header);

  /// The device's backend, if there is one.
  Backend* device() { return device_.get(); }

  /// The name of the backend that was used last.
  std::string last_name() const;

 private:
  void require_bitcomp(bool device_can, std::string_view method) const;
  bool device_has(PredictorId predictor, CoderId coder) const;
  Backend& choose(bool device_can, std::string_view what);

  DeviceChoice choice_;
  Notice notice_;
  std::unique_ptr<Backend> cpu_;
  std::unique_ptr<Backend> device_;
  bool is_own_device_ = false;  ///< the caller's
  const Backend* last_ = nullptr;
  bool noticed_ = false;
};

/// What this tool was built for: "CPU only" or "CUDA".
std::string_view built_for();

}  // namespace cuszi
