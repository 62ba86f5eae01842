#include "gpu/cells/coding.cuh"
#include "gpu/coders/symbol_tables.cuh"
#include "gpu/runtime/copies.hpp"
#include "gpu/runtime/launch.cuh"

namespace cuszi::gpu {

namespace {

constexpr unsigned table_count = 2 * class_count;  ///< of codes, then of classes

/// What the codes of a class are and cost by its table.
struct CodesOfClass {
  std::uint64_t codes;
  Cost cost;  ///< with their raw bits
};

/// The codes of a class, in the first lane of a warp, given the counts of its tokens and their
/// cost.
__device__ CodesOfClass codes_of_class(const std::uint64_t* counts, Cost cost) {
  const unsigned lane = threadIdx.x;
  std::uint64_t codes = counts[lane] + counts[lane + 32];
  std::uint64_t raw_bits = 0;
  for (unsigned token = lane; token < cell_tokens; token += 32)
    raw_bits += counts[token] * raw_bits_of_any_token(token);
  for (unsigned half = 16; half != 0; half /= 2) {
    codes += __shfl_down_sync(~0U, codes, half);
    raw_bits += __shfl_down_sync(~0U, raw_bits, half);
  }
  return {codes, cost + (raw_bits << cost_bits)};
}

/// How many blocks a lane codes: by a warp, a lane a class but the first, which has no codes.
__device__ void choose_lanes(const CodesOfClass* of_classes, CellsHead& head) {
  const unsigned kind = threadIdx.x;
  CodesOfClass all{};
  if (kind > 0 && kind < class_count)  // of other thread blocks
    all = {__ldcg(&of_classes[kind].codes), __ldcg(&of_classes[kind].cost)};
  for (unsigned half = 16; half != 0; half /= 2) {
    all.codes += __shfl_down_sync(~0U, all.codes, half);
    all.cost += __shfl_down_sync(~0U, all.cost, half);
  }
  if (kind == 0) head.blocks_of_lane = choose_blocks_of_lane(all.codes, all.cost >> cost_bits);
}

/// A warp a table: of tokens, or of classes, whose table has fewer places. The last of a frame
/// chooses how many blocks a lane codes.
__global__ void __launch_bounds__(32)
    choose_each_table(const SymbolCounts* counts, const CellsTables* defaults, CellsHead* head,
                      EncoderTables shares, CodesOfClass* of_classes, unsigned* tables_done) {
  __shared__ std::uint64_t own[token_places];
  __shared__ SymbolTable table;
  __shared__ std::uint32_t first[token_places + 1];
  const unsigned number = blockIdx.x % class_count;
  const bool is_of_codes = blockIdx.x < class_count;
  counts += blockIdx.y;
  head += blockIdx.y;
  of_classes += blockIdx.y * class_count;
  for (unsigned i = threadIdx.x; i < token_places; i += 32) {
    own[i] = is_of_codes        ? counts->tokens[number][i]
             : i < class_places ? counts->classes[number][i]
                                : 0;
  }
  __syncwarp();
  const SymbolTable& usual = is_of_codes ? defaults->codes[number] : defaults->classes[number];
  const Cost cost = choose_table_by_warp(own, usual.frequencies, is_of_codes, table);
  if (is_of_codes) {
    const CodesOfClass own_codes = codes_of_class(own, cost);
    if (threadIdx.x == 0) of_classes[number] = own_codes;
  }
  if (threadIdx.x == 0) (is_of_codes ? head->tables.codes : head->tables.classes)[number] = table;
  sum_frequencies(table.frequencies, first);
  const unsigned places = is_of_codes ? token_places : class_places;
  PackedSymbolShare* const out =
      is_of_codes ? shares.codes + blockIdx.y * code_shares_of_frame + number * token_places
                  : shares.classes + blockIdx.y * class_shares_of_frame + number * class_places;
  for (unsigned i = threadIdx.x; i < places; i += 32)
    out[i] = PackedSymbolShare::of({table.frequencies[i], first[i]});
  if (is_last_block(tables_done + blockIdx.y, table_count)) choose_lanes(of_classes, *head);
}

}  // namespace

EncoderTables take_encoder_tables(DeviceContext& gpu, unsigned frames) {
  return {gpu.take<PackedSymbolShare>(frames * class_shares_of_frame),
          gpu.take<PackedSymbolShare>(frames * code_shares_of_frame)};
}

const CellsTables* upload_default_tables(DeviceContext& gpu) {
  return upload(gpu, &default_tables(), 1);
}

void choose_tables(DeviceContext& gpu, const SymbolCounts* counts, unsigned frames,
                   const CellsTables* defaults, unsigned* tables_done, CellsHead* heads,
                   const EncoderTables& tables) {
  auto* const of_classes = gpu.take<CodesOfClass>(frames * class_count);
  choose_each_table<<<dim3(table_count, frames), 32, 0, gpu.stream()>>>(
      counts, defaults, heads, tables, of_classes, tables_done);
  check_launch("choose_each_table");
}

}  // namespace cuszi::gpu
