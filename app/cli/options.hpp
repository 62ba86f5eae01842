#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "codec/archive/field_codec.hpp"
#include "codec/archive/zfp_import_export.hpp"
#include "codec/field/field_name.hpp"
#include "codec/frames/backend_choice.hpp"
#include "codec/settings/target.hpp"

namespace cuszi::app {

/// How a command runs and reports; a command sets what it has options for.
struct RunOptions : RunSettings {
  bool json = false;
  bool quiet = false;
  bool force = false;
};

inline constexpr std::string_view fill_option = "--fill-value";
/// The most samples drawn of a frame to find fill values that were not named; reading the frame
/// from a file takes longer.
inline constexpr std::uint64_t most_fill_samples = 16384;

/// What a user says of one variable of a file.
struct VariableBound {
  std::string name;
  AskedBound asked;
};

/// Bounds by place that a file has.
struct BoundFile {
  std::optional<std::string> path;
  std::shared_ptr<const std::vector<float>> bounds;  ///< that the settings point to
};

struct CompressOptions {
  std::vector<std::string> inputs;
  std::vector<std::string> folders;  ///< that inputs were found in
  std::vector<std::string> lists;    ///< that inputs were named in
  std::optional<std::string> output;
  FieldOptions field;
  FieldSettings settings;
  std::optional<Target> target;  ///< instead of the settings' bound
  bool accepts_missed_target = false;
  BoundFile bound_field;
  std::vector<VariableBound> bounds;  ///< in a copy of a file
  bool is_copy = false;               ///< the output is one of the input
  bool bounds_alone = false;          ///< the settings have none: others are kept as they are
  bool verify = false;
  bool remove_inputs = false;  ///< those that have become verified archives
  bool strict = false;         ///< warnings are errors
  RunOptions run;
};

struct DecompressOptions {
  std::vector<std::string> archives;
  std::vector<std::string> folders;  ///< that archives were found in
  std::vector<std::string> lists;    ///< that archives were named in
  std::optional<std::string> output;
  std::optional<std::uint64_t> frame;
  std::uint64_t stride = 1;
  Box box;
  std::optional<std::string> original;
  ByteOrder byte_order = ByteOrder::little;
  RunOptions run;
};

struct CompareOptions {
  std::string original;
  std::string restored;
  FieldOptions field;
  FillValues fills;
  std::optional<double> padding;  ///< a value that is none of them
  IsoValues isovalues;
  std::optional<AskedBound> bound;
  bool strict = false;  ///< warnings are errors
  RunOptions run;
};

struct InspectOptions {
  std::vector<std::string> archives;
  std::vector<std::string> field_names;  ///< to be read instead
  std::optional<DType> dtype;            ///< of these fields
  bool frames = false;
  bool schedule = false;
  RunOptions run;
};

struct TestOptions {
  std::vector<std::string> archives;
  std::vector<std::string> lists;  ///< that archives were named in
  RunOptions run;
};

struct ListOptions {
  std::vector<std::string> archives;
  std::vector<std::string> lists;  ///< that archives were named in
  RunOptions run;
};

struct ZfpImportOptions {
  std::string input;
  std::optional<std::string> output;
  ZfpImport how;
  RunOptions run;
};

struct ZfpExportOptions {
  std::string archive;
  std::optional<std::string> output;
  RunOptions run;
};

/// A table of variants that bench makes instead of measuring one.
enum class Study { huffman, index, zfp_index };

struct BenchOptions {
  std::vector<std::string> inputs;
  FieldOptions field;
  FieldSettings settings;
  BoundFile bound_field;
  int iterations = 3;
  std::optional<Study> study;
  RunOptions run;
};

}  // namespace cuszi::app
