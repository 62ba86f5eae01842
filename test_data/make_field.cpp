#include <charconv>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>

#include "core/base/error.hpp"
#include "test_data/fields.hpp"

namespace {

using cuszi::UsageError;
using cuszi::test::FieldKind;

constexpr const char* usage =
    "Usage: make_field KIND DIMS DTYPE SEED OUTPUT\n"
    "\n"
    "Writes a raw field whose values follow from the arguments alone.\n"
    "\n"
    "  KIND    smooth, rough, sparse, constant, missing, filled, wide, ramp or steps\n"
    "  DIMS    1 to 4 extents, slowest first, like 30x192x288\n"
    "  DTYPE   f32, f64, f16, bf16, i8, u8 .. u64\n"
    "  SEED    a whole number\n"
    "  OUTPUT  the file to write\n";

FieldKind parse_kind(std::string_view text) {
  for (const auto& [kind, name] : cuszi::test::field_kinds) {
    if (name == text) return kind;
  }
  throw UsageError("there is no kind '" + std::string(text) + "'");
}

cuszi::DType parse_dtype(std::string_view text) {
  if (const auto dtype = cuszi::dtype_named(text)) return *dtype;
  throw UsageError("there is no type '" + std::string(text) + "'");
}

std::uint64_t parse_seed(std::string_view text) {
  std::uint64_t seed = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), seed);
  if (status != std::errc{} || end != text.data() + text.size()) {
    throw UsageError("the seed '" + std::string(text) + "' is not a whole number");
  }
  return seed;
}

void write_file(const std::string& path, const std::vector<std::byte>& bytes) {
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
  if (!file.flush()) throw cuszi::OutputError("cannot write '" + path + "'");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 6) {
    std::cerr << usage;
    return EXIT_FAILURE;
  }
  try {
    write_file(argv[5], make_field(parse_kind(argv[1]), cuszi::Dims::parse(argv[2]),
                                   parse_dtype(argv[3]), parse_seed(argv[4])));
  } catch (const cuszi::Error& error) {
    std::cerr << "make_field: " << error.what() << '\n';
    return 1;
  }
  return EXIT_SUCCESS;
}
