#pragma once

#include <mutex>
#include <string>

#include "codec/io/byte_sink.hpp"
#include "codec/io/file_descriptor.hpp"

namespace cuszi {

/// An unlinked file in TMPDIR. All functions throw OutputError.
class ScratchFile final : public ByteSink {
 public:
  ScratchFile();

  void write(Bytes bytes) override;
  bool takes_any_order() const override { return true; }
  void write_at(ByteCount offset, Bytes bytes) override;

  /// Opens the file.
  std::string path() const;

 private:
  FileDescriptor file_;
  std::mutex writing_;  ///< a file takes one writer at a time
};

}  // namespace cuszi
