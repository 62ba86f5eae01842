#pragma once

#include <memory>
#include <string>

#include "bindings/containers/hdf5_handle.hpp"

namespace cuszi::hdf5 {

/// A file that HDF5 writes, and sees no write of fail: H5Ocopy() of HDF5 1.10 uses memory that it
/// has freed where one does. From the first failure on the file stays as it is; what the library
/// needs to go on is kept in memory, values are not.
class OutputFile {
 public:
  /// Writes over the file `path`.
  OutputFile(const std::string& path, hid_t creation, hid_t access, const Subject& subject);
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;
  ~OutputFile();

  hid_t get() const { return file_.get(); }

  /// Throws OutputError if a write has failed.
  void require_written() const;

  /// Closes the file. Throws OutputError if a write has failed.
  void close();

 private:
  struct Failure;

  Subject subject_;
  std::unique_ptr<Failure> failure_;
  Handle file_;

  friend struct OutputDriver;
};

}  // namespace cuszi::hdf5
