#include "app/backend_choice.hpp"

#include "core/error.hpp"
#include "cpu_ref/cpu_backend.hpp"

namespace cuszi::app {

std::unique_ptr<Backend> make_backend(const DeviceChoice& choice) {
  if (choice.kind == DeviceChoice::Kind::cuda) {
    throw DeviceError(
        "--device cuda: this cuszi was built without CUDA; use --device cpu, or build it where "
        "nvcc is");
  }
  return cpu::make_backend();
}

void require_available(Lossless lossless) {
  if (lossless == Lossless::none) return;
  throw DeviceError(
      "--lossless bitcomp needs a GPU, a cuszi built with CUDA and nvCOMP (package "
      "nvidia-libnvcomp-cu13); use --lossless none");
}

std::string_view built_for() { return "CPU only"; }

}  // namespace cuszi::app
