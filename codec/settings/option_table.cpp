#include "codec/settings/option_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <type_traits>
#include <vector>

#include "codec/settings/limits.hpp"
#include "codec/settings/option_text.hpp"
#include "core/base/error.hpp"
#include "core/field/bound.hpp"
#include "core/field/quantizer.hpp"
#include "core/multilevel/multilevel.hpp"

namespace cuszi {

namespace {

using O = cuszi_options;
using Use = OptionUse;
namespace group = option_group;

template <auto member>
constexpr OptionTarget at{[](const O& options) { return static_cast<double>(options.*member); },
                          [](double number, O& options) {
                            using Number = std::remove_reference_t<decltype(options.*member)>;
                            options.*member = static_cast<Number>(number);
                          }};

constexpr OptionTarget by(OptionSetter* set) { return {nullptr, nullptr, set}; }
constexpr OptionTarget each_by(OptionSetter* add) { return {nullptr, nullptr, add, true}; }

namespace kind {
constexpr cuszi_option_kind text = CUSZI_OPTION_TEXT;
constexpr cuszi_option_kind word = CUSZI_OPTION_WORD;
constexpr cuszi_option_kind whole = CUSZI_OPTION_WHOLE;
constexpr cuszi_option_kind power = CUSZI_OPTION_POWER_OF_TWO;
constexpr cuszi_option_kind number = CUSZI_OPTION_NUMBER;
constexpr cuszi_option_kind size = CUSZI_OPTION_SIZE;
constexpr cuszi_option_kind flag = CUSZI_OPTION_FLAG;
}  // namespace kind

// clang-format off
// {{group, name, member, kind, values, least, most, default, help}, target, use, letter}
constexpr std::array table{
  Option{{group::main, "error-bound", "bound", kind::number, "BOUND", 0, no_bound, "",
    "Maximum error of a value, as defined by --mode; 0 is lossless; below 1 with mode rel"},
    by(set_bound), Use::any, 'e'},
  Option{{group::main, "mode", "mode", kind::word, mode_words, 0, 0, "rel",
    "Meaning of the bound: a fraction of the value range, absolute, a fraction of each value, or the larger (or) or "
    "smaller (and) of an absolute bound and the fraction --pw"}, by(set_mode), Use::any, 'm'},
  Option{{group::main, "pw", "pw", kind::number, "P", 0, 1, "",
    "Fraction of each value, above 0 and below 1, for mode abs-or-pwrel or abs-and-pwrel"}, at<&O::pw>},
  Option{{group::main, "target", "mode", kind::text, "psnr:DB|ratio:R", 0, 0, "",
    "PSNR (up to 400) or ratio (1 to 1e9) to reach, like psnr:80; replaces the bound, which is found by trials"},
    by(set_target)},
  Option{{group::main, "preset", "preset", kind::word, "ratio|cuszi|cusz|fast|zfp|balanced", 0, 0, "ratio",
    "Predictor and coder: ratio (auto + ans) for storage; fast (tiles) for simulations that wait for each step; balanced "
    "(cells) between the two; cuszi (interp + huffman) and cusz (lorenzo + huffman) as published; zfp (zfp) for "
    "zfp-compatible streams"}, at<&O::preset>},
  Option{{group::main, "effort", "effort", kind::word, "normal|fast", 0, 0, "normal",
    "multilevel: choose parameters by trials (normal) or only by samples of the field (fast)"}, at<&O::effort>,
    Use::multilevel},
  Option{{group::main, "keep-isovalue", "isovalues", kind::text, "C", 0, 0, "",
    "Keep every value on its side of C (below, at or above), so that contours cut the same cells; up to 15 times"},
    each_by(add_isovalue)},
  Option{{group::main, "keep-sign", "keep_sign", kind::flag, "", 0, 0, "no",
    "Keep the sign of every value, like --keep-isovalue 0"}, at<&O::keep_sign>},
  Option{{group::main, "region", "regions", kind::text, "A:B,...=BOUND", 0, 0, "",
    "multilevel, cells: smaller bound for a box, given as for --box; 0 is lossless; later regions override earlier "
    "ones; up to 16 times"}, each_by(add_region), Use::regions},
  Option{{group::main, "bound-blocks", "bound_blocks", kind::text, "DIMS", 0, 0, "",
    "multilevel, cells: extents of the blocks that --bound-field has one value for, like 16x16x16"},
    by(set_bound_blocks), Use::regions},

  Option{{group::predictor, "predictor", "predictor", kind::word, "auto|lorenzo|interp|multilevel|tiles|zfp|cells", 1, 0, "",
    "Predictor, instead of the preset's; auto chooses between lorenzo and multilevel by trials"}, at<&O::predictor>},
  Option{{group::predictor, "axes", "axes", kind::text, "auto|lattice|layered:AXIS|independent:AXIS", 0, 0, "auto",
    "multilevel: treat axis AXIS (0 is the slowest) as layers or as independent fields, or all axes as space (lattice)"},
    by(set_axes), Use::multilevel},
  Option{{group::predictor, "reach", "reach", kind::word, "auto|3|5|7", 0, 0, "auto",
    "multilevel: distance of the farthest neighbours used"}, at<&O::reach>, Use::multilevel},
  Option{{group::predictor, "alpha", "alpha", kind::number, "A|auto", 1, max_level_factor, "auto",
    "multilevel: factor by which the bound tightens per level"}, at<&O::alpha>, Use::multilevel},
  Option{{group::predictor, "beta", "beta", kind::number, "B|auto", 1, max_level_factor, "auto",
    "multilevel: maximum factor by which the bound tightens"}, at<&O::beta>, Use::multilevel},
  Option{{group::predictor, "radius", "radius", kind::whole, "N|auto", 1, max_radius, "auto",
    "Number of quantisation codes on each side of 0"}, at<&O::radius>, Use::coder},
  Option{{group::predictor, "interp", "", kind::text, "KEY=VALUE,...", 0, 0, "",
    "interp: parameters, any of tile=16x16x16,anchor=16 (2 to 65536),alpha=1.5 (1 to 16),cubic=natural|not-a-knot,order=zyx"},
    by(set_interp), Use::interp},
  Option{{group::predictor, "interp-tile", "interp_tile", kind::text, "DIMS", 0, 0, "",
    "interp: extents of a tile, like 16x16x16"}, by(set_interp_tile), Use::interp},
  Option{{group::predictor, "interp-anchor", "interp_anchor", kind::power, "N", least_anchor, most_anchor, "",
    "interp: distance between anchors"}, at<&O::interp_anchor>, Use::interp},
  Option{{group::predictor, "interp-alpha", "interp_alpha", kind::number, "A", 1, most_interp_alpha, "",
    "interp: factor by which the bound tightens per level"}, at<&O::interp_alpha>, Use::interp},
  Option{{group::predictor, "interp-cubic", "interp_cubic", kind::word, "not-a-knot|natural", 1, 0, "",
    "interp: type of the cubic spline"}, at<&O::interp_cubic>, Use::interp},
  Option{{group::predictor, "interp-order", "interp_order", kind::text, "ORDER", 0, 0, "",
    "interp: order in which axes are interpolated, like zyx"}, by(set_interp_order), Use::interp},
  Option{{group::predictor, "zfp-mode", "zfp_mode", kind::text, "accuracy|precision:PLANES|rate:BITS|reversible",
    0, 0, "accuracy",
    "zfp: fixed accuracy (needs a bound), fixed precision (PLANES bit planes, up to 64), fixed rate (BITS per value, up "
    "to 64) or lossless"}, by(set_zfp_mode), Use::zfp},
  Option{{group::predictor, "zfp-chunk", "zfp_chunk", kind::whole, "C", 1, most_zfp_chunk, "",
    "zfp: blocks per chunk (default: an index of at most 1 %)"}, at<&O::zfp_chunk>, Use::zfp},

  Option{{group::coder, "coder", "coder", kind::word, "auto|huffman|ans", 1, 0, "",
    "Entropy coder of the quantisation codes, instead of the preset's"}, at<&O::coder>, Use::coder},
  Option{{group::coder, "huffman-width", "huffman_width", kind::word, "auto|32|64", 0, 0, "auto",
    "huffman: bits per codeword unit in the encoder"}, at<&O::huffman_width>, Use::huffman},
  Option{{group::coder, "chunk", "chunk", kind::power, "N", least_chunk, most_chunk, "1024",
    "huffman: symbols per chunk"}, at<&O::chunk>, Use::huffman},
  Option{{group::coder, "index", "index", kind::word, "none|offset|length|hybrid", 1, 0, "hybrid",
    "Kind of index, which allows parallel decoding of chunks"}, at<&O::index>, Use::index},
  Option{{group::coder, "partition", "partition", kind::whole, "P", 1, most_partition, "32",
    "Chunks per offset of the hybrid index"}, at<&O::partition>, Use::hybrid},
  Option{{group::coder, "lossless", "lossless", kind::word, "none|bitcomp", 0, 0, "none",
    "Second, lossless pass; bitcomp needs a GPU and nvCOMP to compress and to restore"}, at<&O::lossless>},
  Option{{group::coder, "frame-size", "frame_bytes", kind::size, "SIZE", 0, 0, "",
    "Size of the frames that large fields are split into (default: 256 to 512MiB)"}, at<&O::frame_bytes>},

  Option{{group::device, "device", "device", kind::text, "auto|cpu|cuda[:N,...|:all]", 0, 0, "auto",
    "Device to compute on; auto chooses by the amount of work; several GPUs share the frames of a field"}, by(set_device)},
  Option{{group::device, "threads", "threads", kind::whole, "N", 0, most_threads, "0",
    "Number of CPU threads; 0 is all"}, at<&O::threads>},

  Option{{group::files, "fill-value", "fills", kind::number, "V|netcdf", -no_bound, no_bound, "",
    "Value that marks missing points; netcdf is 9.96921e36; up to 16 times"}, each_by(add_fill)},
  Option{{group::files, "padding", "padding", kind::text, "V", 0, 0, "",
    "Value of padded or unwritten points, which never causes a fill-value warning"},
    by(set_padding)},
  Option{{group::files, "value-range", "range_min", kind::text, "MIN,MAX", 0, 0, "",
    "Value range for a relative bound; avoids a pass over the field"}, by(set_range), Use::relative},

  Option{{group::safety, "verify", "verify", kind::flag, "", 0, 0, "no",
    "Decode the archive, report its quality, and fail if a value exceeds the bound"}, at<&O::verify>},
  Option{{group::safety, "strict", "strict", kind::flag, "", 0, 0, "no",
    "Treat warnings as errors and write no output: unmatched fill values, doubtful dims or byte order"},
    at<&O::strict>},
  Option{{group::safety, "memory-limit", "memory_limit", kind::size, "SIZE", 0, 0, "",
    "Maximum memory for restoring frames; refuse archives that need more (default: no limit)"}, at<&O::memory_limit>}};
// clang-format on

/// Explicit numbers, else consecutive from the first.
std::vector<int> numbers_of_words(const cuszi_option& info) {
  std::vector<int> numbers;
  for (std::string_view words = info.values; !words.empty();) {
    const int counted = static_cast<int>(info.least) + static_cast<int>(numbers.size());
    numbers.push_back(number_in<int>(cut(words, '|')).value_or(counted));
  }
  return numbers;
}

double number_in_text(const cuszi_option& info, std::string_view label, std::string_view text) {
  const auto least = static_cast<std::uint64_t>(info.least);
  const auto most = static_cast<std::uint64_t>(info.most);
  const bool may_be_auto = info.initial == std::string_view("auto");
  if (text == "auto" && may_be_auto) return 0;
  switch (info.kind) {
    case kind::word: return numbers_of_words(info).at(parse_word(label, text, info.values));
    case kind::whole: return static_cast<double>(parse_count(label, text, least, most));
    case kind::power: return parse_power_of_two(label, text, least, most);
    case kind::size: return static_cast<double>(parse_size(label, text));
    case kind::flag: return static_cast<double>(parse_word(label, text, "no|yes"));
    default: break;
  }
  const auto number = number_in<double>(text);
  if (number && *number >= info.least && *number <= info.most) return *number;
  refuse(label, text,
         fmt::format("{}a number from {} to {}", may_be_auto ? "auto or " : "", info.least,
                     info.most));
}

}  // namespace

void Option::set(std::string_view label, std::string_view text, cuszi_options& options) const {
  if (target.set != nullptr) return target.set(label, text, options);
  target.put(number_in_text(info, label, text), options);
}

void Option::check(const cuszi_options& options) const {
  const double value = target.get == nullptr ? 0 : target.get(options);
  if (value == 0 || info.kind == kind::size || info.kind == kind::flag) return;
  bool possible = value >= info.least && value <= info.most;  // false for NaN
  std::vector<int> numbers;
  if (info.kind == kind::power) {
    possible = possible && std::has_single_bit(static_cast<std::uint64_t>(value));
  } else if (info.kind == kind::word) {
    numbers = numbers_of_words(info);
    possible = std::find(numbers.begin(), numbers.end(), value) != numbers.end();
  }
  if (possible) return;
  refuse_value(info.member, fmt::format("{}", value),
               !numbers.empty() ? fmt::format("one of {}", fmt::join(numbers, ", "))
                                : fmt::format("{}from {} to {}",
                                              info.kind == kind::power ? "a power of two " : "",
                                              info.least, info.most));
}

std::string Option::range() const {
  std::string range;
  if (info.most > 0 && info.most < no_bound) {
    range = fmt::format("{}{} to {}", info.kind == kind::power ? "a power of two, " : "",
                        info.least, info.most);
  }
  if (*info.initial == '\0' || info.kind == kind::flag) return range;
  return fmt::format("{}{}default {}", range, range.empty() ? "" : ", ", info.initial);
}

std::span<const Option> option_table() { return table; }

const Option& find_option(std::string_view name) {
  for (const Option& option : table) {
    if (name == option.info.name || (name == option.info.member && !name.empty())) return option;
  }
  std::vector<std::string_view> names;
  names.reserve(table.size());
  for (const Option& option : table) names.emplace_back(option.info.name);
  refuse("option", name, fmt::format("one of {}", fmt::join(names, ", ")));
}

}  // namespace cuszi
