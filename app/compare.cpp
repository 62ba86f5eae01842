#include <limits>

#include "app/commands.hpp"
#include "app/file_identity.hpp"
#include "app/report.hpp"
#include "codec/field_source.hpp"
#include "codec/quality_meter.hpp"

namespace cuszi::app {

namespace {

QualityMeter measure(FieldSource& original, FieldSource& restored, const FillValues& fills,
                     double bound) {
  QualityMeter meter(original, fills, bound);
  for (std::uint64_t i = 0; i < original.plan().frames(); ++i) meter.add(i, restored.frame(i));
  return meter;
}

/// A relative bound refers to the original's range, which takes a first pass.
QualityMeter measure_as_asked(FieldSource& original, FieldSource& restored,
                              const CompareOptions& options) {
  constexpr double any_error = std::numeric_limits<double>::infinity();
  if (options.bound && options.mode == ErrorMode::absolute) {
    return measure(original, restored, options.fills, *options.bound);
  }
  const QualityMeter meter = measure(original, restored, options.fills, any_error);
  if (!options.bound) return meter;
  const ValueRange range{meter.quality().min, meter.quality().max, true};
  return measure(original, restored, options.fills,
                 absolute_bound(*options.bound, options.mode, range));
}

/// A restored field often lacks what is in front of and behind the values of its original.
FieldSource open_restored(const std::string& path, FieldLayout layout, const FieldCuts& plan) {
  auto source = std::make_unique<FileSource>(path);
  if (source->size() == layout.field_bytes()) layout.skip_bytes = 0;
  return {std::move(source), layout, plan};
}

}  // namespace

ExitCode execute(const CompareOptions& options) {
  refuse_among(identities_of({options.original, options.restored}), "-");
  FieldSource original = open_field(options.original, options.field);
  const FieldLayout& layout = original.layout();
  FieldSource restored = open_restored(options.restored, layout, original.plan());
  const QualityMeter meter = measure_as_asked(original, restored, options);

  original.expect_unchanged();
  restored.expect_unchanged();

  Report report;
  report.input = options.original;
  report.restored = options.restored;
  report.dtype = layout.dtype;
  report.dims = layout.dims;
  report.measured = {meter.quality(), std::nullopt, meter.fidelity()};
  if (options.bound) {
    report.mode = options.mode;
    report.bound_asked = options.bound;
    report.bound_absolute = meter.bound();
    report.measured->bound = meter.bound();
  }
  print(report, options.run);
  require_same_missing(meter, layout.dims);
  if (options.bound) {
    require_within_bound(meter, layout.dims, "a larger --error-bound would accept it");
  }
  return ExitCode::ok;
}

}  // namespace cuszi::app
