#include "core/archive/amendment.hpp"

#include <cmath>

#include "core/base/bytes.hpp"

namespace cuszi {

namespace {

/// The sum of three such parts does not overflow.
constexpr ByteCount most_part_bytes = ByteCount{1} << 61;

void write_grid(const ValueGrid& grid, ByteWriter& out) {
  out.put(grid.kind);
  if (grid.kind == ValueGrid::Kind::even) out.put(grid.step);
  if (grid.kind != ValueGrid::Kind::binary) return;
  out.put(grid.bound.kind);
  out.put(grid.bound.bound);
  out.put(grid.bound.share);
}

ValueGrid read_grid(ByteReader& in) {
  ValueGrid grid;
  grid.kind = in.get<ValueGrid::Kind>();
  if (grid.kind > ValueGrid::Kind::binary) throw ArchiveError("the amendment's grid is unknown");
  if (grid.kind == ValueGrid::Kind::even) {
    grid.step = in.get<double>();
    if (!(grid.step > 0) || !std::isfinite(grid.step)) {
      throw ArchiveError("the amendment's step is not a number above 0");
    }
  }
  if (grid.kind != ValueGrid::Kind::binary) return grid;
  grid.bound.kind = in.get<ValueBound::Kind>();
  grid.bound.bound = in.get<double>();
  grid.bound.share = in.get<double>();
  const bool is_known =
      grid.bound.kind >= ValueBound::Kind::share && grid.bound.kind <= ValueBound::Kind::both;
  if (!is_known || !(grid.bound.bound > 0) || !std::isfinite(grid.bound.bound) ||
      !(grid.bound.share > 0 && grid.bound.share < 1)) {
    throw ArchiveError("the amendment's bound is out of range");
  }
  return grid;
}

void read_box(ByteReader& in, Amendment& amendment) {
  std::vector<std::uint64_t> extents(in.get<std::uint8_t>());
  if (extents.size() > Dims::max_rank) throw ArchiveError("the amendment's box is impossible");
  for (std::size_t axis = 0; axis < extents.size(); ++axis) {
    amendment.box.first.at(axis) = in.varint();
    extents[axis] = in.varint();
    amendment.box.end.at(axis) = amendment.box.first.at(axis) + extents[axis];
  }
  const auto dims = Dims::make(extents);
  if (!dims) throw ArchiveError("the amendment's box is impossible");
  amendment.dims = *dims;
}

ByteCount read_size(ByteReader& in) {
  const std::uint64_t size = in.varint();
  if (size > most_part_bytes) throw ArchiveError("the amendment's sizes are impossible");
  return size;
}

}  // namespace

std::vector<std::byte> write_amended_header(const Amendment& amendment) {
  ByteWriter body;
  write_amended_feature(body);
  body.varint(amendment.base_bytes);
  body.put(static_cast<std::uint8_t>(amendment.dims.rank()));
  for (int axis = 0; axis < amendment.dims.rank(); ++axis) {
    body.varint(amendment.box.first.at(static_cast<std::size_t>(axis)));
    body.varint(amendment.dims[axis]);
  }
  write_grid(amendment.grid, body);
  body.put(static_cast<std::uint8_t>(amendment.hole ? 1 : 0));
  if (amendment.hole) body.put(*amendment.hole);
  body.varint(amendment.exact_bytes);
  body.put(amendment.exact_hash);
  body.varint(amendment.inner_bytes);
  return write_header(body.view());
}

std::optional<Amendment> read_amended_header(Bytes bytes) {
  ByteReader in(read_header_body(bytes), "the header");
  if (read_features(in) == 0) return std::nullopt;
  Amendment amendment;
  amendment.base_bytes = read_size(in);
  read_box(in, amendment);
  amendment.grid = read_grid(in);
  const auto holes = in.get<std::uint8_t>();
  if (holes > 1) throw ArchiveError("the amendment's holes are unknown");
  if (holes == 1) amendment.hole = in.get<std::uint64_t>();
  amendment.exact_bytes = read_size(in);
  amendment.exact_hash = in.get<std::uint64_t>();
  amendment.inner_bytes = read_size(in);
  in.expect_end();
  return amendment;
}

void check_amendment(const Amendment& amendment, const ArchiveHeader& base) {
  if (is_wide_integer(base.dtype)) {
    throw ArchiveError("an amended archive has values of " + std::string(name_of(base.dtype)));
  }
  const Dims& dims = base.plan.dims;
  bool fits = amendment.dims.rank() == dims.rank();
  for (int axis = 0; fits && axis < dims.rank(); ++axis) {
    const std::uint64_t first = amendment.box.first.at(static_cast<std::size_t>(axis));
    fits = first < dims[axis] && amendment.dims[axis] <= dims[axis] - first;
  }
  if (!fits) throw ArchiveError("the amendment's box does not lie in the field");
  constexpr std::uint64_t most_per_byte = std::uint64_t{1} << 17;
  const ByteCount values = amendment.dims.count() * size_of(base.dtype);
  if (values / most_per_byte > amendment.exact_bytes + amendment.inner_bytes) {
    throw ArchiveError("the amendment is too small for its box");
  }
}

}  // namespace cuszi
