#pragma once

#include <cstdint>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "core/base/units.hpp"

// Archives of a released version, which every later one reads. A corpus is a folder of two files:
// manifest.tsv with a line for each archive, and archives.bin with all of them, one behind the
// other, at the offsets that the manifest tells.

namespace cuszi::test {

/// An archive as its line of the manifest tells it.
struct CorpusArchive {
  std::string name;
  std::string dims;
  std::string dtype;
  std::string field;       ///< of test_data/fields.hpp, with its seed; or of tests/support
  std::string options;     ///< of the library that it was made with, "NAME=TEXT NAME=TEXT"
  std::uint64_t hash = 0;  ///< block_hash() of the values that it restores to
  std::set<std::string> features = {};  ///< features_of() it
  std::vector<std::byte> archive = {};
};

/// The folders vN.M, one for each corpus, of the project's test_data/compat, or of what
/// CUSZI_CORPUS names where the project is not (on a machine with a device, say).
std::vector<std::filesystem::path> corpus_folders();

/// Reads a corpus. Throws std::runtime_error if its two files are not there, or do not agree.
std::vector<CorpusArchive> read_corpus(const std::filesystem::path& folder);

/// Writes a corpus into a folder, which is made if it is not there.
void write_corpus(const std::filesystem::path& folder, const std::vector<CorpusArchive>& corpus);

/// What a reader of this archive has to know, like "predictor:lorenzo" and "section:codes". Throws
/// ArchiveError.
std::set<std::string> features_of(Bytes archive);

/// What the features of archives of this version can be.
std::set<std::string> all_features();

}  // namespace cuszi::test
