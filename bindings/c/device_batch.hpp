#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "bindings/c/context.hpp"

namespace cuszi::api {

/// Processes members that can share a device's launches and waits; archives may be on the host.
/// Returns the indices of the others, also failed ones, to process singly.
std::vector<std::size_t> compress_together(cuszi_context& context, const cuszi_options* options,
                                           std::span<cuszi_compression> members);
std::vector<std::size_t> decompress_together(cuszi_context& context, const cuszi_options* options,
                                             std::span<cuszi_decompression> members);

}  // namespace cuszi::api
