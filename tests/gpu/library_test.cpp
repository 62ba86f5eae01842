#include <cuda_runtime_api.h>

#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

#include "cuszi/cuszi.h"
#include "tests/support/catch.hpp"

namespace {

bool has_gpu() {
  int count = 0;
  if (cudaGetDeviceCount(&count) == cudaSuccess && count > 0) return true;
  WARN("no GPU here: the test is skipped");
  return false;
}

/// Memory of the device that goes with its owner.
class DeviceBytes {
 public:
  explicit DeviceBytes(std::size_t size) : size_(size) {
    REQUIRE(cudaMalloc(&bytes_, size) == cudaSuccess);
  }
  DeviceBytes(const DeviceBytes&) = delete;
  DeviceBytes& operator=(const DeviceBytes&) = delete;
  ~DeviceBytes() { cudaFree(bytes_); }

  std::byte* get() const { return static_cast<std::byte*>(bytes_); }

  void set(const void* from, std::size_t size) const {
    REQUIRE(cudaMemcpy(bytes_, from, size, cudaMemcpyHostToDevice) == cudaSuccess);
  }
  std::vector<std::byte> content(std::size_t size) const {
    std::vector<std::byte> host(size);
    REQUIRE(cudaMemcpy(host.data(), bytes_, size, cudaMemcpyDeviceToHost) == cudaSuccess);
    return host;
  }

 private:
  void* bytes_ = nullptr;
  std::size_t size_;
};

class Context {
 public:
  Context() : context_(cuszi_context_create()) {}
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;
  ~Context() { cuszi_context_destroy(context_); }

  /// Into memory of the host or the device; returns the archive's size.
  std::size_t compress(const cuszi_options& options, const cuszi_field& field, const void* values,
                       void* archive, std::size_t room) const {
    std::size_t size = 0;
    const cuszi_status status =
        cuszi_compress(context_, &options, &field, values, archive, room, &size);
    INFO(cuszi_last_error(context_));
    REQUIRE(status == CUSZI_OK);
    return size;
  }
  void decompress(const void* archive, std::size_t size, void* values, std::size_t room) const {
    const cuszi_status status = cuszi_decompress(context_, nullptr, archive, size, values, room);
    INFO(cuszi_last_error(context_));
    REQUIRE(status == CUSZI_OK);
  }
  cuszi_context* get() const { return context_; }

 private:
  cuszi_context* context_;
};

const cuszi_field field{CUSZI_F32, 3, {40, 100, 101, 0}};
const std::size_t field_bytes = cuszi_field_bytes(&field);

std::vector<float> make_values() {
  std::vector<float> values(field_bytes / sizeof(float));
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = std::sin(static_cast<float>(i) * 1e-3F) + static_cast<float>(i % 7) * 1e-3F;
  }
  values[5] = std::nanf("");
  return values;
}

cuszi_options options_of(int preset, std::uint64_t frame_bytes) {
  cuszi_options options = cuszi_default_options();
  options.bound = 1e-3;
  options.preset = preset;
  options.frame_bytes = frame_bytes;
  return options;
}

}  // namespace

TEST_CASE("the library takes memory of the host and of the device", "[gpu]") {
  if (!has_gpu()) return;
  const auto values = make_values();
  const DeviceBytes device_values(field_bytes);
  device_values.set(values.data(), field_bytes);
  const Context context;
  for (const int preset :
       {CUSZI_PRESET_CUSZI, CUSZI_PRESET_CUSZ, CUSZI_PRESET_RATIO, CUSZI_PRESET_FAST}) {
    for (const std::uint64_t frame_bytes : {std::uint64_t{0}, field_bytes / 3}) {
      cuszi_options options = options_of(preset, frame_bytes);
      if (frame_bytes != 0) options.mode = CUSZI_ABS;
      const std::size_t room = cuszi_bound(&field, &options);
      std::vector<std::byte> expected(room);
      options.device = CUSZI_DEVICE_CPU;
      expected.resize(context.compress(options, field, values.data(), expected.data(), room));
      std::vector<std::byte> restored(field_bytes);
      context.decompress(expected.data(), expected.size(), restored.data(), field_bytes);
      options.device = CUSZI_DEVICE_AUTO;
      const DeviceBytes device_archive(room + 1);
      for (const bool values_there : {false, true}) {
        for (const bool archive_there : {false, true}) {
          INFO("preset " << preset << ", frames of " << frame_bytes << ", values there "
                         << values_there << ", archive there " << archive_there);
          std::vector<std::byte> archive(room);
          void* const to = archive_there ? device_archive.get() : archive.data();
          const void* const from = values_there ? static_cast<void*>(device_values.get())
                                                : static_cast<const void*>(values.data());
          const std::size_t size = context.compress(options, field, from, to, room);
          archive.resize(size);
          REQUIRE((archive_there ? device_archive.content(size) : archive) == expected);

          const DeviceBytes device_restored(field_bytes);
          std::vector<std::byte> host_restored(field_bytes);
          void* const out = values_there ? device_restored.get() : host_restored.data();
          context.decompress(to, size, out, field_bytes);
          REQUIRE((values_there ? device_restored.content(field_bytes) : host_restored) ==
                  restored);
        }
      }
    }
  }
}

TEST_CASE("the library takes values of every type in memory of the device", "[gpu][types]") {
  if (!has_gpu()) return;
  const Context context;
  for (const int dtype :
       {CUSZI_F16, CUSZI_BF16, CUSZI_I8, CUSZI_U8, CUSZI_I16, CUSZI_U16, CUSZI_I32, CUSZI_U32}) {
    cuszi_field typed = field;
    typed.dtype = dtype;
    const std::size_t size = cuszi_field_bytes(&typed);
    std::vector<std::byte> values(size);
    for (std::size_t i = 0; i < size; ++i)
      values[i] = static_cast<std::byte>(50 + 8 * std::sin(static_cast<double>(i) * 1e-3));
    const DeviceBytes there(size);
    there.set(values.data(), size);
    for (const int preset : {CUSZI_PRESET_FAST, CUSZI_PRESET_BALANCED, CUSZI_PRESET_RATIO}) {
      INFO("type " << dtype << ", preset " << preset);
      cuszi_options options = options_of(preset, preset == CUSZI_PRESET_RATIO ? size / 3 : 0);
      options.bound = 0.05;
      const std::size_t room = cuszi_bound(&typed, &options);
      options.device = CUSZI_DEVICE_CPU;
      std::vector<std::byte> expected(room);
      expected.resize(context.compress(options, typed, values.data(), expected.data(), room));
      std::vector<std::byte> restored(size);
      context.decompress(expected.data(), expected.size(), restored.data(), size);
      options.device = CUSZI_DEVICE_AUTO;
      options.verify = 1;
      const DeviceBytes archive(room);
      const std::size_t made = context.compress(options, typed, there.get(), archive.get(), room);
      REQUIRE(archive.content(made) == expected);
      const DeviceBytes back(size);
      context.decompress(archive.get(), made, back.get(), size);
      REQUIRE(back.content(size) == restored);
    }
  }
}

TEST_CASE("targets and verification take memory of the device", "[gpu]") {
  if (!has_gpu()) return;
  const auto values = make_values();
  const DeviceBytes there(field_bytes);
  there.set(values.data(), field_bytes);
  const Context context;
  for (const auto& [mode, target] : {std::pair{CUSZI_PSNR, 60.0}, std::pair{CUSZI_RATIO, 8.0}}) {
    cuszi_options options = options_of(CUSZI_PRESET_CUSZI, 0);
    options.mode = mode;
    options.bound = target;
    options.verify = 1;
    const std::size_t room = cuszi_bound(&field, &options);
    std::vector<std::byte> expected(room);
    expected.resize(context.compress(options, field, values.data(), expected.data(), room));
    const DeviceBytes archive(room);
    const std::size_t size = context.compress(options, field, there.get(), archive.get(), room);
    REQUIRE(archive.content(size) == expected);
    REQUIRE(cuszi_reached(context.get()) >= target);
  }
}

TEST_CASE("the library waits for the caller's stream", "[gpu]") {
  if (!has_gpu()) return;
  const auto values = make_values();
  cuszi_options options = options_of(CUSZI_PRESET_CUSZI, 0);
  const std::size_t room = cuszi_bound(&field, &options);
  const Context context;
  std::vector<std::byte> expected(room);
  expected.resize(context.compress(options, field, values.data(), expected.data(), room));
  const DeviceBytes there(field_bytes);
  void* pinned = nullptr;
  REQUIRE(cudaMallocHost(&pinned, field_bytes) == cudaSuccess);
  std::copy_n(reinterpret_cast<const std::byte*>(values.data()), field_bytes,
              static_cast<std::byte*>(pinned));
  cudaStream_t stream = nullptr;
  REQUIRE(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) == cudaSuccess);
  options.stream = stream;
  std::vector<std::byte> archive(room);
  for (int turn = 0; turn < 20; ++turn) {
    REQUIRE(cudaMemsetAsync(there.get(), 0, field_bytes, stream) == cudaSuccess);
    REQUIRE(cudaMemcpyAsync(there.get(), pinned, field_bytes, cudaMemcpyDefault, stream) ==
            cudaSuccess);
    archive.resize(room);
    archive.resize(context.compress(options, field, there.get(), archive.data(), room));
    REQUIRE(archive == expected);
  }
  cudaStreamDestroy(stream);
  cudaFreeHost(pinned);
}

TEST_CASE("parts of a field go to the device", "[gpu]") {
  if (!has_gpu()) return;
  const auto values = make_values();
  const cuszi_options options = options_of(CUSZI_PRESET_CUSZI, field_bytes / 3);
  std::vector<std::byte> archive(cuszi_bound(&field, &options));
  const Context context;
  archive.resize(context.compress(options, field, values.data(), archive.data(), archive.size()));
  const DeviceBytes there(archive.size());
  there.set(archive.data(), archive.size());
  cuszi_part part = cuszi_whole_field();
  part.first[0] = 3;
  part.end[0] = 30;
  part.end[2] = 50;
  cuszi_field shown{};
  REQUIRE(cuszi_part_field(context.get(), there.get(), archive.size(), &part, &shown) == CUSZI_OK);
  const std::size_t size = cuszi_field_bytes(&shown);
  REQUIRE(size == std::size_t{27} * 100 * 50 * sizeof(float));
  std::vector<std::byte> on_host(size);
  const DeviceBytes on_device(size);
  REQUIRE(cuszi_decompress_part(context.get(), nullptr, archive.data(), archive.size(), &part,
                                on_host.data(), size) == CUSZI_OK);
  REQUIRE(cuszi_decompress_part(context.get(), nullptr, there.get(), archive.size(), &part,
                                on_device.get(), size) == CUSZI_OK);
  REQUIRE(on_device.content(size) == on_host);
}

TEST_CASE("batches on the device make the archives of the host", "[gpu]") {
  if (!has_gpu()) return;
  constexpr std::size_t count = 20;
  constexpr std::size_t bad = 6;
  const auto values = make_values();
  const DeviceBytes there(field_bytes);
  there.set(values.data(), field_bytes);
  const DeviceBytes restored(count * field_bytes);
  const Context context;
  for (const int preset : {CUSZI_PRESET_CUSZI, CUSZI_PRESET_CUSZ, CUSZI_PRESET_RATIO,
                           CUSZI_PRESET_FAST, CUSZI_PRESET_ZFP}) {
    const cuszi_options options = options_of(preset, 0);
    const std::size_t room = cuszi_bound(&field, &options);
    const DeviceBytes archives(count * room);
    std::vector<cuszi_compression> made(count);
    for (std::size_t i = 0; i < count; ++i) {
      made[i].field = field;
      made[i].field.dims[0] = 1 + 2 * i;  // a part of the same values
      made[i].values = there.get();
      made[i].archive = archives.get() + i * room;
      made[i].capacity = i == bad ? 1 : room;
    }
    INFO("preset " << preset);
    REQUIRE(cuszi_compress_batch(context.get(), &options, made.data(), count) == CUSZI_NO_ROOM);
    cuszi_options here = options;
    here.device = CUSZI_DEVICE_CPU;
    std::vector<cuszi_decompression> again;
    for (std::size_t i = 0; i < count; ++i) {
      REQUIRE(made[i].status == (i == bad ? CUSZI_NO_ROOM : CUSZI_OK));
      if (i == bad) continue;
      std::vector<std::byte> expected(room);
      expected.resize(context.compress(here, made[i].field, values.data(), expected.data(), room));
      const auto all = archives.content(i * room + made[i].size);
      REQUIRE(std::vector<std::byte>(all.end() - static_cast<std::ptrdiff_t>(made[i].size),
                                     all.end()) == expected);
      again.push_back({nullptr, made[i].archive, made[i].size, restored.get() + i * field_bytes,
                       field_bytes, CUSZI_INTERNAL, 0});
    }
    REQUIRE(cuszi_decompress_batch(context.get(), nullptr, again.data(), again.size()) == CUSZI_OK);
  }
}
