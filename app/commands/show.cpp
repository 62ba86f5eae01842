#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <span>

#include "app/cli/names.hpp"
#include "app/cli/standard_streams.hpp"
#include "app/commands/commands.hpp"
#include "app/output/output_file.hpp"
#include "app/output/output_plan.hpp"
#include "app/picture/composition.hpp"
#include "app/picture/formats.hpp"
#include "app/picture/terminal.hpp"
#include "app/report/failure.hpp"
#include "app/report/report.hpp"
#include "codec/files/input_field.hpp"
#include "core/base/error.hpp"

namespace cuszi::app {

namespace {

/// How tiles are laid out in a format.
class Layout {
 public:
  explicit Layout(PictureFormat format)
      : room_(room_for(format)), is_text_(format == PictureFormat::blocks) {}

  /// Tiles in a row: all three of a slice that is compared, or up to three slices, if there is room
  /// for tiles of a size to see something.
  std::size_t across(std::size_t slices, bool is_compared) const {
    constexpr std::size_t most = 3;
    const std::size_t wanted = is_compared ? most : std::min(slices, most);
    return std::clamp<std::size_t>(room_ / (is_text_ ? 40 : 160), 1, wanted);
  }

  /// The longest side of a tile, in points, and in pixels or cells.
  std::size_t side(std::size_t across) const {
    constexpr std::size_t least = 8;
    const std::size_t around = is_text_ ? 2 : 20;
    return std::max(room_ / across, least + around) - around;
  }

 private:
  std::size_t room_;
  bool is_text_;
};

PictureFormat format_for(const ShowOptions& options, const std::string& output) {
  if (options.format) return *options.format;
  return is_standard_stream(output) && is_terminal() ? terminal_format() : PictureFormat::png;
}

/// One picture on its way.
class Showing {
 public:
  Showing(const ShowOptions& options, const std::string& output)
      : options_(options),
        output_(output),
        format_(format_for(options, output)),
        layout_(format_) {}

  /// What is `known` of a picture that shows errors over the bound is told elsewhere.
  void run(Backends& backends, Json& known) {
    std::optional<OutputFile> file;
    if (!is_stream() || format_ == PictureFormat::png) {
      file.emplace(output_, file_of(options_.input), options_.run.force);
    }
    const bool is_compared = options_.original.has_value();
    const auto side_for = [&](std::size_t slices) {
      return layout_.side(layout_.across(slices, is_compared));
    };
    shown_ = read_shown(options_, backends, side_for);
    sight_ = sight_of(shown_);
    const std::string picture = make(layout_.across(shown_.panels.size(), is_compared));
    if (file) {
      file->write(std::as_bytes(std::span(picture)));
      file->commit();
    } else {
      print_out(picture);
    }
    tell(known);
  }

 private:
  bool is_stream() const { return is_standard_stream(output_); }

  std::string make(std::size_t across) {
    const std::string name = std::filesystem::path(options_.input).filename();
    const Figure figure = compose(shown_, sight_, name, across);
    if (format_ == PictureFormat::blocks) return blocks_of(figure);
    drawing_ = draw(figure, layout_.side(across));
    if (format_ == PictureFormat::sixel) return sixel_of(drawing_->picture);
    if (format_ == PictureFormat::kitty) return kitty_of(drawing_->picture);
    return png_of(drawing_->picture);
  }

  void tell(Json& known) const {
    if (sight_.over_bound == 0) {
      print();
      return;
    }
    if (options_.run.json) {
      known = json();
    } else {
      print();
    }
    throw BoundError(fmt::format(
        "{} of the points in the picture are over the bound of {:.6g}, or missing on one side "
        "alone: {} is not what this was made of, or it is wrong",
        sight_.over_bound, shown_.bound.value_or(0), *options_.original));
  }

  /// In a terminal the picture has said it all.
  void print() const {
    const bool is_told = is_stream() && is_terminal();
    if (options_.run.json) {
      put(line_of(json()));
    } else if (!options_.run.quiet && !is_told) {
      put(text());
    }
  }

  void put(const std::string& report) const {
    if (is_stream()) {
      print_error(report);
    } else {
      print_out(report);
    }
  }

  Json json() const;
  std::string text() const;
  Json panels() const;

  const ShowOptions& options_;
  const std::string& output_;
  PictureFormat format_;
  Layout layout_;
  ShownField shown_;
  Sight sight_;
  std::optional<Drawing> drawing_;
};

/// Where the tiles of each slice lie, in pixels.
Json Showing::panels() const {
  const std::vector<std::string> kinds =
      options_.original ? std::vector<std::string>{"original", "restored", "error"}
                        : std::vector<std::string>{"field"};
  Json panels = Json::array();
  for (std::size_t i = 0; drawing_ && i < drawing_->tiles.size(); ++i) {
    const Place& place = drawing_->tiles[i];
    const std::size_t s = i / kinds.size();
    panels.push_back({{"slice", slice_name(shown_.plan.slices[s], shown_.plan.dims)},
                      {"kind", kinds[i % kinds.size()]},
                      {"points", {shown_.panels[s].rows, shown_.panels[s].columns}},
                      {"x", place.x},
                      {"y", place.y},
                      {"width", place.width},
                      {"height", place.height}});
  }
  return panels;
}

Json Showing::json() const {
  const auto if_any = [&](double value) { return sight_.range.any ? Json(value) : Json(nullptr); };
  const auto steps = std::span(shown_.plan.step).first(shown_.plan.dims.extents().size());
  Json json;
  json["input"] = options_.input;
  json["original"] = or_null(options_.original);
  json["picture"] = output_;
  json["format"] = name_of(format_);
  json["width"] = drawing_ ? Json(drawing_->picture.width) : Json(nullptr);
  json["height"] = drawing_ ? Json(drawing_->picture.height) : Json(nullptr);
  json["dtype"] = name_of(shown_.dtype);
  json["dims"] = shown_.plan.dims.extents();
  json["steps"] = steps;
  json["archive_bytes"] = or_null(shown_.archive_bytes);
  json["read_bytes"] = or_null(shown_.read_bytes);
  json["error_bound_abs"] = or_null(shown_.bound);
  json["shown_min"] = if_any(sight_.range.min);
  json["shown_max"] = if_any(sight_.range.max);
  json["shown_points"] = sight_.points;
  json["shown_missing"] = sight_.missing;
  json["max_abs_error"] = options_.original ? Json(sight_.largest_error) : Json(nullptr);
  json["wrong_points"] = options_.original ? Json(sight_.over_bound) : Json(nullptr);
  json["panels"] = panels();
  return json;
}

std::string Showing::text() const {
  std::string text =
      fmt::format("{} -> {}\n", options_.input, is_stream() ? "standard output" : output_);
  const auto add = [&](const char* what, const std::string& line) {
    text += fmt::format("  {:<11} {}\n", what, line);
  };
  std::string slices;
  for (const Slice& slice : shown_.plan.slices) {
    const std::string name = slice_name(slice, shown_.plan.dims);
    slices += (slices.empty() ? "" : ", ") + (name.empty() ? "all" : name);
  }
  const std::string steps = step_text(shown_.plan);
  add("field", fmt::format("{} {}", shown_.plan.dims.to_string(), name_of(shown_.dtype)));
  add("shown", slices + (steps.empty() ? "" : ", every " + steps) +
                   (sight_.range.any ? fmt::format(", values {:.6g} to {:.6g}", sight_.range.min,
                                                   sight_.range.max)
                                     : ", no values") +
                   (sight_.missing != 0 ? fmt::format(", {} missing", sight_.missing) : ""));
  if (options_.original) {
    add("error", fmt::format("at most {:.6g} there", sight_.largest_error) +
                     (shown_.bound ? fmt::format(", bound {:.6g}", *shown_.bound) : ""));
  }
  if (shown_.archive_bytes) {
    add("archive", fmt::format("{}, of which {} were read", bytes_text(*shown_.archive_bytes),
                               bytes_text(*shown_.read_bytes)));
  }
  const std::string size =
      drawing_ ? fmt::format(", {} x {} pixels", drawing_->picture.width, drawing_->picture.height)
               : "";
  add("picture", fmt::format("{}{}", name_of(format_), size));
  return text;
}

}  // namespace

ExitCode execute(const ShowOptions& options) {
  Backends backends(options.run.device);
  std::vector<std::string> originals;
  if (options.original) originals.push_back(file_of(*options.original));
  const std::string input = file_of(options.input);
  OutputPlan outputs({input}, {}, options.output.value_or("-"), originals);
  if (options.output) refuse_foreign_name(*options.output, "a picture", "name it .png");
  const FileReports reports{options.run, "input", outputs.is_stream()};
  return for_each_file({options.input}, reports, [&](const std::string& /*input*/, Json& known) {
    const std::string name = std::filesystem::path(input).filename().string() + ".png";
    const std::string output = outputs.claim(input, name);
    Showing(options, output).run(backends, known);
  });
}

}  // namespace cuszi::app
