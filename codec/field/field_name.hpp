#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "codec/io/byte_order.hpp"
#include "core/base/dims.hpp"
#include "core/base/dtype.hpp"

namespace cuszi {

/// What the user says of a raw field; the rest stands in its name.
struct FieldOptions {
  std::optional<Dims> dims;
  std::optional<DType> dtype;
  std::optional<ByteCount> skip_bytes;
  ByteOrder byte_order = ByteOrder::little;
};

/// How a raw field lies in a file.
struct FieldLayout {
  DType dtype = DType::f32;
  Dims dims;
  ByteCount skip_bytes = 0;  ///< in front of the values
  ByteOrder byte_order = ByteOrder::little;
  bool may_go_on = false;  ///< other bytes may follow the values

  ByteCount field_bytes() const { return dims.count() * size_of(dtype); }
};

/// True if a name has more than this ending, which is in lower case, in either case.
bool ends_with(std::string_view name, std::string_view ending);

/// True if a name ends as those of raw fields do, and not as those of restored ones: .f32, .f64,
/// .d64, .dat, .bin or .raw, in either case.
bool is_field_name(const std::string& path);

/// The type that a name's ending stands for: .f32, .f64 or .d64, also in front of .dat, .bin or
/// .raw.
std::optional<DType> dtype_in_name(const std::string& path);

/// The dims in a path, slowest first, by the first of these rules:
/// - extents with crosses in the file's name, which make up the file's `values` or are the last:
///   U_100x500x500_t48.f32, QC-100x500x500.log10.f32;
/// - numbers there, joined with underscores or hyphens, or a lone one, if their product is
///   `values`: CLDHGH_1_1800_3600.f32, xx_233217.f32;
/// - extents with crosses in the name of a folder, the nearest whose product is `values`:
///   SDRBENCH-Hurricane-100x500x500/Uf48.bin.f32.
/// The folders of a relative path are those from the root on.
std::optional<Dims> dims_in_name(const std::string& path, std::optional<std::uint64_t> values);

/// The layout of a field whose file has `file_bytes` (nothing for a pipe): what the user says, else
/// what the name says. Where the user gives both dims and bytes to skip, others may follow. Throws
/// UsageError if neither says it.
FieldLayout layout_of(const std::string& path, const FieldOptions& options,
                      std::optional<ByteCount> file_bytes);

/// A field's name without what says that it is an archive, and of what: "U_5x5" for
/// U_5x5.f32.cuszi.
std::string field_stem(const std::string& archive_path);

}  // namespace cuszi
