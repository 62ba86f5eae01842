#include "tests/gpu/device.hpp"

#include "cuszi/gpu.hpp"
#include "tests/support/catch.hpp"

namespace cuszi::test {

Backend* device() {
  static const std::unique_ptr<Backend> backend =
      gpu::device_count() == 0 ? nullptr : gpu::make_backend();
  if (backend == nullptr) WARN("no GPU here: the test is skipped");
  return backend.get();
}

}  // namespace cuszi::test
