#pragma once

#include <optional>
#include <string>

#include "app/cli/json.hpp"
#include "app/cli/options.hpp"
#include "codec/field/field_source.hpp"
#include "codec/quality/quality_meter.hpp"
#include "core/base/dtype.hpp"
#include "core/field/bound.hpp"
#include "core/field/mask.hpp"
#include "core/field/metrics.hpp"

namespace cuszi::app {

struct MeasuredQuality {
  Quality quality;
  std::optional<double> bound = {};  ///< absolute
  std::optional<Fidelity> fidelity = {};
  bool is_bounded = false;
  bool by_value = false;       ///< pointwise bound
  bool has_isovalues = false;  ///< crossings were counted
};

MeasuredQuality measured_by(const QualityMeter& meter);

/// Missing values are null in JSON and omitted in text.
struct Report {
  std::optional<std::string> input;  ///< original
  std::optional<std::string> archive;
  std::optional<std::string> restored;  ///< restored field
  DType dtype = DType::f32;
  Dims dims;
  std::optional<std::uint64_t> frame;  ///< if only one was restored
  std::uint64_t stride = 1;            ///< of `dims` in the field
  bool is_part = false;                ///< box or stride
  std::optional<ByteCount> archive_bytes;
  std::optional<ByteCount> read_bytes;  ///< of the archive
  std::optional<AskedBound> asked;
  std::optional<Target> target;
  std::optional<bool> target_met;
  std::optional<double> bound_absolute;  ///< or no_bound
  std::optional<double> bound_unpacked;  ///< bound_absolute times a packed variable's scale_factor
  std::optional<FieldSummary> summary;
  std::optional<MeasuredQuality> measured;
  std::string device = "cpu";
  std::optional<double> compress_seconds;
  std::optional<double> decompress_seconds;
  std::optional<double> total_seconds;  ///< from opening the input to closing the output

  bool has_absolute_bound() const { return bound_absolute && *bound_absolute != no_bound; }
  bool has_bound() const {
    return asked && (has_absolute_bound() || asked->mode >= ErrorMode::pointwise);
  }
  ByteCount field_bytes() const { return dims.count() * size_of(dtype); }
};

/// From an archive's header and frames.
Report report_on(const ArchiveHeader& header, const FieldSummary& summary, ByteCount archive_bytes);

/// All commands have equal keys. Non-finite numbers are null.
Json to_json(const Report& report);

std::string to_text(const Report& report);

/// Prints JSON, text or nothing; to stderr if stdout has data. Throws OutputError.
void print(const Report& report, const RunOptions& run, bool stdout_has_data = false);

/// For a failed file; JSON goes to `known`, to be printed with the failure.
void print_failed(const Report& report, const RunOptions& run, Json& known,
                  bool stdout_has_data = false);

std::string line_of(const Json& json);

/// "12.3 MB", powers of 1000.
std::string bytes_text(ByteCount bytes);

/// Nullopt for previews and without archive.
std::optional<double> ratio_of(const Report& report);

/// "1.23 GB/s" or MB/s; "-" if unknown.
std::string rate_text(ByteCount bytes, double seconds);

/// Shorter times give no speed: reading the clock takes some hundredths.
inline constexpr double shortest_seconds = 1e-6;

/// Nullopt without bytes or below shortest_seconds.
std::optional<double> gb_per_s(ByteCount bytes, double seconds);

/// Empty text: no problem.
struct LayoutWarning {
  std::string text = {};
  bool values_look_swapped = false;  ///< makes a relative bound meaningless
};

/// Checks for wrong dims order or byte order. Of a stream, only `first_frame`.
LayoutWarning layout_warning(const FieldSource& field, Bytes first_frame, const FillValues& fills);

/// Layout by name, checked against the file's size: type and dims are null if unknown, `failure`
/// says why. `dtype` takes precedence.
Json describe_field_name(const std::string& name, std::optional<DType> dtype);

/// The description as text.
std::string field_name_text(const Json& description);

}  // namespace cuszi::app
