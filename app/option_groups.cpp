#include "app/option_groups.hpp"

#include <CLI/CLI.hpp>
#include <vector>

#include "app/names.hpp"
#include "app/option_text.hpp"

namespace cuszi::app {

namespace {

constexpr std::array<Named<PredictorId>, 3> preset_names{{{"ratio", PredictorId::interp},
                                                          {"cuszi", PredictorId::interp},
                                                          {"cusz", PredictorId::lorenzo}}};

constexpr std::array<Named<PredictorId>, 2> predictor_names{
    {{LorenzoParams::name, LorenzoParams::id}, {InterpParams::name, InterpParams::id}}};

constexpr std::array<Named<std::uint8_t>, 1> coder_names{
    {{HuffmanParams::name, HuffmanParams::id}}};

/// An option whose text `parse(option, text)` turns into `value`.
template <class Value, class Parse>
void add_parsed(CLI::App& app, const std::string& names, Value& value, const Parse& parse,
                const std::string& type, const std::string& help) {
  const std::string option = names.substr(names.find("--"));
  app.add_option_function<std::string>(
         names, [&value, parse, option](const std::string& text) { value = parse(option, text); },
         help)
      ->type_name(type);
}

/// An option that takes one of a table's names. The table must be static.
template <class Value, class Enum, std::size_t count>
void add_named(CLI::App& app, const std::string& names, Value& value,
               const std::array<Named<Enum>, count>& table, const std::string& help) {
  std::string type;
  for (const Named<Enum>& named : table) {
    type += (type.empty() ? "" : "|") + std::string(named.name);
  }
  const auto parse = [&table](const std::string& option, const std::string& text) {
    return parse_name(option, text, table);
  };
  add_parsed(app, names, value, parse, type, help);
}

auto count_between(std::uint64_t least, std::uint64_t most) {
  return [=](const std::string& option, const std::string& text) {
    return parse_count(option, text, least, most);
  };
}

void add_predictor_options(CLI::App& app, PredictorConfig& predictor) {
  // Their values are taken in this order, so that --predictor has the last word.
  add_named(app, "--preset", predictor.id, preset_names,
            "ratio (default), cuszi: interp + huffman; cusz: lorenzo + huffman");
  add_named(app, "--predictor", predictor.id, predictor_names, "Instead of the preset's");
  add_parsed(app, "--interp", predictor.interp, parse_interp, "KEY=VALUE,...",
             "Force tile=16x16x16,anchor=16,alpha=1.5,cubic=natural|not-a-knot,order=zyx");
  add_parsed(app, "--radius", predictor.radius, parse_radius, "N|auto",
             "Quantisation codes on either side of 0 (default auto)");
}

void add_coder_options(CLI::App& app, HuffmanConfig& huffman) {
  app.add_option_function<std::string>(
         "--coder", [](const std::string& text) { parse_name("--coder", text, coder_names); },
         "How quantisation codes are written")
      ->type_name(std::string(HuffmanParams::name));
  add_named(app, "--huffman-width", huffman.width, huffman_width_names,
            "Bits of a codeword unit while encoding (default auto)");
  add_named(app, "--index", huffman.index, index_names,
            "What lets chunks be decoded in parallel (default hybrid)");
  add_parsed(
      app, "--chunk", huffman.chunk,
      [](const std::string& option, const std::string& text) {
        return parse_power_of_two(option, text, 64, 1 << 20);
      },
      "N", "Symbols per chunk, a power of two (default 1024)");
  add_parsed(
      app, "--partition", huffman.partition,
      [](const std::string& option, const std::string& text) {
        return static_cast<std::uint32_t>(parse_count(option, text, 1, 1 << 20));
      },
      "P", "Chunks per offset of the hybrid index (default 32)");
}

}  // namespace

void add_field_options(CLI::App& app, FieldOptions& field) {
  add_parsed(
      app, "-d,--dims", field.dims,
      [](const std::string& /*option*/, const std::string& text) { return Dims::parse(text); },
      "DIMS", "1 to 4 extents, slowest first, like 100x500x500; else as the name says");
  add_named(app, "-t,--type", field.dtype, dtype_names,
            "Type of the values; else as the name says");
  add_parsed(app, "--skip-bytes", field.skip_bytes, count_between(0, std::uint64_t{1} << 50), "N",
             "Length of a header in front of the values");
  add_byte_order_option(app, field.byte_order);
}

void add_byte_order_option(CLI::App& app, ByteOrder& order) {
  add_named(app, "--byte-order", order, byte_order_names,
            "Byte order of raw files (default little)");
}

void add_fill_options(CLI::App& app, FillValues& fills) {
  app.add_option_function<std::vector<std::string>>(
         "--fill-value",
         [&fills](const std::vector<std::string>& texts) {
           for (const std::string& text : texts) fills.add(parse_fill_value("--fill-value", text));
         },
         "A value that means missing, netcdf for 9.96921e36; may be repeated")
      ->type_name("V")
      ->allow_extra_args(false);
}

CLI::Option* add_bound_options(CLI::App& app, std::optional<double>& bound, ErrorMode& mode) {
  CLI::Option* const option =
      app.add_option_function<std::string>(
             "-e,--error-bound",
             [&bound](const std::string& text) { bound = parse_number("--error-bound", text); },
             "What no value's error exceeds; 0 is lossless")
          ->type_name("BOUND");
  add_named(app, "-m,--mode", mode, error_mode_names,
            "Bound as a share of the value range (default) or absolute");
  return option;
}

void add_frame_option(CLI::App& app, std::optional<std::uint64_t>& frame) {
  add_parsed(app, "--frame", frame, count_between(0, std::uint64_t{1} << 60), "I",
             "Restore only this frame; 0 is the first");
}

void add_method_options(CLI::App& app, FieldSettings& settings, Lossless& lossless) {
  add_fill_options(app, settings.fills);
  add_parsed(app, "--value-range", settings.range, parse_range, "MIN,MAX",
             "What a relative bound refers to; saves a look at the field");
  add_predictor_options(app, settings.frame.predictor);
  add_coder_options(app, settings.frame.huffman);
  add_named(app, "--lossless", lossless, lossless_names, "A second lossless pass (default none)");
  add_parsed(app, "--frame-size", settings.frame_bytes, parse_size, "SIZE",
             "Size of the frames that large fields are cut into (default 1GiB)");
}

void add_device_options(CLI::App& app, RunOptions& run) {
  add_parsed(app, "--device", run.device, parse_device, "auto|cpu|cuda[:N]", "Where to compute");
  add_parsed(
      app, "--threads", run.threads,
      [](const std::string& option, const std::string& text) {
        return static_cast<int>(parse_count(option, text, 1, 4096));
      },
      "N", "CPU threads (default all)");
}

void add_report_options(CLI::App& app, RunOptions& run) {
  app.add_flag("--json", run.json, "Report in JSON, one object a line");
  app.add_flag("--quiet", run.quiet, "No report, no notices; errors, and JSON if asked for");
}

void add_output_options(CLI::App& app, std::optional<std::string>& output, RunOptions& run) {
  app.add_option("-o,--output", output, "File (- for standard output), or folder for several")
      ->type_name("OUT");
  app.add_flag("--force", run.force, "Overwrite existing files");
}

}  // namespace cuszi::app
