#include "codec/backend_choice.hpp"

#include <fmt/format.h>

#include "core/error.hpp"
#include "cpu_ref/cpu_backend.hpp"
#ifdef CUSZI_HAS_CUDA
#include "cuszi/gpu.hpp"
#endif

namespace cuszi {

namespace {

#ifdef CUSZI_HAS_CUDA

constexpr std::string_view built_with = "CUDA";

int device_count() { return gpu::device_count(); }
std::unique_ptr<Backend> make_device_backend(int index) { return gpu::make_backend(index); }
bool cuda_has(PredictorId predictor, CoderId coder) { return gpu::has_steps(predictor, coder); }
void require_bitcomp() { gpu::require_bitcomp(); }

#else

constexpr std::string_view built_with = "CPU only";

int device_count() { return 0; }
std::unique_ptr<Backend> make_device_backend(int /*index*/) {
  throw DeviceError(
      "--device cuda: this cuszi was built without CUDA; use --device cpu, or build it where "
      "nvcc is");
}
bool cuda_has(PredictorId /*predictor*/, CoderId /*coder*/) { return false; }
void require_bitcomp() {}

#endif

std::string describe(PredictorId predictor, CoderId coder) {
  return fmt::format("{} + {}", name_of(predictor), name_of(coder));
}

}  // namespace

Backends::Backends(const DeviceChoice& choice, Notice notice)
    : choice_(choice), notice_(std::move(notice)) {
  const bool wanted = choice.kind == DeviceChoice::Kind::cuda;
  const bool there = choice.kind == DeviceChoice::Kind::automatic && device_count() > 0;
  if (wanted || there) device_ = make_device_backend(choice.index);
}

Backends::Backends(std::unique_ptr<Backend> device)
    : notice_([](std::string_view) {}), device_(std::move(device)), is_own_device_(true) {}

bool Backends::device_has(PredictorId predictor, CoderId coder) const {
  return device_ && (is_own_device_ || cuda_has(predictor, coder));
}

Backend& Backends::for_config(const FrameConfig& config) {
  const PredictorId predictor = config.predictor.id;
  const CoderId coder = coder_for(predictor, config.coder);
  const bool device_can = device_has(predictor, coder);
  const std::string method = describe(predictor, coder);
  if (config.lossless == Lossless::bitcomp) require_bitcomp(device_can, method);
  return choose(device_can, method);
}

void Backends::require_bitcomp(bool device_can, std::string_view method) const {
  if (!device_) {
    throw DeviceError(
        "--lossless bitcomp needs a GPU, a cuszi built with CUDA and nvCOMP (package "
        "nvidia-libnvcomp-cu13); use --lossless none");
  }
  if (!device_can) {
    throw DeviceError(fmt::format(
        "--lossless bitcomp needs the GPU, and {} is not there yet; use --preset cuszi or cusz",
        method));
  }
  cuszi::require_bitcomp();
}

Backend& Backends::for_frame(const FrameHeader& header) {
  if (!header.predictor) return choose(device_ != nullptr, {});
  const PredictorId predictor = id_of(*header.predictor);
  const CoderId coder = id_of(*header.coder);
  return choose(device_has(predictor, coder), describe(predictor, coder));
}

std::string Backends::last_name() const { return last_ != nullptr ? last_->name() : ""; }

Backend& Backends::choose(bool device_can, std::string_view what) {
  if (device_ && !device_can) {
    const auto message = fmt::format("{} is not on the GPU yet", what);
    if (choice_.kind == DeviceChoice::Kind::cuda) {
      throw DeviceError(message + "; use --device cpu or auto, or --preset cuszi or cusz");
    }
    if (!noticed_) notice_(message + "; the CPU does the work");
    noticed_ = true;
  }
  if (!device_can && !cpu_) cpu_ = cpu::make_backend();
  Backend& backend = device_can ? *device_ : *cpu_;
  last_ = &backend;
  return backend;
}

std::string_view built_for() { return built_with; }

}  // namespace cuszi
