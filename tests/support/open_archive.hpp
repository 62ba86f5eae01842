#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "codec/archive/archive_reader.hpp"
#include "core/archive/archive.hpp"
#include "core/archive/frame.hpp"

namespace cuszi::test {

/// A section with its bytes.
struct OpenSection {
  SectionId id;
  std::size_t pass = 0;  ///< counted from 0 in the level
  std::optional<Unpacked> unpacked = {};
  std::vector<std::byte> bytes;
  std::uint64_t wide_id = 0;  ///< of SectionId::optional
};

using OpenLevel = std::vector<OpenSection>;

struct OpenFrame {
  FrameHeader header;  ///< its levels are made anew from those below
  std::vector<OpenLevel> levels;
};

/// What a writer puts between a prefix and a hash.
enum class Body { header, table, footer };

/// Changes the bytes of a body; its size and its hash follow.
using ChangeBody = std::function<void(Body, std::vector<std::byte>&)>;

/// An archive taken apart, for edits that a hostile writer could make.
struct OpenArchive {
  ArchiveHeader header;
  std::vector<OpenFrame> frames;
  std::optional<Amendment> amendment;  ///< of an amended archive, whose base the rest is
  AmendmentParts amended;

  /// Reads header, tables and footer, but not what the sections hold. Throws ArchiveError.
  explicit OpenArchive(Bytes archive);

  /// Put together again, with right sizes and hashes everywhere.
  std::vector<std::byte> close(const ChangeBody& change = [](Body, std::vector<std::byte>&) {
  }) const;
};

}  // namespace cuszi::test
