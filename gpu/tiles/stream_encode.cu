#include <cmath>

#include "gpu/field/seen_range.cuh"
#include "gpu/runtime/launch.cuh"
#include "gpu/tiles/stream_frame.cuh"
#include "gpu/tiles/stream_tiles.cuh"
#include "gpu/tiles/tile_encoder.cuh"

namespace cuszi::gpu {

namespace {

/// A task has no chunks if its integers cannot hold the sample.
template <class T, class Shape>
struct EncodeState {
  TileTask<T, Shape> narrow;
  TileTask<T, Shape> wide;
  double half_step;
};

template <class T, class Shape>
struct StreamEncodeTask {
  TileTask<T, Shape> tiles;  ///< without the step; totals and states are those of `narrow`
  double bound;
  EncodeState<T, Shape>* state;
  TileTotals* totals;     ///< of `narrow` and `wide`
  unsigned* blocks_done;  ///< end of the words from `totals` on to clear
  std::uint64_t* hashes;
  std::byte* archive;
  std::uint64_t capacity;
  std::uint64_t* archive_size;
  std::int32_t done;
  std::int32_t no_room;
  StreamOutcome outcome;
};

constexpr unsigned prepare_threads = 1024;

/// Chooses step and kernels from a sample. A single thread block.
template <class T, class Shape>
__global__ void __launch_bounds__(prepare_threads)
    prepare_to_encode(const __grid_constant__ StreamEncodeTask<T, Shape> work) {
  auto* const zeros = reinterpret_cast<std::uint32_t*>(work.totals);
  for (std::ptrdiff_t i = threadIdx.x; i <= work.blocks_done - zeros; i += prepare_threads)
    zeros[i] = 0;
  EncodeState<T, Shape>& state = *work.state;
  put_task(work.tiles, state.narrow);
  put_task(work.tiles, state.wide);
  const std::uint64_t points = count_of(work.tiles.grid.extents);
  const SeenRange<T> range = sample_of_block<prepare_threads>(work.tiles.values, points);
  if (threadIdx.x != 0) return;
  const auto min = static_cast<double>(range.min);
  const auto max = static_cast<double>(range.max);
  TilesParams params;
  params.choose(std::fmax(std::fabs(min), std::fabs(max)), work.bound, dtype_of<T>);
  const bool usable = range.min <= range.max && params.is_usable(dtype_of<T>);
  TileQuantizer<T> quantizer = work.tiles.quantizer;
  quantizer.set_half_step(params.half_step);
  const T certain_magnitude = quantizer.certain_magnitude();
  state.half_step = params.half_step;
  for (TileTask<T, Shape>* const task : {&state.narrow, &state.wide}) {
    task->quantizer = quantizer;
    task->certain_magnitude = certain_magnitude;
    if (!usable) task->grid.chunks = 0;
  }
  if (usable && !fits_pairs(quantizer, min, max)) state.narrow.grid.chunks = 0;
  state.wide.totals = work.totals + 1;
  state.wide.states = work.tiles.states + work.tiles.grid.chunks;
}

template <class T, class Shape>
__device__ bool fits_narrow(const EncodeState<T, Shape>& state, const TileTotals& totals) {
  const TileTask<T, Shape>& narrow = state.narrow;
  const bool fits = fits_pairs(narrow.quantizer, totals.extremes.min(), totals.extremes.max());
  return (narrow.grid.chunks != 0) & (totals.strange == 0) & fits;  // overlaps loads
}

/// False also if wide tiles would meet values without integers.
template <class T, class Shape>
__device__ bool needs_wide(const EncodeState<T, Shape>& state, const TileTotals& of_narrow) {
  const bool fits = fits_narrow(state, of_narrow);
  return (state.wide.grid.chunks != 0) & (of_narrow.strange == 0) & !fits;
}

/// Without work if narrow tiles succeeded.
template <class T, class Shape>
struct WideIfNeeded {
  const EncodeState<T, Shape>* state;
  const TileTotals* of_narrow;

  static constexpr unsigned shared_words = EqualFrames<TileTask<T, Shape>>::shared_words;

  __device__ const TileTask<T, Shape>& find(std::uint32_t* shared, unsigned& block) const {
    const bool is_needed = needs_wide(*state, *of_narrow);
    block = is_needed ? blockIdx.x : ~0U;
    return is_needed ? bring_task(state->wide, shared) : state->wide;
  }
};

struct Settled {
  const std::byte* payload;
  std::uint64_t payload_bytes;
  std::uint64_t frame_bytes;  ///< with its table
  std::uint64_t archive_bytes;
  std::uint32_t table;  ///< draft of a coded frame, else most_size_bytes
  double min;
  double max;
  bool fits;

  __device__ bool is_coded() const { return table < ArchiveDraft::most_size_bytes; }
  __device__ const DraftBytes& table_of(const ArchiveDraft& draft) const {
    return is_coded() ? draft.coded[table] : draft.stored;
  }
  __device__ const DraftBytes& footer_of(const ArchiveDraft& draft) const {
    return draft.footer[varint_bytes(frame_bytes) - 1];
  }
  __device__ std::byte* payload_place(std::byte* archive, const ArchiveDraft& draft) const {
    return archive + draft.header.size + table_of(draft).size;
  }
};

/// Tiles if they take fewer bytes than the values. Constant frames are coded too: restored values
/// are clamped to the range.
template <class T, class Shape>
__device__ Settled settle(const StreamEncodeTask<T, Shape>& work, const ArchiveDraft& draft) {
  const bool narrow = fits_narrow(*work.state, work.totals[0]);
  const bool wide = needs_wide(*work.state, work.totals[0]);
  const TileTotals& totals = work.totals[narrow ? 0 : 1];
  Settled settled{};
  settled.min = totals.extremes.min() + 0.0;  // see scan_frame()
  settled.max = totals.extremes.max() + 0.0;
  const std::uint64_t code_bytes = 4 * totals.words;
  settled.table = varint_bytes(code_bytes) - 1;
  settled.payload = reinterpret_cast<const std::byte*>(work.tiles.index);
  settled.payload_bytes = draft.index_bytes + code_bytes;
  const bool coded = (narrow || wide) && totals.strange == 0 &&
                     totals.words <= work.tiles.room_words && isfinite(settled.max - settled.min);
  if (!coded || draft.coded[settled.table].size + settled.payload_bytes >= draft.value_bytes) {
    settled.table = ArchiveDraft::most_size_bytes;
    settled.min = 0;
    settled.max = 0;
    settled.payload = reinterpret_cast<const std::byte*>(work.tiles.values);
    settled.payload_bytes = draft.value_bytes;
  }
  settled.frame_bytes = settled.table_of(draft).size + settled.payload_bytes;
  settled.archive_bytes = draft.header.size + settled.frame_bytes + settled.footer_of(draft).size;
  settled.fits = settled.archive_bytes <= work.capacity;
  return settled;
}

/// By a warp.
__device__ void copy_few(const std::byte* from, unsigned count, std::byte* to) {
  for (unsigned i = threadIdx.x % 32; i < count; i += 32) to[i] = from[i];
}

/// Everything but hashes, in shared memory. By a warp.
template <class T, class Shape>
__device__ void begin_table(const StreamEncodeTask<T, Shape>& work, const ArchiveDraft& draft,
                            const Settled& settled, std::byte* table) {
  const DraftBytes& form = settled.table_of(draft);
  copy_few(form.bytes, form.size, table);
  __syncwarp();
  if (threadIdx.x % 32 != 0) return;
  put_bytes(table + draft.min_at, std::bit_cast<std::uint64_t>(settled.min), 8);
  put_bytes(table + draft.min_at + 8, std::bit_cast<std::uint64_t>(settled.max), 8);
  if (!settled.is_coded()) return;
  const auto half_step = std::bit_cast<std::uint64_t>(work.state->half_step);
  put_bytes(table + draft.half_step_at, half_step, 8);
  write_varint(settled.payload_bytes - draft.index_bytes,
               table + form.size - ArchiveDraft::payload_hash_before_end - settled.table - 1);
}

/// Adds hashes and writes the table. By the first warp; `room` is shared.
template <class T, class Shape>
__device__ void finish_table(const StreamEncodeTask<T, Shape>& work, const ArchiveDraft& draft,
                             const Settled& settled, std::byte* table, std::uint64_t& room) {
  const unsigned size = settled.table_of(draft).size;
  std::byte* const end = table + size;
  const std::uint64_t payload_hash = combined_hash(work.hashes, settled.payload_bytes);
  if (threadIdx.x == 0) put_bytes(end - ArchiveDraft::payload_hash_before_end, payload_hash, 8);
  __syncwarp();
  constexpr unsigned prefix = frame_prefix_bytes;
  const std::uint64_t hash =
      hash_of_few(table + prefix, size - prefix - ArchiveDraft::hash_bytes, room);
  if (threadIdx.x == 0) put_bytes(end - ArchiveDraft::hash_bytes, hash, 8);
  __syncwarp();
  copy_few(table, size, work.archive + draft.header.size);
}

/// Header and footer. By a warp; `footer` and `room` are shared.
template <class T, class Shape>
__device__ void write_ends(const StreamEncodeTask<T, Shape>& work, const ArchiveDraft& draft,
                           const Settled& settled, std::byte* footer, std::uint64_t& room) {
  copy_few(draft.header.bytes, draft.header.size, work.archive);
  const DraftBytes& form = settled.footer_of(draft);
  copy_few(form.bytes, form.size, footer);
  __syncwarp();
  const bool is_first = threadIdx.x % 32 == 0;
  const unsigned size = varint_bytes(settled.frame_bytes);
  if (is_first) write_varint(settled.frame_bytes, footer);
  __syncwarp();
  const std::uint64_t hash = hash_of_few(footer, size, room);
  if (is_first) put_bytes(footer + size, hash, 8);
  __syncwarp();
  copy_few(footer, form.size, work.archive + settled.archive_bytes - form.size);
}

/// One row of thread blocks hashes the payload, the other copies it into the archive; second warps
/// prepare what needs no hashes. The last block writes the table and reports.
template <class T, class Shape>
__global__ void __launch_bounds__(StreamPolicy::threads)
    write_archive(const __grid_constant__ StreamEncodeTask<T, Shape> work,
                  const __grid_constant__ ArchiveDraft draft) {
  __shared__ Settled settled;
  __shared__ alignas(8) std::byte table[DraftBytes::room];
  __shared__ alignas(8) std::byte footer[DraftBytes::room];
  __shared__ std::uint64_t room;
  if (threadIdx.x == 0) settled = settle(work, draft);
  __syncthreads();
  const unsigned warp = threadIdx.x / 32;
  if (settled.fits) {
    if (blockIdx.y == 0) {
      hash_payload(settled.payload, settled.payload_bytes, work.hashes);
    } else {
      copy_piece(
          {settled.payload_place(work.archive, draft), settled.payload, settled.payload_bytes});
      if (blockIdx.x == 0 && warp == 1) write_ends(work, draft, settled, footer, room);
    }
    if (warp == 1) begin_table(work, draft, settled, table);
  }
  if (!is_last_block(work.blocks_done) || warp != 0) return;
  if (settled.fits) finish_table(work, draft, settled, table, room);
  if (threadIdx.x != 0) return;
  *work.archive_size = settled.fits ? settled.archive_bytes : 0;
  work.outcome.tell(settled.fits ? work.done : work.no_room, !settled.fits);
}

template <class T, class Shape>
StreamEncodeTask<T, Shape> encode_task(const StreamEncoding& frame, ScratchPieces& scratch,
                                       std::uint64_t* first_failure) {
  const TileGrid grid = TileGrid::of<T, Shape>(frame.shape.extents());
  const std::uint64_t room_words = frame.shape.bytes() / 4;
  const TileQuantizer<T> quantizer(frame.bound, frame.bound);
  auto* const state = scratch.take<EncodeState<T, Shape>>(1);
  auto* const totals = reinterpret_cast<TileTotals*>(scratch.take<std::byte>(
      2 * sizeof(TileTotals) + 2 * grid.chunks * sizeof(std::uint64_t) + sizeof(unsigned)));
  auto* const states = reinterpret_cast<std::uint64_t*>(totals + 2);
  auto* const hashes = scratch.take<std::uint64_t>(ceil_div(frame.shape.bytes(), hash_block_bytes));
  auto* const index = scratch.take<std::uint32_t>(grid.chunks + room_words);
  return {{grid,
           TileMap<Shape>(grid),
           reinterpret_cast<const T*>(frame.values),
           {},
           quantizer,
           {},
           T(0),
           index,
           index + grid.chunks,
           room_words,
           states,
           totals,
           {}},
          frame.bound,
          state,
          totals,
          reinterpret_cast<unsigned*>(states + 2 * grid.chunks),
          hashes,
          frame.archive.data(),
          frame.archive.size(),
          frame.archive_size,
          frame.report.done,
          frame.report.no_room,
          {frame.report.status, first_failure, frame.report.number}};
}

template <class T, class Shape>
void give_to_stream(const StreamEncoding& frame, const StreamEncodeTask<T, Shape>& work) {
  const auto stream = static_cast<cudaStream_t>(frame.stream);
  const unsigned chunks = grid_of(work.tiles.grid.chunks);
  constexpr unsigned threads = TilesPolicy<T>::threads;
  const EqualFrames<TileTask<T, Shape>> narrow{&work.state->narrow};
  const WideIfNeeded<T, Shape> wide{work.state, work.totals};
  prepare_to_encode<<<1, prepare_threads, 0, stream>>>(work);
  check_launch("prepare_to_encode");
  with_flag(allows_four(work.tiles.grid.extents, work.tiles.values), [&](auto vector) {
    encode_chunks<T, Shape, vector(), NarrowTile<Shape>, true, ValuePoints<T>>
        <<<chunks, threads, 0, stream>>>(narrow);
  });
  check_launch("encode_chunks");
  encode_chunks<T, Shape, false, WideTile<Shape>, true, ValuePoints<T>>
      <<<chunks, threads, 0, stream>>>(wide);
  check_launch("encode_chunks");
  write_archive<<<StreamPolicy::grid(frame.shape.bytes()), StreamPolicy::threads, 0, stream>>>(
      work, frame.draft);
  check_launch("write_archive");
}

}  // namespace

ByteCount scratch_for_encoding(const FrameShape& shape) {
  const ArchiveDraft none{};
  const StreamEncoding frame{nullptr, shape, none, 1, nullptr, {}, nullptr, {}};
  return with_tiles_of(shape, [&](auto zero, auto tile) {
    ScratchPieces pieces(nullptr);
    encode_task<decltype(zero), decltype(tile)>(frame, pieces, nullptr);
    return pieces.size();
  });
}

void start_to_encode(const StreamEncoding& frame, std::byte* scratch,
                     std::uint64_t* first_failure) {
  with_tiles_of(frame.shape, [&](auto zero, auto tile) {
    ScratchPieces pieces(scratch);
    give_to_stream(frame,
                   encode_task<decltype(zero), decltype(tile)>(frame, pieces, first_failure));
  });
}

}  // namespace cuszi::gpu
