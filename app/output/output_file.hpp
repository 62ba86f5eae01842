#pragma once

#include <sys/stat.h>

#include <optional>
#include <string>

#include "codec/io/byte_sink.hpp"
#include "codec/io/file_descriptor.hpp"

namespace cuszi::app {

/// This process by handle, or a library by name.
enum class Writer { by_handle, by_name };

/// A file that appears whole or not at all. Until commit() it has no name, or a temporary one (see
/// set_unfinished()) if that is unsupported or a library writes it. Follows links. Standard output
/// ("-"), devices and pipes are written directly.
///
/// All functions throw OutputError. One may be open at a time.
class OutputFile final : public ByteSink {
 public:
  /// Replaces a file only if `force`. Gets at most the permission bits of `input`; for a pipe,
  /// those of the umask.
  OutputFile(std::string path, const std::string& input, bool force,
             Writer writer = Writer::by_handle);
  ~OutputFile() override;

  void write(Bytes bytes) override;
  bool takes_any_order() const override { return !is_stream_; }
  void write_at(ByteCount offset, Bytes bytes) override;

  /// Sets the final size, which speeds up write_at() from several threads. Not for a stream.
  void set_size(ByteCount size) { parts_.set_size(file_.get(), size); }

  /// Waits until the contents are on disk.
  void sync();
  /// Names the file, which sync() has written. What must hold for this is checked between the two.
  void commit();

  /// Whether commit() has synced file and name. False for a stream.
  bool is_safe() const;

  /// Written directly; cannot be read back.
  bool is_stream() const { return is_stream_; }

  /// Opens the file in this process until commit(). Not for a stream.
  std::string path_to_write() const;

  /// Not for a stream.
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

  std::string path_;       ///< as given
  std::string place_;      ///< link target
  std::string folder_;     ///< of place_
  std::string temporary_;  ///< name until commit(), if any
  FileDescriptor file_;
  FileParts parts_;
  std::optional<struct stat> input_;  ///< regular file, for permissions
  bool is_stream_ = false;
  bool is_folder_synced_ = false;
  bool force_;
};

/// Removes the unfinished file on fatal signals and exit(). Exceeding the file size limit becomes a
/// write error. For the whole process.
void handle_interruptions();

/// `path` must stay valid; null: nothing to remove.
void set_unfinished(const char* path);

}  // namespace cuszi::app
