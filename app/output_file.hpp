#pragma once

#include <mutex>
#include <string>

#include "codec/byte_sink.hpp"
#include "codec/file_descriptor.hpp"

namespace cuszi::app {

/// A file that appears whole or not at all: it is written under another name beside its own, which
/// it gets on commit(). Without that it is removed at the end of its life, or when the process is
/// interrupted (see interruption.hpp). Standard output ("-") and devices are written at once.
///
/// Every function throws OutputError. One such file may be open at a time.
class OutputFile final : public ByteSink {
 public:
  /// Refuses to replace a file unless `force`.
  OutputFile(std::string path, bool force);
  ~OutputFile() override;

  void write(Bytes bytes) override;
  bool takes_any_order() const override { return !is_stream(); }
  void write_at(ByteCount offset, Bytes bytes) override;

  /// Makes what was written durable and gives it its name.
  void commit();

  /// True if what was written has gone for good and cannot be read back.
  bool is_stream() const { return temporary_.empty(); }

  /// Where the bytes are until commit().
  const std::string& temporary_path() const { return temporary_; }

 private:
  void open_stream();
  void open_temporary();
  [[noreturn]] void fail(const char* what) const;

  std::string path_;
  std::string temporary_;
  FileDescriptor file_;
  std::mutex writing_;  ///< files let in one writer at a time, and slow down when several push
  bool force_;
};

}  // namespace cuszi::app
