#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <limits>

#include "app/commands/commands.hpp"
#include "app/output/output_plan.hpp"
#include "app/report/failure.hpp"
#include "app/report/report.hpp"
#include "codec/field/fill_watch.hpp"
#include "codec/files/input_field.hpp"
#include "codec/quality/quality_meter.hpp"
#include "core/base/error.hpp"

namespace cuszi::app {

namespace {

/// `watch` checks for fill values, if given.
QualityMeter measure(FieldSource& original, FieldSource& restored, const ValueRules& rules,
                     const ValueBound& bound, FillWatch* watch = nullptr) {
  QualityMeter meter(original, rules, bound, Measures::errors_and_fidelity);
  for (std::uint64_t i = 0; i < original.plan().frames(); ++i) {
    meter.add(i, restored.frame(i));
    if (watch != nullptr) watch->look_at(original.layout().dtype, original.frame(i));
  }
  return meter;
}

/// Warns, or throws if strict.
void tell(const FillWatch& watch, const CompareOptions& options) {
  const std::vector<FillWarning> warnings = watch.warnings();
  const std::string spoils = spoiling(warnings, fill_option);
  if (options.strict && !spoils.empty()) throw InputError(options.original + ": " + spoils);
  for (const FillWarning& warning : warnings) {
    spdlog::warn("{}: {}", options.original, warning.text(fill_option));
  }
}

/// A relative bound takes a pass for the range.
QualityMeter measure_as_asked(FieldSource& original, FieldSource& restored, const ValueRules& rules,
                              const CompareOptions& options, FillWatch& watch) {
  constexpr double any_error = std::numeric_limits<double>::infinity();
  if (options.bound && options.bound->mode != ErrorMode::relative) {
    return measure(original, restored, rules, value_bound(*options.bound, {}), &watch);
  }
  const QualityMeter meter = measure(original, restored, rules, any_error, &watch);
  if (!options.bound) return meter;
  const ValueRange range{meter.quality().min, meter.quality().max, true};
  return measure(original, restored, rules, value_bound(*options.bound, range));
}

/// Only self-describing files have another layout.
FieldSource open_restored(const std::string& name, const FieldOptions& options,
                          const InputField& original) {
  FieldLayout layout = original.source.layout();
  if (original.describes_itself) {
    layout = {layout.dtype, layout.dims, 0, options.byte_order};
  }
  return open_alike(name, layout, original.source.plan());
}

void compare(const CompareOptions& options, Json& known) {
  InputField opened = open_input(options.original, options.field);
  FieldSource& original = opened.source;
  const FieldLayout& layout = original.layout();
  FieldSource restored = open_restored(options.restored, options.field, opened);
  const FillValues fills = joined(options.fills, opened.fills);
  FillWatch watch(fills, {options.fills.count, most_fill_samples, options.padding, true});
  const QualityMeter meter =
      measure_as_asked(original, restored, {fills, options.isovalues}, options, watch);

  original.expect_unchanged();
  restored.expect_unchanged();
  tell(watch, options);

  Report report;
  report.input = options.original;
  report.restored = options.restored;
  report.dtype = layout.dtype;
  report.dims = layout.dims;
  report.measured = measured_by(meter);
  report.asked = options.bound;
  if (options.bound) {
    report.bound_absolute = meter.absolute_bound();
  } else {
    report.measured->bound.reset();
    report.measured->is_bounded = false;
  }
  try {
    require_same_missing(meter, layout.dims);
    require_same_sides(meter, layout.dims);
    if (options.bound) {
      require_within_bound(meter, layout.dims, "a larger --error-bound would accept it");
    }
  } catch (const BoundError&) {
    print_failed(report, options.run, known);
    throw;
  }
  print(report, options.run);
}

}  // namespace

ExitCode execute(const CompareOptions& options) {
  refuse_among(identities_of({file_of(options.original), file_of(options.restored)}), "-");
  const FileReports reports{options.run, "input"};
  const auto work = [&](const std::string& /*original*/, Json& known) { compare(options, known); };
  return for_each_file({options.original}, reports, work);
}

}  // namespace cuszi::app
