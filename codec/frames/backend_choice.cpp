#include "codec/frames/backend_choice.hpp"

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
      "--device cuda: this cuszi was built without CUDA; use --device cpu, or build it where "
      "nvcc is");
}
void require_bitcomp() {}

#endif

}  // namespace

bool computes_on_device(const DeviceChoice& choice) {
  const bool wanted = choice.kind == DeviceChoice::Kind::cuda;
  return wanted || (choice.kind == DeviceChoice::Kind::automatic && device_count() > 0);
}

Backends::Backends(const DeviceChoice& choice) {
  if (computes_on_device(choice)) device_ = make_device_backend(choice.index);
}

Backends::Backends(std::unique_ptr<Backend> device) : device_(std::move(device)) {}

Backend& Backends::for_config(const FrameConfig& config) {
  if (config.lossless == Lossless::bitcomp) {
    if (!device_) {
      throw DeviceError(
          "--lossless bitcomp needs a GPU, a cuszi built with CUDA and nvCOMP (package "
          "nvidia-libnvcomp-cu13); use --lossless none");
    }
    require_bitcomp();
  }
  return choose();
}

std::string Backends::last_name() const { return last_ != nullptr ? last_->name() : ""; }

Backend& Backends::choose() {
  if (!device_ && !cpu_) cpu_ = cpu::make_backend();
  Backend& backend = device_ ? *device_ : *cpu_;
  last_ = &backend;
  return backend;
}

#ifdef CUSZI_HAS_CUDA
std::optional<std::string> cuda_toolkit() { return gpu::toolkit_version(); }
std::optional<std::string> nvcomp_version() { return gpu::nvcomp_version(); }
#else
std::optional<std::string> cuda_toolkit() { return std::nullopt; }
std::optional<std::string> nvcomp_version() { return std::nullopt; }
#endif

}  // namespace cuszi
