/* MPI ranks compress their blocks of a field, on GPUs or CPUs, and write one HDF5 dataset.
 *
 *   h5pcc -shlib mpi_field.c -o mpi_field -lcuszi -lm
 *   HDF5_PLUGIN_PATH=PREFIX/lib/hdf5/plugins mpiexec -n 4 mpi_field FILE.h5 SIDE [GPUS]
 *
 * Blocks have SIDE^3 points. Ranks of a host share its GPUS devices (default: the CPU). The
 * bound is 1e-3 of the range of all blocks, the only thing that ranks agree on.
 *
 * The dataset is created with cuszi's filter. For writing, a filter of this program replaces it
 * and passes finished archives to HDF5. H5Dwrite_chunk() would be shorter, but ranks cannot call
 * it for their own chunks alone: all must change a file's structure alike. */
#include <cuszi/cuszi.h>
#include <hdf5.h>
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS = 3 };

/* A finished archive; a chunk's values start with it. */
struct ready {
  const void* archive;
  size_t size;
};

struct block {
  size_t side;
  size_t blocks[3]; /* of the field, per axis */
  size_t first[3];  /* first point of this block */
  float* values;
  cuszi_field field;
  double bound;
  unsigned char* archive;
  size_t size;
};

static size_t points(const struct block* block) { return block->side * block->side * block->side; }

static double seconds_since(double start) {
  double here = MPI_Wtime() - start, longest = 0;
  MPI_Allreduce(&here, &longest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return longest;
}

static int all_good(int good) {
  int all = 0;
  MPI_Allreduce(&good, &all, 1, MPI_INT, MPI_LAND, MPI_COMM_WORLD);
  return all;
}

/* Arranges blocks in rank order. */
static void place(struct block* block, int rank, int ranks) {
  int blocks[3] = {0, 0, 0};
  MPI_Dims_create(ranks, 3, blocks);
  size_t at = (size_t)rank;
  for (int axis = 2; axis >= 0; --axis) {
    block->blocks[axis] = (size_t)blocks[axis];
    block->first[axis] = at % block->blocks[axis] * block->side;
    at /= block->blocks[axis];
  }
}

static void simulate(struct block* block) {
  const size_t side = block->side, *first = block->first;
  for (size_t i = 0; i < points(block); ++i) {
    const double z = (double)(first[0] + i / side / side);
    const double y = (double)(first[1] + i / side % side), x = (double)(first[2] + i % side);
    block->values[i] = (float)(sin(0.05 * z) * cos(0.04 * y) + 0.3 * sin(0.07 * x + 0.02 * z));
  }
}

/* One reduction gives -min and max. */
static double agree_on_bound(const struct block* block) {
  float ends[2] = {-INFINITY, -INFINITY}, all[2];
  for (size_t i = 0; i < points(block); ++i) {
    ends[0] = fmaxf(ends[0], -block->values[i]);
    ends[1] = fmaxf(ends[1], block->values[i]);
  }
  MPI_Allreduce(ends, all, 2, MPI_FLOAT, MPI_MAX, MPI_COMM_WORLD);
  return 1e-3 * ((double)all[1] + (double)all[0]);
}

static int rank_on_host(void) {
  MPI_Comm host;
  int rank = 0;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host);
  MPI_Comm_rank(host, &rank);
  MPI_Comm_free(&host);
  return rank;
}

/* Device memory works, too. */
static int compress(struct block* block, cuszi_context* context, int gpus) {
  cuszi_options options = cuszi_default_options();
  options.mode = CUSZI_ABS;
  options.bound = block->bound;
  options.device = gpus > 0 ? CUSZI_DEVICE_CUDA : CUSZI_DEVICE_CPU;
  options.device_index = gpus > 0 ? rank_on_host() % gpus : 0;
  options.threads = gpus > 0 ? 0 : 1; /* a rank per core */
  const size_t room = cuszi_bound(&block->field, &options);
  block->archive = malloc(room);
  if (cuszi_compress(context, &options, &block->field, block->values, block->archive, room,
                     &block->size) == CUSZI_OK) {
    return 1;
  }
  fprintf(stderr, "%s\n", cuszi_last_error(context));
  return 0;
}

/* Called by HDF5 for each chunk. */
static size_t hand_over(unsigned flags, size_t parameters, const unsigned* values, size_t size,
                        size_t* room, void** chunk) {
  struct ready ready;
  (void)parameters, (void)values;
  if ((flags & H5Z_FLAG_REVERSE) != 0 || size < sizeof ready) return 0;
  memcpy(&ready, *chunk, sizeof ready);
  void* const archive = H5allocate_memory(ready.size, 0);
  if (archive == NULL) return 0;
  memcpy(archive, ready.archive, ready.size);
  H5free_memory(*chunk);
  *chunk = archive;
  *room = ready.size;
  return ready.size;
}

static const H5Z_class2_t filter = {H5Z_CLASS_T_VERS, CUSZI_H5_FILTER, 1, 0, "cuszi", NULL, NULL,
                                    hand_over};

/* Filter parameters: list version, halves of the bound, preset. */
static hid_t compressed(const struct block* block) {
  const hsize_t chunk[3] = {block->side, block->side, block->side};
  unsigned parameters[4] = {1, 0, 0, CUSZI_PRESET_RATIO};
  memcpy(&parameters[1], &block->bound, sizeof block->bound);
  const hid_t properties = H5Pcreate(H5P_DATASET_CREATE);
  H5Pset_chunk(properties, 3, chunk);
  H5Pset_filter(properties, CUSZI_H5_FILTER, H5Z_FLAG_MANDATORY, 4, parameters);
  return properties;
}

/* Collective. */
static int write_chunk(hid_t dataset, const struct block* block) {
  const struct ready ready = {block->archive, block->size};
  const hsize_t first[3] = {block->first[0], block->first[1], block->first[2]};
  const hsize_t count[3] = {block->side, block->side, block->side};
  /* Stands in for the chunk's values; untouched pages take no memory. */
  float* const stand_in = calloc(points(block), sizeof *stand_in);
  memcpy(stand_in, &ready, sizeof ready);
  const hid_t there = H5Dget_space(dataset), here = H5Screate_simple(3, count, NULL);
  const hid_t together = H5Pcreate(H5P_DATASET_XFER);
  H5Sselect_hyperslab(there, H5S_SELECT_SET, first, NULL, count, NULL);
  H5Pset_dxpl_mpio(together, H5FD_MPIO_COLLECTIVE);
  const herr_t status = H5Dwrite(dataset, H5T_NATIVE_FLOAT, here, there, together, stand_in);
  H5Pclose(together), H5Sclose(here), H5Sclose(there);
  free(stand_in);
  return status >= 0;
}

static int write_file(const char* path, const struct block* block) {
  const hsize_t dims[3] = {block->blocks[0] * block->side, block->blocks[1] * block->side,
                           block->blocks[2] * block->side};
  const hid_t shared = H5Pcreate(H5P_FILE_ACCESS), space = H5Screate_simple(3, dims, NULL);
  const hid_t properties = compressed(block);
  H5Pset_fapl_mpio(shared, MPI_COMM_WORLD, MPI_INFO_NULL);
  const hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, shared);
  const hid_t dataset =
      H5Dcreate2(file, "T", H5T_NATIVE_FLOAT, space, H5P_DEFAULT, properties, H5P_DEFAULT);
  const int good = dataset >= 0 && H5Zregister(&filter) >= 0 && write_chunk(dataset, block);
  H5Dclose(dataset), H5Pclose(properties), H5Sclose(space), H5Pclose(shared);
  const int closed = H5Fclose(file) >= 0;
  H5Zunregister(CUSZI_H5_FILTER); /* restores cuszi's filter for the next dataset */
  return closed && good;
}

/* Times of the slowest rank. */
static int step(const char* path, struct block* block, cuszi_context* context, int gpus) {
  double start = MPI_Wtime();
  block->bound = agree_on_bound(block);
  const double agreed = seconds_since(start);
  start = MPI_Wtime();
  int good = all_good(compress(block, context, gpus));
  const double made = seconds_since(start);
  start = MPI_Wtime();
  good = good && all_good(write_file(path, block));
  const double written = seconds_since(start);
  if (good && block->first[0] + block->first[1] + block->first[2] == 0) {
    printf("bound %.6g in %.4f s, compressed in %.3f s, written in %.3f s\n", block->bound, agreed,
           made, written);
  }
  free(block->archive);
  return good;
}

/* Overwrites the file in each step. The first one includes initialisation. */
static int run(const char* path, struct block* block, int gpus) {
  cuszi_context* const context = cuszi_context_create(); /* reuse it */
  simulate(block);
  int good = 1;
  for (int i = 0; i < STEPS && good; ++i) good = step(path, block, context, gpus);
  cuszi_context_destroy(context);
  return good;
}

int main(int argc, char** argv) {
  int rank = 0, ranks = 0, good = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const size_t side = argc >= 3 ? strtoul(argv[2], NULL, 10) : 0;
  if (side >= 3 && side <= 1000) {
    struct block block = {.side = side, .field = {CUSZI_F32, 3, {side, side, side}}};
    block.values = malloc(points(&block) * sizeof *block.values);
    place(&block, rank, ranks);
    good = run(argv[1], &block, argc == 4 ? atoi(argv[3]) : 0);
    free(block.values);
  } else if (rank == 0) {
    fputs("usage: mpi_field FILE.h5 SIDE [GPUS], SIDE from 3 to 1000\n", stderr);
  }
  MPI_Finalize();
  return good ? 0 : 1;
}
