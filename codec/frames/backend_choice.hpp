#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "codec/settings/settings.hpp"
#include "core/backend/backend.hpp"

namespace cuszi {

/// Work of a call, which decides where an automatic choice computes.
struct Workload {
  ByteCount bytes = 0;                 ///< of values
  double thread_seconds = 0;           ///< estimate for one CPU thread
  std::string_view needs_device = {};  ///< why the work goes to a device unweighed; else empty

  void add_compression(ByteCount values, const FrameConfig& config);
  void add_restoration(ByteCount values, PredictorId method);
  void add(const Workload& other);

  static Workload of_unknown_size() { return {0, 0, "unknown size"}; }
  static Workload in_device_memory() { return {0, 0, "device memory"}; }
};

/// Estimates, without reading and writing files, which both do.
struct CallSeconds {
  double cpu;
  double device;  ///< with its start
};

struct Weighing {
  bool prefers_device;
  std::optional<CallSeconds> seconds = {};  ///< nullopt: nothing was weighed
};

/// First use of a device by a process: driver, context, modules, page-locked memory, threads.
inline constexpr double device_start_seconds = 0.3;

/// Whether work goes to a device if there is one. A choice of a device or the CPU stands; an
/// automatic one takes the faster by the estimates. `start_seconds` is what a device's start still
/// costs.
Weighing weigh(const DeviceChoice& choice, const Workload& work, int threads, double start_seconds);

/// Weighs the work for the threads in use. Counts what calls on the CPU lose to a started device
/// towards the start, so that a process with many small calls starts it, too.
Weighing weigh(const DeviceChoice& choice, const Workload& work);

/// Starts the driver. 0 without CUDA.
int device_count();

/// Devices, or the CPU, created on first use.
class Backends {
 public:
  /// Throws DeviceError if a chosen device is missing. An automatic choice uses devices if there
  /// are any.
  explicit Backends(const DeviceChoice& choice);

  /// The caller's devices.
  explicit Backends(std::unique_ptr<Backend> device);
  explicit Backends(std::vector<std::unique_ptr<Backend>> devices)
      : devices_(std::move(devices)), why_lost_(devices_.size()) {}

  /// Whether the next calls use devices, if the choice is automatic.
  void prefer_device(bool preferred) { prefers_device_ = preferred; }

  /// Backends that compress, one per device in use. Throws DeviceError.
  std::vector<Backend*> all_for_config(const FrameConfig& config);
  std::vector<Backend*> all_for_frames();

  /// The first backend.
  Backend& for_config(const FrameConfig& config) { return *all_for_config(config).front(); }
  Backend& for_frames() { return *all_for_frames().front(); }

  /// Null on the CPU.
  Backend* device();

  /// Drops a failed device.
  void lose(const Backend& device, const std::string& why);

  /// Reasons of dropped devices, a line each.
  std::vector<std::string> losses() const;

  /// Last used: "cpu", or "NVIDIA H100 + NVIDIA H100".
  std::string last_name() const { return last_name_; }

 private:
  bool uses_devices();
  void open(const DeviceChoice& choice);

  bool prefers_device_ = true;
  std::optional<DeviceChoice> unopened_;  ///< automatic, opened when first preferred
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
