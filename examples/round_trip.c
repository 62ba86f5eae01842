/* Compresses and restores a field with the installed library.
 *
 *   cc round_trip.c $(pkg-config --cflags --libs cuszi) -lm \
 *     -Wl,-rpath,$(pkg-config --variable=libdir cuszi) -o round_trip && ./round_trip
 */
#include <cuszi/cuszi.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

int main(void) {
  const cuszi_field field = {CUSZI_F32, 3, {16, 40, 50}};
  const size_t bytes = cuszi_field_bytes(&field), points = bytes / sizeof(float);
  cuszi_options options = cuszi_default_options();
  options.mode = CUSZI_ABS;
  options.bound = 1e-3;
  float *values = malloc(bytes), *restored = malloc(bytes);
  const size_t room = cuszi_bound(&field, &options);
  void* archive = malloc(room);
  size_t size = 0;
  for (size_t i = 0; i < points; ++i) values[i] = sinf((float)i * 1e-3F);

  cuszi_context* context = cuszi_context_create();
  if (cuszi_compress(context, &options, &field, values, archive, room, &size) != CUSZI_OK ||
      cuszi_decompress(context, NULL, archive, size, restored, bytes) != CUSZI_OK) {
    fprintf(stderr, "%s\n", cuszi_last_error(context));
    return 1;
  }
  cuszi_context_destroy(context);
  for (size_t i = 0; i < points; ++i) {
    if (!(fabs((double)values[i] - (double)restored[i]) <= 1e-3)) return 2;
  }
  printf("%zu bytes became %zu\n", bytes, size);
  free(values), free(restored), free(archive);
  return 0;
}
