#pragma once

#include <sys/stat.h>

#include <mutex>
#include <optional>
#include <string>

#include "codec/io/byte_sink.hpp"
#include "codec/io/file_descriptor.hpp"

namespace cuszi::app {

/// Who writes a file: this process by its handle, or a library that opens it by a name of its own.
enum class Writer { by_handle, by_name };

/// A file that appears whole or not at all: until commit() it has no name, where the file system
/// allows that, so that nothing is left however the process ends; else, and where a library writes
/// it by a name, one of its own beside its place (see interruption.hpp). A link is followed.
/// Standard output
/// ("-"), devices and pipes are written at once.
///
/// Every function throws OutputError. One such file may be open at a time.
class OutputFile final : public ByteSink {
 public:
  /// Refuses to replace a file unless `force`. The new one gets the permission bits of `input`,
  /// never more; for a pipe those that the user's umask leaves.
  OutputFile(std::string path, const std::string& input, bool force,
             Writer writer = Writer::by_handle);
  ~OutputFile() override;

  void write(Bytes bytes) override;
  bool takes_any_order() const override { return !is_stream_; }
  void write_at(ByteCount offset, Bytes bytes) override;

  /// Makes what was written durable and gives it its name.
  void commit();

  /// True if, since commit(), what was written has outlasted even a crash of the system: it has its
  /// name, which is forced to disk with its folder. Never of a stream.
  bool is_safe() const;

  /// True if what was written has gone for good and cannot be read back.
  bool is_stream() const { return is_stream_; }

  /// A path that opens it until commit(), in this process: its name, or a link to its handle. Not
  /// of a stream.
  std::string path_to_write() const;

  /// Another handle of what has been written so far. Not of a stream.
  FileDescriptor duplicate() const;

 private:
  void open_stream();
  void open_sibling(Writer writer);
  void open_named();
  void take_name();
  void drop_name();
  void take_permissions();
  void link_into_place();
  void move_into_place();
  bool sync_folder() const;
  [[noreturn]] void fail(const char* what) const;

  std::string path_;       ///< as it was given
  std::string place_;      ///< where its links lead
  std::string folder_;     ///< that the place is in
  std::string temporary_;  ///< the name until commit(), if there is one
  FileDescriptor file_;
  std::mutex writing_;  ///< files let in one writer at a time, and slow down when several push
  std::optional<struct stat> input_;  ///< a file, whose permissions it gets
  bool is_stream_ = false;
  bool is_folder_synced_ = false;
  bool force_;
};

}  // namespace cuszi::app
