#pragma once

#include <string>
#include <vector>

#include "codec/field/field_source.hpp"
#include "codec/io/byte_sink.hpp"
#include "codec/io/file_descriptor.hpp"
#include "core/backend/transfer.hpp"

namespace cuszi {

/// An unlinked file in TMPDIR. All functions throw OutputError.
class ScratchFile final : public ByteSink {
 public:
  ScratchFile();

  void write(Bytes bytes) override;
  bool takes_any_order() const override { return true; }
  void write_at(ByteCount offset, Bytes bytes) override;
  void set_size(ByteCount size) { parts_.set_size(file_.get(), size); }

  /// Opens the file.
  std::string path() const;

 private:
  FileDescriptor file_;
  FileParts parts_;
};

/// Seconds of each part of the path from file over device to archive, and back, alone: a limit for
/// overlapped runs.
struct PathParts {
  double read_field = 0;      ///< by many threads
  double field_over_bus = 0;  ///< to the device; back is similar
  double write_archive = 0;   ///< by one thread
  double write_field = 0;     ///< by many threads

  double slowest_of_compress() const;
  double slowest_of_decompress() const;
};

PathParts measure_path_parts(Transfer& transfer, const FieldSource& field, ByteCount archive_bytes);

/// Part by part.
PathParts medians_of(const std::vector<PathParts>& runs);

}  // namespace cuszi
