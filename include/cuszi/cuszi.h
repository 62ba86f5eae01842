/* libcuszi: error-bounded lossy compression of scientific fields; docs/guide/library.md has the
 * details.
 *
 * A field is an array of numbers (cuszi_dtype) in native byte order, of 1 to 4 dimensions, slowest
 * first. Archives are those of the tool `cuszi`. Buffers are the caller's, in host or CUDA device
 * memory, detected from the pointer, and must not change during a call. Calls are synchronous,
 * except those ending in _async.
 *
 * Functions are thread-safe; a context serves one thread at a time. They do not throw, print or
 * exit. A forked child may use its parent's contexts, but no GPU that the parent has used. */
#ifndef CUSZI_CUSZI_H
#define CUSZI_CUSZI_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__GNUC__)
#define CUSZI_API __attribute__((visibility("default")))
#else
#define CUSZI_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* 1 to 6 and 8 are also the tool's exit codes. */
typedef enum cuszi_status {
  CUSZI_OK = 0,
  CUSZI_BAD_USAGE = 1,   /* invalid argument or option */
  CUSZI_BAD_INPUT = 2,   /* unreadable values; with `strict`, values with a warning */
  CUSZI_BAD_ARCHIVE = 3, /* damaged, truncated, not an archive, or exceeds memory_limit */
  CUSZI_BAD_BOUND = 4,   /* a value exceeds the bound, or a target is not met */
  CUSZI_NO_DEVICE = 5,   /* missing device, driver or library */
  CUSZI_NO_ROOM = 6,     /* output buffer too small */
  CUSZI_NO_MEMORY = 7,
  CUSZI_INTERNAL = 8 /* bug in libcuszi */
} cuszi_status;

enum { CUSZI_MAX_RANK = 4, CUSZI_MAX_FILLS = 16, CUSZI_MAX_ISOVALUES = 15, CUSZI_MAX_REGIONS = 16 };

typedef enum cuszi_dtype {
  CUSZI_F32 = 0,
  CUSZI_F64 = 1,
  CUSZI_F16 = 2,  /* IEEE half precision */
  CUSZI_BF16 = 3, /* bfloat16 */
  CUSZI_I8 = 4,   /* integers: an absolute bound is rounded down, below 1 it is lossless */
  CUSZI_U8 = 5,
  CUSZI_I16 = 6,
  CUSZI_U16 = 7,
  CUSZI_I32 = 8,
  CUSZI_U32 = 9,
  CUSZI_I64 = 10, /* of 64 bits: only absolute bounds and 0 */
  CUSZI_U64 = 11
} cuszi_dtype;

typedef struct cuszi_field {
  int32_t dtype;                 /* cuszi_dtype */
  int32_t rank;                  /* 1 to CUSZI_MAX_RANK */
  uint64_t dims[CUSZI_MAX_RANK]; /* slowest first, each at least 1 */
} cuszi_field;

/* Meaning of `bound`. */
typedef enum cuszi_mode {
  CUSZI_REL = 0,   /* fraction of the value range */
  CUSZI_ABS = 1,   /* in the field's unit */
  CUSZI_PSNR = 2,  /* target: least PSNR in dB, up to 400; found by trials, see cuszi_reached() */
  CUSZI_RATIO = 3, /* target: least compression ratio, 1 to 1e9; found by trials */
  CUSZI_PWREL = 4, /* fraction of each value; zeros and signs are exact */
  CUSZI_ABS_OR_PWREL = 5, /* larger of `bound` (field's unit) and fraction `pw` of each value */
  CUSZI_ABS_AND_PWREL = 6 /* smaller of the two; zeros and signs are exact */
} cuszi_mode;

typedef enum cuszi_preset {
  CUSZI_PRESET_RATIO = 0,
  CUSZI_PRESET_CUSZI = 1,
  CUSZI_PRESET_CUSZ = 2,
  CUSZI_PRESET_FAST = 3,
  CUSZI_PRESET_ZFP = 4,
  CUSZI_PRESET_BALANCED = 5
} cuszi_preset;

typedef enum cuszi_device {
  CUSZI_DEVICE_AUTO = 0, /* the values' GPU, else the faster of a GPU and the CPU */
  CUSZI_DEVICE_CPU = 1,
  CUSZI_DEVICE_CUDA = 2 /* GPU `device_index` */
} cuszi_device;

/* Overrides of the method; 0 leaves the choice to preset and encoder. */
typedef enum cuszi_predictor {
  CUSZI_PREDICTOR_AUTO = 1,
  CUSZI_PREDICTOR_LORENZO = 2,
  CUSZI_PREDICTOR_INTERP = 3,
  CUSZI_PREDICTOR_MULTILEVEL = 4,
  CUSZI_PREDICTOR_TILES = 5,
  CUSZI_PREDICTOR_ZFP = 6,
  CUSZI_PREDICTOR_CELLS = 7
} cuszi_predictor;

typedef enum cuszi_coder {
  CUSZI_CODER_AUTO = 1, /* ans */
  CUSZI_CODER_HUFFMAN = 2,
  CUSZI_CODER_ANS = 3
} cuszi_coder;

typedef enum cuszi_effort { CUSZI_EFFORT_NORMAL = 0, CUSZI_EFFORT_FAST = 1 } cuszi_effort;

typedef enum cuszi_lossless { CUSZI_LOSSLESS_NONE = 0, CUSZI_LOSSLESS_BITCOMP = 1 } cuszi_lossless;

typedef enum cuszi_axes {
  CUSZI_AXES_LATTICE = 1,
  CUSZI_AXES_INDEPENDENT = 2, /* axis `axis` */
  CUSZI_AXES_LAYERED = 3      /* axis `axis` */
} cuszi_axes;

typedef enum cuszi_index {
  CUSZI_INDEX_NONE = 1,
  CUSZI_INDEX_OFFSET = 2,
  CUSZI_INDEX_LENGTH = 3,
  CUSZI_INDEX_HYBRID = 4
} cuszi_index;

/* What zfp stores per block; only accuracy uses the bound. */
typedef enum cuszi_zfp_mode {
  CUSZI_ZFP_ACCURACY = 0,  /* bit planes that `bound` needs */
  CUSZI_ZFP_PRECISION = 1, /* zfp_amount bit planes, 1 to 64 */
  CUSZI_ZFP_RATE = 2,      /* zfp_amount bits per value, above 0, up to 64 */
  CUSZI_ZFP_REVERSIBLE = 3 /* lossless */
} cuszi_zfp_mode;

typedef enum cuszi_cubic { CUSZI_CUBIC_NOT_A_KNOT = 1, CUSZI_CUBIC_NATURAL = 2 } cuszi_cubic;

/* A box with its own bound. */
typedef struct cuszi_region {
  uint64_t first[CUSZI_MAX_RANK]; /* first index of each axis */
  uint64_t end[CUSZI_MAX_RANK];   /* index after the last; 0 or UINT64_MAX: end of the axis */
  double bound;                   /* as defined by `mode`; 0 is lossless */
} cuszi_region;

/* Compression and execution options. Start from cuszi_default_options(): lossless, preset
 * `ratio`; 0 is each member's default. The tool's manual page explains its options of the same
 * names. */
typedef struct cuszi_options {
  uint32_t size;    /* sizeof(cuszi_options) */
  uint32_t version; /* CUSZI_OPTIONS_VERSION */

  double bound; /* maximum error of a value, 0 is lossless; or the target, see cuszi_mode */
  int32_t mode; /* cuszi_mode */
  int32_t preset;

  double range_min; /* range of a relative bound, if has_range; */
  double range_max; /* else computed */
  int32_t has_range;
  uint32_t fill_count; /* fill values besides NaN and infinities */
  const double* fills; /* at most CUSZI_MAX_FILLS */
  uint64_t frame_bytes;

  int32_t device; /* cuszi_device */
  int32_t device_index;
  void* stream;    /* cudaStream_t whose earlier work is awaited */
  int32_t threads; /* of the CPU */

  int32_t predictor;
  int32_t coder;
  int32_t lossless;
  uint32_t radius;

  int32_t effort; /* this and the next five: multilevel */
  int32_t axes;
  int32_t axis;
  int32_t reach;
  double alpha;
  double beta;

  uint64_t interp_tile[3]; /* this and the next four: interp; unused slow axes are 1 */
  double interp_alpha;
  uint32_t interp_anchor;
  int32_t interp_cubic;
  char interp_order[4]; /* permutation of z, y, x, like "zyx" */

  int32_t index;
  uint32_t chunk; /* this and huffman_width: huffman */
  uint32_t partition;
  int32_t huffman_width; /* 32 or 64 */
  int32_t verify;        /* restores and compares; CUSZI_BAD_BOUND on failure */

  int32_t zfp_mode;   /* this and the next two: zfp; with `bound` 0, only accuracy has a bound */
  uint32_t zfp_chunk; /* blocks per chunk of the index, 1 to 65536; 0: automatic */
  double zfp_amount;

  int32_t strict; /* warnings are errors: CUSZI_BAD_INPUT, or CUSZI_BAD_BOUND for a target */
  uint32_t more_fill_count; /* of more_fills */

  uint64_t memory_limit; /* for restoring: bytes of host memory for frames in flight, else
                            CUSZI_BAD_ARCHIVE before allocation; 0: unlimited */

  double more_fills[CUSZI_MAX_FILLS]; /* of cuszi_set_option(); at most 16 with `fills` */

  double isovalues[CUSZI_MAX_ISOVALUES]; /* restored values stay on the same side of these */
  uint32_t isovalue_count;
  int32_t keep_sign; /* makes 0 an isovalue */

  cuszi_region regions[CUSZI_MAX_REGIONS]; /* boxes with smaller bounds; later ones override */
  uint32_t region_count;
  int32_t remember; /* keeps restored archives in this process, the last 1024 and 64 MiB: a field
                       compressed with the same options keeps, bit for bit, the points that match
                       one. For callers that rewrite whole chunks. No effect with CUSZI_REL, targets
                       and bound_field */
  const float* bound_field; /* bounds outside regions, in raster order; the smaller of these and
                               `bound` applies */
  uint64_t bound_count;     /* length of bound_field */
  uint64_t bound_blocks[CUSZI_MAX_RANK]; /* points per bound along each axis, slowest first; 0: 1 */

  double pw; /* fraction of each value, 0 < pw < 1, in modes with two bounds; else 0 */

  uint64_t devices; /* replaces device_index: GPU n if bit n is set, all if UINT64_MAX. They share
                       the frames of a field in host memory; if one fails, the others take over with
                       a warning */

  double padding; /* if has_padding: a value that is never suspected as a fill value */
  int32_t has_padding;
  uint32_t reserved_too;
} cuszi_options;

#define CUSZI_OPTIONS_VERSION 1

static inline cuszi_options cuszi_default_options(void) {
  cuszi_options options;
  memset(&options, 0, sizeof options);
  options.size = (uint32_t)sizeof options;
  options.version = CUSZI_OPTIONS_VERSION;
  return options;
}

/* Type of an option's text. */
typedef enum cuszi_option_kind {
  CUSZI_OPTION_TEXT = 0,         /* see `values` and `help` */
  CUSZI_OPTION_WORD = 1,         /* one of `values`, separated by "|" */
  CUSZI_OPTION_WHOLE = 2,        /* integer from `least` to `most` */
  CUSZI_OPTION_POWER_OF_TWO = 3, /* from `least` to `most` */
  CUSZI_OPTION_NUMBER = 4,       /* from `least` to `most` */
  CUSZI_OPTION_SIZE = 5,         /* bytes, like 4096, 64K, 256MiB or 1G; powers of 1024 */
  CUSZI_OPTION_FLAG = 6          /* yes or no */
} cuszi_option_kind;

/* An option of the library, the tool and the Python package. Later versions append members. */
typedef struct cuszi_option {
  const char* group;   /* section of the tool's help */
  const char* name;    /* of the tool's option, without dashes */
  const char* member;  /* of cuszi_options and Python keyword; "" for several members */
  int32_t kind;        /* cuszi_option_kind */
  const char* values;  /* words separated by "|", or a placeholder */
  double least;        /* of numbers; number of the first word */
  double most;         /* of numbers */
  const char* initial; /* default, or ""; "auto" is always accepted */
  const char* help;    /* one line */
} cuszi_option;

/* Option `index` of the table, from 0; NULL after the last. */
CUSZI_API const cuszi_option* cuszi_option_at(size_t index);

/* Sets an option, by its own or its member's name, from a text: "effort" to "fast", "target" to
 * "psnr:80". For "error-bound", "mode" and "target", the last call applies; "fill-value",
 * "keep-isovalue" and "region" add a value. Returns CUSZI_BAD_USAGE, and sets nothing, for
 * invalid arguments, also if older options lack the member. Combinations are checked on use. */
CUSZI_API int cuszi_set_option(cuszi_options* options, const char* name, const char* text);

/* Writes why cuszi_set_option() would reject these arguments to `line`, truncated to `capacity`
 * bytes with a final 0. Returns the full length; 0 if accepted. */
CUSZI_API size_t cuszi_option_error(const cuszi_options* options, const char* name,
                                    const char* text, char* line, size_t capacity);

/* An archive's metadata. */
typedef struct cuszi_info {
  uint32_t size; /* sizeof(cuszi_info), by cuszi_empty_info() */
  uint32_t format_version;
  cuszi_field field;
  int32_t mode; /* cuszi_mode; targets become CUSZI_ABS */
  uint32_t fill_count;
  double bound_asked;
  double bound_absolute; /* largest error of a value; DBL_MAX if unbounded */
  double fills[CUSZI_MAX_FILLS];
  uint64_t frames;       /* slabs along frame_axis */
  uint64_t frame_height; /* indices per frame, except the last */
  int32_t frame_axis;
  uint32_t reserved;
  double pw_asked; /* see `pw` */
} cuszi_info;

static inline cuszi_info cuszi_empty_info(void) {
  cuszi_info info;
  memset(&info, 0, sizeof info);
  info.size = (uint32_t)sizeof info;
  return info;
}

/* HDF5 filter number of libh5cuszi, of HDF5's range for testing; not registered yet. */
#define CUSZI_H5_FILTER 411
CUSZI_API int cuszi_h5_filter(void);

/* "1.0.0" */
CUSZI_API const char* cuszi_version(void);

/* Holds backends and their memory between calls; for one thread at a time. NULL if out of
 * memory. */
typedef struct cuszi_context cuszi_context;
CUSZI_API cuszi_context* cuszi_context_create(void);
CUSZI_API void cuszi_context_destroy(cuszi_context* context);

/* Status of the last call and its message ("" after CUSZI_OK), valid until the next call. */
CUSZI_API cuszi_status cuszi_last_status(const cuszi_context* context);
CUSZI_API const char* cuszi_last_error(const cuszi_context* context);

/* Why the last successful call's result may be useless, in one line, else "": suspected or
 * imprecise fill values, a missed target. Valid until the next call. */
CUSZI_API const char* cuszi_last_warning(const cuszi_context* context);

/* Size of a field's values in bytes; 0 if it is invalid. */
CUSZI_API size_t cuszi_field_bytes(const cuszi_field* field);

/* Upper limit of an archive's size in bytes; 0 if field or options are invalid. NULL: any
 * options with frame_bytes 0. */
CUSZI_API size_t cuszi_bound(const cuszi_field* field, const cuszi_options* options);

/* An archive that is read by ranges, such as a remote one. Functions that take one archive of
 * `size` bytes also take the address of such a struct, and CUSZI_SOURCE as its size. */
typedef struct cuszi_source {
  uint32_t size; /* sizeof(cuszi_source) */
  uint32_t reserved;
  uint64_t bytes; /* of the archive */
  void* user;
  /* Copies `count` bytes from `offset` on to `to`; returns 0, else the call fails with
   * CUSZI_BAD_INPUT. Any thread calls it, several at a time. */
  int32_t (*read)(void* user, uint64_t offset, void* to, size_t count);
} cuszi_source;
#define CUSZI_SOURCE SIZE_MAX

/* Compresses cuszi_field_bytes() of `values` to `archive`; a `capacity` of cuszi_bound() always
 * suffices. Sets `archive_size`. */
CUSZI_API cuszi_status cuszi_compress(cuszi_context* context, const cuszi_options* options,
                                      const cuszi_field* field, const void* values, void* archive,
                                      size_t capacity, size_t* archive_size);

/* PSNR in dB (infinite if lossless) or ratio of the last cuszi_compress() to a target; else NaN. */
CUSZI_API double cuszi_reached(const cuszi_context* context);

/* Adds an archive to a file of archives, which is created if need be, and syncs it: its members, of
 * one type and of equal extents behind the slowest axis, are one field, stacked along that axis. A
 * stopped call leaves the file readable as before. Concurrent calls wait for each other. */
CUSZI_API cuszi_status cuszi_append(cuszi_context* context, const char* path, const void* archive,
                                    size_t size);

/* Reads the headers. The first 512 bytes suffice for an archive of one member. */
CUSZI_API cuszi_status cuszi_read_info(cuszi_context* context, const void* archive, size_t size,
                                       cuszi_info* info);

/* Restores all values. Only execution options and memory_limit apply; NULL is the default.
 * `values` is undefined after a failure. */
CUSZI_API cuszi_status cuszi_decompress(cuszi_context* context, const cuszi_options* options,
                                        const void* archive, size_t size, void* values,
                                        size_t capacity);

/* A part of a field: a box, subsampled by a stride. */
typedef struct cuszi_part {
  uint32_t size; /* sizeof(cuszi_part), by cuszi_whole_field() */
  uint32_t reserved;
  uint64_t first[CUSZI_MAX_RANK]; /* first index of each axis */
  uint64_t end[CUSZI_MAX_RANK];   /* index after the last; 0 or UINT64_MAX: end of the axis */
  uint64_t stride;                /* power of two: keeps its multiples along lattice axes */
} cuszi_part;

static inline cuszi_part cuszi_whole_field(void) {
  cuszi_part part;
  memset(&part, 0, sizeof part);
  part.size = (uint32_t)sizeof part;
  part.stride = 1;
  return part;
}

/* The part of a field that frame `frame` of an archive holds, from 0. */
CUSZI_API cuszi_status cuszi_frame_part(cuszi_context* context, const void* archive, size_t size,
                                        uint64_t frame, cuszi_part* part);

/* Type and dims of a part. Checks the header's claims against the archive's size
 * (CUSZI_BAD_ARCHIVE). */
CUSZI_API cuszi_status cuszi_part_field(cuszi_context* context, const void* archive, size_t size,
                                        const cuszi_part* part, cuszi_field* field);

/* As cuszi_decompress(); reads only the frames and levels that the part needs. */
CUSZI_API cuszi_status cuszi_decompress_part(cuszi_context* context, const cuszi_options* options,
                                             const void* archive, size_t size,
                                             const cuszi_part* part, void* values, size_t capacity);

/* A field of a batch. */
typedef struct cuszi_compression {
  const cuszi_options* options; /* NULL: those of the call */
  cuszi_field field;
  const void* values;
  void* archive; /* of `capacity` bytes, see cuszi_compress() */
  size_t capacity;
  size_t size;      /* output; 0 after a failure */
  int32_t status;   /* output: cuszi_status */
  int32_t reserved; /* 0 */
} cuszi_compression;

/* Compresses `count` fields of any dims and types concurrently; archives equal those of single
 * calls. The call's `threads` apply to all members. A failing member does not stop the others:
 * the call returns the first failure's status, and cuszi_last_error() names its index, from 0;
 * likewise cuszi_last_warning(). Members must not share output memory. Does not set
 * cuszi_reached(). */
CUSZI_API cuszi_status cuszi_compress_batch(cuszi_context* context, const cuszi_options* options,
                                            cuszi_compression* members, size_t count);

/* An archive of a batch. */
typedef struct cuszi_decompression {
  const cuszi_options* options; /* NULL: those of the call */
  const void* archive;
  size_t size;
  void* values; /* of `capacity` bytes, see cuszi_decompress() */
  size_t capacity;
  int32_t status;   /* output: cuszi_status */
  int32_t reserved; /* 0 */
} cuszi_decompression;

/* Restores `count` archives, as cuszi_compress_batch() compresses. */
CUSZI_API cuszi_status cuszi_decompress_batch(cuszi_context* context, const cuszi_options* options,
                                              cuszi_decompression* members, size_t count);

/* Asynchronous calls, executed in order, each after the earlier work of `stream` (NULL: the
 * default stream). Options and fields are copied; memory that pointers refer to, also in
 * options, must not change until the call is done.
 *
 * A thread of the context executes the calls; streams do not wait for them. Other calls of the
 * context, and its destruction, wait for pending ones. Streams that are being captured into CUDA
 * graphs are CUSZI_BAD_USAGE.
 *
 * `status` may be NULL. It and `archive_size` may be in host or device memory. A call that
 * cannot start returns an error at once and writes nothing. */

/* As cuszi_compress(); sets `archive_size` to 0 on failure. */
CUSZI_API cuszi_status cuszi_compress_async(cuszi_context* context, const cuszi_options* options,
                                            const cuszi_field* field, const void* values,
                                            void* archive, size_t capacity, size_t* archive_size,
                                            int32_t* status);

/* As cuszi_decompress(). `archive_size` is read when the call starts, so an earlier
 * cuszi_compress_async() may set it. Unless `field` is NULL, an archive of another field is
 * CUSZI_BAD_ARCHIVE. */
CUSZI_API cuszi_status cuszi_decompress_async(cuszi_context* context, const cuszi_options* options,
                                              const cuszi_field* field, const void* archive,
                                              const size_t* archive_size, void* values,
                                              size_t capacity, int32_t* status);

/* Waits for the context's asynchronous calls. Returns the first failure's status since the last
 * wait; cuszi_last_error() names its index, from 0; likewise cuszi_last_warning(). */
CUSZI_API cuszi_status cuszi_wait(cuszi_context* context);

#ifdef __cplusplus
}
#endif

#endif
