#pragma once

#include <mutex>
#include <string>

#include "codec/io/byte_sink.hpp"
#include "codec/io/file_descriptor.hpp"

namespace cuszi {

/// A file without a name in the folder for temporary files (TMPDIR), which is gone with its owner.
/// Every function throws OutputError.
class ScratchFile final : public ByteSink {
 public:
  ScratchFile();

  void write(Bytes bytes) override;
  bool takes_any_order() const override { return true; }
  void write_at(ByteCount offset, Bytes bytes) override;

  /// What it can be opened by.
  std::string path() const;

 private:
  FileDescriptor file_;
  std::mutex writing_;  ///< files let in one writer at a time, and slow down when several push
};

}  // namespace cuszi
