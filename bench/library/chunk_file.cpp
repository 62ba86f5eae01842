#include "bench/library/chunk_file.hpp"

#include <H5PLextern.h>
#include <hdf5.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "bindings/hdf5/chunk_settings.hpp"

namespace cuszi::bench {

namespace {

template <class Result>
Result check(Result result, const char* what) {
  if (result < 0) throw std::runtime_error(std::string("HDF5 cannot ") + what);
  return result;
}

hid_t chunk_properties(const std::vector<hsize_t>& extents, double bound, std::uint32_t preset) {
  hdf5::ChunkSettings settings;
  settings.bound = bound;
  settings.preset = preset;
  const hdf5::ChunkSettings::Numbers numbers = settings.write();
  const hid_t properties = check(H5Pcreate(H5P_DATASET_CREATE), "make properties");
  check(H5Pset_chunk(properties, static_cast<int>(extents.size()), extents.data()), "set a chunk");
  check(H5Pset_filter(properties, CUSZI_H5_FILTER, H5Z_FLAG_MANDATORY, numbers.size(),
                      numbers.data()),
        "set the filter");
  return properties;
}

}  // namespace

ChunkFile::ChunkFile(const FrameShape& shape, double bound, std::uint32_t preset)
    : type_(shape.dtype == DType::f32 ? H5T_NATIVE_FLOAT : H5T_NATIVE_DOUBLE) {
  check(H5Zregister(H5PLget_plugin_info()), "take the filter");
  const hid_t in_memory = check(H5Pcreate(H5P_FILE_ACCESS), "make properties");
  constexpr std::size_t grows_by = std::size_t{64} << 20;
  check(H5Pset_fapl_core(in_memory, grows_by, 0), "keep a file in memory");
  file_ =
      check(H5Fcreate("library_bench.h5", H5F_ACC_TRUNC, H5P_DEFAULT, in_memory), "make a file");
  H5Pclose(in_memory);
  const std::vector<hsize_t> extents(shape.dims.extents().begin(), shape.dims.extents().end());
  const hid_t space = check(
      H5Screate_simple(static_cast<int>(extents.size()), extents.data(), nullptr), "make a space");
  const hid_t properties = chunk_properties(extents, bound, preset);
  dataset_ = check(H5Dcreate2(file_, "chunk", type_, space, H5P_DEFAULT, properties, H5P_DEFAULT),
                   "make a dataset");
  H5Pclose(properties);
  H5Sclose(space);
}

ChunkFile::~ChunkFile() {
  H5Dclose(dataset_);
  H5Fclose(file_);
}

void ChunkFile::write(Bytes values) {
  check(H5Dwrite(dataset_, type_, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), "write");
  check(H5Dflush(dataset_), "write");
}

void ChunkFile::read(MutableBytes values) const {
  check(H5Dread(dataset_, type_, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), "read");
}

}  // namespace cuszi::bench
