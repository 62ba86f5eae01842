#include <cmath>

#include "gpu/runtime/launch.cuh"
#include "gpu/tiles/stream_frame.cuh"
#include "gpu/tiles/stream_tiles.cuh"
#include "gpu/tiles/tile_batch.cuh"
#include "gpu/tiles/tile_decoder.cuh"

namespace cuszi::gpu {

namespace {

template <class T, class Shape>
using StreamRestoreTask = TileRestoreTask<T, Shape, ValuesOfAnyWidth>;

template <class T, class Shape>
struct DecodeState {
  StreamRestoreTask<T, Shape> tiles;  ///< no chunks if not coded
  const std::byte* payload;
  std::uint64_t payload_bytes;  ///< 0: not such an archive
  std::uint64_t payload_hash;
  FrameKind kind;
};

template <class T, class Shape>
struct StreamDecodeTask {
  StreamRestoreTask<T, Shape> tiles;  ///< except what the archive says
  DecodeState<T, Shape>* state;
  unsigned* blocks_done;
  std::uint64_t* hashes;  ///< of the payload's blocks
  const std::byte* archive;
  const std::uint64_t* archive_size;
  std::int32_t done;
  std::int32_t bad_archive;
  StreamOutcome outcome;
};

constexpr unsigned read_threads = 256;

struct ArchiveEnds {
  static constexpr unsigned begin_bytes = 2 * DraftBytes::room;
  static constexpr unsigned end_bytes = 32;

  alignas(8) std::byte begin[begin_bytes];
  alignas(8) std::byte end[end_bytes];
};

/// Compares with a draft, except [gap, gap_end) and from `last` on. By a warp.
__device__ bool is_like(const std::byte* bytes, const DraftBytes& draft, unsigned size,
                        unsigned gap, unsigned gap_end, unsigned last) {
  bool same = true;
  for (unsigned i = threadIdx.x; i < size; i += 32) {
    const bool is_open = (i >= gap && i < gap_end) || i >= last;
    same &= is_open || bytes[i] == draft.bytes[i];
  }
  return __all_sync(~0U, same);
}

__device__ double get_double(const std::byte* from) {
  return std::bit_cast<double>(get_bytes(from, 8));
}

/// Parses the bytes around the payload. By a warp; its first thread fills the state.
template <class T, class Shape>
class HeaderReader {
 public:
  __device__ HeaderReader(const StreamDecodeTask<T, Shape>& work, const ArchiveDraft& draft,
                          const ArchiveEnds& ends, std::uint64_t size, std::uint64_t& room)
      : work_(work), draft_(draft), ends_(ends), size_(size), room_(room) {}

  /// Returns false if a StreamEncoding would not make this archive.
  __device__ bool read() { return read_header() && read_table() && read_footer(); }

 private:
  static constexpr unsigned hash_bytes = ArchiveDraft::hash_bytes;

  /// By the block_hash behind the bytes.
  __device__ bool has_hash(const std::byte* bytes, unsigned size) const {
    const bool right = get_bytes(bytes + size, hash_bytes) == hash_of_few(bytes, size, room_);
    return __shfl_sync(~0U, right ? 1 : 0, 0) != 0;
  }

  __device__ bool read_header() const {
    constexpr unsigned bounds = 2 * sizeof(double);
    const DraftBytes& form = draft_.header;
    const unsigned gap = draft_.mode_at;
    const auto mode = static_cast<ErrorMode>(ends_.begin[gap]);
    return size_ > form.size + frame_prefix_bytes && mode < ErrorMode::pointwise &&
           is_like(ends_.begin, form, form.size, gap, gap + sizeof(ErrorMode) + bounds,
                   form.size - hash_bytes) &&
           has_hash(ends_.begin + archive_prefix_bytes,
                    form.size - static_cast<unsigned>(archive_prefix_bytes) - hash_bytes);
  }

  __device__ const DraftBytes* form_of(std::uint64_t table_bytes) {
    if (is_coded()) {
      for (code_size_bytes_ = 1; code_size_bytes_ <= ArchiveDraft::most_size_bytes;
           ++code_size_bytes_) {
        const DraftBytes& form = draft_.coded[code_size_bytes_ - 1];
        if (form.size == table_bytes) return &form;
      }
      return nullptr;
    }
    const DraftBytes& form = kind_ == FrameKind::constant ? draft_.constant : draft_.stored;
    return form.size == table_bytes ? &form : nullptr;
  }

  __device__ bool read_table() {
    const std::byte* const table = ends_.begin + draft_.header.size;
    kind_ = static_cast<FrameKind>(table[ArchiveDraft::kind_at]);
    const DraftBytes* const form = form_of(frame_prefix_bytes + get_bytes(table + 4, 4));
    if (form == nullptr || draft_.header.size + form->size >= size_) return false;
    constexpr unsigned prefix = frame_prefix_bytes;
    const unsigned hash = form->size - ArchiveDraft::payload_hash_before_end;
    table_bytes_ = form->size;
    return is_like_table(table, *form, hash) &&
           has_hash(table + prefix, form->size - prefix - hash_bytes) && take_table(table, hash);
  }

  __device__ bool is_like_table(const std::byte* table, const DraftBytes& form,
                                unsigned hash) const {
    const unsigned range_end = draft_.min_at + 2 * sizeof(double);
    if (!is_coded()) return is_like(table, form, form.size, draft_.min_at, range_end, hash);
    // The predictor's id is between the range and the half step.
    bool same = is_like(table, form, draft_.half_step_at, draft_.min_at, range_end, form.size);
    const unsigned behind = draft_.half_step_at + sizeof(double);
    for (unsigned i = behind + threadIdx.x; i < hash - code_size_bytes_; i += 32)
      same &= table[i] == form.bytes[i];
    return __all_sync(~0U, same);
  }

  __device__ bool take_table(const std::byte* table, unsigned hash) {
    DecodeState<T, Shape>& state = *work_.state;
    const double min = get_double(table + draft_.min_at);
    const double max = get_double(table + draft_.min_at + sizeof(double));
    const double half_step = get_double(table + draft_.half_step_at);
    std::uint64_t code_bytes = 0;
    if (is_coded()) read_varint_before(table, hash - 1, code_bytes);
    payload_bytes_ = is_coded()                     ? draft_.index_bytes + code_bytes
                     : kind_ == FrameKind::constant ? draft_.constant_bytes
                                                    : draft_.value_bytes;
    if (!isfinite(min) || !isfinite(max) || min > max || code_bytes % 4 != 0) return false;
    if (is_coded() && !is_usable_half_step<T>(half_step)) return false;
    if (payload_bytes_ > draft_.value_bytes || payload_bytes_ >= size_) return false;
    if (threadIdx.x != 0) return true;
    state.payload = work_.archive + draft_.header.size + table_bytes_;
    state.payload_hash = get_bytes(table + hash, hash_bytes);
    state.kind = kind_;
    if (is_coded()) take_tiles(half_step, min, max, code_bytes);
    return true;
  }

  __device__ void take_tiles(double half_step, double min, double max, std::uint64_t code_bytes) {
    DecodeState<T, Shape>& state = *work_.state;
    TileQuantizer<T> quantizer = work_.tiles.quantizer;
    quantizer.set_half_step(half_step);
    StreamRestoreTask<T, Shape>& task = state.tiles;
    task.points.are_narrow = fits_pairs(quantizer, min, max);
    task.quantizer = quantizer;
    task.min = static_cast<T>(min);
    task.max = static_cast<T>(max);
    task.index = state.payload;
    task.codes = state.payload + draft_.index_bytes;
    task.code_words = code_bytes / 4;
    task.grid.chunks = work_.tiles.grid.chunks;
  }

  __device__ bool read_footer() const {
    const std::uint64_t frame_bytes = table_bytes_ + payload_bytes_;
    const unsigned size = varint_bytes(frame_bytes);
    const DraftBytes& form = draft_.footer[size - 1];
    if (draft_.header.size + frame_bytes + form.size != size_) return false;
    const std::byte* const footer = ends_.end + ArchiveEnds::end_bytes - form.size;
    std::uint64_t told = 0;
    return read_varint_before(footer, size - 1, told) && told == frame_bytes &&
           is_like(footer, form, form.size, 0, size + hash_bytes, form.size) &&
           has_hash(footer, size) && keep_payload();
  }

  __device__ bool is_coded() const { return kind_ == FrameKind::coded; }

  __device__ bool keep_payload() const {
    if (threadIdx.x == 0) work_.state->payload_bytes = payload_bytes_;
    return true;
  }

  const StreamDecodeTask<T, Shape>& work_;
  const ArchiveDraft& draft_;
  const ArchiveEnds& ends_;
  std::uint64_t size_;
  std::uint64_t& room_;
  FrameKind kind_ = FrameKind::stored;
  unsigned code_size_bytes_ = 0;
  unsigned table_bytes_ = 0;
  std::uint64_t payload_bytes_ = 0;
};

/// To shared memory.
__device__ void read_ends(const std::byte* archive, std::uint64_t size, ArchiveEnds& ends) {
  for (unsigned i = threadIdx.x; i < ArchiveEnds::begin_bytes; i += read_threads)
    ends.begin[i] = i < size ? archive[i] : std::byte{0};
  for (unsigned i = threadIdx.x; i < ArchiveEnds::end_bytes; i += read_threads) {
    const std::uint64_t from_end = ArchiveEnds::end_bytes - i;
    ends.end[i] = from_end <= size ? archive[size - from_end] : std::byte{0};
  }
}

/// A single thread block, one warp of which parses.
template <class T, class Shape>
__global__ void __launch_bounds__(read_threads)
    prepare_to_decode(const __grid_constant__ StreamDecodeTask<T, Shape> work,
                      const __grid_constant__ ArchiveDraft draft) {
  __shared__ ArchiveEnds ends;
  __shared__ std::uint64_t room;
  DecodeState<T, Shape>& state = *work.state;
  put_task(work.tiles, state.tiles);
  const std::uint64_t size = *work.archive_size;
  read_ends(work.archive, size, ends);
  __syncthreads();
  if (threadIdx.x >= 32) return;
  if (threadIdx.x == 0) {
    *work.tiles.flaws = 0;
    *work.blocks_done = 0;
    state.tiles.grid.chunks = 0;
    state.payload_bytes = 0;
  }
  HeaderReader<T, Shape> reader(work, draft, ends, size, room);
  if (!reader.read() && threadIdx.x == 0) state.tiles.grid.chunks = 0;
}

/// Restores a constant frame, by a row of thread blocks.
template <class T, class Shape>
__device__ void fill_values(const StreamRestoreTask<T, Shape>& task, const std::byte* payload,
                            std::uint64_t payload_bytes) {
  const std::uint64_t value = get_bytes(payload, sizeof(T));
  const std::uint64_t first = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const std::uint64_t all = std::uint64_t{gridDim.x} * blockDim.x;
  for (std::uint64_t i = first; i < payload_bytes / sizeof(T); i += all) {
    if (get_bytes(payload + i * sizeof(T), sizeof(T)) != value)
      atomicOr(task.flaws, static_cast<unsigned>(bad_tiles));
  }
  const T restored = std::bit_cast<T>(static_cast<BitsOf<T>>(value));
  for (std::uint64_t i = first; i < count_of(task.grid.extents); i += all)
    task.values[i] = restored;
}

/// By a warp.
template <class T, class Shape>
__device__ void finish_values(const StreamDecodeTask<T, Shape>& work) {
  const DecodeState<T, Shape>& state = *work.state;
  bool right = state.payload_bytes != 0;
  if (right) {
    right = combined_hash(work.hashes, state.payload_bytes) == state.payload_hash &&
            *work.tiles.flaws == 0;
  }
  if (threadIdx.x == 0) work.outcome.tell(right ? work.done : work.bad_archive, !right);
}

/// One row of thread blocks hashes the payload, the other restores frames without tiles; the last
/// block reports.
template <class T, class Shape>
__global__ void __launch_bounds__(StreamPolicy::threads)
    check_payload(const __grid_constant__ StreamDecodeTask<T, Shape> work) {
  const DecodeState<T, Shape>& state = *work.state;
  if (blockIdx.y == 0) {
    hash_payload(state.payload, state.payload_bytes, work.hashes);
  } else if (state.payload_bytes != 0 && state.kind == FrameKind::stored) {
    copy_piece(
        {reinterpret_cast<std::byte*>(work.tiles.values), state.payload, state.payload_bytes});
  } else if (state.payload_bytes != 0 && state.kind == FrameKind::constant) {
    fill_values(work.tiles, state.payload, state.payload_bytes);
  }
  if (is_last_block(work.blocks_done) && threadIdx.x < 32) finish_values(work);
}

template <class T, class Shape>
StreamDecodeTask<T, Shape> decode_task(const StreamDecoding& frame, ScratchPieces& scratch,
                                       std::uint64_t* first_failure) {
  const TileGrid grid = TileGrid::of<T, Shape>(frame.shape.extents());
  auto* const state = scratch.take<DecodeState<T, Shape>>(1);
  auto* const flaws = scratch.take<std::uint32_t>(1);
  auto* const blocks_done = scratch.take<unsigned>(1);
  auto* const hashes = scratch.take<std::uint64_t>(ceil_div(frame.shape.bytes(), hash_block_bytes));
  return {{grid,
           TileMap<Shape>(grid),
           TileQuantizer<T>(1),
           T(0),
           T(0),
           nullptr,
           nullptr,
           0,
           reinterpret_cast<T*>(frame.values),
           flaws,
           {}},
          state,
          blocks_done,
          hashes,
          frame.archive,
          frame.archive_size,
          frame.report.done,
          frame.report.bad_archive,
          {frame.report.status, first_failure, frame.report.number}};
}

template <class T, class Shape>
void give_to_stream(const StreamDecoding& frame, const StreamDecodeTask<T, Shape>& work) {
  const auto stream = static_cast<cudaStream_t>(frame.stream);
  const unsigned chunks = grid_of(work.tiles.grid.chunks);
  constexpr unsigned threads = TilesPolicy<T>::threads;
  const EqualFrames<StreamRestoreTask<T, Shape>> tiles{&work.state->tiles};
  prepare_to_decode<<<1, read_threads, 0, stream>>>(work, frame.draft);
  check_launch("prepare_to_decode");
  with_flag(allows_four(work.tiles.grid.extents, work.tiles.values), [&](auto vector) {
    decode_chunks<T, Shape, vector(), WideIntegers<Shape>, ValuesOfAnyWidth>
        <<<chunks, threads, 0, stream>>>(tiles);
  });
  check_launch("decode_chunks");
  check_payload<<<StreamPolicy::grid(frame.shape.bytes()), StreamPolicy::threads, 0, stream>>>(
      work);
  check_launch("check_payload");
}

}  // namespace

ByteCount scratch_for_decoding(const FrameShape& shape) {
  const ArchiveDraft none{};
  const StreamDecoding frame{nullptr, shape, none, nullptr, nullptr, nullptr, {}};
  return with_tiles_of(shape, [&](auto zero, auto tile) {
    ScratchPieces pieces(nullptr);
    decode_task<decltype(zero), decltype(tile)>(frame, pieces, nullptr);
    return pieces.size();
  });
}

void start_to_decode(const StreamDecoding& frame, std::byte* scratch,
                     std::uint64_t* first_failure) {
  with_tiles_of(frame.shape, [&](auto zero, auto tile) {
    ScratchPieces pieces(scratch);
    give_to_stream(frame,
                   decode_task<decltype(zero), decltype(tile)>(frame, pieces, first_failure));
  });
}

}  // namespace cuszi::gpu
