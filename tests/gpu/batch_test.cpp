#include <cuda_runtime_api.h>

#include <array>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "codec/archive/field_batch.hpp"
#include "cuszi/cuszi.hpp"
#include "tests/gpu/device.hpp"
#include "tests/support/catch.hpp"

namespace cuszi::test {

namespace {

/// Memory of the device that goes with its owner.
class BatchMemory {
 public:
  explicit BatchMemory(std::size_t size) : size_(size) {
    REQUIRE(cudaMalloc(&bytes_, size) == cudaSuccess);
  }
  BatchMemory(const BatchMemory&) = delete;
  BatchMemory& operator=(const BatchMemory&) = delete;
  ~BatchMemory() { cudaFree(bytes_); }

  std::byte* at(std::size_t offset) const { return static_cast<std::byte*>(bytes_) + offset; }
  std::vector<std::byte> content(std::size_t offset, std::size_t size) const {
    std::vector<std::byte> host(size);
    REQUIRE(cudaMemcpy(host.data(), at(offset), size, cudaMemcpyDeviceToHost) == cudaSuccess);
    return host;
  }
  void set(std::size_t offset, const std::vector<std::byte>& bytes) const {
    REQUIRE(cudaMemcpy(at(offset), bytes.data(), bytes.size(), cudaMemcpyHostToDevice) ==
            cudaSuccess);
  }
  void fill(int value) const { REQUIRE(cudaMemset(bytes_, value, size_) == cudaSuccess); }

 private:
  void* bytes_ = nullptr;
  std::size_t size_;
};

enum class BatchContent { waves, noise, offset, holes, constant, fine, none };
constexpr std::array batch_contents{
    BatchContent::waves, BatchContent::noise,    BatchContent::offset, BatchContent::holes,
    BatchContent::waves, BatchContent::constant, BatchContent::fine,   BatchContent::none};

double value_in_batch(BatchContent content, std::size_t i, std::size_t number,
                      std::mt19937& random) {
  const double wave = std::sin(0.01 * static_cast<double>(i + 7 * number));
  const double noise = std::uniform_real_distribution<>(-1, 1)(random);
  switch (content) {
    case BatchContent::waves: return wave + 1e-3 * noise;
    case BatchContent::noise: return 3 * noise;
    case BatchContent::offset: return 1000 + wave;
    case BatchContent::holes: return i % 97 == 5 ? std::numeric_limits<double>::quiet_NaN() : wave;
    case BatchContent::constant: return 2.5;
    case BatchContent::fine: return 300 * wave;
    case BatchContent::none: return std::numeric_limits<double>::infinity();
  }
  return 0;
}

template <class T>
std::vector<std::byte> make_batch_values(std::size_t points, std::size_t number) {
  std::mt19937 random(static_cast<unsigned>(number));
  const BatchContent content = batch_contents[number / 3 % batch_contents.size()];
  std::vector<T> values(points);
  for (std::size_t i = 0; i < points; ++i)
    values[i] = static_cast<T>(value_in_batch(content, i, number, random));
  std::vector<std::byte> bytes(points * sizeof(T));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

/// Fields of all shapes, types and contents in the device's memory, and room for what comes of
/// them; values begin at multiples of their size, archives at any byte.
class BatchFields {
 public:
  explicit BatchFields(std::size_t count) {
    const std::vector<std::vector<std::uint64_t>> shapes{
        {20000}, {33, 47}, {40, 64}, {17, 19, 23}, {16, 24, 32}, {3, 5, 8, 16}, {1}, {64, 64, 64}};
    std::size_t values_end = 0;
    std::size_t archives_end = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const auto& dims = shapes[i % shapes.size()];
      const bool is_single = i / 2 % 2 == 0;
      Place place;
      place.field = is_single ? field_of<float>(dims) : field_of<double>(dims);
      place.bytes = cuszi_field_bytes(&place.field);
      const std::size_t points = place.bytes / (is_single ? 4 : 8);
      place.host =
          is_single ? make_batch_values<float>(points, i) : make_batch_values<double>(points, i);
      place.values = (values_end + 15) / 16 * 16 + i % 3 * 8;
      values_end = place.values + place.bytes;
      place.room = cuszi_bound(&place.field, nullptr);
      place.archive = archives_end + i % 5;
      archives_end = place.archive + place.room;
      places.push_back(place);
    }
    values_bytes = values_end;
    archives_bytes = archives_end;
  }

  struct Place {
    cuszi_field field{};
    std::size_t bytes = 0;
    std::vector<std::byte> host;
    std::size_t values = 0;
    std::size_t archive = 0;
    std::size_t room = 0;
  };
  std::vector<Place> places;
  std::size_t values_bytes = 0;
  std::size_t archives_bytes = 0;
};

cuszi_options with_preset(cuszi_options options, cuszi_preset preset) {
  options.preset = preset;
  return options;
}

/// What a call on the CPU makes.
std::vector<std::byte> made_by_cpu(cuszi_options options, const BatchFields::Place& place) {
  options.device = CUSZI_DEVICE_CPU;
  std::vector<std::byte> archive(place.room);
  archive.resize(cuszi::Context().compress(options, place.field, place.host.data(), archive.data(),
                                           archive.size()));
  return archive;
}

/// Batches of fields of all shapes, types and contents make what single calls make, and restore it.
void check_batches(cuszi_preset preset) {
  constexpr std::size_t count = 240;
  const BatchFields fields(count);
  const BatchMemory values(fields.values_bytes);
  const BatchMemory archives(fields.archives_bytes);
  const BatchMemory again(fields.archives_bytes);
  const BatchMemory restored(fields.values_bytes);
  for (const auto& place : fields.places) values.set(place.values, place.host);

  const cuszi_options of_call = with_preset(cuszi::absolute(1e-3), preset);
  std::array own{with_preset(cuszi::relative(1e-3), preset), cuszi::absolute(1e-2),
                 with_preset(cuszi::absolute(0.1), preset),
                 with_preset(cuszi::absolute(0), preset)};
  own[1].preset = CUSZI_PRESET_CUSZ;
  const auto options_of = [&](std::size_t i) {
    return i % 7 == 3 ? &own[i / 7 % own.size()] : nullptr;
  };
  cuszi::Context context;
  std::vector<cuszi_compression> made;
  for (std::size_t i = 0; i < count; ++i) {
    const auto& place = fields.places[i];
    made.push_back({options_of(i), place.field, values.at(place.values), archives.at(place.archive),
                    place.room, 0, CUSZI_INTERNAL, 0});
  }
  made[8].capacity = 5;
  made[9].field.rank = 7;
  for (int round = 0; round < 2; ++round) {
    archives.fill(0xEE);
    REQUIRE(cuszi_compress_batch(context.get(), &of_call, made.data(), count) == CUSZI_NO_ROOM);
    CHECK(std::string(cuszi_last_error(context.get())).starts_with("member 8: "));
    CHECK(made[9].status == CUSZI_BAD_USAGE);
  }
  for (std::size_t i = 0; i < count; ++i) {
    if (i == 8 || i == 9) continue;
    INFO("member " << i);
    const auto& place = fields.places[i];
    REQUIRE(made[i].status == CUSZI_OK);
    const std::size_t size =
        context.compress(options_of(i) != nullptr ? *options_of(i) : of_call, place.field,
                         values.at(place.values), again.at(place.archive), place.room);
    REQUIRE(made[i].size == size);
    REQUIRE(archives.content(place.archive, size) == again.content(place.archive, size));
    if (i % 5 != 4) CHECK(archives.content(place.archive + size, 1).front() == std::byte{0xEE});
    const cuszi_options& options = options_of(i) != nullptr ? *options_of(i) : of_call;
    if (i % 6 == 0) CHECK(archives.content(place.archive, size) == made_by_cpu(options, place));
  }

  // Damage to a header, a payload and a footer, and a member without room.
  constexpr std::array<std::size_t, 3> damaged{16, 23, 31};
  for (std::size_t k = 0; k < damaged.size(); ++k) {
    const std::size_t i = damaged[k];
    const std::size_t at = k == 0 ? 20 : k == 1 ? made[i].size / 2 : made[i].size - 2;
    auto byte = archives.content(fields.places[i].archive + at, 1);
    byte.front() ^= std::byte{4};
    archives.set(fields.places[i].archive + at, byte);
  }
  const std::vector<std::byte> on_host = archives.content(0, fields.archives_bytes);
  // Archives on the device, on the host, and on both.
  for (const std::size_t there : {1U, 0U, 2U}) {
    INFO("one of " << there << " archives is on the device");
    std::vector<cuszi_decompression> back;
    for (std::size_t i = 0; i < count; ++i) {
      const auto& place = fields.places[i];
      const bool is_there = there != 0 && i % there == 0;
      back.push_back({nullptr, is_there ? archives.at(place.archive) : &on_host[place.archive],
                      made[i].size, restored.at(place.values), place.bytes, CUSZI_INTERNAL, 0});
    }
    back[39].capacity -= 1;
    restored.fill(0xEE);
    REQUIRE(cuszi_decompress_batch(context.get(), nullptr, back.data(), count) ==
            CUSZI_BAD_ARCHIVE);
    CHECK(back[39].status == CUSZI_NO_ROOM);
    for (const std::size_t i : damaged) CHECK(back[i].status == CUSZI_BAD_ARCHIVE);
    for (std::size_t i = 0; i < count; ++i) {
      if (made[i].size == 0 || i == 39 || i == 16 || i == 23 || i == 31) continue;
      INFO("member " << i);
      const auto& place = fields.places[i];
      REQUIRE(back[i].status == CUSZI_OK);
      std::vector<std::byte> expected(place.bytes);
      context.decompress(nullptr, &on_host[place.archive], made[i].size, expected.data(),
                         expected.size());
      REQUIRE(restored.content(place.values, place.bytes) == expected);
    }
  }
}

}  // namespace

TEST_CASE("a batch on the device makes what calls for each member make", "[gpu]") {
  if (device() == nullptr) return;
  check_batches(CUSZI_PRESET_FAST);
}

TEST_CASE("a batch of cells on the device makes what calls for each member make", "[gpu][cells]") {
  if (device() == nullptr) return;
  check_batches(CUSZI_PRESET_BALANCED);
}

TEST_CASE("equal fields of cells in a batch share launches", "[gpu][cells]") {
  if (device() == nullptr) return;
  // Shapes that are cubes, that may be slices, cut and whole, and more frames than multiprocessors.
  const auto dims =
      GENERATE(std::vector<std::uint64_t>{32, 32, 32}, std::vector<std::uint64_t>{5, 40, 70},
               std::vector<std::uint64_t>{20, 33, 47}, std::vector<std::uint64_t>{100, 200},
               std::vector<std::uint64_t>{9000});
  const double bound = GENERATE(1e-1, 1e-3, 1e-7);
  constexpr std::size_t count = 300;
  const cuszi_field field = field_of<float>(dims);
  const std::size_t bytes = cuszi_field_bytes(&field);
  const std::size_t room = cuszi_bound(&field, nullptr);
  const BatchMemory values(count * bytes);
  const BatchMemory archives(count * room);
  const BatchMemory restored(count * bytes);
  const cuszi_options options = with_preset(cuszi::absolute(bound), CUSZI_PRESET_BALANCED);
  std::vector<cuszi_compression> made;
  std::vector<BatchFields::Place> places;
  for (std::size_t i = 0; i < count; ++i) {
    places.push_back(
        {field, bytes, make_batch_values<float>(bytes / sizeof(float), i), 0, 0, room});
    values.set(i * bytes, places.back().host);
    made.push_back(
        {nullptr, field, values.at(i * bytes), archives.at(i * room), room, 0, CUSZI_INTERNAL, 0});
  }
  cuszi::Context context;
  REQUIRE(cuszi_compress_batch(context.get(), &options, made.data(), count) == CUSZI_OK);
  std::vector<cuszi_decompression> back;
  for (std::size_t i = 0; i < count; ++i) {
    INFO("member " << i << ", bound " << bound);
    REQUIRE(archives.content(i * room, made[i].size) == made_by_cpu(options, places[i]));
    back.push_back({nullptr, archives.at(i * room), made[i].size, restored.at(i * bytes), bytes,
                    CUSZI_INTERNAL, 0});
  }
  REQUIRE(cuszi_decompress_batch(context.get(), nullptr, back.data(), count) == CUSZI_OK);
  cuszi_options on_cpu = options;
  on_cpu.device = CUSZI_DEVICE_CPU;
  for (std::size_t i = 0; i < count; ++i) {
    INFO("member " << i << ", bound " << bound);
    const std::vector<std::byte> archive = archives.content(i * room, made[i].size);
    std::vector<std::byte> expected(bytes);
    context.decompress(&on_cpu, archive.data(), archive.size(), expected.data(), bytes);
    REQUIRE(restored.content(i * bytes, bytes) == expected);
  }
}

TEST_CASE("a batch on the device takes members of other presets side by side", "[gpu]") {
  if (device() == nullptr) return;
  constexpr std::size_t count = 64;
  const BatchFields fields(count);
  const BatchMemory values(fields.values_bytes);
  const BatchMemory archives(fields.archives_bytes);
  const BatchMemory again(fields.archives_bytes);
  const BatchMemory restored(fields.values_bytes);
  for (const auto& place : fields.places) values.set(place.values, place.host);
  std::array<cuszi_options, 4> own;
  own.fill(cuszi::absolute(1e-3));
  own[0].preset = CUSZI_PRESET_RATIO;
  own[1].preset = CUSZI_PRESET_RATIO;
  own[1].effort = CUSZI_EFFORT_FAST;
  own[2].preset = CUSZI_PRESET_CUSZ;
  own[3].preset = CUSZI_PRESET_CUSZI;

  cuszi::Context context;
  std::vector<cuszi_compression> made;
  for (std::size_t i = 0; i < count; ++i) {
    const auto& place = fields.places[i];
    made.push_back({&own[i / 2 % own.size()], place.field, values.at(place.values),
                    archives.at(place.archive), place.room, 0, CUSZI_INTERNAL, 0});
  }
  made[40].capacity = 5;
  REQUIRE(cuszi_compress_batch(context.get(), nullptr, made.data(), count) == CUSZI_NO_ROOM);
  CHECK(std::string(cuszi_last_error(context.get())).starts_with("member 40: "));
  std::vector<cuszi_decompression> back;
  for (std::size_t i = 0; i < count; ++i) {
    INFO("member " << i);
    const auto& place = fields.places[i];
    back.push_back({nullptr, archives.at(place.archive), made[i].size, restored.at(place.values),
                    place.bytes, CUSZI_INTERNAL, 0});
    if (i == 40) continue;
    REQUIRE(made[i].status == CUSZI_OK);
    const std::size_t size =
        context.compress(*made[i].options, place.field, values.at(place.values),
                         again.at(place.archive), place.room);
    REQUIRE(made[i].size == size);
    REQUIRE(archives.content(place.archive, size) == again.content(place.archive, size));
  }

  REQUIRE(cuszi_decompress_batch(context.get(), nullptr, back.data(), count) == CUSZI_BAD_ARCHIVE);
  for (std::size_t i = 0; i < count; ++i) {
    INFO("member " << i);
    REQUIRE(back[i].status == (i == 40 ? CUSZI_BAD_ARCHIVE : CUSZI_OK));
    if (i == 40) continue;
    const auto& place = fields.places[i];
    const auto archive = archives.content(place.archive, made[i].size);
    std::vector<std::byte> expected(place.bytes);
    context.decompress(nullptr, archive.data(), archive.size(), expected.data(), expected.size());
    REQUIRE(restored.content(place.values, place.bytes) == expected);
  }
}

TEST_CASE("a batch begins after what its members' streams were given", "[gpu]") {
  if (device() == nullptr) return;
  constexpr std::size_t count = 8;
  constexpr std::size_t points = 32 * 32 * 32;
  const cuszi_field field = field_of<float>({32, 32, 32});
  const auto host = make_batch_values<float>(points, 0);
  const std::size_t room = cuszi_bound(&field, nullptr);
  const BatchMemory source(host.size());
  const BatchMemory values(count * host.size());
  const BatchMemory archives(count * room);
  source.set(0, host);
  cudaStream_t stream = nullptr;
  REQUIRE(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) == cudaSuccess);
  cuszi_options own = cuszi::absolute(1e-3);
  own.preset = CUSZI_PRESET_CUSZ;
  own.stream = stream;
  std::vector<cuszi_compression> made;
  for (std::size_t i = 0; i < count; ++i) {
    made.push_back({&own, field, values.at(i * host.size()), archives.at(i * room), room, 0,
                    CUSZI_INTERNAL, 0});
  }
  values.fill(0);
  const auto sleep = [](void* /*unused*/) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  };
  REQUIRE(cudaLaunchHostFunc(stream, sleep, nullptr) == cudaSuccess);
  for (const cuszi_compression& member : made) {
    REQUIRE(cudaMemcpyAsync(const_cast<void*>(member.values), source.at(0), host.size(),
                            cudaMemcpyDefault, stream) == cudaSuccess);
  }
  cuszi::Context context;
  REQUIRE(cuszi_compress_batch(context.get(), nullptr, made.data(), count) == CUSZI_OK);
  cudaStreamDestroy(stream);
  std::vector<std::byte> expected(room);
  own.stream = nullptr;
  expected.resize(context.compress(own, field, host.data(), expected.data(), expected.size()));
  for (std::size_t i = 0; i < count; ++i) {
    REQUIRE(archives.content(i * room, made[i].size) == expected);
  }
}

TEST_CASE("a batch on the device takes plain fields together", "[gpu]") {
  Backend* const backend = device();
  if (backend == nullptr) return;
  FieldSettings settings;
  settings.bound = 1e-3;
  settings.mode = ErrorMode::absolute;
  settings.frame.predictor.id = GENERATE(PredictorId::tiles, PredictorId::cells);
  settings.frame.coder = CoderId::none;
  REQUIRE(may_join_batch(settings));
  const BatchFields fields(48);
  const BatchMemory values(fields.values_bytes);
  const BatchMemory archives(fields.archives_bytes);
  const BatchMemory restored(fields.values_bytes);
  std::vector<FieldOfBatch> members;
  std::vector<std::size_t> numbers;
  for (std::size_t i = 0; i < fields.places.size(); ++i) {
    const auto& place = fields.places[i];
    const BatchContent content = batch_contents[i / 3 % batch_contents.size()];
    const bool is_plain = content == BatchContent::waves && place.bytes > 4096;
    if (!is_plain && content != BatchContent::holes) continue;
    values.set(place.values, place.host);
    const auto rank = static_cast<std::size_t>(place.field.rank);
    const FieldLayout layout{place.field.dtype == CUSZI_F32 ? DType::f32 : DType::f64,
                             *Dims::make(std::span(place.field.dims).first(rank))};
    members.push_back({layout,
                       &settings,
                       {values.at(place.values), place.bytes},
                       {archives.at(place.archive), place.room}});
    numbers.push_back(i);
  }
  compress_batch(*backend, members);
  std::vector<ArchiveOfBatch> back;
  std::vector<std::vector<std::byte>> on_host;
  std::size_t together = 0;
  for (std::size_t k = 0; k < members.size(); ++k) {
    const auto& place = fields.places[numbers[k]];
    const bool is_plain =
        batch_contents[numbers[k] / 3 % batch_contents.size()] == BatchContent::waves;
    INFO("field " << numbers[k]);
    CHECK((members[k].size != 0) == is_plain);
    if (members[k].size == 0) continue;
    ++together;
    const MutableBytes room{restored.at(place.values), place.bytes};
    if (together % 2 == 0) {
      back.push_back(
          {on_host.emplace_back(archives.content(place.archive, members[k].size)), room, true});
    } else {
      back.push_back({{archives.at(place.archive), members[k].size}, room});
    }
  }
  REQUIRE(together > 8);
  restore_batch(*backend, back);
  for (const ArchiveOfBatch& archive : back) CHECK(archive.is_done);
}

}  // namespace cuszi::test
