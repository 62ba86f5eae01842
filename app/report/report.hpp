#pragma once

#include <optional>
#include <string>

#include "app/cli/json.hpp"
#include "app/cli/options.hpp"
#include "codec/quality/quality_meter.hpp"
#include "core/field/bound.hpp"
#include "core/field/metrics.hpp"

namespace cuszi::app {

/// The measured quality of a restored field, and what it was measured by.
struct MeasuredQuality {
  Quality quality;
  std::optional<double> bound;  ///< absolute
  std::optional<Fidelity> fidelity = {};
  bool is_bounded = false;
  bool by_value = false;       ///< the bound goes with each value
  bool has_isovalues = false;  ///< whose crossings were counted
};

/// What a meter has measured.
MeasuredQuality measured_by(const QualityMeter& meter);

/// What is told of one file. What a command has not measured is not there: null in JSON, no line in
/// text.
struct Report {
  std::optional<std::string> input;  ///< the original field
  std::optional<std::string> archive;
  std::optional<std::string> restored;  ///< the restored field
  DType dtype = DType::f32;
  Dims dims;
  std::optional<std::uint64_t> frame;  ///< if only this one was restored
  std::uint64_t stride = 1;            ///< of the points of the whole field that `dims` counts
  bool is_part = false;                ///< a box or a stride was asked for
  std::optional<ByteCount> archive_bytes;
  std::optional<ByteCount> read_bytes;  ///< of the archive
  std::optional<AskedBound> asked;
  std::optional<Target> target;
  std::optional<bool> target_met;
  std::optional<double> bound_absolute;  ///< or no_bound
  std::optional<FieldSummary> summary;
  std::optional<MeasuredQuality> measured;
  std::string device = "cpu";
  std::optional<double> compress_seconds;
  std::optional<double> decompress_seconds;
  std::optional<double> total_seconds;  ///< from the opening of the input to the output in place

  bool has_absolute_bound() const { return bound_absolute && *bound_absolute != no_bound; }
  bool has_bound() const {
    return asked && (has_absolute_bound() || asked->mode >= ErrorMode::pointwise);
  }
  ByteCount field_bytes() const { return dims.count() * size_of(dtype); }
};

/// What an archive and its frames say of themselves.
Report report_on(const ArchiveHeader& header, const FieldSummary& summary, ByteCount archive_bytes);

/// One JSON object, with the same keys whatever the command. Numbers that are not finite are null.
Json to_json(const Report& report);

/// A few lines for people.
std::string to_text(const Report& report);

/// Prints a report as the user wants it: as JSON, as text, or not at all; where data go to standard
/// output, on standard error. Throws OutputError.
void print(const Report& report, const RunOptions& run, bool stdout_has_data = false);

/// Prints the report of a file that has failed in spite of having results. In JSON the report is
/// left in `known`, to be printed with the failure.
void print_failed(const Report& report, const RunOptions& run, Json& known,
                  bool stdout_has_data = false);

/// A JSON object in one line.
std::string line_of(const Json& json);

/// A number of bytes for people: "12.3 MB", in powers of 1000.
std::string bytes_text(ByteCount bytes);

/// The field's bytes over the archive's; nothing for a preview or without an archive.
std::optional<double> ratio_of(const Report& report);

/// A speed for people: "1.23 GB/s", below that in MB/s; "-" if gb_per_s() has none.
std::string rate_text(ByteCount bytes, double seconds);

/// The shortest time that a speed is told of: reading a clock takes some hundredths of it.
inline constexpr double shortest_seconds = 1e-6;

/// Billions of bytes per second; nothing if there are no bytes, or in a time too short to measure.
std::optional<double> gb_per_s(ByteCount bytes, double seconds);

}  // namespace cuszi::app
