#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "codec/files/npy.hpp"
#include "codec/io/byte_source.hpp"
#include "core/base/error.hpp"
#include "test_data/random.hpp"

namespace {

using namespace cuszi;

constexpr std::size_t choice_bytes = 48;

void require(bool kept, const char* promise) {
  if (!kept) throw std::logic_error(promise);
}

/// A header that NumPy could write, or one with a part of the input in it.
struct Header {
  std::string text;
  std::vector<std::uint64_t> extents;  ///< as it says them; empty if the input is in it

  Header(test::Random& random, std::string_view input) {
    const bool fortran = random.one_in(2);
    std::vector<std::uint64_t> shape(1 + random.below(5));
    for (std::uint64_t& extent : shape) extent = 1 + random.below(5);
    std::string parts[] = {random.pick({"'<f4'", "'>f4'", "'<f8'", "'>f8'"}),
                           fortran ? "True" : "False",
                           fmt::format("({},)", fmt::join(shape, ", "))};
    const std::uint64_t replaced = random.below(5);
    if (replaced < std::size(parts)) parts[replaced] = input;
    text = fmt::format("{{'descr': {}, 'fortran_order': {}, 'shape': {}, }}", parts[0], parts[1],
                       parts[2]);
    if (replaced == std::size(parts)) text = input;
    if (replaced <= std::size(parts)) return;
    extents = shape;
  }
};

std::string file_of(test::Random& random, const std::string& text) {
  const auto version =
      static_cast<char>(random.one_in(8) ? random.below(256) : 1 + random.below(3));
  std::string size(version == 1 ? 2 : 4, '\0');
  const std::uint64_t claimed = random.one_in(8) ? random.next() : text.size();
  for (std::size_t i = 0; i < size.size(); ++i) size[i] = static_cast<char>(claimed >> (8 * i));
  return std::string("\x93NUMPY") + version + '\0' + size + text +
         std::string(random.one_in(4) ? random.below(100) : 5000, 'v');
}

FileDescriptor in_memory(const std::string& bytes) {
  FileDescriptor file(::memfd_create("npy", 0));
  const Bytes all = std::as_bytes(std::span(bytes));
  if (!file.is_open() || !write_all(file.get(), all)) std::abort();
  return file;
}

}  // namespace

/// Reads the input, behind choices of a header, as a part of it or as the whole file.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const std::size_t choices = std::min(size, choice_bytes);
  test::Random random(std::as_bytes(std::span(data, choices)));
  const Header header(random, input.substr(choices));
  const bool whole = random.one_in(8);
  const std::string bytes = whole ? std::string(input) : file_of(random, header.text);
  try {
    auto file = std::make_unique<FileSource>(in_memory(bytes), "x.npy");
    const NpyArray array = npy_array(*file);
    require(array.header_bytes + array.bytes() + array.bytes_behind == bytes.size(),
            "not all bytes of the file");
    const bool known = !whole && !header.extents.empty();
    require(!known || array.shape == header.extents, "a shape that no header has");
    std::vector<std::byte> values(array.bytes());
    FortranSource source(std::move(file), array);
    require(array.shape.empty() || source.read(values) == values.size(), "not all values");
  } catch (const InputError&) {  // the only way in which it may be refused
  }
  return 0;
}
