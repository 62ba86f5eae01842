#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>

#include "app/cli/parameters.hpp"
#include "app/cli/standard_streams.hpp"
#include "app/commands/commands.hpp"
#include "app/output/output_plan.hpp"
#include "app/report/failure.hpp"
#include "app/report/report.hpp"
#include "codec/archive/archive_reader.hpp"

namespace cuszi::app {

namespace {

void add_size(SectionId id, ByteCount bytes, Json& sizes) {
  Json& size = sizes[std::string(name_of(id))];
  size = (size.is_null() ? 0 : size.get<ByteCount>()) + bytes;
}

/// By section name.
void add_sections(const FrameHeader& header, Json& sizes) {
  for (const LevelEntry& level : header.levels) {
    for (const SectionEntry& section : level.sections) add_size(section.id, section.size, sizes);
  }
}

/// By section name; null without packed sections.
Json unpacked_sizes(const FrameHeader& header) {
  Json sizes;
  for (const LevelEntry& level : header.levels) {
    for (const SectionEntry& section : level.sections) {
      if (section.unpacked) add_size(section.id, section.unpacked->size, sizes);
    }
  }
  return sizes;
}

Json describe_frame(const ArchiveFrame& frame, const Exceptions& exceptions) {
  const FrameHeader& header = frame.header;
  const bool any = header.missing < frame.shape.points();
  Json sections = Json::object();
  add_sections(header, sections);
  Json json;
  json["index"] = header.index;
  json["dims"] = frame.shape.dims.extents();
  json["kind"] = name_of(header.kind);
  json["value_min"] = any ? Json(header.min) : Json(nullptr);
  json["value_max"] = any ? Json(header.max) : Json(nullptr);
  json["masked"] = header.missing;
  json["outliers"] = exceptions.outliers;
  json["patches"] = exceptions.patches;
  json["transform"] = header.transform ? describe(*header.transform) : Json(nullptr);
  json["bounds"] = header.bounds ? describe(*header.bounds) : Json(nullptr);
  json["predictor"] = header.predictor ? describe(*header.predictor) : Json(nullptr);
  json["coder"] = header.coder ? describe(*header.coder) : Json(nullptr);
  json["table_bytes"] = frame.table_bytes;
  json["sections"] = sections;
  json["unpacked"] = unpacked_sizes(header);
  json["schedule"] = describe_schedule(header, frame.shape.dims, frame.payload);
  return json;
}

/// Null for a plain archive.
Json describe(const std::optional<Amendment>& amendment) {
  if (!amendment) return nullptr;
  constexpr std::array grids{"none", "even", "binary"};
  const auto rank = static_cast<std::size_t>(amendment->dims.rank());
  return {{"first", std::span(amendment->box.first).first(rank)},
          {"dims", amendment->dims.extents()},
          {"grid", grids.at(static_cast<std::size_t>(amendment->grid.kind))},
          {"exact_bytes", amendment->exact_bytes},
          {"inner_bytes", amendment->inner_bytes}};
}

struct Inspection {
  Report report;
  Json parts = Json::object();   ///< bytes by name, which add up to the archive
  Json layout = Json::object();  ///< other header fields
  Json frames = Json::array();
};

Json describe_layout(const ArchiveHeader& header, const std::optional<Amendment>& amendment) {
  Json fills = Json::array();
  for (std::size_t i = 0; i < header.fills.count; ++i) {
    fills.push_back(header.fills.values.at(i));
  }
  return {{"format_version", format_version}, {"fill_values", fills},
          {"frame_axis", header.plan.axis},   {"frame_height", header.plan.height},
          {"amendments", amendment ? 1 : 0},  {"amended", describe(amendment)}};
}

Inspection look_into(const std::string& archive) {
  FileSource source(archive);
  ArchiveReader reader(source);
  Inspection result;
  FieldSummary summary;
  ByteCount table_bytes = 0;
  for (std::uint64_t i = 0; i < reader.frames(); ++i) {
    const ArchiveFrame frame = reader.next_frame();
    const Exceptions exceptions = count_exceptions(frame.header, frame.payload);
    summary.add(frame.header, frame.shape.points(), exceptions.outliers, exceptions.patches);
    add_sections(frame.header, result.parts);
    table_bytes += frame.table_bytes;
    result.frames.push_back(describe_frame(frame, exceptions));
  }
  const ByteCount footer_bytes = reader.finish();
  result.parts["header"] = reader.header_bytes();
  result.parts["frame-tables"] = table_bytes;
  result.parts["footer"] = footer_bytes;
  if (const auto& amendment = reader.amendment()) {
    reader.read_amendment();
    result.parts["amendment"] = amendment->exact_bytes + amendment->inner_bytes;
  }
  if (reader.unfinished_bytes() != 0) result.parts["unfinished"] = reader.unfinished_bytes();
  warn_of_unfinished(reader, archive);
  result.layout = describe_layout(reader.header(), reader.amendment());
  result.layout["members"] = reader.members();
  result.report = report_on(reader.header(), summary, reader.bytes_read() + reader.bytes_skipped());
  result.report.archive = archive;
  return result;
}

Json json_of(const Inspection& inspection) {
  Json json = to_json(inspection.report);
  json.update(inspection.layout);
  json["sections"] = inspection.parts;
  json["frame_list"] = inspection.frames;
  return json;
}

/// "key value, key value".
std::string list_of(const Json& object) {
  std::string text;
  for (const auto& [key, value] : object.items()) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", key,
                        value.is_string() ? value.get<std::string>() : value.dump());
  }
  return text;
}

std::string parts_text(const Inspection& inspection) {
  std::string text;
  for (const auto& [name, size] : inspection.parts.items()) {
    const double share =
        100 * size.get<double>() / static_cast<double>(inspection.report.archive_bytes.value());
    text += fmt::format("    {:<13} {:>12} bytes {:>6.2f} %\n", name, size.get<ByteCount>(), share);
  }
  return text;
}

std::string schedule_text(const Json& passes) {
  std::uint32_t steps = 0;
  std::string text =
      fmt::format("    {:>5} {:>7} {:>11} {:>6} {:>11} {:>10} {:>9} {:>10} {:>6} {:>5}  {}\n",
                  "level", "spacing", "points", "coeffs", "half step", "bytes", "bits/pt", "slots",
                  "lanes", "steps", "classes");
  for (const Json& pass : passes) {
    const auto points = pass["points"].get<std::uint64_t>();
    const auto bytes = pass["bytes"].get<ByteCount>();
    const auto coded = pass["coded_points"].get<std::uint64_t>();
    text += fmt::format(
        "    {:>5} {:>7} {:>11} {:>6} {:>11.4g} {:>10} {:>9.4f} {:>10} {:>6} {:>5}  {}\n",
        pass["level"].get<int>(), pass["spacing"].get<std::uint64_t>(), points,
        pass["coefficients"].get<std::uint64_t>(), pass["half_step"].get<double>(), bytes,
        coded == 0 ? 0 : 8 * static_cast<double>(bytes) / static_cast<double>(coded),
        pass["slots"].get<std::uint64_t>(), pass["lanes"].get<std::uint64_t>(),
        pass["steps"].get<std::uint32_t>(), pass["classes"].get<std::string>());
    steps = std::max(steps, pass["steps"].get<std::uint32_t>());
  }
  return text + fmt::format("    dependent steps of the frame: {}\n", steps);
}

std::string frame_text(Json frame, bool with_schedule) {
  std::string text = fmt::format("  frame {}\n", frame["index"].get<std::uint64_t>());
  for (const char* part : {"transform", "bounds", "predictor", "coder", "sections", "unpacked"}) {
    if (!frame[part].is_null()) text += fmt::format("    {:<11} {}\n", part, list_of(frame[part]));
    frame.erase(part);
  }
  frame.erase("index");
  const Json schedule = frame["schedule"];
  frame.erase("schedule");
  if (with_schedule && !schedule.empty()) text += schedule_text(schedule);
  return text + fmt::format("    {:<11} {}\n", "values", list_of(frame));
}

std::string text_of(const Inspection& inspection, const InspectOptions& options) {
  std::string text = to_text(inspection.report);
  text += fmt::format("  layout      {}\n  sections\n{}", list_of(inspection.layout),
                      parts_text(inspection));
  const std::size_t shown = options.frames ? inspection.frames.size() : 1;
  for (std::size_t i = 0; i < shown; ++i)
    text += frame_text(inspection.frames[i], options.schedule);
  if (shown < inspection.frames.size()) {
    text += fmt::format("  and {} more frames; --frames prints them\n",
                        inspection.frames.size() - shown);
  }
  return text;
}

ExitCode tell_field_names(const InspectOptions& options) {
  const FileReports reports{options.run, "field_name"};
  return for_each_file(options.field_names, reports, [&](const std::string& name, Json& /*known*/) {
    const Json description = describe_field_name(name, options.dtype);
    print_out(options.run.json ? line_of(description) : field_name_text(description));
  });
}

}  // namespace

ExitCode execute(const InspectOptions& options) {
  refuse_among(identities_of(options.archives), "-");
  if (!options.field_names.empty()) return tell_field_names(options);
  return for_each_file(options.archives, {options.run}, [&](const auto& archive, Json& /*known*/) {
    const Inspection inspection = look_into(archive);
    print_out(options.run.json ? line_of(json_of(inspection)) : text_of(inspection, options));
  });
}

}  // namespace cuszi::app
