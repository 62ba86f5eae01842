#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "core/backend/decode_session.hpp"
#include "core/coders/ans_chain.hpp"
#include "gpu/runtime/context.hpp"

namespace cuszi::gpu {

struct OrderedPass;

/// The quant-codes of a pass, without missing points, on the device.
struct PassSymbols {
  QuantCode* codes = nullptr;
  const std::uint8_t* contexts = nullptr;  ///< null: one context
  std::uint64_t count = 0;
  PassShape shape;
};
using LevelSymbols = std::vector<PassSymbols>;

/// Sections in device memory; empty if all codes are the centre.
struct AnsStream {
  Bytes index;
  Bytes codes;
};

/// By pass and context. Synchronises.
std::vector<std::vector<Counts>> count_tokens(DeviceContext& gpu,
                                              std::span<const PassSymbols> passes,
                                              std::uint32_t centre);

/// Encodes all levels to the bytes of cpu::ans_encode(). Synchronises three times: counts of tokens
/// and of gaps, segment sizes. Throws DeviceError for 2^32 or more codes.
std::vector<AnsStream> ans_encode(DeviceContext& gpu, const AnsParams& params,
                                  std::span<const LevelSymbols> levels);

/// Equals cpu::ans_bytes(). Synchronises twice.
std::uint64_t ans_bytes(DeviceContext& gpu, const AnsParams& params, const LevelSymbols& level);

struct TablePlaces {
  const QuantCode* codes = nullptr;          ///< all, or, by gaps, those other than the centre
  const std::uint32_t* positions = nullptr;  ///< of `codes`, if by gaps
  std::uint32_t count = 0;                   ///< of `codes`
  bool by_gaps = false;
};

struct TableStarts {
  const std::uint64_t* places;  ///< null: one table
  std::uint32_t tiles;
  std::uint64_t count;  ///< of the pass

  CUSZI_HD std::uint64_t operator()(std::uint32_t table) const {
    return places == nullptr ? table * count : places[std::uint64_t{table} * tiles];
  }
};

class AnsCodes {
 public:
  /// Synchronises for the heads. Damage becomes a flaw or throws ArchiveError. Throws DeviceError
  /// for 2^32 or more slots.
  AnsCodes(DeviceContext& gpu, const AnsParams& params, std::span<const CodedLevel> levels);

  /// Moves a pass's `count` codes (numbered over all levels) to their positions, by `contexts`
  /// (null: one context). Does not synchronise. A wrong count becomes a flaw or throws
  /// ArchiveError.
  void place(std::size_t pass, const std::uint8_t* contexts, std::uint64_t count,
             QuantCode* codes) const;

 private:
  struct PassPlaces {
    std::vector<std::uint32_t> first_contexts;  ///< by table
    std::vector<TablePlaces> tables;
    const TablePlaces* on_device = nullptr;

    bool any_by_gaps() const {
      return std::any_of(tables.begin(), tables.end(), [](const auto& t) { return t.by_gaps; });
    }
  };

  static OrderedPass order_of(const PassPlaces& pass, const std::uint8_t* contexts,
                              std::uint64_t count);
  void spread(const PassPlaces& pass, const TableStarts& starts, QuantCode* sorted) const;

  DeviceContext& gpu_;
  QuantCode centre_;
  std::vector<PassPlaces> passes_;
};

}  // namespace cuszi::gpu
