#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "core/backend/decode_session.hpp"
#include "core/coders/ans_chain.hpp"
#include "gpu/runtime/context.hpp"

namespace cuszi::gpu {

struct OrderedPass;

/// The quant-codes of a pass on the device, each with its context. Missing points have none.
struct PassSymbols {
  QuantCode* codes = nullptr;
  const std::uint8_t* contexts = nullptr;  ///< none: a single one
  std::uint64_t count = 0;
  PassShape shape;
};
/// The quant-codes of all passes of one level.
using LevelSymbols = std::vector<PassSymbols>;

/// The sections of a level, in the device's memory; none if all its codes are the centre.
struct AnsStream {
  Bytes index;
  Bytes codes;
};

/// Counts how often each token of the quant-codes occurs, per pass and context. Waits.
std::vector<std::vector<Counts>> count_tokens(DeviceContext& gpu,
                                              std::span<const PassSymbols> passes,
                                              std::uint32_t centre);

/// Codes all levels of a frame at once; makes the same bytes as cpu::ans_encode(). The host waits
/// three times: for the counts of tokens, for the counts of gaps' tokens, and for the sizes of
/// segments. Throws DeviceError for 2^32 codes and more.
std::vector<AnsStream> ans_encode(DeviceContext& gpu, const AnsParams& params,
                                  std::span<const LevelSymbols> levels);

/// How many bytes ans_encode() would make of a level; equals cpu::ans_bytes(). The host waits
/// twice.
std::uint64_t ans_bytes(DeviceContext& gpu, const AnsParams& params, const LevelSymbols& level);

/// What AnsCodes::place() needs to know of a table.
struct TablePlaces {
  const QuantCode* codes = nullptr;          ///< all of them, or by gaps those beside the centre
  const std::uint32_t* positions = nullptr;  ///< of the latter
  std::uint32_t count = 0;                   ///< of `codes`
  bool by_gaps = false;
};

/// Where the codes of the tables of a pass begin, in the order of tables.
struct TableStarts {
  const std::uint64_t* places;  ///< none: there is one table
  std::uint32_t tiles;
  std::uint64_t count;  ///< of the pass

  CUSZI_HD std::uint64_t operator()(std::uint32_t table) const {
    return places == nullptr ? table * count : places[std::uint64_t{table} * tiles];
  }
};

/// The decoded codes of all levels of a frame, on the device.
class AnsCodes {
 public:
  /// Decodes what ans_encode() has made. The host waits once, for the heads of chains. Damage that
  /// kernels find becomes a flaw; throws ArchiveError for other damage, DeviceError for 2^32 slots
  /// and more.
  AnsCodes(DeviceContext& gpu, const AnsParams& params, std::span<const CodedLevel> levels);

  /// Puts the `count` codes of a pass, numbered over all levels, where the pass's contexts say;
  /// without `contexts` there is a single one. Does not wait. A wrong number of codes becomes a
  /// flaw, or throws ArchiveError.
  void place(std::size_t pass, const std::uint8_t* contexts, std::uint64_t count,
             QuantCode* codes) const;

 private:
  struct PassPlaces {
    std::vector<std::uint32_t> first_contexts;  ///< of its tables
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
