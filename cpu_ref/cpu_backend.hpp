#pragma once

#include <memory>

#include "core/backend.hpp"

namespace cuszi::cpu {

/// The serial reference, threaded where results cannot depend on it.
std::unique_ptr<Backend> make_backend();

}  // namespace cuszi::cpu
