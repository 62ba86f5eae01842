#include <zfp.h>

#include <algorithm>
#include <memory>

#include "cpu_ref/zfp/zfp.hpp"
#include "tests/property/random_frame.hpp"
#include "tests/property/zfp_case.hpp"
#include "tests/property/zfp_published.hpp"
#include "tests/support/catch.hpp"

namespace cuszi::test {

namespace {

template <class T>
constexpr zfp_type type_of() {
  if constexpr (std::is_floating_point_v<T>) {
    return sizeof(T) == 4 ? zfp_type_float : zfp_type_double;
  } else {
    return sizeof(T) == 4 ? zfp_type_int32 : zfp_type_int64;
  }
}

/// The zfp library, set to a case's field and parameters.
template <class T>
class Library {
 public:
  explicit Library(const ZfpCase<T>& given)
      : field_(zfp_field_alloc()), zfp_(zfp_stream_open(nullptr)) {
    std::size_t extents[4] = {0, 0, 0, 0};
    const int rank = given.dims.rank();
    for (int axis = 0; axis < rank; ++axis) extents[axis] = given.dims[rank - 1 - axis];
    zfp_field_set_type(field_.get(), type_of<T>());
    field_->nx = extents[0];
    field_->ny = extents[1];
    field_->nz = extents[2];
    field_->nw = extents[3];
    const ZfpParams& params = given.params;
    REQUIRE(zfp_stream_set_params(zfp_.get(), params.min_bits, params.max_bits,
                                  params.max_precision, params.min_exponent) != 0);
    buffer_.resize(zfp_stream_maximum_size(zfp_.get(), field_.get()));
    bits_.reset(stream_open(buffer_.data(), buffer_.size()));
    zfp_stream_set_bit_stream(zfp_.get(), bits_.get());
  }

  /// The stream of `values`. Libraries end one with a word of 8 to 64 bits: made the longest here.
  std::vector<std::byte> compress(const std::vector<T>& values) {
    std::vector<T> copy = values;
    zfp_field_set_pointer(field_.get(), copy.data());
    zfp_stream_rewind(zfp_.get());
    const std::size_t size = zfp_compress(zfp_.get(), field_.get());
    std::vector<std::byte> stream(zfp_stream_bytes(size * 8));
    std::copy_n(buffer_.begin(), size, stream.begin());
    return stream;
  }

  std::vector<T> decompress(const std::vector<std::byte>& stream, std::size_t count) {
    std::vector<T> values(count);
    std::fill(std::copy_n(stream.begin(), std::min(stream.size(), buffer_.size()), buffer_.begin()),
              buffer_.end(), std::byte{0});
    zfp_field_set_pointer(field_.get(), values.data());
    zfp_stream_rewind(zfp_.get());
    REQUIRE(zfp_decompress(zfp_.get(), field_.get()) != 0);
    return values;
  }

 private:
  struct Close {
    void operator()(zfp_field* field) const { zfp_field_free(field); }
    void operator()(zfp_stream* stream) const { zfp_stream_close(stream); }
    void operator()(bitstream* bits) const { stream_close(bits); }
  };

  std::vector<std::byte> buffer_;
  std::unique_ptr<zfp_field, Close> field_;
  std::unique_ptr<zfp_stream, Close> zfp_;
  std::unique_ptr<bitstream, Close> bits_;
};

}  // namespace

TEMPLATE_TEST_CASE("zfp streams are those of the zfp library, both ways", "", float, double,
                   std::int32_t, std::int64_t) {
  Random random(sizeof(TestType) + (std::is_integral_v<TestType> ? 1 : 0));
  for (int i = 0; i < some_of(2000); ++i) {
    const auto given = random_zfp_case<TestType>(random);
    INFO("case " << i << ": " << given.text);
    Library<TestType> library(given);
    const auto stream = cpu::zfp_encode<TestType>(given.params, given.dims, given.values, 16);
    const bool same_stream = stream.bytes == library.compress(given.values);
    REQUIRE(same_stream);

    std::vector<TestType> restored(given.values.size());
    cpu::zfp_decode<TestType>(given.params, given.dims, stream.bytes, std::vector<BitCount>{0}, 16,
                              std::span<TestType>(restored));
    const auto expected = library.decompress(stream.bytes, restored.size());
    const bool same_values =
        std::memcmp(restored.data(), expected.data(), restored.size() * sizeof(TestType)) == 0;
    REQUIRE(same_values);
  }
}

// Of fields, those of integers: the others are large, and ours are compared with the checksums.
TEMPLATE_TEST_CASE("the zfp library has the checksums that zfp publishes", "", float, double,
                   std::int32_t, std::int64_t) {
  constexpr bool with_field = std::is_integral_v<TestType>;
  check_published_zfp<TestType, with_field>([](const ZfpCase<TestType>& given) {
    Library<TestType> library(given);
    auto stream = library.compress(given.values);
    auto restored = library.decompress(stream, given.values.size());
    return ZfpCoded<TestType>{std::move(stream), std::move(restored)};
  });
}

TEMPLATE_TEST_CASE("the modes of zfp are those of the zfp library", "", float, double) {
  Random random(3);
  const auto same = [](const ZfpParams& ours, const zfp_stream& theirs) {
    return ours.min_bits == theirs.minbits && ours.max_bits == theirs.maxbits &&
           ours.max_precision == theirs.maxprec && ours.min_exponent == theirs.minexp;
  };
  const std::unique_ptr<zfp_stream, void (*)(zfp_stream*)> zfp(zfp_stream_open(nullptr),
                                                               zfp_stream_close);
  for (int i = 0; i < 500; ++i) {
    const double tolerance =
        std::ldexp(random.uniform(), static_cast<int>(random.below(200)) - 100);
    zfp_stream_set_accuracy(zfp.get(), tolerance);
    REQUIRE(same(ZfpParams::accuracy(tolerance), *zfp));
    const auto planes = static_cast<std::uint32_t>(1 + random.below(80));
    zfp_stream_set_precision(zfp.get(), planes);
    REQUIRE(same(ZfpParams::precision(planes), *zfp));
    const int rank = static_cast<int>(1 + random.below(4));
    const double rate = random.uniform() * 60;
    zfp_stream_set_rate(zfp.get(), rate, type_of<TestType>(), static_cast<unsigned>(rank), 0);
    REQUIRE(same(ZfpParams::rate(rate, rank, ZfpType<TestType>::exponent_bits), *zfp));
  }
  zfp_stream_set_reversible(zfp.get());
  REQUIRE(same(ZfpParams::reversible(), *zfp));
}

}  // namespace cuszi::test
