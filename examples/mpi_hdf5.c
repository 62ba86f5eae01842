/* MPI ranks write one dataset, compressed by the HDF5 filter, and read it again.
 *
 *   h5pcc -shlib mpi_hdf5.c -o mpi_hdf5 -lm
 *   HDF5_PLUGIN_PATH=PREFIX/lib/hdf5/plugins mpiexec -n 4 mpi_hdf5 FILE.h5
 *
 * HDF5 loads the filter; nothing of cuszi is linked. Real programs give ranks whole chunks; here
 * slabs share chunks, which HDF5 handles. */
#include <cuszi/cuszi.h> /* for the filter's number */
#include <hdf5.h>
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>

enum { rows = 30, columns = 60, times = 8 };
#define SLAB ((size_t)rows * columns)

static const double bound = 0.01;

static float value_of(size_t i) { return sinf((float)i * 1e-3F) + 0.1F * (float)(i % 7); }

/* Filter parameters: list version, halves of the bound, preset. */
static hid_t compressed(void) {
  const hsize_t chunk[3] = {3, rows, columns};
  unsigned parameters[4] = {1, 0, 0, CUSZI_PRESET_RATIO};
  memcpy(&parameters[1], &bound, sizeof bound);
  const hid_t properties = H5Pcreate(H5P_DATASET_CREATE);
  H5Pset_chunk(properties, 3, chunk);
  H5Pset_filter(properties, CUSZI_H5_FILTER, H5Z_FLAG_MANDATORY, 4, parameters);
  return properties;
}

/* Two time steps per rank, collective. */
static int transfer(hid_t dataset, int rank, int write, float* values) {
  const hsize_t first[3] = {2 * (hsize_t)rank, 0, 0}, count[3] = {2, rows, columns};
  const hid_t there = H5Dget_space(dataset), here = H5Screate_simple(3, count, NULL);
  const hid_t together = H5Pcreate(H5P_DATASET_XFER);
  H5Sselect_hyperslab(there, H5S_SELECT_SET, first, NULL, count, NULL);
  H5Pset_dxpl_mpio(together, H5FD_MPIO_COLLECTIVE);
  const herr_t status = write ? H5Dwrite(dataset, H5T_NATIVE_FLOAT, here, there, together, values)
                              : H5Dread(dataset, H5T_NATIVE_FLOAT, here, there, together, values);
  H5Pclose(together), H5Sclose(here), H5Sclose(there);
  return status >= 0;
}

static int run(const char* path, int rank) {
  const hsize_t dims[3] = {times, rows, columns};
  static float values[2 * SLAB], restored[2 * SLAB];
  for (size_t i = 0; i < 2 * SLAB; ++i) values[i] = value_of(2 * SLAB * (size_t)rank + i);

  const hid_t shared = H5Pcreate(H5P_FILE_ACCESS), space = H5Screate_simple(3, dims, NULL);
  const hid_t properties = compressed();
  H5Pset_fapl_mpio(shared, MPI_COMM_WORLD, MPI_INFO_NULL);
  hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, shared);
  hid_t dataset =
      H5Dcreate2(file, "T", H5T_IEEE_F32LE, space, H5P_DEFAULT, properties, H5P_DEFAULT);
  int good = dataset >= 0 && transfer(dataset, rank, 1, values);
  H5Dclose(dataset), H5Fclose(file);

  file = H5Fopen(path, H5F_ACC_RDONLY, shared);
  dataset = H5Dopen2(file, "T", H5P_DEFAULT);
  good = good && transfer(dataset, rank, 0, restored);
  H5Dclose(dataset), H5Fclose(file), H5Sclose(space), H5Pclose(properties), H5Pclose(shared);
  for (size_t i = 0; good && i < 2 * SLAB; ++i) {
    good = fabs((double)values[i] - (double)restored[i]) <= bound;
  }
  return good;
}

int main(int argc, char** argv) {
  int rank = 0, ranks = 0, all = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  int good = argc == 2 && 2 * ranks == times && run(argv[1], rank);
  MPI_Allreduce(&good, &all, 1, MPI_INT, MPI_LAND, MPI_COMM_WORLD);
  if (rank == 0) puts(all ? "within the bound" : "NOT within the bound");
  MPI_Finalize();
  return all ? 0 : 1;
}
