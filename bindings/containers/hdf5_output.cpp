#include "bindings/containers/hdf5_output.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <limits>
#include <span>
#include <vector>

#include "core/base/error.hpp"

namespace cuszi::hdf5 {

struct OutputFile::Failure {
  int reason = 0;  ///< errno
};

/// An HDF5 virtual file driver.
struct OutputDriver {
  /// In a property list.
  struct Info {
    OutputFile::Failure* failure;
  };

  /// Written after a failure.
  struct Kept {
    haddr_t first;
    std::vector<std::byte> bytes;
  };

  struct File : H5FD_t {
    explicit File(int open, OutputFile::Failure& seen) : H5FD_t{}, handle(open), failure(seen) {}
    File(const File&) = delete;
    File& operator=(const File&) = delete;
    ~File() { ::close(handle); }

    int handle;
    OutputFile::Failure& failure;
    haddr_t allocated = 0;
    haddr_t end = 0;
    std::vector<Kept> kept = {};
  };

  static File& of(H5FD_t* file) { return static_cast<File&>(*file); }
  static const File& of(const H5FD_t* file) { return static_cast<const File&>(*file); }

  static H5FD_t* open(const char* name, unsigned flags, hid_t access, haddr_t /*most*/) {
    const auto* const info = static_cast<const Info*>(::H5Pget_driver_info(access));
    const bool is_new = (flags & H5F_ACC_TRUNC) != 0;
    const int handle = ::open(name, O_RDWR | O_CLOEXEC | (is_new ? O_TRUNC : 0));
    if (info == nullptr || handle < 0) return nullptr;
    auto file = std::make_unique<File>(handle, *info->failure);
    file->end = static_cast<haddr_t>(std::max<off_t>(::lseek(handle, 0, SEEK_END), 0));
    return file.release();
  }

  static herr_t close(H5FD_t* file) {
    const std::unique_ptr<File> closed(&of(file));
    return 0;
  }

  static herr_t query(const H5FD_t* /*file*/, unsigned long* flags) {
    *flags = H5FD_FEAT_AGGREGATE_METADATA | H5FD_FEAT_ACCUMULATE_METADATA | H5FD_FEAT_DATA_SIEVE |
             H5FD_FEAT_AGGREGATE_SMALLDATA | H5FD_FEAT_DEFAULT_VFD_COMPATIBLE;
    return 0;
  }

  static haddr_t get_eoa(const H5FD_t* file, H5FD_mem_t /*type*/) { return of(file).allocated; }

  static herr_t set_eoa(H5FD_t* file, H5FD_mem_t /*type*/, haddr_t end) {
    of(file).allocated = end;
    return 0;
  }

  static haddr_t get_eof(const H5FD_t* file, H5FD_mem_t /*type*/) { return of(file).end; }

  /// Beyond the end are zeros.
  static herr_t read(H5FD_t* base, H5FD_mem_t /*type*/, hid_t /*transfer*/, haddr_t first,
                     std::size_t size, void* memory) {
    const File& file = of(base);
    const std::span out(static_cast<std::byte*>(memory), size);
    std::size_t done = 0;
    while (done < size) {
      const ssize_t count =
          ::pread(file.handle, &out[done], size - done, static_cast<off_t>(first + done));
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) return -1;
      if (count == 0) break;
      done += static_cast<std::size_t>(count);
    }
    std::fill(out.begin() + static_cast<std::ptrdiff_t>(done), out.end(), std::byte{0});
    for (const Kept& kept : file.kept) {
      const haddr_t begin = std::max(first, kept.first);
      const haddr_t end = std::min(first + size, kept.first + kept.bytes.size());
      if (begin >= end) continue;
      std::memcpy(&out[begin - first], &kept.bytes[begin - kept.first], end - begin);
    }
    return 0;
  }

  static herr_t write(H5FD_t* base, H5FD_mem_t type, hid_t /*transfer*/, haddr_t first,
                      std::size_t size, const void* memory) try {
    File& file = of(base);
    file.end = std::max(file.end, first + size);
    const std::span values(static_cast<const std::byte*>(memory), size);
    if (file.failure.reason == 0) write_all(file, first, values);
    if (file.failure.reason != 0 && type != H5FD_MEM_DRAW) {
      file.kept.push_back({first, {values.begin(), values.end()}});
    }
    return 0;
  } catch (...) {
    return -1;
  }

  static void write_all(File& file, haddr_t first, std::span<const std::byte> values) {
    while (!values.empty()) {
      const ssize_t count =
          ::pwrite(file.handle, values.data(), values.size(), static_cast<off_t>(first));
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) {
        file.failure.reason = count == 0 ? ENOSPC : errno;
        return;
      }
      values = values.subspan(static_cast<std::size_t>(count));
      first += static_cast<haddr_t>(count);
    }
  }

  static herr_t truncate(H5FD_t* base, hid_t /*transfer*/, hbool_t /*closing*/) {
    File& file = of(base);
    file.end = file.allocated;
    if (file.failure.reason == 0 &&
        ::ftruncate(file.handle, static_cast<off_t>(file.allocated)) != 0) {
      file.failure.reason = errno;
    }
    return 0;
  }

  static H5FD_class_t functions() {
    H5FD_class_t driver{};
#ifdef H5FD_CLASS_VERSION
    constexpr int any_free_value = 411;
    driver.version = H5FD_CLASS_VERSION;
    driver.value = any_free_value;
#endif
    driver.name = "cuszi_output";
    driver.maxaddr = std::numeric_limits<off_t>::max();
    driver.fc_degree = H5F_CLOSE_WEAK;
    driver.fapl_size = sizeof(Info);
    driver.open = open;
    driver.close = close;
    driver.query = query;
    driver.get_eoa = get_eoa;
    driver.set_eoa = set_eoa;
    driver.get_eof = get_eof;
    driver.read = read;
    driver.write = write;
    driver.truncate = truncate;
    constexpr H5FD_mem_t kinds[] = H5FD_FLMAP_DICHOTOMY;
    std::copy(std::begin(kinds), std::end(kinds), std::begin(driver.fl_map));
    return driver;
  }

  static hid_t id() {
    static const H5FD_class_t driver = functions();
    static const hid_t registered = ::H5FDregister(&driver);
    return registered;
  }
};

OutputFile::OutputFile(const std::string& path, hid_t creation, hid_t access,
                       const Subject& subject)
    : subject_(subject), failure_(std::make_unique<Failure>()) {
  use_driver(access);
  file_ = Handle(::H5Fcreate(path.c_str(), H5F_ACC_TRUNC, creation, access), ::H5Fclose, subject);
}

OutputFile::OutputFile(const std::string& path, const Subject& subject)
    : subject_(subject), failure_(std::make_unique<Failure>()) {
  const Handle access(::H5Pcreate(H5P_FILE_ACCESS), ::H5Pclose, subject);
  use_driver(access.get());
  file_ = Handle(::H5Fopen(path.c_str(), H5F_ACC_RDWR, access.get()), ::H5Fclose, subject);
}

OutputFile::~OutputFile() = default;

void OutputFile::use_driver(hid_t access) const {
  const OutputDriver::Info info{failure_.get()};
  check(::H5Pset_driver(access, OutputDriver::id(), &info), subject_);
}

void OutputFile::require_written() const {
  if (failure_->reason == 0) return;
  throw OutputError(subject_.name + ": cannot be written: " + std::strerror(failure_->reason));
}

void OutputFile::close() {
  check(::H5Fflush(file_.get(), H5F_SCOPE_GLOBAL), subject_);
  file_ = Handle();
  require_written();
}

}  // namespace cuszi::hdf5
