#pragma once

#include <string>

#include "app/cli/options.hpp"
#include "codec/archive/field_codec.hpp"

namespace cuszi::app {

/// A field's way from its file to an archive and back to a file, both of them scratch.
struct FileTrip {
  CompressedField field;
  double compress_seconds = 0;    ///< from opening the field to the last byte of the archive
  double decompress_seconds = 0;  ///< from opening the archive to the last byte of the field
};

/// Makes the trip once. Nothing is forced to disk.
FileTrip make_file_trip(const BenchOptions& options, Backends& backends, const std::string& input);

}  // namespace cuszi::app
