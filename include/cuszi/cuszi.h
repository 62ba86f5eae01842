/* libcuszi: error-bounded lossy compression of scientific fields. docs/guide/library.md is a guide.
 *
 * A field is an array of 1 to 4 dimensions, slowest first as in NumPy and HDF5, of f32 or f64 in
 * the machine's byte order. An archive is what the tool `cuszi` writes and reads too. Values and
 * archives lie in the caller's memory: the host's, or that of a CUDA device, which is found out
 * from the pointer. They are read where they lie: nobody may change them during a call. Calls are
 * complete on return, but for those whose names end in _async.
 *
 * Every function may be called from any thread, with one context used by one thread at a time.
 * None throws, prints or ends the process; floating-point traps and rounding modes of the thread
 * have no effect, and stay. A forked child may go on with its parent's contexts, but without the
 * GPU that the parent has used, if any: those cannot be forked.
 */
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

/* What a call returns; 1 to 6 and 8 are the exit codes of the tool. */
typedef enum cuszi_status {
  CUSZI_OK = 0,
  CUSZI_BAD_USAGE = 1,   /* an argument or option that cannot be honoured */
  CUSZI_BAD_INPUT = 2,   /* values that cannot be read, or are warned of where `strict` is set */
  CUSZI_BAD_ARCHIVE = 3, /* damaged, truncated, no archive, or over memory_limit */
  CUSZI_BAD_BOUND = 4,   /* a value would be over the bound */
  CUSZI_NO_DEVICE = 5,   /* a device, a driver or a library is not there */
  CUSZI_NO_ROOM = 6,     /* the buffer for the result is too small */
  CUSZI_NO_MEMORY = 7,
  CUSZI_INTERNAL = 8 /* a defect of libcuszi */
} cuszi_status;

enum { CUSZI_MAX_RANK = 4, CUSZI_MAX_FILLS = 16, CUSZI_MAX_ISOVALUES = 15, CUSZI_MAX_REGIONS = 16 };

typedef enum cuszi_dtype { CUSZI_F32 = 0, CUSZI_F64 = 1 } cuszi_dtype;

typedef struct cuszi_field {
  int32_t dtype;                 /* cuszi_dtype */
  int32_t rank;                  /* 1 to CUSZI_MAX_RANK */
  uint64_t dims[CUSZI_MAX_RANK]; /* the first `rank` of them, slowest first, each at least 1 */
} cuszi_field;

/* How `bound` is meant. */
typedef enum cuszi_mode {
  CUSZI_REL = 0,   /* as a share of the value range */
  CUSZI_ABS = 1,   /* in the field's own unit */
  CUSZI_PSNR = 2,  /* as a target: a PSNR of at least `bound` dB, above 0 and up to 400, in few
                      bits. Trials find an absolute bound; cuszi_reached() tells what it gives */
  CUSZI_RATIO = 3, /* as a target: an archive at least `bound` times smaller than the field, 1 to
                      1e9, with little error, found by trials too */
  CUSZI_PWREL = 4, /* as a share of each value: zeros and signs come back exactly */
  CUSZI_ABS_OR_PWREL = 5, /* in the field's own unit, or as the share `pw` of each value where that
                             is more */
  CUSZI_ABS_AND_PWREL = 6 /* likewise, where that is less: zeros and signs come back exactly */
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
  CUSZI_DEVICE_AUTO = 0, /* a GPU if there is one that can do it, that of the values if they are on
                            one; else the CPU */
  CUSZI_DEVICE_CPU = 1,
  CUSZI_DEVICE_CUDA = 2 /* number `device_index` */
} cuszi_device;

/* What may be forced of the method. 0 leaves it to the preset, and to the encoder. */
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
  CUSZI_CODER_AUTO = 1,
  CUSZI_CODER_HUFFMAN = 2,
  CUSZI_CODER_ANS = 3
} cuszi_coder;

typedef enum cuszi_effort {
  CUSZI_EFFORT_NORMAL = 0,
  CUSZI_EFFORT_FAST = 1,
  CUSZI_EFFORT_BEST = 2
} cuszi_effort;

typedef enum cuszi_lossless { CUSZI_LOSSLESS_NONE = 0, CUSZI_LOSSLESS_BITCOMP = 1 } cuszi_lossless;

typedef enum cuszi_axes {
  CUSZI_AXES_LATTICE = 1,
  CUSZI_AXES_INDEPENDENT = 2, /* axis number `axis` */
  CUSZI_AXES_LAYERED = 3      /* axis number `axis` */
} cuszi_axes;

typedef enum cuszi_index {
  CUSZI_INDEX_NONE = 1,
  CUSZI_INDEX_OFFSET = 2,
  CUSZI_INDEX_LENGTH = 3,
  CUSZI_INDEX_HYBRID = 4
} cuszi_index;

/* What zfp keeps of each block of values; all but accuracy need no bound. */
typedef enum cuszi_zfp_mode {
  CUSZI_ZFP_ACCURACY = 0,  /* the bit planes that `bound` needs */
  CUSZI_ZFP_PRECISION = 1, /* zfp_amount bit planes, 1 to 64 */
  CUSZI_ZFP_RATE = 2,      /* zfp_amount bits per value, above 0 and up to 64 */
  CUSZI_ZFP_REVERSIBLE = 3 /* all: values come back bit for bit */
} cuszi_zfp_mode;

typedef enum cuszi_cubic { CUSZI_CUBIC_NOT_A_KNOT = 1, CUSZI_CUBIC_NATURAL = 2 } cuszi_cubic;

/* A part of a field with a bound of its own. */
typedef struct cuszi_region {
  uint64_t first[CUSZI_MAX_RANK]; /* of each axis the indices from `first` on */
  uint64_t end[CUSZI_MAX_RANK];   /* and before `end`; 0 and UINT64_MAX leave it open */
  double bound;                   /* in the sense of `mode`; 0 is lossless */
} cuszi_region;

/* How to compress, and where to work. Begin with cuszi_default_options(), which are lossless under
 * the preset `ratio`; what is 0 has its default. The members are the options of the tool of the
 * same names, which its manual page explains. */
typedef struct cuszi_options {
  uint32_t size;    /* sizeof(cuszi_options) */
  uint32_t version; /* CUSZI_OPTIONS_VERSION */

  double bound; /* what no value's error exceeds, 0 is lossless; or the target, see cuszi_mode */
  int32_t mode; /* cuszi_mode */
  int32_t preset;

  double range_min; /* what a relative bound refers to, if has_range is not 0; */
  double range_max; /* else the range is looked for */
  int32_t has_range;
  uint32_t fill_count; /* of values that mean "missing" besides NaN and the infinities */
  const double* fills; /* at most CUSZI_MAX_FILLS */
  uint64_t frame_bytes;

  int32_t device; /* cuszi_device */
  int32_t device_index;
  void* stream;    /* a cudaStream_t: what it was given to do is done before the values are used */
  int32_t threads; /* of the CPU */

  int32_t predictor;
  int32_t coder;
  int32_t lossless;
  uint32_t radius;

  int32_t effort; /* of multilevel, as the next five */
  int32_t axes;
  int32_t axis;
  int32_t reach;
  double alpha;
  double beta;

  uint64_t interp_tile[3]; /* of interp, as the next four; slow axes that are not used are 1 */
  double interp_alpha;
  uint32_t interp_anchor;
  int32_t interp_cubic;
  char interp_order[4]; /* three of the letters z, y, x, like "zyx" */

  int32_t index;
  uint32_t chunk; /* of huffman, as the width */
  uint32_t partition;
  int32_t huffman_width; /* 32 or 64 */
  int32_t verify;        /* if not 0, the archive is restored and compared: CUSZI_BAD_BOUND */

  int32_t zfp_mode;   /* of zfp, as the next two; where `bound` is 0, only accuracy has one */
  uint32_t zfp_chunk; /* blocks per chunk of the index, 1 to 65536; 0: as many as make it small */
  double zfp_amount;

  int32_t strict; /* if not 0, what cuszi_last_warning() would tell is an error: CUSZI_BAD_INPUT for
                     values, CUSZI_BAD_BOUND for a target that was not met */
  uint32_t more_fill_count; /* of more_fills, which are fill values besides `fills` */

  uint64_t memory_limit; /* of restoring: bytes of the host's memory that frames in work at a time
                            may take, their values included; more is CUSZI_BAD_ARCHIVE, before it
                            is taken; 0: no limit */

  double more_fills[CUSZI_MAX_FILLS]; /* what cuszi_set_option() adds; all in all at most 16 */

  double isovalues[CUSZI_MAX_ISOVALUES]; /* every restored value is below, equal to or above each of
                                            these as its original is */
  uint32_t isovalue_count;
  int32_t keep_sign; /* if not 0, 0 is an isovalue, too */

  cuszi_region regions[CUSZI_MAX_REGIONS]; /* parts with smaller bounds; of a point that several
                                              have the last one's holds. For multilevel */
  uint32_t region_count;
  int32_t remember; /* if not 0: an archive whose whole field is restored is remembered by this
                       process, of all of them the last 1024 and 64 MiB. A field that is compressed
                       with the same options is compared with them: points that are as one of them
                       restores them keep their values bit for bit, and a field that is so in all
                       points becomes that archive. For what changes parts of chunks by restoring
                       and compressing all of them, like a filter of HDF5. Not with CUSZI_REL,
                       targets and bound_field, where it does nothing */
  const float* bound_field;              /* bounds where no region has one, in raster order, in the
                                            sense of `mode`: smaller ones than `bound` hold */
  uint64_t bound_count;                  /* of bound_field, as many as the field needs; 0 without */
  uint64_t bound_blocks[CUSZI_MAX_RANK]; /* each of them is that of so many points along each axis
                                            of the field, slowest first; 0: of one */

  double pw; /* the share of each value, above 0 and below 1, of CUSZI_ABS_OR_PWREL and
                CUSZI_ABS_AND_PWREL, whose `bound` is above 0; else 0 */

  uint64_t devices; /* of CUSZI_DEVICE_CUDA, if not 0: bit n is GPU number n, and all of them share
                       the frames of a field in the host's memory, instead of device_index;
                       UINT64_MAX: all that there are. One that fails leaves its frames to the
                       others, which cuszi_last_warning() tells */

  double padding; /* if has_padding is not 0, a value that pads a part of the field, or stands where
                     nothing was written: no warning, or error, that it may mean "missing" */
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

/* What the text of an option is. */
typedef enum cuszi_option_kind {
  CUSZI_OPTION_TEXT = 0,         /* of a form that `values` and `help` show */
  CUSZI_OPTION_WORD = 1,         /* one of `values`, which "|" divides */
  CUSZI_OPTION_WHOLE = 2,        /* a whole number from `least` to `most` */
  CUSZI_OPTION_POWER_OF_TWO = 3, /* from `least` to `most` */
  CUSZI_OPTION_NUMBER = 4,       /* from `least` to `most` */
  CUSZI_OPTION_SIZE = 5,         /* bytes, like 4096, 64K, 256MiB or 1G, in powers of 1024 */
  CUSZI_OPTION_FLAG = 6          /* no or yes */
} cuszi_option_kind;

/* An option of the library, the tool and the Python package: one row of the table that all of them
 * have. Later versions add members at the end. */
typedef struct cuszi_option {
  const char* group;   /* in which the tool's help lists it */
  const char* name;    /* of the tool's option, without the dashes in front */
  const char* member;  /* of cuszi_options, and the keyword in Python; "" for several members */
  int32_t kind;        /* cuszi_option_kind */
  const char* values;  /* words with "|" between them, or what stands for the text in help */
  double least;        /* of numbers; of words, the first one's number in the member */
  double most;         /* of numbers */
  const char* initial; /* the text of the default, "" if it has none; "auto" is always accepted */
  const char* help;    /* what it does, in one line */
} cuszi_option;

/* Option number `index` of the table, from 0 on; NULL behind the last. */
CUSZI_API const cuszi_option* cuszi_option_at(size_t index);

/* Sets an option, by its name or its member's, to what a text says, as the tool does: "effort" to
 * "best", "frame-size" to "64M", "axes" to "layered:0", "target" to "psnr:80". The order of calls
 * does not matter, but for "error-bound", "mode" and "target", of which the last one counts, and
 * "fill-value", "keep-isovalue" and "region", of which each call adds one. Returns a cuszi_status:
 * CUSZI_BAD_USAGE, and nothing is set, if there is no such option, the text is none that it takes,
 * an argument is NULL, or the options are of an earlier version that lacks the member. Whether
 * options go together is found out where they are used. */
CUSZI_API int cuszi_set_option(cuszi_options* options, const char* name, const char* text);

/* Why cuszi_set_option() refuses these arguments, in one line with the offending text and what is
 * accepted: copied to `line`, which has room for `capacity` bytes, and cut to that with its final
 * 0. Sets nothing. Returns the length of the whole line; 0 if they are accepted. */
CUSZI_API size_t cuszi_option_error(const cuszi_options* options, const char* name,
                                    const char* text, char* line, size_t capacity);

/* What an archive says of its field. */
typedef struct cuszi_info {
  uint32_t size; /* sizeof(cuszi_info), by cuszi_empty_info() */
  uint32_t format_version;
  cuszi_field field;
  int32_t mode; /* a cuszi_mode that is no target, which come to CUSZI_ABS */
  uint32_t fill_count;
  double bound_asked;
  double bound_absolute; /* what no value's error exceeds; the largest double if there is none */
  double fills[CUSZI_MAX_FILLS];
  uint64_t frames;       /* contiguous parts of the field, slow axes first */
  uint64_t frame_height; /* slices of `frame_axis` in a frame, but in the last */
  int32_t frame_axis;
  uint32_t reserved;
  double pw_asked; /* as `pw` of cuszi_options */
} cuszi_info;

static inline cuszi_info cuszi_empty_info(void) {
  cuszi_info info;
  memset(&info, 0, sizeof info);
  info.size = (uint32_t)sizeof info;
  return info;
}

/* The number of the HDF5 filter libh5cuszi, from the range that HDF5 leaves to tests: none has been
 * registered yet. */
#define CUSZI_H5_FILTER 411
CUSZI_API int cuszi_h5_filter(void);

/* "1.0.0" */
CUSZI_API const char* cuszi_version(void);

/* Keeps backends and their memory from call to call; for one thread at a time. NULL without
 * memory. */
typedef struct cuszi_context cuszi_context;
CUSZI_API cuszi_context* cuszi_context_create(void);
CUSZI_API void cuszi_context_destroy(cuszi_context* context);

/* How the last call with this context ended, and why in one line ("" after CUSZI_OK); the text is
 * valid until the next call. */
CUSZI_API cuszi_status cuszi_last_status(const cuszi_context* context);
CUSZI_API const char* cuszi_last_error(const cuszi_context* context);

/* What makes the result of the last call with this context useless, though it succeeded, in one
 * line; "" if nothing does. cuszi_compress() warns of values that lie far outside the others, but
 * are no fill values, of fill values that differ from the field's by a rounding to f32, and of a
 * target that was not met. Valid until the next call. */
CUSZI_API const char* cuszi_last_warning(const cuszi_context* context);

/* How many bytes of values a field has; 0 if it cannot be. */
CUSZI_API size_t cuszi_field_bytes(const cuszi_field* field);

/* The most bytes that an archive of this field can have, whatever its values; 0 if the field or
 * the options (NULL: any that leave frame_bytes open) cannot be. */
CUSZI_API size_t cuszi_bound(const cuszi_field* field, const cuszi_options* options);

/* Compresses `values`, cuszi_field_bytes() of them, to `archive`, which has room for `capacity`
 * bytes; cuszi_bound() are always enough. Its size goes to `archive_size`. */
CUSZI_API cuszi_status cuszi_compress(cuszi_context* context, const cuszi_options* options,
                                      const cuszi_field* field, const void* values, void* archive,
                                      size_t capacity, size_t* archive_size);

/* What the last cuszi_compress() with this context has reached of its target: dB (infinite where
 * nothing was lost) or a ratio; NaN where it had none or failed. If that is less than the target,
 * the archive is the nearest that was found. */
CUSZI_API double cuszi_reached(const cuszi_context* context);

/* Reads the header of an archive, of which the first 512 bytes are enough. What it claims is
 * checked against the archive's size by the other functions. */
CUSZI_API cuszi_status cuszi_read_info(cuszi_context* context, const void* archive, size_t size,
                                       cuszi_info* info);

/* Restores all values of an archive to `values`, which has room for `capacity` bytes. Of the
 * options (NULL: the defaults), those that say where to work count, and memory_limit. What `values`
 * holds after a failure is undefined. */
CUSZI_API cuszi_status cuszi_decompress(cuszi_context* context, const cuszi_options* options,
                                        const void* archive, size_t size, void* values,
                                        size_t capacity);

/* A part of a field. */
typedef struct cuszi_part {
  uint32_t size; /* sizeof(cuszi_part), by cuszi_whole_field() */
  uint32_t reserved;
  uint64_t first[CUSZI_MAX_RANK]; /* of each axis the indices from `first` on */
  uint64_t end[CUSZI_MAX_RANK];   /* and before `end`; 0 and UINT64_MAX leave it open */
  uint64_t stride; /* a power of two: of these the multiples of it along lattice axes,
                      as --stride of the tool; 1 are all */
} cuszi_part;

static inline cuszi_part cuszi_whole_field(void) {
  cuszi_part part;
  memset(&part, 0, sizeof part);
  part.size = (uint32_t)sizeof part;
  part.stride = 1;
  return part;
}

/* The part that frame number `frame` of an archive holds, from 0 on. */
CUSZI_API cuszi_status cuszi_frame_part(cuszi_context* context, const void* archive, size_t size,
                                        uint64_t frame, cuszi_part* part);

/* What the values of a part are: the archive's type and the part's dims. An archive that is too
 * small for what its header claims is CUSZI_BAD_ARCHIVE: memory for the values of one that is not
 * is within what SECURITY.md states. */
CUSZI_API cuszi_status cuszi_part_field(cuszi_context* context, const void* archive, size_t size,
                                        const cuszi_part* part, cuszi_field* field);

/* As cuszi_decompress(), the values of a part. Only frames that meet it are read, and of a strided
 * frame no more than the levels that have its points. */
CUSZI_API cuszi_status cuszi_decompress_part(cuszi_context* context, const cuszi_options* options,
                                             const void* archive, size_t size,
                                             const cuszi_part* part, void* values, size_t capacity);

/* A field of a batch on its way to an archive. */
typedef struct cuszi_compression {
  const cuszi_options* options; /* its own; NULL: those of the call */
  cuszi_field field;
  const void* values;
  void* archive; /* with room for `capacity` bytes, as cuszi_compress() takes it */
  size_t capacity;
  size_t size;      /* is set: of the archive; 0 after a failure */
  int32_t status;   /* is set: a cuszi_status */
  int32_t reserved; /* 0 */
} cuszi_compression;

/* Compresses `count` fields of any dims and types, side by side: on a CPU threads share them; on a
 * GPU, fields of up to 64 MiB by preset `fast` that lie in its memory, with their archives, are in
 * work all together, and of others a few at a time. Archives are those of cuszi_compress(), byte
 * for byte. `threads` of the call's options is for all members together; that of their own has no
 * effect. A member that fails has its status and lets the others go on. The call returns the status
 * of the first one that has failed, and cuszi_last_error() tells its number, from 0 on, and why;
 * cuszi_last_warning() likewise. If the call's options cannot be, all members have that status.
 * Members must not share memory that is written. cuszi_reached() tells nothing of batches. */
CUSZI_API cuszi_status cuszi_compress_batch(cuszi_context* context, const cuszi_options* options,
                                            cuszi_compression* members, size_t count);

/* An archive of a batch on its way to values. */
typedef struct cuszi_decompression {
  const cuszi_options* options; /* its own; NULL: those of the call */
  const void* archive;
  size_t size;
  void* values; /* with room for `capacity` bytes, as cuszi_decompress() takes it */
  size_t capacity;
  int32_t status;   /* is set: a cuszi_status */
  int32_t reserved; /* 0 */
} cuszi_decompression;

/* Restores `count` archives as cuszi_decompress() does, side by side as cuszi_compress_batch().
 * Archives in the host's memory are in work together, too, where their values go to a GPU's. */
CUSZI_API cuszi_status cuszi_decompress_batch(cuszi_context* context, const cuszi_options* options,
                                              cuszi_decompression* members, size_t count);

/* Calls that return without waiting, one after the other. Each begins after all that `stream` of
 * its options (the default stream, if NULL) was given before the call, where it has memory of a
 * device or a stream. Options and fields are copied by the call; what pointers lead to, in options
 * too, must stay as it is until the call is done.
 *
 * A GPU makes some calls without the host, by kernels in the caller's stream: what that is given
 * afterwards sees the results, and a stream that is being captured into a CUDA graph takes these
 * calls, too. They are for fields of up to 64 MiB by preset `fast`, with a bound that needs no
 * range, without fill values, `verify` and `strict`, and for archives of them if the options have
 * that preset and `field` is told. Values and archive lie on one GPU, values at a multiple of their
 * size, `archive_size` and `status` on a GPU or in page-locked memory. Archives are those of
 * cuszi_compress(), but for fields of one value, and for those where a value is no number, infinite
 * or too large for its bound, which are kept as they are: what cuszi_compress() makes of the latter
 * takes the host to restore, and CUSZI_BAD_ARCHIVE says so. Nothing warns of values that may mean
 * "missing". A graph must not run after its context's end; cuszi_wait() does not wait for it, but
 * tells what it knows of failures.
 *
 * A thread of the context makes the others. No stream waits for them: after cuszi_wait() results
 * are there, for the host and for every stream. A captured stream does not take them.
 *
 * cuszi_wait() returns when all calls of the context are done. Other calls with the context, and
 * its end, wait for pending ones, too.
 *
 * `status`, which may be NULL, gets a cuszi_status when the call is done. It and `archive_size` lie
 * in any memory of the host's or of a device. A call that fails lets the others go on. What cannot
 * even be begun returns another status than CUSZI_OK, with cuszi_last_error() to tell why, and
 * touches no memory: NULL for `field` or `archive_size`, options of another version, a stream that
 * is being captured and a call that needs the host. */

/* As cuszi_compress(); after a failure `archive_size` is 0. */
CUSZI_API cuszi_status cuszi_compress_async(cuszi_context* context, const cuszi_options* options,
                                            const cuszi_field* field, const void* values,
                                            void* archive, size_t capacity, size_t* archive_size,
                                            int32_t* status);

/* As cuszi_decompress(). `archive_size` is read when the call begins, so that it may be that of a
 * cuszi_compress_async() before. `field` is what the archive is known to hold, or NULL: an archive
 * of another one is CUSZI_BAD_ARCHIVE. */
CUSZI_API cuszi_status cuszi_decompress_async(cuszi_context* context, const cuszi_options* options,
                                              const cuszi_field* field, const void* archive,
                                              const size_t* archive_size, void* values,
                                              size_t capacity, int32_t* status);

/* Waits for all calls of the context that return without waiting. Returns the status of the first
 * one that has failed since this was last called, and cuszi_last_error() tells its number, from 0
 * on, and why; cuszi_last_warning() likewise. */
CUSZI_API cuszi_status cuszi_wait(cuszi_context* context);

#ifdef __cplusplus
}
#endif

#endif
