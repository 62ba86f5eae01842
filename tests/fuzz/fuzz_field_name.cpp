#include <charconv>
#include <cstdint>
#include <stdexcept>
#include <string>

#include "codec/field/field_name.hpp"
#include "core/base/error.hpp"
#include "test_data/random.hpp"

namespace {

using namespace cuszi;

void require(bool kept, const char* promise) {
  if (!kept) throw std::logic_error(promise);
}

/// The product of the last `count` numbers in a name, so that sizes which fit it are tried.
std::uint64_t product_in(const std::string& name, std::uint64_t count) {
  std::uint64_t product = 1;
  std::size_t end = name.size();
  for (; count > 0; --count) {
    const std::size_t last = name.find_last_of("0123456789", end == 0 ? 0 : end - 1);
    if (end == 0 || last == std::string::npos) break;
    const std::size_t before = name.find_last_not_of("0123456789", last);
    const std::size_t first = before == std::string::npos ? 0 : before + 1;
    std::uint64_t number = 0;
    std::from_chars(name.data() + first, name.data() + last + 1, number);
    product *= number;
    end = first;
  }
  return product;
}

void check(const Dims& dims) {
  require(dims.rank() >= 1 && dims.count() >= 1, "dims without a value");
  require(Dims::parse(dims.to_string()) == dims, "dims that are not what they are written as");
}

}  // namespace

/// Reads the input as the name of a field's file of this or that size.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const Bytes input = std::as_bytes(std::span(data, size));
  test::Random random(input.first(std::min<std::size_t>(size, 16)));
  FieldOptions options;
  if (random.one_in(2)) options.dtype = random.pick({DType::f32, DType::f64});
  if (random.one_in(4)) options.skip_bytes = random.below(100);
  const std::uint64_t wanted = random.below(6);
  const std::uint64_t other = random.next() >> random.below(64);
  const Bytes rest = input.subspan(std::min<std::size_t>(size, 16));
  const std::string path(reinterpret_cast<const char*>(rest.data()), rest.size());
  std::optional<std::uint64_t> values;
  if (wanted > 0) values = wanted == 5 ? other : product_in(path, wanted);

  require(path.starts_with(field_stem(path)), "a stem that is no part of its name");
  if (const auto dims = dims_in_name(path, values)) check(*dims);
  const DType dtype = options.dtype.value_or(dtype_in_name(path).value_or(DType::f32));
  std::optional<ByteCount> file_bytes;
  if (values) file_bytes = *values * size_of(dtype) + options.skip_bytes.value_or(0);
  try {
    const FieldLayout layout = layout_of(path, options, file_bytes);
    check(layout.dims);
    require(layout.dtype == dtype, "a type that is not what the user or the name says");
    require(layout.skip_bytes == options.skip_bytes.value_or(0),
            "other bytes are skipped than asked for");
  } catch (const UsageError&) {  // the only ways in which a name may be refused
  } catch (const InputError&) {
  }
  return 0;
}
