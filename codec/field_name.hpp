#pragma once

#include <optional>
#include <string>

#include "codec/byte_order.hpp"
#include "core/dims.hpp"
#include "core/dtype.hpp"

namespace cuszi {

/// What the user says of a raw field; the rest stands in its name.
struct FieldOptions {
  std::optional<Dims> dims;
  std::optional<DType> dtype;
  ByteCount skip_bytes = 0;
  ByteOrder byte_order = ByteOrder::little;
};

/// How a raw field lies in a file.
struct FieldLayout {
  DType dtype = DType::f32;
  Dims dims;
  ByteCount skip_bytes = 0;  ///< in front of the values
  ByteOrder byte_order = ByteOrder::little;

  ByteCount field_bytes() const { return dims.count() * size_of(dtype); }
};

/// The type that a name's ending stands for: .f32, .f64 or .d64.
std::optional<DType> dtype_in_name(const std::string& path);

/// The dims that end a name in front of its ending, slowest first: U_100x500x500.f32, or with
/// underscores CLDHGH_1_1800_3600.f32. Numbers joined with underscores, or a lone number, count
/// only if they make up the file's `values`: other numbers may precede them.
std::optional<Dims> dims_in_name(const std::string& path, std::optional<std::uint64_t> values);

/// The layout of a field whose file has `file_bytes` (nothing for a pipe): what the user says, else
/// what the name says. Throws UsageError if neither says it, InputError if a file has another size
/// than its name says.
FieldLayout layout_of(const std::string& path, const FieldOptions& options,
                      std::optional<ByteCount> file_bytes);

/// A field's name without what says that it is an archive, and of what: "U_5x5" for
/// U_5x5.f32.cuszi.
std::string field_stem(const std::string& archive_path);

}  // namespace cuszi
