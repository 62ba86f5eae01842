#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "app/cli/standard_streams.hpp"
#include "app/commands/commands.hpp"
#include "app/commands/copy_notes.hpp"
#include "app/output/output_file.hpp"
#include "app/output/output_plan.hpp"
#include "app/report/failure.hpp"
#include "app/report/progress.hpp"
#include "app/report/report.hpp"
#include "codec/field/fill_watch.hpp"
#include "codec/files/container.hpp"
#include "codec/files/input_field.hpp"
#include "codec/quality/quality_meter.hpp"
#include "codec/settings/presets.hpp"
#include "core/base/error.hpp"
#include "core/field/stored_type.hpp"

namespace cuszi::app {

namespace {

/// The number in cuszi_preset.
std::uint32_t preset_number(const FrameConfig& frame) {
  const auto* const found = std::find_if(presets.begin(), presets.end(), [&](const Preset& preset) {
    return preset.predictor.id == frame.predictor.id;
  });
  return static_cast<std::uint32_t>(found - presets.begin());
}

ValueRange range_of(FieldSource& field, const FillValues& fills) {
  ValueRange range;
  for (std::uint64_t i = 0; i < field.plan().frames(); ++i) {
    const Bytes frame = field.frame(i);
    with_work_values(field.layout().dtype, frame, [&]<class T>(std::span<const T> values) {
      const MissingTest<T> missing(fills);
      for (const T value : values) {
        if (!missing(value)) range.add(double{value}, double{value});
      }
    });
  }
  return range;
}

IsoValues isovalues_of(const Variable& variable) {
  IsoValues isovalues;
  for (const double value : variable.isovalues) isovalues.add(value);
  return isovalues;
}

struct CopiedVariable {
  FilteredVariable filtered;
  AskedBound asked;
  FillWatch watch;
  Report report;
  std::string name_in_copy = {};
};

/// NetCDF-4 files are copied as HDF5, with all contents.
class FileCopy {
 public:
  FileCopy(const CompressOptions& options, const FieldPath& input, std::string output)
      : options_(options),
        input_(input.file),
        output_(std::move(output)),
        guard_(input.file),
        is_classic_(format_in_bytes(input.file) == Format::netcdf),
        container_(open_container(is_classic_ ? Format::netcdf : Format::hdf5, input.file)) {
    choose_variables();
  }

  void run() {
    const Writer writer = is_classic_ ? Writer::by_name : Writer::by_handle;
    OutputFile file(output_, input_, options_.run.force, writer);
    if (file.is_stream()) throw OutputError(output_ + ": is a stream; a copy needs a regular file");
    {
      Progress progress(input_, bytes_of_work(), !options_.run.quiet);
      std::vector<FilteredVariable> filtered;
      for (CopiedVariable& each : copied_) {
        choose_bound(each, progress);
        filtered.push_back(each.filtered);
      }
      container_->copy(
          file.path_to_write(), output_, filtered, [&](const FilteredVariable& each, Bytes values) {
            auto& watch = copied_[static_cast<std::size_t>(&each - filtered.data())].watch;
            watch.look_at(*each.variable.dtype, values);
            progress.advance(values.size());
          });
      look_at_copy(file, progress);
    }
    guard_.expect_unchanged();
    if (options_.strict) refuse_warnings();
    add_notes(file);
    file.sync();
    guard_.expect_unchanged();
    file.commit();
    tell();
  }

 private:
  /// By any of the variable's names.
  std::size_t index_of(const std::string& name, const std::vector<Variable>& variables) const {
    const std::optional<Variable> named = container_->find(name);
    const auto found =
        std::find_if(variables.begin(), variables.end(), [&](const Variable& variable) {
          return variable.name == name ||
                 (named && named->address != 0 && variable.address == named->address);
        });
    if (found != variables.end()) return static_cast<std::size_t>(found - variables.begin());
    std::vector<std::string> names;
    names.reserve(variables.size());
    for (const Variable& variable : variables) names.push_back(variable.name);
    throw UsageError(fmt::format("--bound {}: {} has no such variable of numbers; it has {}", name,
                                 input_, fmt::join(names, ", ")));
  }

  /// Null where none is given.
  std::vector<const VariableBound*> own_bounds(const std::vector<Variable>& variables) const {
    std::vector<const VariableBound*> own(variables.size());
    for (const VariableBound& each : options_.bounds) {
      const VariableBound*& bound = own[index_of(each.name, variables)];
      if (bound != nullptr) {
        throw UsageError(
            fmt::format("--bound {} and --bound {} name the same variable; leave out one",
                        bound->name, each.name));
      }
      bound = &each;
    }
    return own;
  }

  void choose_variables() {
    std::vector<Variable> variables = container_->variables();
    std::erase_if(variables, [](const Variable& each) {
      return !each.dtype || each.extents.empty() || each.values() == 0 || each.is_elsewhere;
    });
    const std::vector<const VariableBound*> own = own_bounds(variables);
    for (std::size_t i = 0; i < variables.size(); ++i) {
      const Variable& variable = variables[i];
      const bool is_asked = own[i] != nullptr || !options_.bounds_alone;
      if (!is_asked || (own[i] == nullptr && !variable.is_compressed_unasked())) continue;
      if (own[i] == nullptr && !variable.lacking_filter.empty()) {
        spdlog::warn("{}:{}: copied unchanged: its HDF5 filter {} is not available", input_,
                     variable.name, variable.lacking_filter);
        continue;
      }
      add(variable, own[i]);
    }
    if (copied_.empty()) {
      throw InputError(
          input_ +
          ": has no readable f32 or f64 variable other than coordinates, cell areas and flags");
    }
  }

  void add(const Variable& variable, const VariableBound* own) {
    CopiedVariable copied{{}, {}, FillWatch({}), {}};
    copied.filtered.variable = variable;
    for (std::size_t i = 0; i < options_.settings.fills.count; ++i) {
      copied.filtered.variable.add_fill(options_.settings.fills.values.at(i));
    }
    copied.filtered.preset = preset_number(options_.settings.frame);
    copied.asked = own == nullptr ? options_.settings.asked() : own->asked;
    copied_.push_back(std::move(copied));
  }

  /// Passes for range, copy and verification.
  ByteCount bytes_of_work() const {
    ByteCount bytes = 0;
    for (const CopiedVariable& each : copied_) {
      const ByteCount passes = 1 + (needs_range(each) ? 1 : 0) + (options_.verify ? 1 : 0);
      const Variable& variable = each.filtered.variable;
      bytes += passes * size_of(*variable.dtype) * variable.values();
    }
    return bytes;
  }

  static bool needs_range(const CopiedVariable& each) {
    return each.asked.mode == ErrorMode::relative && each.asked.bound != 0;
  }

  /// Absolute bounds of packed variables are in unpacked units. No product with the scale exceeds
  /// them.
  static ValueBound bound_in_file(const CopiedVariable& each, const ValueRange& range) {
    const Variable& variable = each.filtered.variable;
    const ValueBound bound = value_bound(each.asked, range);
    if (!variable.is_packed || each.asked.mode == ErrorMode::relative) return bound;
    const double scale = std::fabs(variable.scale);
    if (bound.goes_with_values() || !(scale > 0) || !std::isfinite(scale)) {
      throw UsageError(
          fmt::format("--bound {}: a packed variable takes an absolute bound, in "
                      "unpacked units, or a relative one",
                      variable.name));
    }
    const double steps = std::floor(bound.bound / scale);
    return steps * scale > bound.bound ? steps - 1 : steps;
  }

  void choose_bound(CopiedVariable& each, Progress& progress) {
    const Variable& variable = each.filtered.variable;
    const std::string name = input_ + ':' + variable.name;
    InputField field = open_variable(name, container_, variable);
    ValueRange range;
    if (needs_range(each)) {
      range = range_of(field.source, field.fills);
      progress.advance(field.source.layout().field_bytes());
    }
    each.filtered.bound = stored_bound(*variable.dtype, bound_in_file(each, range));
    each.watch = FillWatch(field.fills,
                           {0, most_fill_samples, options_.settings.padding, needs_range(each)});
    const auto* const fills = field.fills.values.begin();
    each.filtered.variable.fills.assign(fills, fills + field.fills.count);
    each.report.input = name;
    each.report.archive = output_ + ':' + variable.name;
    each.report.dtype = field.source.layout().dtype;
    each.report.dims = field.source.layout().dims;
    each.report.asked = each.asked;
    each.report.bound_absolute = each.filtered.bound.absolute();
    if (variable.is_packed) {
      each.report.bound_unpacked = *each.report.bound_absolute * std::fabs(variable.scale);
    }
  }

  void look_at_copy(const OutputFile& file, Progress& progress) {
    const std::shared_ptr<Container> copy = open_container(Format::hdf5, file.path_to_write());
    for (CopiedVariable& each : copied_) {
      const auto variable = copy->find(each.filtered.variable.name);
      if (!variable) throw OutputError(output_ + ": lacks " + each.filtered.variable.name);
      each.name_in_copy = variable->name;
      each.report.archive_bytes = variable->stored_bytes;
      if (options_.verify) verify(each, copy, *variable, progress);
    }
  }

  /// A lossless copy keeps the attributes of an earlier one, which still hold.
  void add_notes(const OutputFile& file) {
    CopyNotes notes;
    for (const CopiedVariable& each : copied_) {
      if (!is_lossy(each.filtered.bound)) continue;
      notes.variables.push_back(options_.no_history
                                    ? no_notes_on(each.filtered)
                                    : notes_on(each.filtered, each.report.measured));
      notes.variables.back().name = each.name_in_copy;
    }
    if (!options_.no_history) notes.history = history_line(options_.command);
    write_notes(file.path_to_write(), output_, notes);
    output_bytes_ = FileSource(file.duplicate(), output_).size().value_or(0);
  }

  void verify(CopiedVariable& each, const std::shared_ptr<Container>& copy,
              const Variable& variable, Progress& progress) {
    InputField original = open_variable(*each.report.input, container_, each.filtered.variable);
    InputField restored = open_variable(*each.report.archive, copy, variable);
    QualityMeter meter(original.source, {original.fills, isovalues_of(each.filtered.variable)},
                       each.filtered.bound);
    for (std::uint64_t i = 0; i < original.source.plan().frames(); ++i) {
      meter.add(i, restored.source.frame(i));
      progress.advance(original.source.frame_bytes(i));
    }
    each.report.measured = measured_by(meter);
    require_within_bound(meter, each.report.dims,
                         "no copy was written; this is a bug, please report it");
    require_same_missing(meter, each.report.dims);
    require_same_sides(meter, each.report.dims);
  }

  void refuse_warnings() const {
    for (const CopiedVariable& each : copied_) {
      const std::string text = spoiling(each.watch.warnings(), fill_option);
      if (!text.empty()) throw InputError(fmt::format("{}: {}", *each.report.input, text));
    }
  }

  void tell() const {
    for (const CopiedVariable& each : copied_) {
      for (const FillWarning& warning : each.watch.warnings()) {
        spdlog::warn("{}: {}", *each.report.input, warning.text(fill_option));
      }
    }
    const ByteCount input_bytes = guard_.size().value_or(0);
    const double ratio = static_cast<double>(input_bytes) / static_cast<double>(output_bytes_);
    if (options_.run.json) {
      Json json{{"input", input_},
                {"copy", output_},
                {"input_bytes", input_bytes},
                {"copy_bytes", output_bytes_},
                {"ratio", ratio},
                {"total_seconds", clock_.seconds()},
                {"variables", Json::array()}};
      for (const CopiedVariable& each : copied_) json["variables"].push_back(to_json(each.report));
      print_out(line_of(json));
    } else if (!options_.run.quiet) {
      for (const CopiedVariable& each : copied_) print(each.report, options_.run);
      print_out(fmt::format("{} -> {}: {} became {}, ratio {:.2f}, in {:.3g} s\n", input_, output_,
                            bytes_text(input_bytes), bytes_text(output_bytes_), ratio,
                            clock_.seconds()));
    }
  }

  const CompressOptions& options_;
  Stopwatch clock_;
  std::string input_;
  std::string output_;
  FileSource guard_;
  bool is_classic_;
  std::shared_ptr<Container> container_;
  std::vector<CopiedVariable> copied_;
  ByteCount output_bytes_ = 0;
};

}  // namespace

ExitCode copy_file(const CompressOptions& options) {
  const std::string& name = options.inputs.front();
  const FieldPath input = field_path(name);
  if (!input.holds_variables() || !input.variable.empty()) {
    throw UsageError(
        fmt::format("{}: cannot be copied to -o {}: only whole NetCDF and HDF5 files can; give an "
                    "archive another name",
                    name, *options.output));
  }
  OutputPlan outputs({input.file}, {}, options.output, options.lists);
  const FileReports reports{options.run, "input"};
  return for_each_file(options.inputs, reports, [&](const std::string& /*input*/, Json& /*known*/) {
    FileCopy(options, input, outputs.claim(input.file, *options.output)).run();
  });
}

}  // namespace cuszi::app
