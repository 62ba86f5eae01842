#pragma once

#include <CLI/App.hpp>
#include <optional>
#include <string>

#include "app/cli/input_files.hpp"
#include "app/cli/options.hpp"

namespace cuszi::app {

// Options that several commands share. The values must outlive the parsing.

/// The files or archives that a command takes, --recursive, --filelist.
void add_inputs(CLI::App& app, const std::string& name, InputFiles& inputs,
                const std::string& help);

/// --dims, --type, --skip-bytes, --byte-order.
void add_field_options(CLI::App& app, FieldOptions& field);

/// --type.
void add_type_option(CLI::App& app, std::optional<DType>& dtype);

/// --byte-order.
void add_byte_order_option(CLI::App& app, ByteOrder& order);

/// --fill-value.
void add_fill_options(CLI::App& app, FillValues& fills);

/// --error-bound and --mode. check_bound() is left to the caller.
void add_bound_options(CLI::App& app, std::optional<double>& bound, ErrorMode& mode);

/// --bound.
void add_variable_bounds(CLI::App& app, std::vector<VariableBound>& bounds);

/// Throws UsageError if an option was given that the copy of a file has no use for.
void check_copy_options(const CLI::App& app);

/// --study.
void add_study_option(CLI::App& app, std::optional<Study>& study);

/// What a user says of a zfp stream without header.
struct ToldZfpStream {
  std::optional<Dims> dims;
  std::optional<DType> dtype;
  std::optional<double> tolerance;  ///< of fixed accuracy, absolute
};

/// --dims, --type, --error-bound and --zfp-mode, and how the stream is to be kept: --zfp-chunk,
/// --index, --partition, --frame-size.
void add_import_options(CLI::App& app, ToldZfpStream& told, ZfpImport& how);

/// The header that a stream lacks; none if it has one. Throws UsageError if what was told is not
/// enough.
std::optional<ZfpHeader> header_of(const ToldZfpStream& told, const ZfpMode& mode);

/// --strict.
void add_strict_option(CLI::App& app, bool& strict);

/// --target and --target-miss.
void add_target_option(CLI::App& app, std::optional<Target>& target, bool& accepts_missed);

/// --frame, counted from 0.
void add_frame_option(CLI::App& app, std::optional<std::uint64_t>& frame);

/// --stride.
void add_stride_option(CLI::App& app, std::uint64_t& stride);

/// --box.
void add_box_option(CLI::App& app, Box& box);

/// --slice, --stride, --compare and --format of a picture.
void add_picture_options(CLI::App& app, ShowOptions& options);

/// Everything that decides an archive's bytes besides the field and the bound.
void add_method_options(CLI::App& app, FieldSettings& settings);

/// Throws UsageError if an option was given that what `settings` choose would ignore.
void check_method_options(const CLI::App& app, const FieldSettings& settings);

/// --memory-limit.
void add_memory_option(CLI::App& app, RunOptions& run);

/// --device, --threads.
void add_device_options(CLI::App& app, RunOptions& run);

/// --json, --quiet.
void add_report_options(CLI::App& app, RunOptions& run);

/// -o, --stdout, --force, --keep.
void add_output_options(CLI::App& app, std::optional<std::string>& output, RunOptions& run);

}  // namespace cuszi::app
