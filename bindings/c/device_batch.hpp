#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "bindings/c/context.hpp"

namespace cuszi::api {

/// Does those members of a batch together that lie on one device and can share its launches and
/// waits; archives to be restored may lie on the host. Returns the numbers of the others, which are
/// to be done one by one, as before: also those that fail.
std::vector<std::size_t> compress_together(cuszi_context& context, const cuszi_options* options,
                                           std::span<cuszi_compression> members);
std::vector<std::size_t> decompress_together(cuszi_context& context, const cuszi_options* options,
                                             std::span<cuszi_decompression> members);

}  // namespace cuszi::api
