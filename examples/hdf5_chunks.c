/* Writes a dataset of HDF5 by whole chunks, which are compressed and restored together on all
 * cores. They are what the filter would write. Values may also be in a GPU's memory.
 *
 *   h5cc -shlib hdf5_chunks.c -o hdf5_chunks $(pkg-config --cflags --libs cuszi) -lm
 *   HDF5_PLUGIN_PATH=PREFIX/lib/hdf5/plugins hdf5_chunks FILE.h5
 */
#include <cuszi/cuszi.h>
#include <hdf5.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { chunks = 8, height = 4, rows = 60, columns = 80 };
#define CHUNK ((size_t)height * rows * columns)

static const double bound = 0.01;
static const cuszi_field field = {CUSZI_F32, 3, {height, rows, columns}};

/* Slabs, so that chunks are contiguous in the array. */
static hid_t create(hid_t file) {
  const hsize_t dims[3] = {chunks * height, rows, columns}, chunk[3] = {height, rows, columns};
  unsigned parameters[4] = {1, 0, 0, CUSZI_PRESET_RATIO};
  memcpy(&parameters[1], &bound, sizeof bound);
  const hid_t space = H5Screate_simple(3, dims, NULL), properties = H5Pcreate(H5P_DATASET_CREATE);
  H5Pset_chunk(properties, 3, chunk);
  H5Pset_filter(properties, CUSZI_H5_FILTER, H5Z_FLAG_MANDATORY, 4, parameters);
  const hid_t dataset =
      H5Dcreate2(file, "T", H5T_NATIVE_FLOAT, space, H5P_DEFAULT, properties, H5P_DEFAULT);
  H5Pclose(properties), H5Sclose(space);
  return dataset;
}

static int write_chunks(cuszi_context* context, hid_t dataset, const float* values) {
  cuszi_options options = cuszi_default_options(); /* as in the parameters */
  options.mode = CUSZI_ABS;
  options.bound = bound;
  options.has_padding = 1; /* 0 */
  const size_t room = cuszi_bound(&field, &options);
  char* const archives = malloc(chunks * room);
  cuszi_compression members[chunks] = {0};
  for (size_t i = 0; i < chunks; ++i) {
    members[i].field = field;
    members[i].values = values + i * CHUNK;
    members[i].archive = archives + i * room;
    members[i].capacity = room;
  }
  int good = cuszi_compress_batch(context, &options, members, chunks) == CUSZI_OK;
  for (size_t i = 0; good && i < chunks; ++i) {
    const hsize_t first[3] = {i * height, 0, 0};
    good = H5Dwrite_chunk(dataset, H5P_DEFAULT, 0, first, members[i].size, members[i].archive) >= 0;
  }
  free(archives);
  return good;
}

static int read_chunks(cuszi_context* context, hid_t dataset, float* values) {
  cuszi_decompression members[chunks] = {0};
  int good = 1;
  for (size_t i = 0; good && i < chunks; ++i) {
    const hsize_t first[3] = {i * height, 0, 0};
    hsize_t size = 0;
    uint32_t mask = 0; /* of filters that were left out */
    good = H5Dget_chunk_storage_size(dataset, first, &size) >= 0;
    void* const archive = malloc(size);
    members[i].archive = archive;
    members[i].size = size;
    members[i].values = values + i * CHUNK;
    members[i].capacity = cuszi_field_bytes(&field);
    good = good && H5Dread_chunk(dataset, H5P_DEFAULT, first, &mask, archive) >= 0 && mask == 0;
  }
  good = good && cuszi_decompress_batch(context, NULL, members, chunks) == CUSZI_OK;
  for (size_t i = 0; i < chunks; ++i) free((void*)members[i].archive);
  return good;
}

int main(int argc, char** argv) {
  static float values[chunks * CHUNK], restored[chunks * CHUNK], filtered[chunks * CHUNK];
  for (size_t i = 0; i < chunks * CHUNK; ++i) values[i] = sinf((float)i * 1e-3F);
  const hid_t file = argc == 2 ? H5Fcreate(argv[1], H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT) : -1;
  if (file < 0) return 2;
  const hid_t dataset = create(file);
  cuszi_context* const context = cuszi_context_create();
  int good = dataset >= 0 && write_chunks(context, dataset, values) &&
             read_chunks(context, dataset, restored);
  if (!good) fprintf(stderr, "%s\n", cuszi_last_error(context));
  good = good && H5Dread(dataset, H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, filtered) >= 0 &&
         memcmp(filtered, restored, sizeof restored) == 0;
  for (size_t i = 0; good && i < chunks * CHUNK; ++i) {
    good = fabs((double)values[i] - (double)restored[i]) <= bound;
  }
  printf("%zu bytes became %llu\n", sizeof values,
         good ? (unsigned long long)H5Dget_storage_size(dataset) : 0ULL);
  H5Dclose(dataset), H5Fclose(file), cuszi_context_destroy(context);
  return good ? 0 : 1;
}
