#pragma once

#include <memory>
#include <string_view>

#include "core/backend.hpp"

namespace cuszi::app {

/// Where to compute, as the user asks.
struct DeviceChoice {
  enum class Kind { automatic, cpu, cuda };

  Kind kind = Kind::automatic;
  int index = 0;  ///< which of several devices
};

/// The backend asked for. Throws DeviceError if it is not there.
std::unique_ptr<Backend> make_backend(const DeviceChoice& choice);

/// A second lossless pass over an archive's sections.
enum class Lossless { none, bitcomp };

/// Throws DeviceError if the pass cannot be made.
void require_available(Lossless lossless);

/// What this tool was built for: "CPU only" or "CUDA".
std::string_view built_for();

}  // namespace cuszi::app
