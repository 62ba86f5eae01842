#include "core/archive/archive.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <string>
#include <string_view>

#include "core/base/bytes.hpp"

namespace cuszi {

namespace {

/// Like PNG's: a byte that is not ASCII, the name, and line ends that text-mode transfers change.
constexpr std::array<std::uint8_t, 8> magic{0x89, 'C', 'U', 'S', 'Z', 'I', '\r', '\n'};
constexpr std::uint32_t footer_magic = 0x5A535543;  // "CUSZ"
constexpr std::string_view amended_name = "amended";
constexpr ByteCount hash_bytes = sizeof(std::uint64_t);

Bytes checked_body(Bytes bytes, const char* what) {
  if (bytes.size() < hash_bytes) throw ArchiveError(std::string(what) + " is truncated");
  const Bytes body = bytes.first(bytes.size() - hash_bytes);
  if (ByteReader(bytes.subspan(body.size()), what).get<std::uint64_t>() != block_hash(body)) {
    throw ArchiveError(std::string(what) + " is damaged (its checksum does not match)");
  }
  return body;
}

std::string read_feature_name(ByteReader& in) {
  std::string name;
  for (const std::byte letter : in.take(in.get<std::uint8_t>())) {
    name += std::to_integer<char>(letter);
  }
  const auto is_plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
  };
  if (name.empty() || !std::all_of(name.begin(), name.end(), is_plain)) {
    throw ArchiveError("the header needs a feature without a name");
  }
  return name;
}

FieldCuts read_plan(ByteReader& in) {
  std::vector<std::uint64_t> extents(in.get<std::uint8_t>());
  for (std::uint64_t& extent : extents) extent = in.varint();
  const auto dims = Dims::make(extents);
  if (!dims) throw ArchiveError("the header's dims are impossible");
  FieldCuts plan{*dims, in.get<std::uint8_t>(), in.varint()};
  if (plan.axis >= dims->rank() || plan.height == 0 || plan.height > (*dims)[plan.axis]) {
    throw ArchiveError("the header's frames do not fit its dims");
  }
  return plan;
}

}  // namespace

void write_amended_feature(ByteWriter& out) {
  out.put(feature_amended);
  out.put(static_cast<std::uint8_t>(amended_name.size()));
  out.append(std::as_bytes(std::span(amended_name)));
}

std::uint32_t read_features(ByteReader& in) {
  const auto features = in.get<std::uint32_t>();
  for (std::uint32_t left = features; left != 0; left &= left - 1) {
    const std::string name = read_feature_name(in);
    const int bit = std::countr_zero(left);
    if (std::uint32_t{1} << bit == feature_amended && name == amended_name) continue;
    throw ArchiveError("the archive needs feature " + std::to_string(bit) + " (" + name +
                       "), which this version does not support; a later one may");
  }
  return features;
}

std::vector<std::byte> write_header(Bytes body) {
  ByteWriter out;
  out.append(std::as_bytes(std::span(magic)));
  out.put(format_version);
  out.put(static_cast<std::uint16_t>(body.size() + hash_bytes));
  out.append(body);
  out.put(block_hash(body));
  return out.take();
}

Bytes read_header_body(Bytes bytes) { return checked_body(bytes, "the header"); }

std::vector<std::byte> write_archive_header(const ArchiveHeader& header) {
  ByteWriter body;
  body.put(std::uint32_t{0});  // features
  body.put(header.dtype);
  body.put(header.mode);
  const std::array bounds{header.bound_asked, header.bound_absolute, header.share_asked};
  for (std::size_t i = 0; i < (has_two_bounds(header.mode) ? 3 : 2); ++i) body.put(bounds.at(i));
  body.put(static_cast<std::uint8_t>(header.fills.count));
  for (std::size_t i = 0; i < header.fills.count; ++i) {
    body.put(header.fills.values.at(i));
  }
  body.put(static_cast<std::uint8_t>(header.plan.dims.rank()));
  for (const std::uint64_t extent : header.plan.dims.extents()) body.varint(extent);
  body.put(static_cast<std::uint8_t>(header.plan.axis));
  body.varint(header.plan.height);
  return write_header(body.view());
}

bool begins_archive(Bytes bytes) {
  return bytes.size() >= magic.size() && may_begin_archive(bytes);
}

bool may_begin_archive(Bytes bytes) {
  const Bytes expected = std::as_bytes(std::span(magic));
  const std::size_t known = std::min(bytes.size(), expected.size());
  return std::equal(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(known),
                    expected.begin());
}

ByteCount read_archive_prefix(Bytes prefix) {
  if (!begins_archive(prefix)) {
    throw ArchiveError("not a cuszi archive (it does not begin with the magic bytes)");
  }
  ByteReader in(prefix.subspan(magic.size()), "the header");
  const auto version = in.get<std::uint16_t>();
  if (version != format_version) {
    throw ArchiveError("the archive has format version " + std::to_string(version) +
                       "; this cuszi reads version " + std::to_string(format_version));
  }
  return in.get<std::uint16_t>();
}

ArchiveHeader read_archive_header(Bytes bytes) {
  ByteReader in(read_header_body(bytes), "the header");
  if (read_features(in) != 0) throw ArchiveError("an amended archive is nested in another");
  ArchiveHeader header;
  header.dtype = in.get<DType>();
  header.mode = in.get<ErrorMode>();
  header.bound_asked = in.get<double>();
  header.bound_absolute = in.get<double>();
  if (header.dtype > DType::u64 || header.mode > ErrorMode::absolute_and_pointwise) {
    throw ArchiveError("the header's dtype or error mode is unknown");
  }
  if (has_two_bounds(header.mode)) header.share_asked = in.get<double>();
  if (!std::isfinite(header.bound_asked) || !(header.bound_absolute >= 0)) {
    throw ArchiveError("the header's error bound is not a number of at least 0");
  }
  if (!(header.share_asked >= 0 && header.share_asked < 1)) {
    throw ArchiveError("the header's share of each value is not from 0 to below 1");
  }
  const auto fills = in.get<std::uint8_t>();
  if (fills > FillValues::max_count) throw ArchiveError("the header has too many fill values");
  for (unsigned i = 0; i < fills; ++i) header.fills.add(in.get<double>());
  header.plan = read_plan(in);
  in.expect_end();
  return header;
}

std::vector<std::byte> write_archive_footer(const std::vector<ByteCount>& frame_bytes) {
  ByteWriter body;
  for (const ByteCount size : frame_bytes) body.varint(size);
  ByteWriter out;
  out.append(body.view());
  out.put(block_hash(body.view()));
  out.put(body.size() + hash_bytes + archive_trailer_bytes);
  out.put(footer_magic);
  return out.take();
}

ByteCount read_archive_trailer(Bytes trailer) {
  ByteReader in(trailer, "the footer");
  const auto size = in.get<std::uint64_t>();
  if (in.get<std::uint32_t>() != footer_magic || size < hash_bytes + archive_trailer_bytes) {
    throw ArchiveError("the archive does not end with a footer (is it truncated?)");
  }
  return size;
}

std::vector<ByteCount> read_archive_footer(Bytes footer) {
  const ByteCount body_bytes = footer.size() - archive_trailer_bytes;
  ByteReader in(checked_body(footer.first(body_bytes), "the footer"), "the footer");
  std::vector<ByteCount> sizes;
  while (in.remaining() != 0) sizes.push_back(in.varint());
  return sizes;
}

}  // namespace cuszi
