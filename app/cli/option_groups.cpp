#include "app/cli/option_groups.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <initializer_list>
#include <vector>

#include "app/cli/foreign_dims.hpp"
#include "app/cli/names.hpp"
#include "app/cli/option_text.hpp"
#include "codec/settings/limits.hpp"
#include "codec/settings/presets.hpp"
#include "core/field/mask.hpp"
#include "core/field/quantizer.hpp"
#include "core/multilevel/multilevel.hpp"

namespace cuszi::app {

namespace {

constexpr std::array<Named<Preset>, 5> preset_names{{{"ratio", ratio_preset},
                                                     {"cuszi", cuszi_preset},
                                                     {"cusz", cusz_preset},
                                                     {"fast", fast_preset},
                                                     {"zfp", zfp_preset}}};

constexpr std::array<Named<PredictorChoice>, 6> predictor_names{
    {{"auto", automatic_predictor},
     {LorenzoParams::name, {LorenzoParams::id, false}},
     {InterpParams::name, {InterpParams::id, false}},
     {MultilevelParams::name, {MultilevelParams::id, false}},
     {TilesParams::name, {TilesParams::id, false}},
     {ZfpCoding::name, {ZfpCoding::id, false}}}};

constexpr std::array<Named<CoderChoice>, 3> coder_names{{{"auto", automatic_coder},
                                                         {HuffmanParams::name, {CoderId::huffman}},
                                                         {AnsParams::name, {CoderId::ans}}}};

/// An option whose text `parse(option, text)` turns into `value`.
template <class Value, class Parse>
CLI::Option* add_parsed(CLI::App& app, const std::string& names, Value& value, const Parse& parse,
                        const std::string& type, const std::string& help) {
  const std::string option = names.substr(names.find("--"));
  return app
      .add_option_function<std::string>(
          names, [&value, parse, option](const std::string& text) { value = parse(option, text); },
          help)
      ->type_name(type);
}

template <class Enum, std::size_t count>
std::string list_of_names(const std::array<Named<Enum>, count>& table) {
  std::string names;
  for (const Named<Enum>& named : table) {
    names += (names.empty() ? "" : "|") + std::string(named.name);
  }
  return names;
}

/// An option that takes one of a table's names. The table must be static.
template <class Value, class Enum, std::size_t count>
void add_named(CLI::App& app, const std::string& names, Value& value,
               const std::array<Named<Enum>, count>& table, const std::string& help) {
  const auto parse = [&table](const std::string& option, const std::string& text) {
    return parse_name(option, text, table);
  };
  add_parsed(app, names, value, parse, list_of_names(table), help);
}

auto count_between(std::uint64_t least, std::uint64_t most) {
  return [=](const std::string& option, const std::string& text) {
    return parse_count(option, text, least, most);
  };
}

/// An option whose name, looked up in a table, is applied to `target`.
template <class Choice, class Target, std::size_t count>
void add_choice(CLI::App& app, const std::string& option, Target& target,
                const std::array<Named<Choice>, count>& table, const std::string& help) {
  app.add_option_function<std::string>(
         option,
         [&target, &table, option](const std::string& text) {
           apply(parse_name(option, text, table), target);
         },
         help)
      ->type_name(list_of_names(table));
}

void add_multilevel_options(CLI::App& app, MultilevelConfig& multilevel) {
  const std::string level_factors = fmt::format("1 to {} (default auto)", max_level_factor);
  add_parsed(app, "--axes", multilevel.axes, parse_axes, "ROLE[:AXIS]",
             "multilevel: lattice, layered:AXIS or independent:AXIS, 0 the slowest (default auto)");
  add_parsed(app, "--reach", multilevel.reach, parse_reach, "3|5|7|auto",
             "multilevel: the farthest neighbours used (default auto)");
  add_parsed(
      app, "--alpha", multilevel.alpha, parse_level_factor, "A|auto",
      fmt::format("multilevel: how much tighter the bound gets per level, {}", level_factors));
  add_parsed(app, "--beta", multilevel.beta, parse_level_factor, "B|auto",
             fmt::format("multilevel: how much tighter it gets at most, {}", level_factors));
  add_named(app, "--effort", multilevel.effort, effort_names,
            "Time spent on trials: none, those that usually matter (default), or more");
}

void add_zfp_options(CLI::App& app, ZfpConfig& zfp) {
  add_parsed(app, "--zfp-mode", zfp.mode, parse_zfp_mode,
             "accuracy|precision:PLANES|rate:BITS|reversible",
             "zfp: what is kept of each block, the bit planes that the bound needs (default), so "
             "many (up to 64), so many bits per value (up to 64), or all; only accuracy needs -e");
  add_parsed(
      app, "--zfp-chunk", zfp.chunk,
      [](const std::string& option, const std::string& text) {
        return static_cast<std::uint32_t>(parse_count(option, text, 1, most_zfp_chunk));
      },
      "C",
      fmt::format("zfp: blocks per chunk, 1 to {} (default: what makes the index 1 %)",
                  most_zfp_chunk));
}

void add_frame_size_option(CLI::App& app, std::optional<ByteCount>& size) {
  add_parsed(app, "--frame-size", size, parse_size, "SIZE",
             "Size of the frames that large fields are cut into (default 256 to 512MiB)");
}

void add_index_options(CLI::App& app, IndexConfig& index) {
  add_named(app, "--index", index.kind, index_names,
            "What lets chunks be decoded in parallel (default hybrid)");
  add_parsed(
      app, "--partition", index.partition,
      [](const std::string& option, const std::string& text) {
        return static_cast<std::uint32_t>(parse_count(option, text, 1, most_partition));
      },
      "P", "Chunks per offset of the hybrid index, 1 to 1048576 (default 32)");
}

void add_predictor_options(CLI::App& app, FrameConfig& frame) {
  PredictorConfig& predictor = frame.predictor;
  apply(ratio_preset, frame);
  // Their values are taken in this order, so that --predictor has the last word.
  add_choice(app, "--preset", frame, preset_names,
             "ratio (default), for storage: auto + auto; fast, where a simulation waits for every "
             "step: tiles; between them, as published, cuszi, for smooth fields: interp + huffman, "
             "and cusz: lorenzo + huffman; zfp, for readers of its streams: zfp");
  add_choice(app, "--predictor", predictor, predictor_names,
             "Instead of the preset's; auto tries lorenzo against multilevel");
  add_multilevel_options(app, predictor.multilevel);
  add_parsed(app, "--interp", predictor.interp, parse_interp, "KEY=VALUE,...",
             "interp: any of tile=16x16x16,anchor=16 (2 to 65536),alpha=1.5 (1 to 16),"
             "cubic=natural|not-a-knot,order=zyx");
  add_parsed(
      app, "--radius", predictor.radius, parse_radius, "N|auto",
      fmt::format("Quantisation codes on either side of 0, 1 to {} (default auto)", max_radius));
  add_zfp_options(app, predictor.zfp);
}

void add_coder_options(CLI::App& app, FrameConfig& frame) {
  HuffmanConfig& huffman = frame.huffman;
  add_choice(app, "--coder", frame, coder_names,
             "How quantisation codes are written, instead of the preset's");
  add_named(app, "--huffman-width", huffman.width, huffman_width_names,
            "Bits of a codeword unit while encoding (default auto)");
  add_index_options(app, frame.index);
  add_parsed(
      app, "--chunk", huffman.chunk,
      [](const std::string& option, const std::string& text) {
        return parse_power_of_two(option, text, least_chunk, most_chunk);
      },
      "N", "Symbols per chunk, a power of two, 64 to 1048576 (default 1024)");
}

}  // namespace

void add_inputs(CLI::App& app, const std::string& name, InputFiles& inputs,
                const std::string& help) {
  app.add_option(name, inputs.names, help)->type_name("");
  app.add_flag(
      "-r,--recursive", inputs.recursive,
      "Take the files in folders and in theirs, of each all fields; -o OUT gets the same folders");
  app.add_option("--filelist", inputs.lists, "Take the names in a file, one a line, too")
      ->type_name("FILE")
      ->allow_extra_args(false);
}

void add_field_options(CLI::App& app, FieldOptions& field) {
  CLI::Option* const dims = add_parsed(
      app, "-d,--dims", field.dims,
      [](const std::string& /*option*/, const std::string& text) { return Dims::parse(text); },
      "DIMS", "1 to 4 extents, slowest first, like 100x500x500; else as the name says");
  add_parsed(
      app, "--dims-xyz", field.dims,
      [](const std::string& /*option*/, const std::string& text) {
        return reversed(Dims::parse(text));
      },
      "DIMS", "The same, fastest first, like 500x500x100 for 100 slices")
      ->excludes(dims);
  add_type_option(app, field.dtype);
  add_parsed(app, "--skip-bytes", field.skip_bytes, count_between(0, std::uint64_t{1} << 50), "N",
             "Bytes in front of the values, 0 to 2^50; with --dims, others may follow them");
  add_byte_order_option(app, field.byte_order);
}

void add_type_option(CLI::App& app, std::optional<DType>& dtype) {
  add_named(app, "-t,--type", dtype, dtype_names, "Type of the values; else as the name says");
}

void add_byte_order_option(CLI::App& app, ByteOrder& order) {
  add_named(app, "--byte-order", order, byte_order_names,
            "Byte order of raw files (default little)");
}

void add_fill_options(CLI::App& app, FillValues& fills) {
  app.add_option_function<std::vector<std::string>>(
         "--fill-value",
         [&fills](const std::vector<std::string>& texts) {
           for (const std::string& text : texts) {
             const double value = parse_fill_value("--fill-value", text);
             if (!std::isnan(value)) fills.add(value);  // NaN is missing anyway
           }
         },
         fmt::format("A value that means missing, netcdf for 9.96921e36; up to {} times",
                     FillValues::max_count))
      ->type_name("V")
      ->allow_extra_args(false);
}

void add_bound_options(CLI::App& app, std::optional<double>& bound, ErrorMode& mode) {
  app.add_option_function<std::string>(
         "-e,--error-bound",
         [&bound](const std::string& text) { bound = parse_bound("--error-bound", text); },
         "What no value's error exceeds: from 0, which is lossless, with -m rel to below 1")
      ->type_name("BOUND");
  add_parsed(app, "-m,--mode", mode, parse_error_mode, list_of_names(error_mode_names),
             "Bound as a share of the value range (default) or absolute");
}

void add_variable_bounds(CLI::App& app, std::vector<VariableBound>& bounds) {
  app.add_option_function<std::vector<std::string>>(
         "--bound",
         [&bounds](const std::vector<std::string>& texts) {
           for (const std::string& text : texts) {
             bounds.push_back(parse_variable_bound("--bound", text));
           }
         },
         "In a copy of a file, that of one variable, like T=0.01, T=abs:0.01 or T=rel:1e-3; "
         "repeatable; without -e, others are kept as they are")
      ->type_name("NAME=BOUND")
      ->allow_extra_args(false);
}

void check_copy_options(const CLI::App& app) {
  for (const char* option :
       {"--target",    "--target-miss", "--value-range",   "--dims",      "--dims-xyz",
        "--type",      "--skip-bytes",  "--byte-order",    "--predictor", "--axes",
        "--reach",     "--alpha",       "--beta",          "--effort",    "--interp",
        "--radius",    "--coder",       "--huffman-width", "--index",     "--chunk",
        "--partition", "--lossless",    "--frame-size",    "--device",    "--recursive",
        "--rm",        "--zfp-mode",    "--zfp-chunk"}) {
    if (app.count(option) == 0) continue;
    throw UsageError(fmt::format("{} has no effect on the copy of a file; leave it out", option));
  }
}

void add_study_option(CLI::App& app, std::optional<Study>& study) {
  app.add_option_function<std::string>(
         "--study",
         [&study](const std::string& name) {
           study = name.empty() ? Study::huffman : parse_name("--study", name, study_names);
         },
         "A table of the first frame instead: codeword units, merge factors and symbols of huffman "
         "(default), or the variants of the side-channel index of huffman or of zfp")
      ->type_name("[huffman|index|zfp-index]")
      ->expected(0, 1);
}

void add_import_options(CLI::App& app, ToldZfpStream& told, ZfpImport& how) {
  add_parsed(
      app, "-d,--dims", told.dims,
      [](const std::string& /*option*/, const std::string& text) { return Dims::parse(text); },
      "DIMS", "Of a stream without header: 1 to 4 extents, slowest first");
  add_named(app, "-t,--type", told.dtype, dtype_names, "Of the same, the type of its values");
  add_parsed(app, "-e,--error-bound", told.tolerance, parse_number, "TOLERANCE",
             "Of the same at fixed accuracy, its absolute tolerance (zfp -a)");
  add_zfp_options(app, how.zfp);
  add_index_options(app, how.index);
  add_frame_size_option(app, how.frame_bytes);
}

std::optional<ZfpHeader> header_of(const ToldZfpStream& told, const ZfpMode& mode) {
  using Kind = ZfpMode::Kind;
  if (!told.dims) {
    if (told.dtype || told.tolerance || mode.kind != Kind::accuracy) {
      throw UsageError("a zfp stream without header needs --dims; one with a header says the rest");
    }
    return std::nullopt;
  }
  if (!told.dtype) throw UsageError("a zfp stream without header needs --type, f32 or f64");
  if (told.tolerance.has_value() != (mode.kind == Kind::accuracy)) {
    throw UsageError(
        "a zfp stream without header needs --error-bound, its tolerance, or another --zfp-mode");
  }
  return ZfpHeader{zfp_scalar_of(*told.dtype), *told.dims,
                   zfp_params(mode, told.tolerance.value_or(0), told.dims->rank(), *told.dtype)};
}

void add_strict_option(CLI::App& app, bool& strict) {
  app.add_flag("--strict", strict,
               "What would be a warning is an error, and no output: unmatched fill values, dims or "
               "byte order that look wrong");
}

void add_target_option(CLI::App& app, std::optional<Target>& target, bool& accepts_missed) {
  add_parsed(app, "--target", target, parse_target, "psnr:DB|ratio:R",
             "Instead of a bound: a PSNR (up to 400) or ratio (1 to 1e9) to reach, like psnr:80; "
             "trials find the bound");
  add_named(app, "--target-miss", accepts_missed, target_miss_names,
            "What a target that cannot be met is: an error, exit code 4 and no archive (default), "
            "or ok, and the nearest archive is written");
}

void add_frame_option(CLI::App& app, std::optional<std::uint64_t>& frame) {
  add_parsed(app, "--frame", frame, count_between(0, std::uint64_t{1} << 60), "I",
             "Restore only this frame; 0 is the first");
}

void add_stride_option(CLI::App& app, std::uint64_t& stride) {
  add_parsed(
      app, "--stride", stride,
      [](const std::string& option, const std::string& text) {
        return std::uint64_t{parse_power_of_two(option, text, 1, most_stride)};
      },
      "S", "Restore every S-th point along lattice axes, a power of two up to 1048576 (default 1)");
}

void add_box_option(CLI::App& app, Box& box) {
  add_parsed(app, "--box", box, parse_box, "A:B,...",
             "Restore only these indices of each axis, slowest first, like 0:8,100:200,:");
}

void add_picture_options(CLI::App& app, ShowOptions& options) {
  app.add_option_function<std::vector<std::string>>(
         "--slice",
         [&options](const std::vector<std::string>& texts) {
           for (const std::string& text : texts) {
             options.slices.push_back(parse_slice("--slice", text));
           }
         },
         "Show this slice, like z=10 (x the fastest axis, then y, z, w), not the middle ones; "
         "repeatable")
      ->type_name("AXIS=I")
      ->allow_extra_args(false);
  add_parsed(
      app, "--stride", options.stride,
      [](const std::string& option, const std::string& text) {
        return std::uint64_t{parse_power_of_two(option, text, 1, most_stride)};
      },
      "S", "Show every S-th point, a power of two (default: what makes slices fit)");
  app.add_option("--compare", options.original,
                 "Show this field, what is restored, and the error in units of the bound")
      ->type_name("ORIGINAL");
  add_named(app, "--format", options.format, picture_format_names,
            "How the picture is written (default png, in a terminal what it has)");
}

void add_method_options(CLI::App& app, FieldSettings& settings) {
  add_fill_options(app, settings.fills);
  add_parsed(app, "--value-range", settings.range, parse_range, "MIN,MAX",
             "What a relative bound refers to, MIN up to MAX; saves a look at the field");
  add_predictor_options(app, settings.frame);
  add_coder_options(app, settings.frame);
  add_named(app, "--lossless", settings.frame.lossless, lossless_names,
            "A second pass; bitcomp needs a GPU and nvCOMP, also to restore (default none)");
  add_frame_size_option(app, settings.frame_bytes);
}

void check_method_options(const CLI::App& app, const FieldSettings& settings) {
  const auto refuse_unless = [&](bool used, std::initializer_list<const char*> options,
                                 std::string_view remedy) {
    for (const char* option : options) {
      if (used || app.count(option) == 0) continue;
      throw UsageError(fmt::format("{} has no effect here; {}", option, remedy));
    }
  };
  const PredictorId predictor = settings.frame.predictor.id;
  refuse_unless(predictor == PredictorId::interp, {"--interp"},
                "it needs --predictor interp or --preset cuszi");
  refuse_unless(predictor == PredictorId::multilevel,
                {"--axes", "--reach", "--alpha", "--beta", "--effort"},
                "it needs --predictor multilevel or auto");
  refuse_unless(predictor == PredictorId::zfp, {"--zfp-mode", "--zfp-chunk"},
                "it needs --preset zfp");
  const bool has_coder = predictor != PredictorId::tiles && predictor != PredictorId::zfp;
  refuse_unless(has_coder, {"--radius", "--coder"}, "tiles and zfp write their codes themselves");
  refuse_unless(predictor != PredictorId::tiles, {"--index", "--partition"},
                "tiles are decoded in parallel without an index");
  const bool may_be_huffman =
      settings.frame.coder == CoderId::huffman || settings.frame.automatic_coder;
  refuse_unless(may_be_huffman, {"--huffman-width", "--chunk"}, "it needs --coder huffman or auto");
  refuse_unless(settings.frame.index.kind == IndexKind::hybrid, {"--partition"},
                "it needs --index hybrid");
  refuse_unless(settings.mode == ErrorMode::relative, {"--value-range"},
                "an absolute bound (--mode abs) needs no range; leave one of them out");
}

void add_memory_option(CLI::App& app, RunOptions& run) {
  add_parsed(app, "--memory-limit", run.memory_limit, parse_size, "SIZE",
             "Refuse archives whose frames take more memory to restore (default none)");
}

void add_device_options(CLI::App& app, RunOptions& run) {
  add_parsed(app, "--device", run.device, parse_device, "auto|cpu|cuda[:N]",
             "Where to compute (default auto)");
  add_parsed(
      app, "--threads", run.threads,
      [](const std::string& option, const std::string& text) {
        const auto count = static_cast<int>(parse_count(option, text, 0, most_threads));
        return count == 0 ? std::nullopt : std::optional(count);
      },
      "N", "CPU threads (default 0, all)");
}

void add_report_options(CLI::App& app, RunOptions& run) {
  app.add_flag("--json", run.json, "Report in JSON, one object a line");
  app.add_flag("-q,--quiet", run.quiet, "No report, no notices; errors, and JSON if asked for");
}

void add_output_options(CLI::App& app, std::optional<std::string>& output, RunOptions& run) {
  CLI::Option* const named =
      app.add_option("-o,--output", output, "File (- for standard output), or folder for several")
          ->type_name("OUT");
  app.add_flag_callback(
         "-c,--stdout", [&output] { output = "-"; }, "Write to standard output")
      ->excludes(named);
  app.add_flag("-f,--force", run.force, "Overwrite existing files");
  app.add_flag_callback(
      "-k,--keep", [] {}, "Keep the inputs, as is done anyway");
}

}  // namespace cuszi::app
