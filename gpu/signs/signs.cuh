#pragma once

#include <cstdint>

#include "core/base/dims.hpp"
#include "core/base/units.hpp"
#include "gpu/runtime/context.hpp"

namespace cuszi::gpu {

struct SignsPolicy {
  static constexpr unsigned list_warps = 8;
  static constexpr unsigned fill_threads = 256;
  static constexpr unsigned decode_warps = 4;  ///< of segments that share tables
};

/// cuszi::encode_signs() of bits on the device, to a section there. Waits once.
Bytes encode_signs(DeviceContext& gpu, const std::uint64_t* signs, const Dims& dims);

/// Starts to decode a section on the device to bits there, given its begin, as far as a head may
/// reach, on the host. Damage of chains sets a flaw, other damage throws ArchiveError.
const std::uint64_t* decode_signs(DeviceContext& gpu, Bytes section, Bytes begin, const Dims& dims);

}  // namespace cuszi::gpu
