#include "codec/frames/backend_choice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>

#include "core/base/error.hpp"
#include "cpu_ref/base/thread_count.hpp"
#include "cpu_ref/session/cpu_backend.hpp"
#ifdef CUSZI_HAS_CUDA
#include "cuszi/gpu.hpp"
#endif

namespace cuszi {

namespace {

#ifdef CUSZI_HAS_CUDA

std::unique_ptr<Backend> make_device_backend(int index) { return gpu::make_backend(index); }
void require_bitcomp() { gpu::require_bitcomp(); }

#else

std::unique_ptr<Backend> make_device_backend(int /*index*/) {
  throw DeviceError(
      "--device cuda: this cuszi was built without CUDA; use --device cpu, or build it with CUDA");
}
void require_bitcomp() {}

#endif

/// Speed of one CPU thread in bytes a second.
struct CpuSpeed {
  double compress;
  double restore;
};

// 64 MB of a smooth field of f32 at 1e-3, presets as they are: CPU time of whole commands with
// --threads 1 on one core of a server CPU (AMD EPYC with AVX-512), 2026-11.
constexpr CpuSpeed cpu_speed(PredictorId method) {
  switch (method) {
    case PredictorId::multilevel: return {120e6, 180e6};
    case PredictorId::cells: return {490e6, 530e6};
    case PredictorId::tiles: return {800e6, 760e6};
    case PredictorId::interp: return {370e6, 340e6};
    case PredictorId::lorenzo: return {500e6, 430e6};
    case PredictorId::zfp: return {370e6, 430e6};
  }
  return {};
}

/// 16 threads are 6 to 12 times as fast as one: bench/results/zfp_cpu_threads.tsv.
constexpr int most_effective_threads = 8;

/// H200, 2026-11: commands take 0.37 s for 1 MB and 0.41 s for 512 MB, and 0.62 s to restore these,
/// 0.2 s of which write the file. No preset differs from the others.
constexpr double device_bytes_per_second = 10e9;

/// What the start still costs this process, see weigh().
std::atomic<double>& start_seconds_left() {
  static std::atomic<double> seconds = device_start_seconds;
  return seconds;
}

}  // namespace

void Workload::add_compression(ByteCount values, const FrameConfig& config) {
  bytes += values;
  thread_seconds += static_cast<double>(values) / cpu_speed(config.predictor.id).compress;
  if (config.lossless == Lossless::bitcomp) needs_device = "Bitcomp";
}

void Workload::add_restoration(ByteCount values, PredictorId method) {
  bytes += values;
  thread_seconds += static_cast<double>(values) / cpu_speed(method).restore;
}

void Workload::add(const Workload& other) {
  bytes += other.bytes;
  thread_seconds += other.thread_seconds;
  if (needs_device.empty()) needs_device = other.needs_device;
}

Weighing weigh(const DeviceChoice& choice, const Workload& work, int threads,
               double start_seconds) {
  if (choice.kind != DeviceChoice::Kind::automatic) {
    return {choice.kind == DeviceChoice::Kind::cuda};
  }
  if (!work.needs_device.empty()) return {true};
  const CallSeconds seconds{
      work.thread_seconds / std::clamp(threads, 1, most_effective_threads),
      start_seconds + static_cast<double>(work.bytes) / device_bytes_per_second};
  return {seconds.device <= seconds.cpu, seconds};
}

Weighing weigh(const DeviceChoice& choice, const Workload& work) {
  const double start = start_seconds_left();
  const Weighing result = weigh(choice, work, threads_in_use(), start);
  if (result.seconds && !result.prefers_device) {
    const double lost = result.seconds->cpu - (result.seconds->device - start);
    start_seconds_left() = std::clamp(start - lost, 0.0, start);
  }
  return result;
}

Backends::Backends(const DeviceChoice& choice) {
  if (choice.kind == DeviceChoice::Kind::cuda) open(choice);
  if (choice.kind == DeviceChoice::Kind::automatic) unopened_ = choice;
}

void Backends::open(const DeviceChoice& choice) {
  for (const int number : choice.numbers(device_count())) {
    devices_.push_back(make_device_backend(number));
  }
  why_lost_.resize(devices_.size());
  start_seconds_left() = 0;
}

bool Backends::uses_devices() {
  if (!prefers_device_) return false;
  if (unopened_ && device_count() > 0) open(*unopened_);
  unopened_.reset();
  return !devices_.empty();
}

Backend* Backends::device() { return uses_devices() ? &for_frames() : nullptr; }

Backends::Backends(std::unique_ptr<Backend> device) : why_lost_(1) {
  devices_.push_back(std::move(device));
}

std::vector<Backend*> Backends::all_for_config(const FrameConfig& config) {
  if (config.lossless == Lossless::bitcomp) {
    if (!uses_devices()) {
      throw DeviceError(
          "--lossless bitcomp needs a GPU, a cuszi built with CUDA and nvCOMP (package "
          "nvidia-libnvcomp-cu13); use --lossless none");
    }
    require_bitcomp();
  }
  return all_for_frames();
}

std::vector<Backend*> Backends::all_for_frames() {
  std::vector<Backend*> all;
  const std::size_t used = uses_devices() ? devices_.size() : 0;
  for (std::size_t i = 0; i < used; ++i) {
    if (!why_lost_[i]) all.push_back(devices_[i].get());
  }
  if (all.empty()) {
    if (!cpu_) cpu_ = cpu::make_backend();
    all.push_back(cpu_.get());
  }
  last_name_.clear();
  for (const Backend* backend : all) {
    last_name_ += (last_name_.empty() ? "" : " + ") + backend->name();
  }
  return all;
}

void Backends::lose(const Backend& device, const std::string& why) {
  for (std::size_t i = 0; i < devices_.size(); ++i) {
    if (devices_[i].get() == &device) why_lost_[i] = why;
  }
}

std::vector<std::string> Backends::losses() const {
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < devices_.size(); ++i) {
    if (!why_lost_[i]) continue;
    lines.push_back(fmt::format(
        "{} (number {} of {} devices) failed: {}; the other devices took over its frames",
        devices_[i]->name(), i + 1, devices_.size(), *why_lost_[i]));
  }
  return lines;
}

#ifdef CUSZI_HAS_CUDA
int device_count() { return gpu::device_count(); }
std::optional<std::string> cuda_toolkit() { return gpu::toolkit_version(); }
std::optional<std::string> nvcomp_version() { return gpu::nvcomp_version(); }
#else
int device_count() { return 0; }
std::optional<std::string> cuda_toolkit() { return std::nullopt; }
std::optional<std::string> nvcomp_version() { return std::nullopt; }
#endif

}  // namespace cuszi
