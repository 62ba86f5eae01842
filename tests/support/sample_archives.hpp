#pragma once

#include <string>
#include <vector>

#include "core/base/units.hpp"

namespace cuszi::test {

struct SampleArchive {
  std::string name;
  std::vector<std::byte> archive;
};

/// Archives of at most 2 KB with every kind of frame, section and index between them.
const std::vector<SampleArchive>& small_archives();

/// An archive that says that its codes are packed by Bitcomp, as far as it can without a GPU.
std::vector<std::byte> packed_archive();

/// Archives that claim what no encoder here makes of a field: codes that are packed, and zfp
/// streams that are reversible, of long blocks or of a fixed rate.
std::vector<SampleArchive> claiming_archives();

/// Several archives, one behind the other, that are one field.
SampleArchive members_archive();

/// Where a fuzzer may start: archives of at most 2^14 values with every predictor, coder, mode of a
/// coder, index, kind of frame and mask, type and rank, and those of several frames.
const std::vector<SampleArchive>& seed_archives();

}  // namespace cuszi::test
