#pragma once

#include <variant>

#include "core/huffman.hpp"

namespace cuszi {

/// The table of entropy coders, in the order of their ids: what an archive says of each. A new
/// coder is one more row here, a file of the same name in each backend, and its tests.
using CoderParams = std::variant<HuffmanParams>;

std::string_view name_of(const CoderParams& params);

void write_coder(const CoderParams& params, ByteWriter& out);
CoderParams read_coder(ByteReader& in);

}  // namespace cuszi
