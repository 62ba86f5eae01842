/* The structs of cuszi.h, for comparison with those of the Fortran module. */
#include <cuszi/cuszi.h>

size_t options_size(void) { return sizeof(cuszi_options); }
size_t info_size(void) { return sizeof(cuszi_info); }
size_t part_size(void) { return sizeof(cuszi_part); }

/* Whether the members are what checks.f90 has set them to. */
int options_are_as_expected(const cuszi_options* o) {
  return o->version == CUSZI_OPTIONS_VERSION && o->bound == 1 && o->mode == CUSZI_PSNR &&
         o->preset == 3 && o->range_min == 4 && o->range_max == 5 && o->has_range == 6 &&
         o->fill_count == 7 && o->fills == NULL && o->frame_bytes == 8 &&
         o->device == CUSZI_DEVICE_CUDA && o->device_index == 9 && o->stream == NULL &&
         o->threads == 10 && o->predictor == 11 && o->coder == 12 && o->lossless == 13 &&
         o->radius == 14 && o->effort == 15 && o->axes == 16 && o->axis == 17 && o->reach == 18 &&
         o->alpha == 19 && o->beta == 20 && o->interp_tile[0] == 21 && o->interp_tile[2] == 23 &&
         o->interp_alpha == 24 && o->interp_anchor == 25 && o->interp_cubic == 26 &&
         memcmp(o->interp_order, "zyx", 4) == 0 && o->index == 27 && o->chunk == 28 &&
         o->partition == 29 && o->huffman_width == 30 && o->verify == 31 && o->zfp_mode == 32 &&
         o->zfp_chunk == 33 && o->zfp_amount == 34 && o->strict == 35 && o->memory_limit == 36;
}
