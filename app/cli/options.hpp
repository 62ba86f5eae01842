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
#include "codec/settings/settings.hpp"

namespace cuszi::app {

struct RunOptions : RunSettings {
  bool json = false;
  bool quiet = false;
  bool verbose = false;
  bool force = false;
};

inline constexpr std::string_view fill_option = "--fill-value";
/// Per frame, to find unnamed fill values; reading the frame takes longer.
inline constexpr std::uint64_t most_fill_samples = 16384;

/// --bound of a variable.
struct VariableBound {
  std::string name;
  AskedBound asked;
};

struct BoundFile {
  std::optional<std::string> path;
  std::shared_ptr<const std::vector<float>> bounds;  ///< owns what the settings point to
};

struct CompressOptions {
  std::vector<std::string> inputs;
  std::vector<std::string> folders;  ///< searched for inputs
  std::vector<std::string> lists;    ///< of inputs
  std::optional<std::string> output;
  std::optional<std::string> append;  ///< archive that gets the fields as members
  FieldOptions field;
  FieldSettings settings;
  std::optional<Target> target;  ///< replaces the bound
  bool accepts_missed_target = false;
  BoundFile bound_field;
  std::vector<VariableBound> bounds;  ///< of variables in a copy
  bool is_copy = false;               ///< the output is a container
  bool bounds_alone = false;          ///< others are unchanged
  bool no_history = false;            ///< nor attributes that describe the compression
  std::string command;                ///< as typed, for a copy's history
  bool verify = false;
  bool remove_inputs = false;  ///< after verification
  bool strict = false;         ///< warnings are errors
  RunOptions run;
};

struct ArchiveOptions {
  std::vector<std::string> archives;
  std::vector<std::string> lists;  ///< of archives
  RunOptions run;
};

struct DecompressOptions : ArchiveOptions {
  std::vector<std::string> folders;  ///< searched for archives
  std::optional<std::string> output;
  std::optional<std::uint64_t> frame;
  std::uint64_t stride = 1;
  Box box;
  std::optional<std::string> original;
  ByteOrder byte_order = ByteOrder::little;
};

struct CompareOptions {
  std::string original;
  std::string restored;
  FieldOptions field;
  FillValues fills;
  std::optional<double> padding;  ///< never suspected as a fill value
  IsoValues isovalues;
  std::optional<AskedBound> bound;
  bool strict = false;  ///< warnings are errors
  RunOptions run;
};

struct InspectOptions {
  std::vector<std::string> archives;
  std::vector<std::string> field_names;  ///< parsed instead of archives
  std::optional<DType> dtype;            ///< of these fields
  bool frames = false;
  bool schedule = false;
  RunOptions run;
};

struct TestOptions : ArchiveOptions {};
struct ListOptions : ArchiveOptions {};

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

struct BenchOptions {
  std::vector<std::string> inputs;
  FieldOptions field;
  FieldSettings settings;
  BoundFile bound_field;
  int iterations = 3;
  RunOptions run;
};

}  // namespace cuszi::app
