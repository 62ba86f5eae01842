#include "codec/files/npy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "core/base/error.hpp"

namespace cuszi {

namespace {

constexpr std::string_view magic = "\x93NUMPY";
constexpr std::size_t version_at = magic.size();
constexpr std::size_t size_at = magic.size() + 2;
constexpr std::uint64_t most_header_bytes = 1 << 20;

/// A Python dictionary.
struct Header {
  std::string name;
  std::string text;
  ByteCount end = 0;

  [[noreturn]] void refuse(const std::string& why) const { throw InputError(name + ": " + why); }

  std::string_view value_of(std::string_view key) const {
    for (const char quote : {'\'', '"'}) {
      const std::size_t at = text.find(fmt::format("{}{}{}:", quote, key, quote));
      if (at == std::string::npos) continue;
      std::string_view value = std::string_view(text).substr(at + key.size() + 3);
      value.remove_prefix(std::min(value.find_first_not_of(' '), value.size()));
      return value;
    }
    refuse(fmt::format("its header has no {}; it is not a .npy file, or damaged", key));
  }
};

Header read_header(const FileSource& file) {
  Header header;
  header.name = file.name();
  std::array<std::byte, 12> start{};
  const std::size_t got = file.size() ? file.read_at(0, start) : 0;
  const auto byte_at = [&](std::size_t at) { return std::to_integer<std::uint64_t>(start.at(at)); };
  const bool is_npy = got == start.size() &&
                      std::equal(magic.begin(), magic.end(), start.begin(),
                                 [](char a, auto b) { return static_cast<std::byte>(a) == b; });
  if (!is_npy) header.refuse("is not a .npy file");
  const std::uint64_t version = byte_at(version_at);
  if (version < 1 || version > 3) {
    header.refuse(fmt::format("has .npy version {}; 1 to 3 are supported", version));
  }
  const std::size_t width = version == 1 ? 2 : 4;
  std::uint64_t size = 0;
  for (std::size_t i = 0; i < width; ++i) size |= byte_at(size_at + i) << (8 * i);
  header.end = size_at + width + size;
  if (size > most_header_bytes || header.end > *file.size())
    header.refuse("ends inside its header");
  header.text.resize(size);
  file.read_at(size_at + width, std::as_writable_bytes(std::span(header.text)));
  return header;
}

/// Type and size; bfloat16 as ml_dtypes writes it.
std::string numpy_name(DType dtype) {
  constexpr std::array letters{'f', 'i', 'u'};
  const char letter =
      dtype == DType::bf16 ? 'V' : letters.at(static_cast<std::size_t>(row_of(dtype).kind));
  return fmt::format("{}{}", letter, size_of(dtype));
}

/// '<f4' and similar.
void read_type(const Header& header, NpyArray& array) {
  const std::string_view value = header.value_of("descr");
  const std::string_view type =
      value.substr(0, std::min<std::size_t>(value.find_first_of(",}"), 8));
  const bool has_form = type.size() == 5 && std::string_view("<>|").find(type[1]) != type.npos;
  for (std::size_t i = 0; i < dtype_table.size(); ++i) {
    array.dtype = static_cast<DType>(i);
    if (has_form && type.substr(2, 2) == numpy_name(array.dtype)) {
      array.byte_order = type[1] == '>' ? ByteOrder::big : ByteOrder::little;
      return;
    }
  }
  header.refuse(
      fmt::format("contains {}, not f2 to f8, i1 to i8 or u1 to u8; convert it first", type));
}

/// (20, 30, 40)
std::vector<std::uint64_t> read_shape(const Header& header) {
  const std::string_view value = header.value_of("shape");
  const std::string_view shape = value.substr(0, value.find(')'));
  std::vector<std::uint64_t> extents;
  for (std::size_t at = 0; at < shape.size();) {
    std::uint64_t extent = 0;
    const auto [next, status] = std::from_chars(&shape[at], shape.data() + shape.size(), extent);
    if (status == std::errc{}) extents.push_back(extent);
    if (status == std::errc::result_out_of_range) header.refuse("its shape is too large");
    at = status == std::errc{} ? static_cast<std::size_t>(next - shape.data()) : at + 1;
  }
  return extents;
}

bool is_possible_shape(std::span<const std::uint64_t> shape) {
  constexpr std::uint64_t most = std::uint64_t{1} << 60;
  std::uint64_t values = 1;
  for (const std::uint64_t extent : shape) {
    if (extent == 0 || extent > most / values) return false;
    values *= extent;
  }
  return true;
}

}  // namespace

NpyArray npy_array(const FileSource& file) {
  const Header header = read_header(file);
  NpyArray array;
  array.header_bytes = header.end;
  array.shape = read_shape(header);
  array.is_fortran = header.value_of("fortran_order").starts_with("True");
  read_type(header, array);
  const std::string text = fmt::format("{}", fmt::join(array.shape, "x"));
  if (!is_possible_shape(array.shape)) {
    header.refuse(fmt::format("its shape is {}; 1 to 2^60 values can be compressed", text));
  }
  const ByteCount there = *file.size() - header.end;
  if (there < array.bytes()) {
    header.refuse(fmt::format("is too short for its {} values of {}", text, name_of(array.dtype)));
  }
  array.bytes_behind = there - array.bytes();
  return array;
}

std::string npy_header(DType dtype, ByteOrder order, const Dims& dims) {
  constexpr std::size_t alignment = 64;
  const std::string shape =
      fmt::format("{}{}", fmt::join(dims.extents(), ", "), dims.rank() == 1 ? "," : "");
  const char ends = size_of(dtype) == 1 ? '|' : (order == ByteOrder::big ? '>' : '<');
  std::string text = fmt::format("{{'descr': '{}{}', 'fortran_order': False, 'shape': ({}), }}",
                                 ends, numpy_name(dtype), shape);
  const std::size_t start = size_at + 2;
  text.append(alignment - 1 - (start + text.size()) % alignment, ' ');
  text += '\n';
  std::string header(magic);
  header +=
      {'\x01', '\0', static_cast<char>(text.size() & 0xff), static_cast<char>(text.size() >> 8)};
  return header + text;
}

namespace {

/// Slabs of the last axis read together: a run in C order per position.
constexpr std::uint64_t most_slabs = 32;

/// Iterates over all but the last index, first axis fastest, with C-order offsets.
class CPlaces {
 public:
  explicit CPlaces(const std::vector<std::uint64_t>& shape)
      : shape_(shape.begin(), shape.end() - 1), index_(shape_.size()), strides_(shape_.size()) {
    std::uint64_t stride = shape.back();
    for (std::size_t axis = shape_.size(); axis-- > 0; stride *= shape_[axis]) {
      strides_[axis] = stride;
    }
  }

  std::uint64_t place() const { return place_; }

  void next() {
    for (std::size_t axis = 0; axis < shape_.size(); ++axis) {
      place_ += strides_[axis];
      if (++index_[axis] < shape_[axis]) return;
      place_ -= strides_[axis] * shape_[axis];
      index_[axis] = 0;
    }
  }

 private:
  std::vector<std::uint64_t> shape_;
  std::vector<std::uint64_t> index_;
  std::vector<std::uint64_t> strides_;
  std::uint64_t place_ = 0;
};

/// Moves values as integers.
template <class Word>
void read_in_c_order(const FileSource& file, const NpyArray& array, MutableBytes out) {
  auto* const values = reinterpret_cast<Word*>(out.data());
  const std::uint64_t slabs = array.shape.back();
  const std::uint64_t slab = array.values() / slabs;
  Buffer buffer;
  for (std::uint64_t first = 0; first < slabs; first += most_slabs) {
    const std::uint64_t count = std::min(most_slabs, slabs - first);
    const MutableBytes bytes = buffer.resize(count * slab * sizeof(Word));
    if (file.read_at(array.header_bytes + first * slab * sizeof(Word), bytes) != bytes.size()) {
      throw InputError(file.name() + ": was changed while it was read; wait until it is written");
    }
    const auto* const read = reinterpret_cast<const Word*>(bytes.data());
    CPlaces to(array.shape);
    for (std::uint64_t i = 0; i < slab; ++i, to.next()) {
      Word* const run = values + to.place() + first;
      for (std::uint64_t k = 0; k < count; ++k) run[k] = read[k * slab + i];
    }
  }
}

}  // namespace

FortranSource::FortranSource(std::unique_ptr<FileSource> file, NpyArray array)
    : file_(std::move(file)), array_(std::move(array)) {}

std::size_t FortranSource::read_at(ByteCount offset, MutableBytes out) const {
  std::call_once(once_, [this] {
    const MutableBytes values = values_.resize(array_.bytes());
    with_word_of(array_.dtype,
                 [&](auto zero) { read_in_c_order<decltype(zero)>(*file_, array_, values); });
  });
  const Bytes values = values_.view();
  const Bytes rest = values.subspan(std::min<ByteCount>(offset, values.size()));
  const std::size_t count = std::min(rest.size(), out.size());
  std::copy_n(rest.begin(), count, out.begin());
  return count;
}

}  // namespace cuszi
