#include <cuda_runtime_api.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "core/base/error.hpp"
#include "cuszi/cuszi.hpp"
#include "tests/gpu/device.hpp"
#include "tests/support/catch.hpp"

namespace cuszi::test {

namespace {

void require_done(cudaError_t status) { REQUIRE(status == cudaSuccess); }

/// Memory of the device.
class AsyncBytes {
 public:
  explicit AsyncBytes(std::size_t size) : size_(size) { require_done(cudaMalloc(&bytes_, size)); }
  AsyncBytes(const AsyncBytes&) = delete;
  AsyncBytes& operator=(const AsyncBytes&) = delete;
  ~AsyncBytes() { cudaFree(bytes_); }

  std::byte* at(std::size_t offset = 0) const { return static_cast<std::byte*>(bytes_) + offset; }
  std::vector<std::byte> content(std::size_t offset, std::size_t size) const {
    std::vector<std::byte> host(size);
    require_done(cudaMemcpy(host.data(), at(offset), size, cudaMemcpyDeviceToHost));
    return host;
  }
  void set(const void* from, std::size_t size, std::size_t offset = 0) const {
    require_done(cudaMemcpy(at(offset), from, size, cudaMemcpyHostToDevice));
    require_done(cudaDeviceSynchronize());  // streams like AsyncStream do not wait for copies
  }
  std::size_t size() const { return size_; }

 private:
  void* bytes_ = nullptr;
  std::size_t size_;
};

/// A stream that other streams, the default one too, do not wait for.
class AsyncStream {
 public:
  AsyncStream() { require_done(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking)); }
  AsyncStream(const AsyncStream&) = delete;
  AsyncStream& operator=(const AsyncStream&) = delete;
  ~AsyncStream() { cudaStreamDestroy(stream_); }
  cudaStream_t get() const { return stream_; }
  void wait() const { require_done(cudaStreamSynchronize(stream_)); }

 private:
  cudaStream_t stream_ = nullptr;
};

enum class AsyncContent {
  waves,
  noise,
  offset,
  fine,
  one_value,
  zeros,
  holes,
  infinite,
  none,
  huge
};
constexpr std::array async_contents{
    AsyncContent::waves, AsyncContent::noise,   AsyncContent::offset,    AsyncContent::fine,
    AsyncContent::huge,  AsyncContent::zeros,   AsyncContent::one_value, AsyncContent::holes,
    AsyncContent::none,  AsyncContent::infinite};

double async_value(AsyncContent content, std::size_t i, unsigned seed) {
  const double wave = std::sin(0.01 * static_cast<double>(i) + seed);
  constexpr double infinity = std::numeric_limits<double>::infinity();
  switch (content) {
    case AsyncContent::waves: return wave;
    case AsyncContent::noise: return 3 * std::sin(1e4 * wave * static_cast<double>(i % 977));
    case AsyncContent::offset: return 1000 + wave;
    case AsyncContent::fine: return 300 * wave;
    case AsyncContent::one_value: return 2.5;
    case AsyncContent::zeros: return i % 3 == 0 ? -0.0 : 0.0;
    case AsyncContent::holes: return i % 97 == 5 ? std::numeric_limits<double>::quiet_NaN() : wave;
    case AsyncContent::infinite: return i == 7 ? infinity : wave;
    case AsyncContent::none: return -infinity;
    case AsyncContent::huge: return 1e30 * wave;
  }
  return 0;
}

template <class T>
std::vector<T> async_values(AsyncContent content, std::size_t count, unsigned seed) {
  std::vector<T> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<T>(async_value(content, i, seed));
  return values;
}

cuszi_options async_options(double bound, const AsyncStream& stream) {
  cuszi_options options = absolute(bound);
  options.preset = CUSZI_PRESET_FAST;
  options.device = CUSZI_DEVICE_CUDA;
  options.stream = stream.get();
  return options;
}

/// Results of calls in memory that the device reaches.
struct AsyncResults {
  std::size_t size;
  std::int32_t compressed;
  std::int32_t restored;
};

/// Whether a restored value is as good as the bound wants it.
template <class T>
bool is_within(T original, T restored, double bound) {
  if (!std::isfinite(original)) return std::memcmp(&original, &restored, sizeof(T)) == 0;
  return std::abs(static_cast<double>(original) - static_cast<double>(restored)) <= bound;
}

/// A field that goes to an archive and back in a stream.
template <class T>
class AsyncTrip {
 public:
  explicit AsyncTrip(const std::vector<std::uint64_t>& dims, std::size_t misplaced = 0)
      : field(field_of<T>(dims)),
        bytes(cuszi_field_bytes(&field)),
        room(cuszi_bound(&field, nullptr)),
        values(bytes),
        archive(room + misplaced),
        restored(bytes),
        results(sizeof(AsyncResults)),
        misplaced_(misplaced) {}

  void compress(Context& context, const cuszi_options& options) const {
    context.compress_async(options, field, values.at(), archive.at(misplaced_), room, size(),
                           &there()->compressed);
  }
  void restore(Context& context, const cuszi_options& options) const {
    context.decompress_async(&options, &field, archive.at(misplaced_), size(), restored.at(), bytes,
                             &there()->restored);
  }

  AsyncResults found() const {
    AsyncResults host{};
    require_done(cudaMemcpy(&host, results.at(), sizeof host, cudaMemcpyDeviceToHost));
    return host;
  }
  std::vector<std::byte> written() const { return archive.content(misplaced_, found().size); }
  std::vector<T> back() const {
    std::vector<T> host(bytes / sizeof(T));
    require_done(cudaMemcpy(host.data(), restored.at(), bytes, cudaMemcpyDeviceToHost));
    return host;
  }
  std::size_t* size() const { return &there()->size; }

  cuszi_field field;
  std::size_t bytes;
  std::size_t room;
  AsyncBytes values;
  AsyncBytes archive;
  AsyncBytes restored;
  AsyncBytes results;

 private:
  AsyncResults* there() const { return reinterpret_cast<AsyncResults*>(results.at()); }

  std::size_t misplaced_;
};

template <class T>
bool all_within(const std::vector<T>& one, const std::vector<T>& other, double bound) {
  for (std::size_t i = 0; i < one.size(); ++i)
    if (!is_within(one[i], other[i], bound)) return false;
  return true;
}

/// What calls that wait make of values on the host.
template <class T>
std::vector<std::byte> made_by_waiting(const std::vector<T>& values, const cuszi_field& field,
                                       cuszi_options options) {
  options.device = CUSZI_DEVICE_CPU;
  options.stream = nullptr;
  Context context;
  std::vector<std::byte> archive(cuszi_bound(&field, &options));
  archive.resize(context.compress(options, field, values.data(), archive.data(), archive.size()));
  return archive;
}

std::vector<std::byte> restored_by_cpu(const std::vector<std::byte>& archive, std::size_t bytes) {
  cuszi_options options = cuszi_default_options();
  options.device = CUSZI_DEVICE_CPU;
  std::vector<std::byte> values(bytes);
  Context().decompress(&options, archive.data(), archive.size(), values.data(), bytes);
  return values;
}

/// Of a call that waits.
cuszi_status status_of_waiting(const std::vector<std::byte>& archive, std::size_t bytes) {
  cuszi_options options = cuszi_default_options();
  options.device = CUSZI_DEVICE_CPU;
  std::vector<std::byte> values(bytes);
  const Context context;
  return cuszi_decompress(context.get(), &options, archive.data(), archive.size(), values.data(),
                          bytes);
}

/// Where archives differ first; nothing where they do not.
std::string difference(const std::vector<std::byte>& one, const std::vector<std::byte>& other) {
  const auto at = std::mismatch(one.begin(), one.end(), other.begin(), other.end()).first;
  if (one == other) return "";
  return std::to_string(one.size()) + " and " + std::to_string(other.size()) +
         " bytes, alike up to " + std::to_string(at - one.begin());
}

template <class T>
void check_trips(const std::vector<std::uint64_t>& dims, std::size_t misplaced) {
  const AsyncStream stream;
  Context context;
  const AsyncTrip<T> trip(dims, misplaced);
  for (const AsyncContent content : async_contents) {
    for (const double bound : {1e-1, 1e-3, 1e-5}) {
      INFO("content " << static_cast<int>(content) << ", bound " << bound << ", points "
                      << trip.bytes / sizeof(T));
      const cuszi_options options = async_options(bound, stream);
      const auto values = async_values<T>(content, trip.bytes / sizeof(T), 3);
      trip.values.set(values.data(), trip.bytes);
      trip.compress(context, options);
      trip.restore(context, options);
      context.wait();
      const AsyncResults found = trip.found();
      REQUIRE(found.compressed == CUSZI_OK);
      REQUIRE(found.restored == CUSZI_OK);
      CHECK(all_within(values, trip.back(), bound));
      const std::vector<std::byte> archive = trip.written();
      CHECK(difference(restored_by_cpu(archive, trip.bytes),
                       trip.restored.content(0, trip.bytes)) == "");
      CHECK(difference(archive, made_by_waiting(values, trip.field, options)) == "");
    }
  }
}

}  // namespace

TEST_CASE("asynchronous calls by fast make what calls that wait make", "[gpu][async]") {
  if (device() == nullptr) return;
  std::size_t misplaced = 0;
  for (const auto& dims : std::vector<std::vector<std::uint64_t>>{{20000},
                                                                  {33, 47},
                                                                  {40, 64},
                                                                  {17, 19, 23},
                                                                  {16, 24, 32},
                                                                  {3, 5, 8, 16},
                                                                  {1},
                                                                  {64, 64, 64}}) {
    check_trips<float>(dims, misplaced % 5);
    check_trips<double>(dims, ++misplaced % 5);
  }
}

TEST_CASE("asynchronous calls restore archives of calls that wait", "[gpu][async]") {
  if (device() == nullptr) return;
  const AsyncStream stream;
  Context context;
  constexpr double bound = 1e-3;
  const AsyncTrip<double> trip({20, 30, 40});
  for (const AsyncContent content : async_contents) {
    INFO("content " << static_cast<int>(content));
    const cuszi_options options = async_options(bound, stream);
    const auto values = async_values<double>(content, trip.bytes / sizeof(double), 4);
    const std::vector<std::byte> archive = made_by_waiting(values, trip.field, options);
    const std::size_t size = archive.size();
    trip.archive.set(archive.data(), size);
    trip.results.set(&size, sizeof size);
    trip.restore(context, options);
    context.wait();
    CHECK(difference(restored_by_cpu(archive, trip.bytes), trip.restored.content(0, trip.bytes)) ==
          "");
  }
}

TEST_CASE("asynchronous calls report failures", "[gpu][async]") {
  if (device() == nullptr) return;
  const AsyncStream stream;
  Context context;
  const AsyncTrip<float> trip({16, 24, 32});
  const cuszi_options options = async_options(1e-3, stream);
  const auto values = async_values<float>(AsyncContent::waves, trip.bytes / sizeof(float), 1);
  trip.values.set(values.data(), trip.bytes);
  auto* const status = reinterpret_cast<std::int32_t*>(trip.results.at(sizeof(std::size_t)));
  trip.compress(context, options);
  context.wait();
  const std::vector<std::byte> good = trip.written();
  context.compress_async(options, trip.field, trip.values.at(), trip.archive.at(), good.size() - 1,
                         trip.size(), status);
  trip.restore(context, options);
  CHECK(cuszi_wait(context.get()) == CUSZI_NO_ROOM);
  const std::string error = cuszi_last_error(context.get());
  CHECK(error.starts_with("call 0: the buffer of "));
  CHECK(error.ends_with("(and 1 more)"));
  CHECK(trip.found().size == 0);
  CHECK(trip.found().compressed == CUSZI_NO_ROOM);
  CHECK(trip.found().restored == CUSZI_BAD_ARCHIVE);
  const cuszi_field other = field_of<float>({24, 16, 32});
  trip.compress(context, options);
  context.decompress_async(&options, &other, trip.archive.at(), trip.size(), trip.restored.at(),
                           trip.bytes, status);
  CHECK(cuszi_wait(context.get()) == CUSZI_BAD_ARCHIVE);
}

TEST_CASE("asynchronous calls refuse damaged archives", "[gpu][async]") {
  if (device() == nullptr) return;
  const AsyncStream stream;
  Context context;
  const AsyncTrip<float> trip({16, 24, 32});
  const cuszi_options options = async_options(1e-3, stream);
  const auto values = async_values<float>(AsyncContent::waves, trip.bytes / sizeof(float), 1);
  const std::vector<std::byte> good = made_by_waiting(values, trip.field, options);
  const auto restored = [&](const std::vector<std::byte>& archive) {
    const std::size_t size = archive.size();
    trip.archive.set(archive.data(), size);
    trip.results.set(&size, sizeof size);
    trip.restore(context, options);
    return cuszi_wait(context.get());
  };
  std::size_t otherwise = 0;  // than calls that wait
  for (std::size_t i = 0; i < good.size(); i += i < 300 || i + 40 > good.size() ? 1 : 61) {
    std::vector<std::byte> bad = good;
    bad[i] ^= std::byte{1};
    if (restored(bad) != status_of_waiting(bad, trip.bytes)) ++otherwise;
    bad = good;
    bad.resize(i);
    if (restored(bad) != status_of_waiting(bad, trip.bytes)) ++otherwise;
  }
  CHECK(otherwise == 0);
  CHECK(restored(good) == CUSZI_OK);
}

TEST_CASE("asynchronous calls begin after their stream's work", "[gpu][async]") {
  if (device() == nullptr) return;
  const AsyncStream stream;
  Context context;
  const AsyncTrip<float> trip({48, 64, 64});
  const auto values = async_values<float>(AsyncContent::waves, trip.bytes / sizeof(float), 5);
  const AsyncBytes source(trip.bytes);
  source.set(values.data(), trip.bytes);
  for (const cuszi_preset preset :
       {CUSZI_PRESET_CUSZ, CUSZI_PRESET_RATIO, CUSZI_PRESET_BALANCED, CUSZI_PRESET_FAST}) {
    cuszi_options options = async_options(1e-3, stream);
    options.preset = preset;
    require_done(cudaMemsetAsync(trip.values.at(), 0, trip.bytes, stream.get()));
    for (int i = 0; i < 50; ++i) {
      require_done(cudaMemcpyAsync(trip.values.at(), source.at(), trip.bytes,
                                   cudaMemcpyDeviceToDevice, stream.get()));
    }
    trip.compress(context, options);
    context.decompress_async(&options, nullptr, trip.archive.at(), trip.size(), trip.restored.at(),
                             trip.bytes);
    context.wait();
    CHECK(trip.found().compressed == CUSZI_OK);
    CHECK(difference(trip.written(), made_by_waiting(values, trip.field, options)) == "");
    CHECK(all_within(values, trip.back(), 2e-3));
  }
}

TEST_CASE("asynchronous calls refuse streams that are being captured", "[gpu][async]") {
  if (device() == nullptr) return;
  const AsyncStream stream;
  Context context;
  const AsyncTrip<float> trip({16, 24, 32});
  for (const cuszi_preset preset : {CUSZI_PRESET_CUSZ, CUSZI_PRESET_FAST, CUSZI_PRESET_BALANCED}) {
    cuszi_options options = async_options(1e-3, stream);
    options.preset = preset;
    cudaGraph_t graph = nullptr;
    require_done(cudaStreamBeginCapture(stream.get(), cudaStreamCaptureModeThreadLocal));
    CHECK(cuszi_compress_async(context.get(), &options, &trip.field, trip.values.at(),
                               trip.archive.at(), trip.room, trip.size(),
                               nullptr) == CUSZI_BAD_USAGE);
    require_done(cudaStreamEndCapture(stream.get(), &graph));
    require_done(cudaGraphDestroy(graph));
  }
}

}  // namespace cuszi::test
