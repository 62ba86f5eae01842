#include "core/coders/ans.hpp"

#include <string>

#include "core/field/chunk_index.hpp"
#include "core/field/quantizer.hpp"

namespace cuszi {

void AnsParams::write(ByteWriter& out) const {
  out.varint(centre);
  write_index_params(index, partition, out);
}

AnsParams AnsParams::read(ByteReader& in) {
  AnsParams params;
  const std::uint64_t centre = in.varint();
  if (centre == 0 || centre > max_radius) {
    throw ArchiveError("the ANS coder's centre is " + std::to_string(centre) + ", not from 1 to " +
                       std::to_string(max_radius));
  }
  params.centre = static_cast<std::uint32_t>(centre);
  read_index_params(in, params.index, params.partition);
  return params;
}

}  // namespace cuszi
