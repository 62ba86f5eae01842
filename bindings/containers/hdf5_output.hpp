#pragma once

#include <memory>
#include <string>

#include "bindings/containers/hdf5_handle.hpp"
#include "core/base/unmovable.hpp"

namespace cuszi::hdf5 {

/// Hides write failures from HDF5: H5Ocopy() of 1.10 uses freed memory after one. The file then
/// stays unchanged; metadata is kept in memory.
class OutputFile : Unmovable {
 public:
  /// Overwrites `path`.
  OutputFile(const std::string& path, hid_t creation, hid_t access, const Subject& subject);
  /// Opens the HDF5 file `path`, to change it.
  OutputFile(const std::string& path, const Subject& subject);
  ~OutputFile();

  hid_t get() const { return file_.get(); }

  /// Throws OutputError.
  void require_written() const;

  /// Throws OutputError.
  void close();

 private:
  struct Failure;

  void use_driver(hid_t access) const;

  Subject subject_;
  std::unique_ptr<Failure> failure_;
  Handle file_;

  friend struct OutputDriver;
};

}  // namespace cuszi::hdf5
