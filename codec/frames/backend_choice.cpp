#include "codec/frames/backend_choice.hpp"

#include <fmt/format.h>

#include "core/base/error.hpp"
#include "cpu_ref/session/cpu_backend.hpp"
#ifdef CUSZI_HAS_CUDA
#include "cuszi/gpu.hpp"
#endif

namespace cuszi {

namespace {

#ifdef CUSZI_HAS_CUDA

int device_count() { return gpu::device_count(); }
std::unique_ptr<Backend> make_device_backend(int index) { return gpu::make_backend(index); }
void require_bitcomp() { gpu::require_bitcomp(); }

#else

int device_count() { return 0; }
std::unique_ptr<Backend> make_device_backend(int /*index*/) {
  throw DeviceError(
      "--device cuda: this cuszi was built without CUDA; use --device cpu, or build it with CUDA");
}
void require_bitcomp() {}

#endif

}  // namespace

bool computes_on_device(const DeviceChoice& choice) {
  const bool wanted = choice.kind == DeviceChoice::Kind::cuda;
  return wanted || (choice.kind == DeviceChoice::Kind::automatic && device_count() > 0);
}

Backends::Backends(const DeviceChoice& choice) {
  if (!computes_on_device(choice)) return;
  for (const int number : choice.numbers(device_count())) {
    devices_.push_back(make_device_backend(number));
  }
  why_lost_.resize(devices_.size());
}

Backends::Backends(std::unique_ptr<Backend> device) : why_lost_(1) {
  devices_.push_back(std::move(device));
}

std::vector<Backend*> Backends::all_for_config(const FrameConfig& config) {
  if (config.lossless == Lossless::bitcomp) {
    if (devices_.empty()) {
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
  for (std::size_t i = 0; i < devices_.size(); ++i) {
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
std::optional<std::string> cuda_toolkit() { return gpu::toolkit_version(); }
std::optional<std::string> nvcomp_version() { return gpu::nvcomp_version(); }
#else
std::optional<std::string> cuda_toolkit() { return std::nullopt; }
std::optional<std::string> nvcomp_version() { return std::nullopt; }
#endif

}  // namespace cuszi
