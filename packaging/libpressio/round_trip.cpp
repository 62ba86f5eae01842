/// Compresses and restores a buffer by the compressor "cuszi", which the linked plugin has
/// registered.
#include <libpressio.h>
#include <libpressio_ext/cpp/libpressio.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <memory>
#include <string>
#include <vector>

namespace {

void require(bool holds, const std::string& what) {
  if (holds) return;
  std::fprintf(stderr, "not so: %s\n", what.c_str());
  std::exit(1);
}

pressio_compressor compressor(const pressio_options& options) {
  pressio library;
  pressio_compressor made = library.get_compressor("cuszi");
  require(static_cast<bool>(made), "cuszi is registered");
  require(made->check_options(options) == 0 && made->set_options(options) == 0,
          std::string("options: ") + made->error_msg());
  return made;
}

double largest_error(const pressio_data& one, const pressio_data& other) {
  const std::vector<double> a = one.to_vector<double>(), b = other.to_vector<double>();
  require(a.size() == b.size(), "as many values");
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i] < 1e19 || a[i] != b[i]) largest = std::max(largest, std::abs(a[i] - b[i]));
  }
  return largest;
}

/// 30 x 20 x 10, fastest first.
template <class T>
pressio_data field() {
  std::vector<T> values;
  for (int i = 0; i < 6000; ++i)
    values.push_back(static_cast<T>(std::sin(i % 30 / 9.0) + i / 600 / 5.0));
  return pressio_data::copy(libpressio::pressio_dtype_from_type<T>(), values.data(), {30, 20, 10});
}

/// The archive's bytes, which restore to values within the bound.
std::size_t check(pressio_compressor& used, const pressio_data& input, double bound) {
  pressio_data archive = pressio_data::empty(pressio_byte_dtype, {});
  pressio_data restored = pressio_data::owning(input.dtype(), input.dimensions());
  require(used->compress(&input, &archive) == 0, std::string("compresses: ") + used->error_msg());
  require(used->decompress(&archive, &restored) == 0,
          std::string("restores: ") + used->error_msg());
  require(restored.dimensions() == input.dimensions(), "dims");
  require(largest_error(input, restored) <= bound, "the bound");
  return archive.size_in_bytes();
}

/// Over a third of the type's range.
template <class T>
void check_integers() {
  std::vector<T> values;
  const auto most = static_cast<double>(std::numeric_limits<T>::max());
  for (int i = 0; i < 6000; ++i)
    values.push_back(static_cast<T>(most / 2 + most / 6 * std::sin(i % 30 / 9.0)));
  const pressio_data input =
      pressio_data::copy(libpressio::pressio_dtype_from_type<T>(), values.data(), {30, 20, 10});
  const double bound = std::floor(most / 100);
  pressio_compressor used = compressor({{"pressio:abs", bound}});
  require(check(used, input, bound) * 4 < input.size_in_bytes(), "a small archive of integers");
  pressio_compressor lossless = compressor({{"pressio:abs", 0.0}});
  check(lossless, input, 0);
}

/// Bounds that are a share of each value, over six decades.
void check_shares() {
  std::vector<double> values;
  for (int i = 0; i < 6000; ++i) values.push_back(std::sin(i / 9.0) * std::pow(10, i / 1000));
  const pressio_data input = pressio_data::copy(pressio_double_dtype, values.data(), {30, 20, 10});
  pressio_data archive = pressio_data::empty(pressio_byte_dtype, {});
  pressio_data restored = pressio_data::owning(pressio_double_dtype, {30, 20, 10});
  pressio_compressor used = compressor({{"pressio:pw_rel", 1e-3}});
  require(used->compress(&input, &archive) == 0 && used->decompress(&archive, &restored) == 0,
          std::string("a share of each value: ") + used->error_msg());
  const std::vector<double> found = restored.to_vector<double>();
  for (std::size_t i = 0; i < values.size(); ++i)
    require(std::abs(found[i] - values[i]) <= 1e-3 * std::abs(values[i]), "the share");
  require(archive.size_in_bytes() * 3 < input.size_in_bytes(), "a small archive of shares");
}

void refuse(const pressio_options& options, const std::string& text) {
  pressio library;
  pressio_compressor made = library.get_compressor("cuszi");
  require(made->set_options(options) != 0 && made->error_msg() == text, made->error_msg());
}

}  // namespace

int main() {
  pressio_compressor used =
      compressor({{"pressio:abs", 1e-3}, {"pressio:nthreads", std::uint32_t{1}}});
  require(check(used, field<float>(), 1e-3) < 6000, "a small archive");
  require(check(used, field<double>(), 1e-3) < 6000, "a small archive of double");
  double bound = 0;
  require(
      used->get_options().get("pressio:abs", &bound) == pressio_options_key_set && bound == 1e-3,
      "the option is told");

  std::shared_ptr<libpressio::compressors::libpressio_compressor_plugin> copy = used->clone();
  pressio_compressor cloned(std::move(copy));
  require(check(cloned, field<float>(), 1e-3) == check(used, field<float>(), 1e-3),
          "a clone has the options");

  pressio_compressor lossless = compressor({{"pressio:rel", 0.0}, {"cuszi:preset", "cusz"}});
  check(lossless, field<double>(), 0);
  check_shares();
  check_integers<std::int8_t>(), check_integers<std::uint8_t>();
  check_integers<std::int16_t>(), check_integers<std::uint16_t>();
  check_integers<std::int32_t>(), check_integers<std::uint32_t>();
  check_integers<std::int64_t>(), check_integers<std::uint64_t>();
  pressio_compressor small = compressor({{"cuszi:ratio", 20.0}});
  require(check(small, field<float>(), 1) * 20 <= 24000, "a target");

  pressio_data filled = field<float>();
  static_cast<float*>(filled.data())[17] = 1e20F;
  const std::vector<double> fills = {1e20, -999};
  pressio_compressor masked =
      compressor({{"pressio:abs", 1e-3}, {"cuszi:fill", pressio_data(fills.begin(), fills.end())}});
  check(masked, filled, 1e-3);
  pressio_compressor warns = compressor({{"pressio:rel", 1e-3}});
  for (int i = 0; i < 100; ++i) static_cast<float*>(filled.data())[60 * i] = 1e20F;
  pressio_data archive = pressio_data::empty(pressio_byte_dtype, {});
  require(warns->compress(&filled, &archive) == 0, "compresses");
  std::string warning;
  warns->get_metrics_results().get("cuszi:warning", &warning);
  require(warning.find("1e+20") != std::string::npos, "a warning: " + warning);

  refuse({{"cuszi:preset", "best"}},
         "cuszi:preset 'best' is not one of balanced, cusz, cuszi, fast, ratio, zfp");
  refuse({{"pressio:abs", 1.0}, {"pressio:rel", 1.0}},
         "more than one of pressio:abs, pressio:rel, pressio:pw_rel, cuszi:psnr, cuszi:ratio");
  pressio_data bytes = pressio_data::owning(pressio_byte_dtype, {10});
  require(used->compress(&bytes, &archive) == 1, "bytes are refused");
  require(std::string(used->error_msg()) == "values that are neither floats nor integers",
          used->error_msg());
  pressio_data restored = pressio_data::owning(pressio_float_dtype, {10});
  require(used->decompress(&bytes, &restored) != 0, "no archive is refused");
  std::puts("done");
  return 0;
}
