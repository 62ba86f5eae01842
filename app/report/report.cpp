#include "app/report/report.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>

#include "app/cli/json.hpp"
#include "app/cli/standard_streams.hpp"
#include "core/field/stored_type.hpp"

namespace cuszi::app {

namespace {

/// 0 without error, even for bound 0.
double error_over_bound(double max_error, double bound) {
  return max_error == 0 ? 0 : max_error / bound;
}

std::optional<double> bit_rate(const Report& report) {
  if (!report.archive_bytes || report.is_part) return std::nullopt;
  return 8 * static_cast<double>(*report.archive_bytes) / static_cast<double>(report.dims.count());
}

void add_quality(Json& json, const std::optional<MeasuredQuality>& measured) {
  for (const char* key :
       {"psnr_db", "nrmse", "max_abs_error", "max_pointwise_error", "missing_differ",
        "isovalue_crossings", "max_error_over_bound", "within_bound"}) {
    json[key] = nullptr;
  }
  if (!measured) return;
  const Quality& quality = measured->quality;
  json["psnr_db"] = or_null(quality.psnr());
  json["nrmse"] = quality.nrmse();
  json["max_abs_error"] = quality.max_error;
  json["max_pointwise_error"] = quality.max_share;
  json["missing_differ"] = quality.missing_differ;
  if (measured->has_isovalues) json["isovalue_crossings"] = quality.crossings;
  if (!measured->is_bounded) return;
  json["max_error_over_bound"] = quality.max_of_bound;
  json["within_bound"] = !quality.first_bad.has_value();
}

void add_fidelity(Json& json, const Report& report) {
  for (const char* key : {"mean_error", "mean_error_over_bound", "error_autocorrelation", "ssim",
                          "zeros", "zeros_kept", "missing_kept", "false_negatives"}) {
    json[key] = nullptr;
  }
  if (!report.measured) return;
  const Quality& quality = report.measured->quality;
  const auto& bound = report.measured->bound;
  const auto& fidelity = report.measured->fidelity;
  json["mean_error"] = quality.mean_error();
  if (bound) json["mean_error_over_bound"] = error_over_bound(quality.mean_error(), *bound);
  json["zeros"] = quality.counts.zeros;
  json["zeros_kept"] = quality.counts.zeros_kept;
  json["missing_kept"] = quality.counts.missing_kept;
  if (quality.counts.negative == 0) json["false_negatives"] = quality.false_negatives();
  if (!fidelity) return;
  Json correlations = Json::array();
  for (int axis = 0; axis < report.dims.rank(); ++axis) {
    correlations.push_back(or_null(fidelity->autocorrelation(axis)));
  }
  json["error_autocorrelation"] = correlations;
  json["ssim"] = or_null(fidelity->ssim());
}

/// From frames, else as measured.
void add_values(Json& json, const Report& report) {
  ValueRange range;
  std::optional<std::uint64_t> masked;
  if (report.summary) {
    range = report.summary->range;
    masked = report.summary->masked;
  } else if (report.measured) {
    const Quality& quality = report.measured->quality;
    if (quality.points != 0) range.add(quality.min, quality.max);
    masked = quality.missing;
  }
  json["value_min"] = range.any ? Json(range.min) : Json(nullptr);
  json["value_max"] = range.any ? Json(range.max) : Json(nullptr);
  json["masked"] = or_null(masked);
}

void add_coding(Json& json, const std::optional<FieldSummary>& summary) {
  json["outliers"] = summary ? Json(summary->outliers) : Json(nullptr);
  json["patches"] = summary ? Json(summary->patches) : Json(nullptr);
  json["predictor"] = summary ? Json(summary->predictor) : Json(nullptr);
  json["coder"] = summary ? Json(summary->coder) : Json(nullptr);
  json["lossless"] = summary ? Json(name_of(summary->lossless)) : Json(nullptr);
}

void add_speed(Json& json, const Report& report) {
  const auto add = [&](const std::string& what, const std::optional<double>& seconds) {
    json[what + "_seconds"] = or_null(seconds);
    json[what + "_gb_per_s"] =
        or_null(seconds ? gb_per_s(report.field_bytes(), *seconds) : std::nullopt);
  };
  add("compress", report.compress_seconds);
  add("decompress", report.decompress_seconds);
  add("total", report.total_seconds);
}

/// Starts with a comma; empty if unknown.
std::string values_text(const Report& report) {
  if (!report.summary && !report.measured) return {};
  Json json;
  add_values(json, report);
  std::string text = json["value_min"].is_null()
                         ? ", no values"
                         : fmt::format(", values {:.6g} to {:.6g}", json["value_min"].get<double>(),
                                       json["value_max"].get<double>());
  if (json["masked"].is_number() && json["masked"] != 0) {
    text += fmt::format(", {} missing", json["masked"].get<std::uint64_t>());
  }
  return text;
}

std::string quality_text(const MeasuredQuality& measured) {
  const Quality& quality = measured.quality;
  const auto psnr = quality.psnr();
  std::string text =
      psnr ? fmt::format("PSNR {:.2f} dB, NRMSE {:.3g}, ", *psnr, quality.nrmse()) : std::string();
  text += fmt::format("largest error {:.6g}", quality.max_error);
  if (quality.missing_differ != 0) {
    text += fmt::format(", {} missing in only one field", quality.missing_differ);
  }
  if (quality.crossings != 0) {
    text += fmt::format(", {} CROSS AN ISOVALUE", quality.crossings);
  } else if (measured.has_isovalues) {
    text += ", no isovalue crossed";
  }
  if (measured.by_value && std::isfinite(quality.max_share)) {
    text += fmt::format(", {:.6g} of its value", quality.max_share);
  }
  if (!measured.is_bounded) return text;
  return text + fmt::format(", {:.4f} of the bound: {}", quality.max_of_bound,
                            quality.first_bad ? "OVER THE BOUND" : "within the bound");
}

std::string kept_text(std::uint64_t kept, std::uint64_t all, const char* what) {
  if (all == 0) return {};
  return kept == all ? fmt::format(", all {} {} kept", all, what)
                     : fmt::format(", {} of {} {} kept", kept, all, what);
}

std::string fidelity_text(const Report& report) {
  const Quality& quality = report.measured->quality;
  const auto& fidelity = report.measured->fidelity;
  const auto& bound = report.measured->bound;
  std::string text = bound ? fmt::format("mean error {:.4f} of the bound",
                                         error_over_bound(quality.mean_error(), *bound))
                           : fmt::format("mean error {:.3g}", quality.mean_error());
  std::string correlations;
  for (int axis = 0; fidelity && axis < report.dims.rank(); ++axis) {
    if (const auto correlation = fidelity->autocorrelation(axis)) {
      correlations += fmt::format(" {:.3f}", *correlation);
    }
  }
  if (!correlations.empty()) text += ", error autocorrelation" + correlations;
  if (const auto ssim = fidelity ? fidelity->ssim() : std::nullopt) {
    text += fmt::format(", SSIM {:.6f}", *ssim);
  }
  text += kept_text(quality.counts.zeros_kept, quality.counts.zeros, "zeros");
  text += kept_text(quality.counts.missing_kept, quality.missing, "missing");
  if (quality.false_negatives() != 0) {
    text += fmt::format(", {} BELOW ZERO where the original has none", quality.false_negatives());
  }
  return text;
}

/// ", down to 0.0001 in places, 512 points without loss"
std::string places_text(const Report& report) {
  std::string text;
  if (!report.summary || !report.summary->least_bound) return text;
  if (*report.summary->least_bound < *report.bound_absolute) {
    text = fmt::format(", down to {:.6g} in places", *report.summary->least_bound);
  }
  if (report.summary->kept == 0) return text;
  return text + fmt::format(", {} lossless points", report.summary->kept);
}

std::string bound_text(const Report& report) {
  if (!report.has_bound()) return "none";
  const std::string asked =
      fmt::format("{} {:.6g}", name_of(report.asked->mode), report.asked->bound);
  if (report.asked->mode == ErrorMode::pointwise) return asked + " of each value";
  if (has_two_bounds(report.asked->mode)) {
    return fmt::format("{}, {:.6g} of each value", asked, report.asked->share);
  }
  if (*report.bound_absolute == 0) return asked + ": lossless";
  const std::string unpacked =
      report.bound_unpacked ? fmt::format(", {:.6g} unpacked", *report.bound_unpacked) : "";
  return asked + fmt::format(": {:.6g} absolute", *report.bound_absolute) + unpacked +
         places_text(report);
}

std::string speed_text(const Report& report, double seconds) {
  return fmt::format("{} ({:.3g} s)", rate_text(report.field_bytes(), seconds), seconds);
}

/// " (frame 3, stride 4)", " (a box)"
std::string part_text(const Report& report) {
  std::string text;
  if (report.frame) text = fmt::format("frame {}", *report.frame);
  if (report.stride > 1) {
    text += fmt::format("{}stride {}", text.empty() ? "" : ", ", report.stride);
  }
  if (report.is_part && text.empty()) text = "a box";
  return text.empty() ? text : " (" + text + ')';
}

std::string title_of(const Report& report) {
  std::string title;
  for (const auto& name : {report.input, report.archive, report.restored}) {
    if (name) title += (title.empty() ? "" : " -> ") + *name;
  }
  return title;
}

}  // namespace

MeasuredQuality measured_by(const QualityMeter& meter) {
  MeasuredQuality measured{meter.quality()};
  if (meter.measures() == Measures::errors_and_fidelity) measured.fidelity = meter.fidelity();
  measured.has_isovalues = meter.isovalues().count != 0;
  if (meter.absolute_bound() != no_bound) measured.bound = meter.absolute_bound();
  measured.by_value = meter.bound().goes_with_values();
  measured.is_bounded = measured.bound || measured.by_value;
  return measured;
}

Report report_on(const ArchiveHeader& header, const FieldSummary& summary,
                 ByteCount archive_bytes) {
  Report report;
  report.dtype = header.dtype;
  report.dims = header.plan.dims;
  report.archive_bytes = archive_bytes;
  report.asked = AskedBound{header.bound_asked, header.mode, header.share_asked};
  report.bound_absolute = header.bound_absolute;
  report.summary = summary;
  auto& least = report.summary->least_bound;
  if (least) least = bound_of_local(header.dtype, *least);
  return report;
}

void print(const Report& report, const RunOptions& run, bool stdout_has_data) {
  if (run.quiet && !run.json) return;
  const std::string text = run.json ? line_of(to_json(report)) : to_text(report);
  if (stdout_has_data) {
    print_error(text);
  } else {
    print_out(text);
  }
}

void print_failed(const Report& report, const RunOptions& run, Json& known, bool stdout_has_data) {
  if (run.json) {
    known = to_json(report);
  } else {
    print(report, run, stdout_has_data);
  }
}

Json to_json(const Report& report) {
  Json json;
  json["input"] = or_null(report.input);
  json["archive"] = or_null(report.archive);
  json["restored"] = or_null(report.restored);
  json["dtype"] = name_of(report.dtype);
  json["dims"] = report.dims.extents();
  json["frame"] = or_null(report.frame);
  json["stride"] = report.stride;
  json["input_bytes"] = report.field_bytes();
  json["archive_bytes"] = or_null(report.archive_bytes);
  json["read_bytes"] = or_null(report.read_bytes);
  json["ratio"] = or_null(ratio_of(report));
  json["bit_rate"] = or_null(bit_rate(report));
  const auto unless_null = [](bool is_there, auto value) {
    return is_there ? Json(value()) : Json(nullptr);
  };
  const auto& asked = report.asked;
  const bool has_bound = report.has_bound();
  json["error_mode"] = unless_null(has_bound, [&] { return name_of(asked->mode); });
  json["error_bound"] = unless_null(has_bound, [&] { return asked->bound; });
  json["error_bound_pw"] =
      unless_null(has_bound && has_two_bounds(asked->mode), [&] { return asked->share; });
  json["error_bound_abs"] =
      unless_null(report.has_absolute_bound(), [&] { return *report.bound_absolute; });
  json["error_bound_unpacked"] = or_null(report.bound_unpacked);
  const auto& summary = report.summary;
  json["least_bound_abs"] = summary ? or_null(summary->least_bound) : Json(nullptr);
  json["lossless_points"] = summary ? Json(summary->kept) : Json(nullptr);
  json["target"] = report.target ? Json(to_string(*report.target)) : Json(nullptr);
  json["target_met"] = or_null(report.target_met);
  add_quality(json, report.measured);
  add_fidelity(json, report);
  add_values(json, report);
  add_coding(json, report.summary);
  json["device"] = report.device;
  json["frames"] = report.summary ? Json(report.summary->frames) : Json(nullptr);
  add_speed(json, report);
  return json;
}

std::string to_text(const Report& report) {
  std::string text = title_of(report) + '\n';
  const auto add = [&](const char* what, const std::string& line) {
    text += fmt::format("  {:<11} {}\n", what, line);
  };
  add("field",
      fmt::format("{}{} {}, {}{}", report.dims.to_string(), part_text(report),
                  name_of(report.dtype), bytes_text(report.field_bytes()), values_text(report)));
  if (report.bound_absolute) {
    add("bound", bound_text(report));
  }
  if (report.target) {
    add("target", fmt::format("{}, {}", to_string(*report.target),
                              report.target_met.value_or(false) ? "met" : "NOT MET"));
  }
  if (report.archive_bytes && report.is_part) {
    add("archive", fmt::format("{}, of which {} were read", bytes_text(*report.archive_bytes),
                               bytes_text(report.read_bytes.value_or(*report.archive_bytes))));
  } else if (report.archive_bytes) {
    add("archive",
        fmt::format("{}, ratio {:.2f}, {:.3f} bits per value", bytes_text(*report.archive_bytes),
                    *ratio_of(report), *bit_rate(report)));
  }
  if (const auto& summary = report.summary) {
    add("coding",
        fmt::format("{} + {}{}, {} outliers, {} patches, {} frame{}", summary->predictor,
                    summary->coder, summary->lossless == Lossless::bitcomp ? " + bitcomp" : "",
                    summary->outliers, summary->patches, summary->frames,
                    summary->frames == 1 ? "" : "s"));
  }
  if (report.measured) add("quality", quality_text(*report.measured));
  if (report.measured) add("fidelity", fidelity_text(report));
  if (report.compress_seconds) add("compress", speed_text(report, *report.compress_seconds));
  if (report.decompress_seconds) add("decompress", speed_text(report, *report.decompress_seconds));
  if (report.total_seconds) add("whole path", speed_text(report, *report.total_seconds));
  return text;
}

std::string line_of(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + '\n';
}

std::string bytes_text(ByteCount bytes) {
  constexpr std::array<const char*, 5> units{"bytes", "kB", "MB", "GB", "TB"};
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  for (; value >= 1000 && unit + 1 < units.size(); ++unit) value /= 1000;
  return unit == 0 ? fmt::format("{} bytes", bytes)
                   : fmt::format("{:.2f} {}", value, units.at(unit));
}

std::optional<double> ratio_of(const Report& report) {
  if (!report.archive_bytes || report.is_part) return std::nullopt;
  return static_cast<double>(report.field_bytes()) / static_cast<double>(*report.archive_bytes);
}

std::string rate_text(ByteCount bytes, double seconds) {
  const auto rate = gb_per_s(bytes, seconds);
  if (!rate) return "-";
  if (*rate >= 1) return fmt::format("{:.2f} GB/s", *rate);
  return *rate >= 1e-3 ? fmt::format("{:.1f} MB/s", 1e3 * *rate)
                       : fmt::format("{:.2g} MB/s", 1e3 * *rate);
}

std::optional<double> gb_per_s(ByteCount bytes, double seconds) {
  if (bytes == 0 || !(seconds >= shortest_seconds)) return std::nullopt;
  return static_cast<double>(bytes) / seconds / 1e9;
}

}  // namespace cuszi::app
