#include "app/report/layout_warning.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "app/cli/names.hpp"
#include "codec/field/layout_check.hpp"

namespace cuszi::app {

namespace {

ReadValues reader_of(const FieldSource& field, Bytes first_frame) {
  const ByteCount width = size_of(field.layout().dtype);
  if (!field.is_stream()) {
    return [&field, width](std::uint64_t first, MutableBytes out) {
      field.read_part(0, first * width, out);
    };
  }
  return [width, first_frame](std::uint64_t first, MutableBytes out) {
    const Bytes part = first_frame.subspan(first * width, out.size());
    std::copy(part.begin(), part.end(), out.begin());
  };
}

}  // namespace

LayoutWarning layout_warning(const FieldSource& field, Bytes first_frame, const FillValues& fills) {
  const FieldLayout& layout = field.layout();
  const ReadValues read = reader_of(field, first_frame);
  const std::uint64_t values =
      field.is_stream() ? field.plan().frame_dims(0).count() : layout.dims.count();
  if (const auto strange = strange_value(layout, values, read)) {
    const ByteOrder other =
        layout.byte_order == ByteOrder::little ? ByteOrder::big : ByteOrder::little;
    return {
        fmt::format("values like {:.3g} look as if it were of the other byte order; if so, give "
                    "--byte-order {}",
                    *strange, name_of(other)),
        true};
  }
  if (const auto other = smoother_dims(layout, values, fills, read)) {
    return {fmt::format(
        "as {} it would be {:.1f} times smoother than as {}; if those are its dims, "
        "slowest first, give --dims {}",
        other->dims.to_string(), other->gain, layout.dims.to_string(), other->dims.to_string())};
  }
  return {};
}

}  // namespace cuszi::app
