#pragma once

#include <vector>

#include "codec/archive_reader.hpp"
#include "test_data/random.hpp"

namespace cuszi::test {

/// An archive taken apart, for edits that a hostile writer could make.
struct OpenArchive {
  ArchiveHeader header;
  std::vector<ArchiveFrame> frames;

  explicit OpenArchive(Bytes archive);
  /// Put together again, with right checksums as far as the edits make sense.
  std::vector<std::byte> close() const;
};

/// Makes one edit: of a section's borders, kind or bytes, of a frame's statements, of its
/// predictor's or coder's parameters, or of the archive's header.
void edit(OpenArchive& archive, Random& random);

}  // namespace cuszi::test
