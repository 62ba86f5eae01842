#include "app/backend_choice.hpp"

#include "core/error.hpp"
#include "cpu_ref/cpu_backend.hpp"
#ifdef CUSZI_HAS_CUDA
#include <spdlog/spdlog.h>

#include "gpu/gpu_backend.hpp"
#endif

namespace cuszi::app {

#ifdef CUSZI_HAS_CUDA

std::unique_ptr<Backend> make_backend(const DeviceChoice& choice) {
  if (choice.kind == DeviceChoice::Kind::cpu) return cpu::make_backend();
  if (choice.kind == DeviceChoice::Kind::cuda) return gpu::make_backend(choice.index);
  if (gpu::device_count() > 0) return gpu::make_backend();
  spdlog::info("no GPU is available here; the CPU does the work");
  return cpu::make_backend();
}

std::string_view built_for() { return "CUDA"; }

#else

std::unique_ptr<Backend> make_backend(const DeviceChoice& choice) {
  if (choice.kind == DeviceChoice::Kind::cuda) {
    throw DeviceError(
        "--device cuda: this cuszi was built without CUDA; use --device cpu, or build it where "
        "nvcc is");
  }
  return cpu::make_backend();
}

std::string_view built_for() { return "CPU only"; }

#endif

void require_available(Lossless lossless) {
  if (lossless == Lossless::none) return;
  throw DeviceError(
      "--lossless bitcomp needs a GPU, a cuszi built with CUDA and nvCOMP (package "
      "nvidia-libnvcomp-cu13); use --lossless none");
}

}  // namespace cuszi::app
