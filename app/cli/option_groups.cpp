#include "app/cli/option_groups.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>

#include "app/cli/command_words.hpp"
#include "codec/settings/limits.hpp"
#include "codec/settings/option_text.hpp"

namespace cuszi::app {

namespace {

using Names = std::initializer_list<std::string_view>;
namespace group = option_group;

bool contains(Names names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// Key of --interp.
bool is_key(const Option& option) {
  return std::string_view(option.info.name).starts_with("interp-");
}

void add_option(CLI::App& app, cuszi_options& options, const Option& option) {
  const cuszi_option& info = option.info;
  const std::string names = (option.letter == '\0' ? "" : fmt::format("-{},", option.letter)) +
                            fmt::format("--{}", info.name);
  const std::string range = option.range();
  const std::string help = range.empty() ? info.help : fmt::format("{} ({})", info.help, range);
  const auto take = [&option, &options](const std::string& text) {
    option.set(fmt::format("--{}", option.info.name), text, options);
  };
  if (info.kind == CUSZI_OPTION_FLAG) {
    const auto say_yes = [take] { take("yes"); };
    app.add_flag_callback(names, say_yes, help)->group(info.group);
  } else if (option.target.repeats) {
    const auto take_each = [take](const Words& texts) {
      std::for_each(texts.begin(), texts.end(), take);
    };
    add_repeated(app, info.group, names, info.values, help, take_each);
  } else {
    CLI::Option* const added = app.add_option_function<std::string>(names, take, help);
    added->type_name(info.values)->group(info.group);
  }
}

}  // namespace

void add_repeated(CLI::App& app, const char* group, const std::string& names,
                  const std::string& values, const std::string& help,
                  const std::function<void(const Words&)>& take) {
  CLI::Option* const option = app.add_option_function<Words>(names, take, help);
  option->allow_extra_args(false)->type_name(values)->group(group);
}

void add_options(CLI::App& app, cuszi_options& options, Names names) {
  for (const std::string_view name : names) add_option(app, options, find_option(name));
}

void add_options_but(CLI::App& app, cuszi_options& options, Names names) {
  for (const Option& option : option_table()) {
    if (!is_key(option) && !contains(names, option.info.name)) add_option(app, options, option);
  }
}

bool is_given(const CLI::App& app, std::string_view name) {
  const CLI::Option* const option = app.get_option_no_throw(fmt::format("--{}", name));
  return option != nullptr && option->count() != 0;
}

void check_use(const CLI::App& app, const FieldSettings& settings) {
  const FrameConfig& frame = settings.frame;
  const PredictorId id = frame.predictor.id;
  const bool has_no_index = id == PredictorId::tiles || id == PredictorId::cells;
  constexpr const char* without_index = "tiles and cells need no index";
  struct Lack {
    OptionUse use;
    bool is_there;
    const char* remedy;
  };
  const std::initializer_list<Lack> lacks{
      {OptionUse::interp, id != PredictorId::interp,
       "it needs --predictor interp or --preset cuszi"},
      {OptionUse::multilevel, id != PredictorId::multilevel,
       "it needs --predictor multilevel or auto"},
      {OptionUse::regions, !takes_local_bounds(id), "it needs --preset ratio or balanced"},
      {OptionUse::zfp, id != PredictorId::zfp, "it needs --preset zfp"},
      {OptionUse::coder, has_own_coder(id),
       "the predictors tiles, zfp and cells have no separate coder"},
      {OptionUse::index, has_no_index, without_index},
      {OptionUse::hybrid, has_no_index, without_index},
      {OptionUse::hybrid, frame.index.kind != IndexKind::hybrid, "it needs --index hybrid"},
      {OptionUse::huffman, frame.coder != CoderId::huffman, "it needs --coder huffman"},
      {OptionUse::relative, settings.mode != ErrorMode::relative, "it needs --mode rel"}};
  for (const Option& option : option_table()) {
    for (const Lack& lack : lacks) {
      if (lack.use != option.use || !lack.is_there || !is_given(app, option.info.name)) continue;
      throw UsageError(fmt::format("--{} has no effect here; {}", option.info.name, lack.remedy));
    }
  }
}

void check_copy_options(const CLI::App& app) {
  for (const CLI::Option* option : app.get_options()) {
    const bool has_effect =
        option->get_positional() ||
        contains({"error-bound", "mode", "pw", "bound", "fill-value", "preset", "output", "stdout",
                  "force", "keep", "verify", "strict", "threads", "json", "quiet", "filelist",
                  "padding", "no-history"},
                 option->get_single_name());
    if (has_effect || option->count() == 0) continue;
    throw UsageError(fmt::format("--{} has no effect when copying a file; leave it out",
                                 option->get_single_name()));
  }
}

void add_inputs(CLI::App& app, const std::string& name, InputFiles& inputs,
                const std::string& help) {
  app.add_option(name, inputs.names, help)->type_name("");
  app.add_flag("-r,--recursive", inputs.recursive,
               "Process folders recursively, with all fields of each file; -o OUT gets the same "
               "subfolders")
      ->group(group::files);
  add_repeated(app, group::files, "--filelist", "FILE",
               "Also process the files named in FILE, one per line",
               [&inputs](const Words& names) { inputs.lists = names; });
}

CLI::Option* add_dims_option(CLI::App& app, std::optional<Dims>& dims, const std::string& help) {
  const auto parse = [](const std::string& /*label*/, const std::string& text) {
    return Dims::parse(text);
  };
  return add_value(app, group::files, "-d,--dims", "DIMS", help, dims, parse);
}

void add_field_options(CLI::App& app, FieldOptions& field) {
  CLI::Option* const dims = add_dims_option(
      app, field.dims,
      "Dimensions: 1 to 4 extents, slowest first, like 100x500x500 (default: from the file name)");
  add_value(app, group::files, "--dims-xyz", "DIMS",
            "Dimensions, fastest first, like 500x500x100 for 100 slices", field.dims,
            [](const std::string& /*label*/, const std::string& text) {
              const Dims reversed = Dims::parse(text);
              const std::span<const std::uint64_t> extents = reversed.extents();
              return *Dims::make(std::vector(extents.rbegin(), extents.rend()));
            })
      ->excludes(dims);
  add_type_option(app, field.dtype);
  add_value(
      app, group::files, "--skip-bytes", "N",
      "Skip N bytes before the values, 0 to 2^50; with --dims, bytes after the values are ignored",
      field.skip_bytes, count_between(0, std::uint64_t{1} << 50));
  add_byte_order_option(app, field.byte_order);
}

/// All types, in the order of their numbers.
std::string type_words() {
  std::string words;
  for (const DTypeRow& row : dtype_table)
    words += fmt::format("{}{}", words.empty() ? "" : "|", row.name);
  return words;
}

void add_type_option(CLI::App& app, std::optional<DType>& dtype, const std::string& help) {
  add_word<DType>(app, group::files, "-t,--type", type_words(), help, dtype);
}

void add_byte_order_option(CLI::App& app, ByteOrder& order) {
  add_word<ByteOrder>(app, group::files, "--byte-order", "little|big",
                      "Byte order of raw files (default little)", order);
}

void add_json_option(CLI::App& app, RunOptions& run) {
  app.add_flag("--json", run.json, "Report in JSON, one object per line")->group(group::report);
}

void add_report_options(CLI::App& app, RunOptions& run) {
  add_json_option(app, run);
  app.add_flag("-q,--quiet", run.quiet,
               "Suppress the report and notices; errors and --json are still printed")
      ->group(group::report);
}

void add_verbose_option(CLI::App& app, RunOptions& run) {
  app.add_flag("-v,--verbose", run.verbose, "Print the device in use and the reason for its choice")
      ->group(group::report)
      ->excludes("--quiet");
}

void add_output_options(CLI::App& app, std::optional<std::string>& output, RunOptions& run) {
  CLI::Option* const named =
      app.add_option("-o,--output", output,
                     "Output file (- for standard output), or folder for several inputs")
          ->type_name("OUT")
          ->group(group::main);
  app.add_flag_callback(
         "-c,--stdout", [&output] { output = "-"; }, "Write to standard output")
      ->excludes(named)
      ->group(group::files);
  app.add_flag("-f,--force", run.force, "Overwrite existing files")->group(group::safety);
  app.add_flag_callback(
         "-k,--keep", [] {}, "Keep the inputs (default)")
      ->group(group::safety);
}

VariableBound parse_variable_bound(std::string_view label, std::string_view text,
                                   const AskedBound& others) {
  constexpr std::string_view accepted =
      "NAME=BOUND, like T=0.01, T=abs:0.01, T=rel:1e-3, T=pwrel:1e-3 or T=abs-or-pwrel:0.01,1e-3";
  const std::size_t at = text.rfind('=');
  if (at == 0 || at == std::string_view::npos) refuse(label, text, accepted);
  VariableBound bound;
  bound.name = text.substr(text.starts_with('/') ? 1 : 0, at - (text.starts_with('/') ? 1 : 0));
  std::string_view value = text.substr(at + 1);
  const bool has_mode = value.find(':') != std::string_view::npos;
  bound.asked = {0, others.mode, has_mode ? 0 : others.share};
  if (has_mode) bound.asked.mode = parse_error_mode(label, cut(value, ':'));
  const bool has_share = value.find(',') != std::string_view::npos;
  const auto number = number_in<double>(cut(value, ','));
  if (!number || std::isnan(*number)) refuse(label, text, accepted);
  bound.asked.bound = *number;
  if (has_share && !has_two_bounds(bound.asked.mode)) {
    refuse(label, text,
           "NAME=BOUND with one number; two need mode abs-or-pwrel or abs-and-pwrel, like "
           "T=abs-or-pwrel:0.01,1e-3");
  }
  if (has_share) bound.asked.share = number_in<double>(value).value_or(0);
  if ((has_mode || has_share) && has_two_bounds(bound.asked.mode) &&
      !(bound.asked.share > 0 && bound.asked.share < 1)) {
    refuse(label, text,
           "NAME=MODE:ABS,P with an absolute bound and a fraction of each value, above 0 and below "
           "1, like T=abs-or-pwrel:0.01,1e-3");
  }
  check_bound(bound.asked, label);
  return bound;
}

}  // namespace cuszi::app
