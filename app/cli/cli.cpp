#include "app/cli/cli.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <iterator>
#include <memory>
#include <sstream>

#include "app/cli/command_words.hpp"
#include "app/cli/help.hpp"
#include "app/cli/option_groups.hpp"
#include "app/cli/standard_streams.hpp"
#include "codec/archive/append.hpp"
#include "codec/files/field_path.hpp"
#include "codec/files/input_field.hpp"
#include "codec/io/byte_source.hpp"
#include "codec/settings/limits.hpp"
#include "codec/settings/option_text.hpp"
#include "codec/settings/settings.hpp"
#include "core/field/asked_bounds.hpp"
#include "core/field/stored_type.hpp"

namespace cuszi::app {

namespace {

namespace group = option_group;

constexpr std::string_view dims_order =
    "Dimensions are slowest first, as in NumPy, HDF5 and SDRBench names: 100x500x500 is 100 slices "
    "(z, slowest) of 500 rows (y) of 500 values (x).";

CLI::App& add_command(CLI::App& program, const std::string& name, const std::string& summary,
                      const std::string& notes, const std::string& examples) {
  CLI::App* const app = program.add_subcommand(name, summary);
  app->description(summary + ".\n" + notes);
  app->footer("EXAMPLES\n" + examples);
  app->get_help_ptr()->group(group::report);
  return *app;
}

/// Describes a zfp stream without header.
struct ToldZfpStream {
  std::optional<Dims> dims;
  std::optional<DType> dtype;
  std::optional<double> tolerance;  ///< absolute
};

/// Result of parsing.
struct Parsed {
  cuszi_options asked = cuszi_default_options();  ///< of the given command
  CompressOptions compress;
  std::vector<std::string> variable_bounds;  ///< unparsed; of compress
  DecompressOptions decompress;
  CompareOptions compare;
  InspectOptions inspect;
  BenchOptions bench;
  TestOptions test;
  ListOptions list;
  ZfpImportOptions zfp_import;
  ZfpExportOptions zfp_export;
  ToldZfpStream told;  ///< of zfp-import
  InputFiles inputs;   ///< of the given command
  std::optional<Command> command;
};

std::vector<std::string> wanted_fields(const std::string& file) {
  const bool is_restored = file.ends_with(".restored.npy");
  const bool is_input =
      is_field_name(file) || (field_path(file).format != Format::raw && !is_restored);
  return is_input ? fields_in(file) : std::vector<std::string>{};
}

std::vector<std::string> wanted_archives(const std::string& file) {
  return file.ends_with(".cuszi") ? std::vector{file} : std::vector<std::string>{};
}

void take_run(const Parsed& parsed, RunOptions& run) {
  static_cast<RunSettings&>(run) = run_settings(parsed.asked);
}

/// Runs `options` after parsing.
template <class Options>
void choose_with_archives(CLI::App& app, Parsed& parsed, Options& options) {
  add_inputs(app, "ARCHIVE", parsed.inputs, "Archives; - for standard input");
  app.callback([&parsed, &options] {
    FoundFiles found = files_of(parsed.inputs, wanted_archives);
    options.archives = std::move(found.files);
    options.lists = parsed.inputs.lists;
    if constexpr (requires { options.folders; }) options.folders = std::move(found.folders);
    take_run(parsed, options.run);
    parsed.command = options;
  });
}

/// Several inputs, or a folder as output, give archives.
bool is_copy(const CompressOptions& options) {
  if (!options.output || options.inputs.size() != 1 || !options.folders.empty()) return false;
  std::error_code no_folder;
  return is_container(format_in_name(*options.output)) &&
         !std::filesystem::is_directory(*options.output, no_folder);
}

/// Checks the bounds of a copy.
void check_copy(const CLI::App& app, const Parsed& parsed, CompressOptions& options) {
  if (!options.is_copy) {
    if (parsed.variable_bounds.empty() && !options.no_history) return;
    throw UsageError(
        fmt::format("--{} has no effect here; it needs a copy of a file, like -o copy.nc",
                    options.no_history ? "no-history" : "bound"));
  }
  check_copy_options(app);
  const AskedBound others{parsed.asked.bound, error_mode_of(parsed.asked), parsed.asked.pw};
  for (const std::string& text : parsed.variable_bounds) {
    options.bounds.push_back(parse_variable_bound("--bound", text, others));
  }
  options.bounds_alone = !is_given(app, "error-bound") && !options.bounds.empty();
  if (options.bounds_alone && !has_two_bounds(others.mode)) {
    refuse_share(parsed.asked, "--error-bound");
  }
}

/// f32 unless its name says otherwise. Throws InputError.
FieldOptions raw_bounds(const std::string& path) {
  const DType dtype = dtype_in_name(path).value_or(DType::f32);
  const auto size = FileSource(path).size();
  if (!size || *size == 0 || *size % size_of(dtype) != 0) {
    throw InputError(fmt::format("{}: is not a raw file of {} values", path, name_of(dtype)));
  }
  return {Dims{*size / size_of(dtype)}, dtype, {}, ByteOrder::little};
}

/// Rounds f64 bounds down. Throws as open_input().
std::vector<float> read_bounds(const std::string& name) {
  const bool is_raw = field_path(name).format == Format::raw;
  InputField field = open_input(name, is_raw ? raw_bounds(name) : FieldOptions{});
  std::vector<float> bounds;
  for (std::uint64_t i = 0; i < field.source.plan().frames(); ++i) {
    const Bytes frame = field.source.frame(i);
    with_work_values(field.source.layout().dtype, frame, [&](auto values) {
      std::transform(values.begin(), values.end(), std::back_inserter(bounds),
                     [](double bound) { return float_below(bound); });
    });
  }
  return bounds;
}

void add_bound_field(CLI::App& app, BoundFile& file) {
  app.add_option("--bound-field", file.path,
                 "multilevel, cells: file of smaller bounds, one for each point or each block of "
                 "--bound-blocks; named as INPUT, or raw f32")
      ->type_name("FILE")
      ->group(group::main);
}

void take_bound_field(const CLI::App& app, BoundFile& file, cuszi_options& asked) {
  if (!file.path) {
    if (!is_given(app, "bound-blocks")) return;
    throw UsageError("--bound-blocks needs --bound-field");
  }
  file.bounds = std::make_shared<const std::vector<float>>(read_bounds(*file.path));
  asked.bound_field = file.bounds->data();
  asked.bound_count = file.bounds->size();
}

void refuse_beside(const CLI::App& app, std::string_view text) {
  for (const char* name : {"mode", "value-range"}) {
    if (is_given(app, name)) throw UsageError(fmt::format("--{} needs {}", name, text));
  }
}

/// Requires a bound, or for compress a target, unless `enough`; rejects options without effect.
FieldSettings take_settings(const CLI::App& app, const Parsed& parsed, bool enough = false) {
  const bool has_target = is_given(app, "target");
  const bool has_bound = is_given(app, "error-bound") || enough;
  FieldSettings settings = enough ? method_settings(parsed.asked)
                                  : field_settings(parsed.asked, has_bound, "--error-bound");
  if (has_target && has_bound) {
    throw UsageError("--target and --error-bound exclude each other; give one of them");
  }
  if (has_target) refuse_beside(app, "--error-bound, which --target excludes");
  if (!has_target && !has_bound) {
    if (!own_bound(settings.frame.predictor)) {
      const bool may_be_target = app.get_option_no_throw("--target") != nullptr;
      throw UsageError(fmt::format("--error-bound {}is required, like -e 1e-3",
                                   may_be_target ? "or --target " : ""));
    }
    refuse_beside(app, "--error-bound, which is not given");
  }
  check_use(app, settings);
  return settings;
}

/// Whether the bound is that of the archive to append to.
bool continues_archive(const CLI::App& app, const CompressOptions& options) {
  return options.append && !is_given(app, "error-bound") && !is_given(app, "target") &&
         std::filesystem::exists(*options.append);
}

void add_compress(CLI::App& program, Parsed& parsed) {
  CompressOptions& options = parsed.compress;
  CLI::App& app = add_command(
      program, "compress", "Compress fields within an error bound",
      fmt::format("{}\nDimensions and type of raw files are read from names like U_100x500x500.f32 "
                  "or CLDHGH_1_1800_3600.f32. NumPy, NetCDF and HDF5 files contain them, and their "
                  "fill values: x.npy, file.nc:TEMPERATURE, file.h5:/group/dataset.",
                  dims_order),
      "  cuszi compress U_100x500x500.f32 -e 1e-3 --verify\n"
      "  cuszi compress T.dat -d 26x1800x3600 -t f32 -m abs -e 0.01 -o T.cuszi\n"
      "  cuszi compress U_100x500x500.f32 --target psnr:80\n"
      "  cuszi compress U_100x500x500.f32 --preset zfp --zfp-mode rate:8\n"
      "  cuszi compress tos_24x170x180.f32 -e 1e-3 --fill-value 1e20\n"
      "  cuszi compress file.nc:TEMPERATURE -e 1e-3 -o T.cuszi\n"
      "  cuszi compress file.nc -e 1e-3 --bound T=abs:0.01 -o file.cuszi.nc\n"
      "  cuszi compress *.f32 -e 1e-4 -o archives/ --json\n"
      "  cuszi compress step_1x512x512.f32 --append run.cuszi\n"
      "  cuszi compress -r SDRBENCH-Hurricane-100x500x500 -e 1e-3 --verify --rm\n"
      "  approximate | cuszi compress - -d 512x512x512 -t f32 -m abs -e 0.01 > field.cuszi");
  add_inputs(app, "INPUT", parsed.inputs,
             "Fields: raw files, x.npy, file.nc:NAME, file.h5:NAME; - for standard input");
  add_options_but(app, parsed.asked, {"memory-limit"});
  add_word<bool>(app, group::safety, "--target-miss", "error|ok",
                 "If the target cannot be met, fail with exit status 4 and no archive (error, "
                 "default), or write the nearest archive found (ok)",
                 options.accepts_missed_target);
  add_bound_field(app, options.bound_field);
  add_field_options(app, options.field);
  add_repeated(
      app, group::files, "--bound", "NAME=BOUND",
      "Bound of one variable when copying a file, like T=0.01, T=abs:0.01, T=rel:1e-3 or "
      "T=abs-or-pwrel:0.01,1e-3; repeatable; without -e, other variables are copied unchanged",
      [&parsed](const Words& texts) { parsed.variable_bounds = texts; });
  app.add_flag("--no-history", options.no_history,
               "Add no attributes to a copy: neither a line of history nor what describes the "
               "compression of a variable")
      ->group(group::files);
  add_output_options(app, options.output, options.run);
  app.add_option("--append", options.append,
                 "Add the fields to an archive along the slowest axis, by default within its bound")
      ->type_name("ARCHIVE")
      ->group(group::files)
      ->excludes("--output");
  app.add_flag("--rm", options.remove_inputs,
               "Remove each input once its archive is verified; needs --verify")
      ->group(group::safety)
      ->needs("--verify")
      ->excludes("--keep")
      ->excludes("--append");
  add_report_options(app, options.run);
  add_verbose_option(app, options.run);
  app.callback([&app, &parsed, &options] {
    FoundFiles found = files_of(parsed.inputs, wanted_fields);
    options.inputs = std::move(found.files);
    options.folders = std::move(found.folders);
    options.lists = parsed.inputs.lists;
    options.is_copy = is_copy(options);
    check_copy(app, parsed, options);
    if (!is_given(app, "target") && is_given(app, "target-miss")) {
      throw UsageError("--target-miss needs --target");
    }
    take_bound_field(app, options.bound_field, parsed.asked);
    const bool continues = continues_archive(app, options);
    options.settings = take_settings(app, parsed, options.bounds_alone || continues);
    if (continues) continue_settings(*options.append, options.settings);
    for (const VariableBound& each : options.bounds) {
      refuse_by_zfp(options.settings.frame.predictor.id, each.asked.mode, "--bound");
    }
    options.target = target_of(parsed.asked);
    options.verify = parsed.asked.verify != 0;
    options.strict = parsed.asked.strict != 0;
    take_run(parsed, options.run);
    parsed.command = options;
  });
}

void add_decompress(CLI::App& program, Parsed& parsed) {
  DecompressOptions& options = parsed.decompress;
  CLI::App& app = add_command(
      program, "decompress", "Restore fields from archives",
      "NAME.f32.cuszi is restored as NAME.restored.f32, not under the original's name.\n" +
          std::string(dims_order),
      "  cuszi decompress U_100x500x500.f32.cuszi\n"
      "  cuszi decompress U_100x500x500.f32.cuszi --compare U_100x500x500.f32\n"
      "  cuszi decompress big.cuszi --frame 3 -o part.f32\n"
      "  cuszi decompress big.cuszi --stride 4 -o preview.f32\n"
      "  cuszi decompress big.cuszi --box 0:8,100:200,: -o box.f32\n"
      "  cuszi decompress *.cuszi -o restored/");
  choose_with_archives(app, parsed, options);
  add_output_options(app, options.output, options.run);
  add_value(app, group::main, "--box", "A:B,...",
            "Restore only a box: indices of each axis, slowest first, like 0:8,100:200,:",
            options.box, parse_box);
  add_value(app, group::main, "--stride", "S",
            "Restore every S-th point along lattice axes (a power of two, 1 to 1048576, default 1)",
            options.stride, [](const std::string& label, const std::string& text) {
              return parse_power_of_two(label, text, 1, most_stride);
            });
  add_value(app, group::main, "--frame", "I", "Restore only frame I; 0 is the first", options.frame,
            count_between(0, std::uint64_t{1} << 60));
  app.add_option("--compare", options.original,
                 "Measure the error against a field, named as for compress")
      ->type_name("ORIGINAL")
      ->group(group::main);
  add_byte_order_option(app, options.byte_order);
  add_options(app, parsed.asked, {"device", "threads", "memory-limit"});
  add_report_options(app, options.run);
  add_verbose_option(app, options.run);
}

void add_compare(CLI::App& program, Parsed& parsed) {
  CompareOptions& options = parsed.compare;
  CLI::App& app = add_command(
      program, "compare", "Measure a restored field against its original",
      fmt::format("{}\nExits with 4 if a value exceeds a given bound or crosses a given isovalue.",
                  dims_order),
      "  cuszi compare U_100x500x500.f32 U_100x500x500.restored.f32\n"
      "  cuszi compare T.dat T.out -d 26x1800x3600 -t f32 -e 1e-3 --json");
  app.add_option("ORIGINAL", options.original, "The original field, named as for compress")
      ->required()
      ->type_name("");
  app.add_option("RESTORED", options.restored, "The field to measure")->required()->type_name("");
  add_options(app, parsed.asked,
              {"error-bound", "mode", "pw", "fill-value", "padding", "keep-isovalue", "keep-sign",
               "strict"});
  add_field_options(app, options.field);
  add_report_options(app, options.run);
  app.callback([&app, &parsed, &options] {
    const FieldSettings settings = method_settings(parsed.asked);
    options.fills = settings.fills;
    options.padding = settings.padding;
    options.isovalues = settings.frame.isovalues;
    options.strict = parsed.asked.strict != 0;
    if (is_given(app, "error-bound")) {
      options.bound = asked_bound(parsed.asked, "--error-bound");
    } else {
      refuse_beside(app, "--error-bound, which is not given");
    }
    parsed.command = options;
  });
}

void add_inspect(CLI::App& program, Parsed& parsed) {
  InspectOptions& options = parsed.inspect;
  CLI::App& app =
      add_command(program, "inspect", "Print the metadata of archives: header, frames and sections",
                  "Verifies every checksum; decodes nothing. " + std::string(dims_order),
                  "  cuszi inspect U_100x500x500.f32.cuszi\n"
                  "  cuszi inspect big.cuszi --frames\n"
                  "  cuszi inspect U_100x500x500.f32.cuszi --json | jq .sections\n"
                  "  cuszi inspect --field-name SDRBENCH-Hurricane-100x500x500/*.f32");
  app.add_option("ARCHIVE", options.archives, "Archives; - for standard input")->type_name("");
  app.add_option("--field-name", options.field_names,
                 "Instead of archives, print the dims and type found in names of raw files")
      ->type_name("NAME...")
      ->group(group::main);
  add_type_option(app, options.dtype);
  app.add_flag("--frames", options.frames, "Print every frame, not only the first")
      ->group(group::main);
  app.add_flag("--schedule", options.schedule, "Print each pass of the predictor multilevel")
      ->group(group::main);
  add_json_option(app, options.run);
  app.callback([&parsed, &options] {
    if (options.archives.empty() == options.field_names.empty()) {
      throw UsageError("inspect needs either archives or --field-name; see cuszi inspect --help");
    }
    if (options.dtype && options.field_names.empty()) {
      throw UsageError("--type has no effect here; it needs --field-name");
    }
    if ((options.frames || options.schedule) && !options.field_names.empty()) {
      throw UsageError("--frames and --schedule have no effect with --field-name; leave them out");
    }
    parsed.command = options;
  });
}

void add_test(CLI::App& program, Parsed& parsed) {
  TestOptions& options = parsed.test;
  CLI::App& app = add_command(program, "test", "Test archives by decoding them; writes nothing",
                              "Exits with 3 if an archive is damaged. " + std::string(dims_order),
                              "  cuszi test U_100x500x500.f32.cuszi\n"
                              "  cuszi test -r archives/");
  choose_with_archives(app, parsed, options);
  add_options(app, parsed.asked, {"device", "threads", "memory-limit"});
  add_report_options(app, options.run);
  add_verbose_option(app, options.run);
}

void add_list(CLI::App& program, Parsed& parsed) {
  ListOptions& options = parsed.list;
  CLI::App& app = add_command(
      program, "list", "List archives, one per line",
      "Reads only headers and tables; cuszi test checks everything. " + std::string(dims_order),
      "  cuszi list *.cuszi\n"
      "  cuszi list -r archives/");
  choose_with_archives(app, parsed, options);
  add_json_option(app, options.run);
}

void add_bench(CLI::App& program, Parsed& parsed) {
  BenchOptions& options = parsed.bench;
  CLI::App& app = add_command(
      program, "bench", "Measure the speed of each step in memory, and from file to file",
      "Temporary files go to TMPDIR. " + std::string(dims_order),
      "  cuszi bench U_100x500x500.f32 -e 1e-3\n"
      "  cuszi bench U_100x500x500.f32 -e 1e-3 --preset cusz --iterations 9 --json");
  app.add_option("INPUT", options.inputs, "Fields, named as for compress")
      ->required()
      ->type_name("");
  add_options_but(app, parsed.asked, {"target", "verify", "strict", "memory-limit"});
  add_bound_field(app, options.bound_field);
  add_field_options(app, options.field);
  app.add_option("--iterations", options.iterations,
                 "Number of repetitions, of which the median is reported (1 to 1000, default 3)")
      ->type_name("N")
      ->check(CLI::Range(1, 1000))
      ->group(group::main);
  add_report_options(app, options.run);
  app.callback([&app, &parsed, &options] {
    take_bound_field(app, options.bound_field, parsed.asked);
    options.settings = take_settings(app, parsed);
    take_run(parsed, options.run);
    parsed.command = options;
  });
}

/// Nullopt if the stream has a header. Throws UsageError if incomplete.
std::optional<ZfpHeader> header_of(const ToldZfpStream& told, const ZfpMode& mode) {
  using Kind = ZfpMode::Kind;
  if (!told.dims) {
    if (told.dtype || told.tolerance || mode.kind != Kind::accuracy) {
      throw UsageError(
          "a zfp stream without header needs --dims; with a header, leave out --type, "
          "--error-bound and --zfp-mode");
    }
    return std::nullopt;
  }
  if (!told.dtype || is_cast(*told.dtype))
    throw UsageError("a zfp stream without header needs --type, f32 or f64");
  if (told.tolerance.has_value() != (mode.kind == Kind::accuracy)) {
    throw UsageError(
        "a zfp stream without header needs either --error-bound (its tolerance) or a --zfp-mode "
        "other than accuracy");
  }
  return ZfpHeader{zfp_scalar_of(*told.dtype), *told.dims,
                   zfp_params(mode, told.tolerance.value_or(0), told.dims->rank(), *told.dtype)};
}

void add_zfp_import(CLI::App& program, Parsed& parsed) {
  ZfpImportOptions& options = parsed.zfp_import;
  CLI::App& app = add_command(
      program, "zfp-import", "Convert a zfp stream to an archive",
      fmt::format("The stream is stored bit for bit, with an index for parallel decoding. It "
                  "starts with zfp's header (zfp -h), or options give its dims, type and mode. {}",
                  dims_order),
      "  zfp -f -3 500 500 100 -a 1e-3 -h -i U_100x500x500.f32 -z U.zfp\n"
      "  cuszi zfp-import U.zfp -o U.cuszi\n"
      "  cuszi zfp-import plain.zfp -d 100x500x500 -t f32 -e 1e-3 -o U.cuszi\n"
      "  cuszi zfp-import plain.zfp -d 100x500x500 -t f32 --zfp-mode rate:8 -o U.cuszi");
  app.add_option("FILE", options.input, "zfp stream; - for standard input")
      ->required()
      ->type_name("");
  add_dims_option(app, parsed.told.dims,
                  "Dimensions of a stream without header: 1 to 4 extents, slowest first");
  add_type_option(app, parsed.told.dtype, "Type of the values of a stream without header");
  add_value(app, group::main, "-e,--error-bound", "TOLERANCE",
            "Absolute tolerance of a fixed-accuracy stream without header (zfp -a)",
            parsed.told.tolerance, parse_number);
  add_options(app, parsed.asked, {"zfp-mode", "zfp-chunk", "index", "partition", "frame-size"});
  add_output_options(app, options.output, options.run);
  add_report_options(app, options.run);
  app.callback([&parsed, &options] {
    parsed.asked.preset = CUSZI_PRESET_ZFP;
    const FieldSettings settings = method_settings(parsed.asked);
    options.how = {header_of(parsed.told, settings.frame.predictor.zfp.mode),
                   settings.frame.predictor.zfp, settings.frame.index, settings.frame_bytes};
    parsed.command = options;
  });
}

void add_zfp_export(CLI::App& program, Parsed& parsed) {
  ZfpExportOptions& options = parsed.zfp_export;
  CLI::App& app = add_command(program, "zfp-export", "Convert an archive to a zfp stream",
                              fmt::format("The archive must be made with --preset zfp. The stream "
                                          "is copied bit for bit after zfp's own header. {}",
                                          dims_order),
                              "  cuszi compress U_100x500x500.f32 -e 1e-3 --preset zfp -o U.cuszi\n"
                              "  cuszi zfp-export U.cuszi -o U.zfp\n"
                              "  zfp -h -z U.zfp -o U.restored.f32");
  app.add_option("ARCHIVE", options.archive, "Archive; - for standard input")
      ->required()
      ->type_name("");
  add_output_options(app, options.output, options.run);
  add_report_options(app, options.run);
  app.callback([&parsed, &options] { parsed.command = options; });
}

std::vector<std::string> names_of(const CLI::App& program) {
  std::vector<std::string> names;
  for (const CLI::App* command : program.get_subcommands({})) names.push_back(command->get_name());
  return names;
}

void parse(CLI::App& program, const Words& words) {
  std::vector<const char*> pointers;
  for (const std::string& word : words) pointers.push_back(word.c_str());
  program.parse(static_cast<int>(pointers.size()), pointers.data());
}

}  // namespace

std::optional<Command> parse_command_line(int argc, const char* const* argv) {
  CLI::App program(
      fmt::format("Error-bounded lossy compression of scientific fields.\n{}", dims_order),
      "cuszi");
  program.footer(
      "EXAMPLES\n"
      "  cuszi compress U_100x500x500.f32 -e 1e-3 --verify\n"
      "  cuszi decompress U_100x500x500.f32.cuszi\n"
      "  cuszi inspect U_100x500x500.f32.cuszi\n"
      "  cuszi help compress\n\n"
      "EXIT STATUS\n"
      "  0  ok\n"
      "  1  usage error\n"
      "  2  input unreadable, or its size does not match its dims\n"
      "  3  archive damaged\n"
      "  4  bound violated, or target not met\n"
      "  5  device or library missing\n"
      "  6  output exists or cannot be written\n"
      "With several inputs, the status of the first failure.");
  program.set_version_flag("-V,--version", version_text)->group(group::report);
  program.get_help_ptr()->group(group::report);
  program.require_subcommand(1);
  program.formatter(std::make_shared<HelpFormatter>());

  Parsed parsed;
  add_compress(program, parsed);
  add_decompress(program, parsed);
  add_compare(program, parsed);
  add_inspect(program, parsed);
  add_test(program, parsed);
  add_list(program, parsed);
  add_bench(program, parsed);
  add_zfp_import(program, parsed);
  add_zfp_export(program, parsed);
  const Words words =
      without_help_command({argv, std::next(argv, static_cast<std::ptrdiff_t>(argc))});
  refuse_foreign_options(words);
  refuse_misplaced_command(words, names_of(program));
  parsed.compress.command =
      "cuszi " + typed(std::span(words).subspan(std::min<std::size_t>(words.size(), 1)));
  try {
    parse(program, words);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() != 0) {
      const auto commands = program.get_subcommands();
      const std::string command = commands.empty() ? "" : commands.front()->get_name() + ' ';
      throw UsageError(fmt::format("{}; see cuszi {}--help", error.what(), command));
    }
    std::ostringstream text;
    program.exit(error, text, text);
    print_out(text.str());
  }
  return parsed.command;
}

}  // namespace cuszi::app
