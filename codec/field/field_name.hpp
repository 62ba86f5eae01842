#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "codec/io/byte_source.hpp"
#include "core/base/dims.hpp"
#include "core/base/dtype.hpp"

namespace cuszi {

/// What the user states of a raw field; its name states the rest.
struct FieldOptions {
  std::optional<Dims> dims;
  std::optional<DType> dtype;
  std::optional<ByteCount> skip_bytes;
  ByteOrder byte_order = ByteOrder::little;
};

struct FieldLayout {
  DType dtype = DType::f32;
  Dims dims;
  ByteCount skip_bytes = 0;  ///< before the values
  ByteOrder byte_order = ByteOrder::little;
  bool may_go_on = false;  ///< more bytes may follow

  ByteCount field_bytes() const { return dims.count() * size_of(dtype); }
};

/// Case-insensitive; `ending` is in lower case.
bool ends_with(std::string_view name, std::string_view ending);

/// Whether a name ends in a type's name, .d64, .dat, .bin or .raw, case-insensitive, and not as a
/// restored one.
bool is_field_name(const std::string& path);

/// Type of an ending like .f32, .u16 or .d64, also before .dat, .bin or .raw.
std::optional<DType> dtype_in_name(const std::string& path);

/// Dims in a path, slowest first, by the first matching rule:
/// - extents joined by "x" in the file name, those of `values` points, else the last:
///   U_100x500x500_t48.f32;
/// - a number, or numbers joined by "_" or "-", of product `values`: CLDHGH_1_1800_3600.f32;
/// - extents joined by "x" in the nearest folder name of product `values`:
///   SDRBENCH-Hurricane-100x500x500/Uf48.bin.f32.
std::optional<Dims> dims_in_name(const std::string& path, std::optional<std::uint64_t> values);

/// `file_bytes` is nullopt for a pipe. User options precede the name; given dims and bytes to skip,
/// more bytes may follow. Throws UsageError if dims or type are unknown.
FieldLayout layout_of(const std::string& path, const FieldOptions& options,
                      std::optional<ByteCount> file_bytes);

/// Name without endings: "U_5x5" for U_5x5.f32.cuszi.
std::string field_stem(const std::string& archive_path);

}  // namespace cuszi
