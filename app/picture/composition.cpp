#include "app/picture/composition.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/field/quantizer.hpp"

namespace cuszi::app {

namespace {

void add_values(const std::vector<Panel>& panels, ValueRange& range) {
  for (const Panel& panel : panels) {
    for (const double value : panel.values) {
      if (!std::isnan(value)) range.add(value, value);
    }
  }
}

/// Whether a restored point is wrong.
bool is_wrong(double original, double restored, std::optional<double> bound) {
  if (std::isnan(original) || std::isnan(restored)) {
    return std::isnan(original) != std::isnan(restored);
  }
  return bound && !within_bound(original, restored, *bound);
}

void add_errors(const ShownField& shown, Sight& sight) {
  for (std::size_t s = 0; s < shown.originals.size(); ++s) {
    const std::vector<double>& originals = shown.originals[s].values;
    const std::vector<double>& restored = shown.panels[s].values;
    for (std::size_t i = 0; i < originals.size(); ++i) {
      if (is_wrong(originals[i], restored[i], shown.bound)) ++sight.over_bound;
      const double error = std::abs(restored[i] - originals[i]);
      if (!std::isnan(error)) sight.largest_error = std::max(sight.largest_error, error);
    }
  }
}

/// A share of a range, 0 to 1; halves, for their difference may overflow.
double share_of(double value, const ValueRange& range) {
  const double whole = range.max / 2 - range.min / 2;
  return whole == 0 ? 0.5 : (value / 2 - range.min / 2) / whole;
}

Tile tile_of(const Panel& panel, std::string caption) {
  return {std::move(caption), panel.rows, panel.columns, {}};
}

Tile values_tile(const Panel& panel, const ValueRange& range, std::string caption) {
  Tile tile = tile_of(panel, std::move(caption));
  for (const double value : panel.values) {
    tile.colours.push_back(std::isnan(value) ? missing_colour
                                             : value_ramp.at(share_of(value, range)));
  }
  return tile;
}

/// What errors are measured in.
struct ErrorUnit {
  double size;  ///< absolute, above 0
  bool is_bound;
};

ErrorUnit error_unit(const ShownField& shown, const Sight& sight) {
  if (shown.bound && *shown.bound > 0) return {*shown.bound, true};
  if (sight.largest_error == 0) return {1, false};
  return {std::min(sight.largest_error, std::numeric_limits<double>::max()), false};
}

Tile errors_tile(const Panel& original, const Panel& restored, std::optional<double> bound,
                 const ErrorUnit& unit, std::string caption) {
  Tile tile = tile_of(restored, std::move(caption));
  for (std::size_t i = 0; i < restored.values.size(); ++i) {
    const double before = original.values[i];
    const double after = restored.values[i];
    const double share = ((after - before) / unit.size + 1) / 2;
    tile.colours.push_back(is_wrong(before, after, bound) ? over_bound_colour
                           : std::isnan(before)           ? missing_colour
                                                          : error_ramp.at(share));
  }
  return tile;
}

std::string caption(const char* what, const std::string& slice) {
  return slice.empty() ? what : fmt::format("{}, {}", what, slice);
}

void add_compared(const ShownField& shown, const Sight& sight, Figure& figure) {
  const ErrorUnit unit = error_unit(shown, sight);
  for (std::size_t s = 0; s < shown.panels.size(); ++s) {
    const std::string slice = slice_name(shown.plan.slices[s], shown.plan.dims);
    const Panel& original = shown.originals[s];
    const Panel& restored = shown.panels[s];
    figure.tiles.push_back(values_tile(original, sight.range, caption("original", slice)));
    figure.tiles.push_back(values_tile(restored, sight.range, caption("restored", slice)));
    figure.tiles.push_back(errors_tile(original, restored, shown.bound, unit,
                                       caption(unit.is_bound ? "error/bound" : "error", slice)));
  }
  figure.scales.push_back(unit.is_bound ? Scale{error_ramp, "-bound", "+bound"}
                                        : Scale{error_ramp, fmt::format("{:.3g}", -unit.size),
                                                fmt::format("+{:.3g}", unit.size)});
}

std::string bound_text(double bound) {
  return bound == 0 ? "lossless" : fmt::format("bound {:.6g}", bound);
}

/// A name without what a terminal would take for a command.
std::string printable(std::string name) {
  std::ranges::replace_if(
      name, [](unsigned char c) { return c < ' ' || c == 0x7F; }, '?');
  return name;
}

std::string error_text(const ShownField& shown, const Sight& sight) {
  if (shown.bound && *shown.bound > 0) {
    return fmt::format("largest error {:.4f} of the bound", sight.largest_error / *shown.bound);
  }
  return fmt::format("largest error {:.6g}", sight.largest_error);
}

std::vector<std::string> heading_of(const ShownField& shown, const Sight& sight,
                                    const std::string& name) {
  const Dims& dims = shown.plan.dims;
  std::vector<std::string> lines{printable(name)};
  lines.push_back(fmt::format("{} {}", dims.to_string(), name_of(shown.dtype)));
  const std::string steps = step_text(shown.plan);
  if (!steps.empty()) lines.back() += ", every " + steps;
  const bool has_outer = std::ranges::count_if(dims.extents(), [](auto n) { return n > 1; }) == 4;
  if (has_outer) lines.push_back(fmt::format("w = {}", shown.plan.slices[0].at[0]));
  if (shown.bound) lines.push_back(bound_text(*shown.bound));
  if (sight.missing != 0) {
    lines.push_back(fmt::format("{} of {} points missing (grey)", sight.missing, sight.points));
  }
  if (!shown.originals.empty()) lines.push_back(error_text(shown, sight));
  if (sight.over_bound != 0) {
    lines.push_back(fmt::format("{} points WRONG (magenta)", sight.over_bound));
  }
  return lines;
}

}  // namespace

Sight sight_of(const ShownField& shown) {
  Sight sight;
  for (const Panel& panel : shown.panels) {
    sight.points += panel.values.size();
    sight.missing += static_cast<std::uint64_t>(
        std::ranges::count_if(panel.values, [](double value) { return std::isnan(value); }));
  }
  add_values(shown.panels, sight.range);
  add_values(shown.originals, sight.range);
  add_errors(shown, sight);
  return sight;
}

std::string slice_name(const Slice& slice, const Dims& dims) {
  if (!slice.axis) return {};
  return fmt::format("{} = {}", axis_letter(dims, *slice.axis),
                     slice.at.at(static_cast<std::size_t>(*slice.axis)));
}

std::string step_text(const SlicePlan& plan) {
  const auto steps = std::span(plan.step).first(plan.dims.extents().size());
  if (std::ranges::all_of(steps, [](std::uint64_t step) { return step == 1; })) return {};
  return fmt::format("{}", fmt::join(steps, "x"));
}

Figure compose(const ShownField& shown, const Sight& sight, const std::string& name,
               std::size_t across) {
  Figure figure;
  figure.heading = heading_of(shown, sight, name);
  figure.across = across;
  figure.scales.push_back({value_ramp,
                           sight.range.any ? fmt::format("{:.6g}", sight.range.min) : "no values",
                           sight.range.any ? fmt::format("{:.6g}", sight.range.max) : ""});
  if (!shown.originals.empty()) {
    add_compared(shown, sight, figure);
    return figure;
  }
  for (std::size_t s = 0; s < shown.panels.size(); ++s) {
    figure.tiles.push_back(values_tile(shown.panels[s], sight.range,
                                       slice_name(shown.plan.slices[s], shown.plan.dims)));
  }
  return figure;
}

}  // namespace cuszi::app
