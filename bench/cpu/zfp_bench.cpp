// CPU speed of the zfp codec beside the zfp library, in memory.

#include <zfp.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "core/base/error.hpp"
#include "core/field/bound.hpp"
#include "cpu_ref/zfp/zfp.hpp"

namespace cuszi {

namespace {

using Clock = std::chrono::steady_clock;

/// Shortest of several runs, in seconds.
template <class Work>
double time_of(const Work& work) {
  constexpr int runs = 25;
  double shortest = HUGE_VAL;
  for (int i = 0; i < runs; ++i) {
    const auto start = Clock::now();
    work();
    shortest = std::min(shortest, std::chrono::duration<double>(Clock::now() - start).count());
  }
  return shortest;
}

struct Times {
  double encode = 0;
  double decode = 0;
};

/// Decodes with one thread.
class Library {
 public:
  Library(const Dims& dims, const ZfpParams& params)
      : field_(zfp_field_alloc(), zfp_field_free),
        zfp_(zfp_stream_open(nullptr), zfp_stream_close) {
    std::size_t extents[Dims::max_rank] = {};
    for (int axis = 0; axis < dims.rank(); ++axis) extents[axis] = dims[dims.rank() - 1 - axis];
    zfp_field_set_type(field_.get(), zfp_type_float);
    field_->nx = extents[0];
    field_->ny = extents[1];
    field_->nz = extents[2];
    field_->nw = extents[3];
    zfp_stream_set_params(zfp_.get(), params.min_bits, params.max_bits, params.max_precision,
                          params.min_exponent);
  }

  Times measure(std::vector<float>& values, std::vector<float>& restored) {
    std::vector<std::byte> buffer(zfp_stream_maximum_size(zfp_.get(), field_.get()));
    const std::unique_ptr<bitstream, decltype(&stream_close)> bits(
        stream_open(buffer.data(), buffer.size()), stream_close);
    zfp_stream_set_bit_stream(zfp_.get(), bits.get());
    Times times;
    zfp_field_set_pointer(field_.get(), values.data());
    times.encode = time_of([&] {
      zfp_stream_rewind(zfp_.get());
      bytes_ = zfp_compress(zfp_.get(), field_.get());
    });
    zfp_field_set_pointer(field_.get(), restored.data());
    times.decode = time_of([&] {
      zfp_stream_rewind(zfp_.get());
      zfp_decompress(zfp_.get(), field_.get());
    });
    return times;
  }

  std::size_t bytes() const { return bytes_; }

 private:
  std::unique_ptr<zfp_field, decltype(&zfp_field_free)> field_;
  std::unique_ptr<zfp_stream, decltype(&zfp_stream_close)> zfp_;
  std::size_t bytes_ = 0;
};

/// Times with a full index and checks of restored values.
Times measure(const Dims& dims, const ZfpParams& params, double bound, double low, double high,
              const std::vector<float>& values, std::vector<float>& restored) {
  constexpr std::uint32_t chunk = 16;
  const Mask none;
  cpu::ZfpStream stream;
  Times times;
  times.encode = time_of([&] {
    cpu::ZfpPatches<float> patches{{bound, low, high, {}}, none, {}};
    stream =
        cpu::zfp_encode<float>(params, dims, values, chunk, bound == no_bound ? nullptr : &patches);
  });
  std::vector<BitCount> starts;
  BitCount at = 0;
  for (const std::uint32_t bits : stream.chunk_bits) {
    starts.push_back(at);
    at += bits;
  }
  const ZfpLimits<float> limits{static_cast<float>(low), static_cast<float>(high)};
  times.decode = time_of(
      [&] { cpu::zfp_decode<float>(params, dims, stream.bytes, starts, chunk, restored, limits); });
  return times;
}

void bench(const std::string& what, const Dims& dims, const ZfpParams& params, double bound,
           double low, double high, std::vector<float>& values) {
  std::vector<float> restored(values.size());
  Library library(dims, params);
  const Times theirs = library.measure(values, restored);
  const Times ours = measure(dims, params, bound, low, high, values, restored);
  const double megabytes = static_cast<double>(values.size() * sizeof(float)) * 1e-6;
  std::printf("%-11s ratio %6.2f  encode %7.1f MB/s, %.2f of libzfp  decode %7.1f MB/s, %.2f\n",
              what.c_str(), 1e6 * megabytes / static_cast<double>(library.bytes()),
              megabytes / ours.encode, theirs.encode / ours.encode, megabytes / ours.decode,
              theirs.decode / ours.decode);
}

void bench_field(const std::string& file, const Dims& dims) {
  std::vector<float> values(dims.count());
  std::ifstream in(file, std::ios::binary);
  if (!in.read(reinterpret_cast<char*>(values.data()),
               static_cast<std::streamsize>(values.size() * sizeof(float)))) {
    throw InputError("cannot read " + file);
  }
  const auto [least, greatest] = std::minmax_element(values.begin(), values.end());
  const double low = *least;
  const double high = *greatest;
  for (const double share : {1e-2, 1e-3, 1e-4}) {
    const double bound = share_of_range(share, low, high);
    char what[16];
    std::snprintf(what, sizeof what, "%.0e", share);
    bench(what, dims, ZfpParams::accuracy(bound), bound, low, high, values);
  }
  bench("rate 8", dims, ZfpParams::rate(8, dims.rank(), 8), no_bound, low, high, values);
  bench("reversible", dims, ZfpParams::reversible(), no_bound, low, high, values);
}

}  // namespace

}  // namespace cuszi

/// zfp_bench FIELD.f32 DIMS; OMP_NUM_THREADS sets our threads.
int main(int argc, char** argv) {
  try {
    if (argc != 3) throw cuszi::UsageError("zfp_bench FIELD.f32 DIMS");
    cuszi::bench_field(argv[1], cuszi::Dims::parse(argv[2]));
  } catch (const std::exception& e) {
    std::fprintf(stderr, "zfp_bench: %s\n", e.what());
    return 1;
  }
  return 0;
}
