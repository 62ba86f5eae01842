#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <ctime>
#include <fstream>
#include <iomanip>
#include <limits>
#include <new>
#include <random>
#include <sstream>
#include <string>
#include <thread>

#include "cuszi/cuszi.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/sanitized.hpp"

namespace {

using Archive = std::vector<std::byte>;
using Dims = std::vector<std::uint64_t>;

/// Waves with noise.
template <class T>
std::vector<T> make_values(std::size_t count, unsigned seed = 1) {
  std::mt19937 random(seed);
  std::normal_distribution<double> noise(0, 1e-3);
  std::vector<T> values(count);
  for (std::size_t i = 0; i < count; ++i) {
    values[i] = static_cast<T>(std::sin(0.01 * static_cast<double>(i)) + noise(random));
  }
  return values;
}

template <class T>
double largest_error(const std::vector<T>& a, const std::vector<T>& b) {
  REQUIRE(a.size() == b.size());
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    largest = std::max(largest, std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i])));
  }
  return largest;
}

const Dims dims{12, 30, 40};
constexpr std::size_t points = 12 * 30 * 40;

Archive archive_of(const std::vector<float>& values, const cuszi_options& options) {
  cuszi::Context context;
  return context.compress(values, dims, options);
}

/// Seconds of processors that one of `turns` calls of `work` takes, of the quickest of three tries.
template <class Work>
double cpu_seconds(int turns, const Work& work) {
  double least = std::numeric_limits<double>::infinity();
  for (int i = 0; i < 3; ++i) {
    const std::clock_t start = std::clock();
    for (int turn = 0; turn < turns; ++turn) work();
    const auto ticks = static_cast<double>(std::clock() - start);
    least = std::min(least, ticks / CLOCKS_PER_SEC / turns);
  }
  return least;
}

/// Whether `work` says so in a child process, which a call that hangs does not outlive.
template <class Work>
bool in_child(const Work& work) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);
    bool good = false;
    try {
      good = work();
    } catch (const cuszi::Error&) {  // and so it is not good
    }
    _exit(good ? 0 : 1);
  }
  int status = -1;
  return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

/// Writable memory of so many bytes, behind which a read ends the process.
class MemoryBeforeAFence {
 public:
  explicit MemoryBeforeAFence(std::size_t bytes) : bytes_(bytes) {
    REQUIRE(bytes <= page_);
    REQUIRE(pages_ != MAP_FAILED);
    REQUIRE(mprotect(fence(), page_, PROT_NONE) == 0);
  }
  ~MemoryBeforeAFence() { munmap(pages_, 2 * page_); }
  MemoryBeforeAFence(const MemoryBeforeAFence&) = delete;
  MemoryBeforeAFence& operator=(const MemoryBeforeAFence&) = delete;

  std::byte* begin() const { return fence() - bytes_; }

 private:
  std::byte* fence() const { return static_cast<std::byte*>(pages_) + page_; }

  std::size_t bytes_;
  std::size_t page_ = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  void* pages_ =
      mmap(nullptr, 2 * page_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
};

/// The status and text of a compression with these options.
std::pair<cuszi_status, std::string> failure_of(const cuszi_options& options) {
  try {
    archive_of(make_values<float>(points), options);
  } catch (const cuszi::Error& error) {
    return {error.status(), error.what()};
  }
  return {CUSZI_OK, ""};
}

template <class Member, class Value>
void check_refused(Member cuszi_options::*member, Value value, const std::string& name) {
  cuszi_options options = cuszi::relative(1e-3);
  options.*member = value;
  const auto [status, text] = failure_of(options);
  INFO(name << ": " << text);
  CHECK(status == CUSZI_BAD_USAGE);
  CHECK(text.find(name) == 0);
  CHECK(text.find('\n') == std::string::npos);
}

/// Texts of an option of the table: one that sets something else than the default, and one that
/// none takes.
struct OptionText {
  std::string name;
  std::string good;
  std::string bad;
};

const std::vector<OptionText> option_texts{
    {"error-bound", "1e-3", "0.1%"},   {"mode", "abs", "percent"},
    {"target", "psnr:80", "psnr:401"}, {"preset", "fast", "best"},
    {"effort", "best", "much"},        {"keep-isovalue", "-0.5", "nan"},
    {"keep-sign", "yes", "1"},         {"predictor", "interp", "magic"},
    {"axes", "layered:1", "layered"},  {"reach", "5", "4"},
    {"alpha", "1.5", "1.5x"},          {"beta", "2", "-"},
    {"radius", "512", "auto2"},        {"interp", "anchor=8,order=xyz", "order=zz"},
    {"interp-tile", "8x16", "8x0"},    {"interp-anchor", "8", "9"},
    {"interp-alpha", "2", "two"},      {"interp-cubic", "natural", "Natural"},
    {"interp-order", "yx", "xyzx"},    {"zfp-mode", "rate:8", "precision:2.5"},
    {"zfp-chunk", "3", "3.5"},         {"coder", "ans", "zip"},
    {"huffman-width", "64", "16"},     {"chunk", "256", "1000"},
    {"index", "none", "all"},          {"partition", "4", ""},
    {"lossless", "bitcomp", "zstd"},   {"frame-size", "64K", "64X"},
    {"device", "cuda:3", "cuda:1024"}, {"threads", "2", "-1"},
    {"fill-value", "netcdf", "none"},  {"value-range", "-2,3", "3,-2"},
    {"verify", "yes", "true"},         {"strict", "yes", "1"},
    {"memory-limit", "1G", "0"},
};

/// Checks that an option's text is refused, with one line that names both, and that nothing is set.
void check_text_refused(const std::string& name, const std::string& text) {
  INFO(name << " '" << text << "'");
  cuszi_options options = cuszi_default_options();
  std::string line(300, '\n');
  CHECK(cuszi_set_option(&options, name.c_str(), text.c_str()) == CUSZI_BAD_USAGE);
  const cuszi_options unset = cuszi_default_options();
  CHECK(std::memcmp(&options, &unset, sizeof options) == 0);
  const std::size_t length =
      cuszi_option_error(&options, name.c_str(), text.c_str(), line.data(), line.size());
  REQUIRE(length < line.size());
  line.resize(std::strlen(line.c_str()));
  CHECK(line.size() == length);
  CHECK(line.find(name) == 0);
  CHECK(line.find('\'') != std::string::npos);
  CHECK(line.find("is not") != std::string::npos);
  CHECK(line.find('\n') == std::string::npos);
}

}  // namespace

TEMPLATE_TEST_CASE("a field comes back within its bound", "[library]", float, double) {
  const auto values = make_values<TestType>(points);
  cuszi::Context context;
  for (const std::int32_t preset : {CUSZI_PRESET_RATIO, CUSZI_PRESET_CUSZI, CUSZI_PRESET_CUSZ}) {
    for (const std::uint64_t frame_bytes : {0U, 65536U}) {
      cuszi_options options = cuszi::absolute(1e-2);
      options.preset = preset;
      options.frame_bytes = frame_bytes;
      const Archive archive = context.compress(values, dims, options);
      CHECK(archive.size() < values.size() * sizeof(TestType) / 4);
      const cuszi_info info = context.info(archive.data(), archive.size());
      CHECK(info.field.rank == 3);
      CHECK(std::equal(dims.begin(), dims.end(), std::begin(info.field.dims)));
      CHECK(info.mode == CUSZI_ABS);
      CHECK(info.bound_absolute == 1e-2);
      const auto frame_points = info.frame_height * 30 * 40;
      CHECK(info.frames == (points + frame_points - 1) / frame_points);
      CHECK(largest_error(values, context.decompress<TestType>(archive)) <= 1e-2);
    }
  }
}

TEST_CASE("missing values come back bit for bit", "[library]") {
  auto values = make_values<float>(points);
  values[7] = std::numeric_limits<float>::quiet_NaN();
  values[9] = 1e20F;
  const double fill = 1e20;
  cuszi_options options = cuszi::relative(1e-3);
  options.fills = &fill;
  options.fill_count = 1;
  const Archive archive = archive_of(values, options);
  cuszi::Context context;
  const cuszi_info info = context.info(archive.data(), archive.size());
  CHECK(info.fill_count == 1);
  CHECK(info.fills[0] == 1e20);
  CHECK(info.bound_absolute < 0.01);
  const auto restored = context.decompress<float>(archive);
  CHECK(std::memcmp(&restored[7], &values[7], sizeof(float)) == 0);
  CHECK(restored[9] == values[9]);
}

TEST_CASE("the bound on an archive's size holds for noise", "[library]") {
  std::mt19937 random(5);
  std::vector<float> values(points);
  for (float& value : values) {
    std::uint32_t bits = static_cast<std::uint32_t>(random());
    std::memcpy(&value, &bits, sizeof value);
  }
  for (const std::uint64_t frame_bytes : {0U, 4800U}) {
    cuszi_options options = cuszi::relative(0);
    options.frame_bytes = frame_bytes;
    const cuszi_field field = cuszi::field_of<float>(dims);
    const Archive archive = archive_of(values, options);  // in a buffer of that size
    CHECK(archive.size() <= cuszi_bound(&field, &options));
    CHECK(archive.size() > points * sizeof(float) * 9 / 10);
  }
}

TEST_CASE("options that cannot be are refused by name", "[library]") {
  check_refused(&cuszi_options::bound, -1.0, "bound");
  check_refused(&cuszi_options::bound, 1.0, "bound");
  check_refused(&cuszi_options::bound, std::nan(""), "bound");
  check_refused(&cuszi_options::mode, 5, "mode");
  check_refused(&cuszi_options::preset, 5, "preset");
  check_refused(&cuszi_options::device, -1, "device");
  check_refused(&cuszi_options::threads, -2, "threads");
  check_refused(&cuszi_options::predictor, 7, "predictor");
  check_refused(&cuszi_options::coder, 4, "coder");
  check_refused(&cuszi_options::lossless, 2, "lossless");
  check_refused(&cuszi_options::radius, 1U << 20, "radius");
  check_refused(&cuszi_options::effort, 3, "effort");
  check_refused(&cuszi_options::axes, 9, "axes");
  check_refused(&cuszi_options::reach, 4, "reach");
  check_refused(&cuszi_options::alpha, 0.5, "alpha");
  check_refused(&cuszi_options::beta, 10.0, "beta");
  check_refused(&cuszi_options::interp_alpha, 17.0, "interp_alpha");
  check_refused(&cuszi_options::interp_anchor, 3U, "interp_anchor");
  check_refused(&cuszi_options::interp_cubic, 3, "interp_cubic");
  check_refused(&cuszi_options::index, 5, "index");
  check_refused(&cuszi_options::chunk, 100U, "chunk");
  check_refused(&cuszi_options::partition, 1U << 21, "partition");
  check_refused(&cuszi_options::huffman_width, 16, "huffman_width");
  check_refused(&cuszi_options::zfp_mode, 4, "zfp_mode");
  check_refused(&cuszi_options::zfp_mode, CUSZI_ZFP_RATE, "zfp_mode");  // not of the preset
  check_refused(&cuszi_options::zfp_chunk, 65537U, "zfp_chunk");
  check_refused(&cuszi_options::fill_count, 17U, "fill_count");
  check_refused(&cuszi_options::fill_count, 1U, "fills");
  check_refused(&cuszi_options::more_fill_count, 17U, "more_fill_count");
  check_refused(&cuszi_options::version, 2U, "options");
  check_refused(&cuszi_options::size, 8U, "options");
}

TEST_CASE("targets are reached, told and checked", "[library]") {
  const auto values = make_values<float>(points);
  cuszi::Context context;
  for (auto [options, most] :
       {std::pair{cuszi::psnr(60), 60.5}, std::pair{cuszi::ratio(12), 12.5}}) {
    options.preset = CUSZI_PRESET_CUSZI;  // the quickest trials
    const Archive archive = context.compress(values, dims, options);
    CHECK(context.reached() >= options.bound);
    CHECK(context.reached() < most);
    const cuszi_info info = context.info(archive.data(), archive.size());
    CHECK(info.mode == CUSZI_ABS);
    CHECK(largest_error(values, context.decompress<float>(archive)) <= info.bound_absolute);
    if (options.mode == CUSZI_RATIO) {
      CHECK(context.reached() ==
            static_cast<double>(points * sizeof(float)) / static_cast<double>(archive.size()));
    }
  }
  cuszi_options beyond = cuszi::ratio(1e6);
  beyond.preset = CUSZI_PRESET_CUSZI;
  context.compress(values, dims, beyond);
  CHECK(context.reached() < 1e6);
  context.compress(values, dims, cuszi::absolute(0.01));
  CHECK(std::isnan(context.reached()));
  const auto refused = [](cuszi_options options) {
    const auto [status, text] = failure_of(options);
    return status == CUSZI_BAD_USAGE && text.find("bound") == 0;
  };
  CHECK(refused(cuszi::psnr(0)));
  CHECK(refused(cuszi::psnr(401)));
  CHECK(refused(cuszi::ratio(0.5)));
  CHECK(refused(cuszi::ratio(std::nan(""))));
}

TEST_CASE("what was written can be verified", "[library]") {
  cuszi_options options = cuszi::relative(1e-3);
  const auto values = make_values<float>(points);
  const Archive archive = archive_of(values, options);
  options.verify = 1;
  CHECK(archive_of(values, options) == archive);
}

TEST_CASE("every option of the table is set by a text", "[library]") {
  std::size_t count = 0;
  for (; const cuszi_option* row = cuszi_option_at(count); ++count) {
    REQUIRE(count < option_texts.size());
    const auto& [name, good, bad] = option_texts[count];
    INFO(row->name);
    REQUIRE(name == row->name);
    CHECK(std::strlen(row->help) > 10);
    CHECK(std::strlen(row->group) > 0);
    cuszi_options options = cuszi_default_options();
    const cuszi_options unset = options;
    CHECK(cuszi_set_option(&options, row->name, good.c_str()) == CUSZI_OK);
    CHECK(std::memcmp(&options, &unset, sizeof options) != 0);
    CHECK(cuszi_option_error(&options, row->name, good.c_str(), nullptr, 0) == 0);
    if (*row->member != '\0' && name != "target") {
      cuszi_options by_member = unset;
      CHECK(cuszi_set_option(&by_member, row->member, good.c_str()) == CUSZI_OK);
      CHECK(std::memcmp(&options, &by_member, sizeof options) == 0);
    }
    check_text_refused(row->name, bad);
  }
  CHECK(count == option_texts.size());
  CHECK(cuszi_option_at(std::numeric_limits<std::size_t>::max()) == nullptr);
}

TEST_CASE("numbers of options end where the table says", "[library]") {
  int limits = 0;
  for (std::size_t i = 0; const cuszi_option* row = cuszi_option_at(i); ++i) {
    const bool has_limits = row->kind == CUSZI_OPTION_WHOLE || row->kind == CUSZI_OPTION_NUMBER ||
                            row->kind == CUSZI_OPTION_POWER_OF_TWO;
    if (!has_limits || row->most > 1e100) continue;
    const auto text = [](double number) {
      std::ostringstream digits;
      digits << std::setprecision(17) << number;
      return digits.str();
    };
    for (const double inside : {row->least, row->most}) {
      cuszi_options options = cuszi_default_options();
      INFO(row->name << ' ' << inside);
      CHECK(cuszi_set_option(&options, row->name, text(inside).c_str()) == CUSZI_OK);
    }
    const double step = row->kind == CUSZI_OPTION_POWER_OF_TWO ? row->most : 1;
    check_text_refused(row->name, text(row->least - 0.5));
    check_text_refused(row->name, text(row->most + step));
    check_text_refused(row->name, row->kind == CUSZI_OPTION_NUMBER ? "nan" : "1e3");
    ++limits;
  }
  CHECK(limits >= 9);
}

TEST_CASE("the default's text is the default", "[library]") {
  const auto values = make_values<float>(points);
  for (const char* const preset : {"ratio", "cuszi", "zfp"}) {
    cuszi_options options = cuszi::absolute(1e-2);
    REQUIRE(cuszi_set_option(&options, "preset", preset) == CUSZI_OK);
    const Archive expected = archive_of(values, options);
    for (std::size_t i = 0; const cuszi_option* row = cuszi_option_at(i); ++i) {
      const std::string name = row->name;
      if (*row->initial == '\0' || name == "preset" || name == "mode") continue;
      INFO(name);
      CHECK(cuszi_set_option(&options, row->name, row->initial) == CUSZI_OK);
    }
    CHECK(archive_of(values, options) == expected);
  }
}

TEST_CASE("options that are set by text make the archives of their members", "[library]") {
  const auto values = make_values<float>(points);
  cuszi_options options = cuszi_default_options();
  for (const auto& [name, text] :
       std::vector<std::pair<const char*, const char*>>{{"predictor", "lorenzo"},
                                                        {"coder", "huffman"},
                                                        {"error-bound", "1e-2"},
                                                        {"fill-value", "1e20"},
                                                        {"keep-isovalue", "0.5"},
                                                        {"keep-sign", "yes"},
                                                        {"mode", "abs"},
                                                        {"frame_bytes", "64K"},
                                                        {"chunk", "256"},
                                                        {"index", "length"},
                                                        {"preset", "cuszi"}}) {
    INFO(name);
    REQUIRE(cuszi_set_option(&options, name, text) == CUSZI_OK);
  }
  cuszi_options expected = cuszi::absolute(1e-2);
  const double fill = 1e20;
  expected.preset = CUSZI_PRESET_CUSZI;
  expected.predictor = CUSZI_PREDICTOR_LORENZO;
  expected.coder = CUSZI_CODER_HUFFMAN;
  expected.fills = &fill;
  expected.fill_count = 1;
  expected.isovalues[0] = 0.5;
  expected.isovalues[1] = 0;
  expected.isovalue_count = 2;
  expected.frame_bytes = 65536;
  expected.chunk = 256;
  expected.index = CUSZI_INDEX_LENGTH;
  CHECK(archive_of(values, options) == archive_of(values, expected));

  CHECK(cuszi_set_option(&options, "target", "ratio:9") == CUSZI_OK);
  CHECK(options.mode == CUSZI_RATIO);
  CHECK(options.bound == 9);
  CHECK(cuszi_set_option(&options, "error-bound", "0.5") == CUSZI_OK);
  CHECK(options.mode == CUSZI_REL);  // not of a ratio
  for (unsigned i = options.more_fill_count; i < CUSZI_MAX_FILLS; ++i) {
    CHECK(cuszi_set_option(&options, "fill-value", std::to_string(i).c_str()) == CUSZI_OK);
  }
  CHECK(cuszi_set_option(&options, "fill-value", "nan") == CUSZI_OK);  // is missing anyway
  CHECK(cuszi_set_option(&options, "fill-value", "99") == CUSZI_BAD_USAGE);
  CHECK(options.more_fill_count == CUSZI_MAX_FILLS);
}

TEST_CASE("options that cannot be set by text are refused", "[library]") {
  cuszi_options options = cuszi_default_options();
  char line[40];
  CHECK(cuszi_set_option(&options, "colour", "red") == CUSZI_BAD_USAGE);
  CHECK(cuszi_option_error(&options, "colour", "red", line, sizeof line) > sizeof line);
  CHECK(std::string(line) == "option 'colour' is not one of error-bou");
  CHECK(cuszi_option_error(&options, "", "", line, sizeof line) > 0);
  CHECK(cuszi_set_option(nullptr, "effort", "best") == CUSZI_BAD_USAGE);
  CHECK(cuszi_set_option(&options, nullptr, "best") == CUSZI_BAD_USAGE);
  CHECK(cuszi_set_option(&options, "effort", nullptr) == CUSZI_BAD_USAGE);
  CHECK(cuszi_option_error(nullptr, "effort", "best", line, sizeof line) > 0);

  options.size = offsetof(cuszi_options, more_fills);  // as of an earlier cuszi.h
  CHECK(cuszi_set_option(&options, "effort", "best") == CUSZI_OK);
  CHECK(options.effort == CUSZI_EFFORT_BEST);
  CHECK(cuszi_set_option(&options, "fill-value", "5") == CUSZI_BAD_USAGE);
  CHECK(options.more_fill_count == 0);
  options.size = 8;
  CHECK(cuszi_set_option(&options, "effort", "fast") == CUSZI_BAD_USAGE);
}

TEST_CASE("nothing is read behind the options that are known", "[library]") {
  const MemoryBeforeAFence place(sizeof(cuszi_options));
  auto* const options = new (place.begin()) cuszi_options(cuszi::absolute(1e-2));
  for (const std::uint32_t size : {1U, 8U, 4096U, 0xFFFFFFFFU - options->size}) {
    options->size = static_cast<std::uint32_t>(sizeof(cuszi_options)) + size;
    REQUIRE(in_child([&] { return failure_of(*options).first == CUSZI_BAD_USAGE; }));
    const auto [status, text] = failure_of(*options);
    CHECK(status == CUSZI_BAD_USAGE);
    CHECK(text.find(std::to_string(sizeof(cuszi_options))) != std::string::npos);
  }
}

TEST_CASE("options of an earlier version are taken", "[library]") {
  cuszi_options options = cuszi::absolute(1e-2);
  options.memory_limit = 1;  // is not there yet
  options.size = offsetof(cuszi_options, memory_limit);
  const auto values = make_values<float>(points);
  const Archive archive = archive_of(values, options);
  CHECK(archive == archive_of(values, cuszi::absolute(1e-2)));
  std::vector<float> restored(points);
  CHECK_NOTHROW(cuszi::Context().decompress(&options, archive.data(), archive.size(),
                                            restored.data(), points * sizeof(float)));
}

TEST_CASE("a limit of memory is kept before it is taken", "[library]") {
  const auto values = make_values<float>(points);
  std::vector<float> restored(points);
  const Archive archive = archive_of(values, cuszi::absolute(1e-2));
  cuszi::Context context;
  cuszi_options options = cuszi_default_options();
  const auto restore = [&](std::uint64_t limit) {
    options.memory_limit = limit;
    return cuszi_decompress(context.get(), &options, archive.data(), archive.size(),
                            restored.data(), points * sizeof(float));
  };
  CHECK(restore(points * sizeof(float) / 2) == CUSZI_BAD_ARCHIVE);
  CHECK(std::string(cuszi_last_error(context.get())).find("12x30x40") != std::string::npos);
  CHECK(restore(16 * points * sizeof(float)) == CUSZI_OK);
  CHECK(restore(0) == CUSZI_OK);
}

TEST_CASE("what a buffer lacks is told by a size that is enough", "[library]") {
  const auto values = make_values<float>(points);
  const cuszi_field field = cuszi::field_of<float>(dims);
  cuszi::Context context;
  for (const cuszi_options& options : {cuszi::absolute(1e-2), cuszi_default_options()}) {
    Archive archive(100);
    std::size_t size = 0;
    const auto compress = [&] {
      return cuszi_compress(context.get(), &options, &field, values.data(), archive.data(),
                            archive.size(), &size);
    };
    REQUIRE(compress() == CUSZI_NO_ROOM);
    const std::string text = cuszi_last_error(context.get());
    const std::size_t at = text.find("; ");
    REQUIRE(at != std::string::npos);
    archive.resize(std::stoul(text.substr(at + 2)));
    CHECK(compress() == CUSZI_OK);
    archive.resize(size);
    CHECK(archive == context.compress(values, dims, options));
  }
}

TEST_CASE("an end of UINT64_MAX leaves a part open, as 0 does", "[library]") {
  const Archive archive = archive_of(make_values<float>(points), cuszi::absolute(1e-2));
  cuszi::Context context;
  cuszi_part part = cuszi_whole_field();
  part.first[0] = 5;
  part.end[0] = UINT64_MAX;
  cuszi_field field{};
  REQUIRE(cuszi_part_field(context.get(), archive.data(), archive.size(), &part, &field) ==
          CUSZI_OK);
  CHECK(field.dims[0] == 7);
  part.end[0] = UINT64_MAX - 1;
  CHECK(cuszi_part_field(context.get(), archive.data(), archive.size(), &part, &field) ==
        CUSZI_BAD_USAGE);
}

TEST_CASE("a device that is not there is told", "[library]") {
  cuszi_options options = cuszi::relative(1e-3);
  options.preset = CUSZI_PRESET_CUSZI;
  options.device = CUSZI_DEVICE_CUDA;
  options.device_index = 1000;
  const auto [status, text] = failure_of(options);
  CHECK(status == CUSZI_NO_DEVICE);
  CHECK(!text.empty());
}

TEST_CASE("arguments that are NULL or too small are told", "[library]") {
  const auto values = make_values<float>(points);
  cuszi_options options = cuszi::absolute(1e-2);
  options.preset = CUSZI_PRESET_CUSZ;
  const Archive archive = archive_of(values, options);
  cuszi_field field = cuszi::field_of<float>(dims);
  cuszi::Context owner;
  cuszi_context* const context = owner.get();
  Archive buffer(archive.size());
  std::vector<float> restored(points);
  std::size_t size = 0;
  const auto compress = [&](const cuszi_field* f, const void* from, void* to, std::size_t room,
                            std::size_t* result) {
    return cuszi_compress(context, &options, f, from, to, room, result);
  };
  CHECK(compress(nullptr, values.data(), buffer.data(), buffer.size(), &size) == CUSZI_BAD_USAGE);
  CHECK(compress(&field, nullptr, buffer.data(), buffer.size(), &size) == CUSZI_BAD_USAGE);
  CHECK(compress(&field, values.data(), nullptr, buffer.size(), &size) == CUSZI_BAD_USAGE);
  CHECK(compress(&field, values.data(), buffer.data(), buffer.size(), nullptr) == CUSZI_BAD_USAGE);
  CHECK(cuszi_last_error(context) == std::string("archive_size is NULL"));
  CHECK(cuszi_compress(nullptr, &options, &field, values.data(), buffer.data(), 1, &size) ==
        CUSZI_BAD_USAGE);
  for (std::size_t room = 0; room < archive.size(); room += 499) {
    CHECK(compress(&field, values.data(), buffer.data(), room, &size) == CUSZI_NO_ROOM);
  }
  CHECK(compress(&field, values.data(), buffer.data(), archive.size(), &size) == CUSZI_OK);
  CHECK(cuszi_last_error(context) == std::string());
  CHECK(buffer == archive);
  CHECK(cuszi_decompress(context, nullptr, archive.data(), archive.size(), restored.data(),
                         points * sizeof(float) - 1) == CUSZI_NO_ROOM);
  CHECK(cuszi_decompress(context, nullptr, nullptr, 10, restored.data(), 1) == CUSZI_BAD_USAGE);
  field.rank = 5;
  CHECK(compress(&field, values.data(), buffer.data(), buffer.size(), &size) == CUSZI_BAD_USAGE);
  CHECK(cuszi_field_bytes(&field) == 0);
  CHECK(cuszi_bound(&field, &options) == 0);
  cuszi_info info{};
  CHECK(cuszi_read_info(context, archive.data(), archive.size(), &info) == CUSZI_BAD_USAGE);
}

TEST_CASE("values may lie at any address", "[library]") {
  const auto values = make_values<double>(points);
  std::vector<std::byte> shifted(values.size() * sizeof(double) + 1);
  std::memcpy(shifted.data() + 1, values.data(), values.size() * sizeof(double));
  const cuszi_field field = cuszi::field_of<double>(dims);
  const cuszi_options options = cuszi::absolute(1e-2);
  Archive archive(cuszi_bound(&field, &options));
  cuszi::Context context;
  archive.resize(
      context.compress(options, field, shifted.data() + 1, archive.data(), archive.size()));
  CHECK(archive == context.compress(values, dims, options));
  context.decompress(nullptr, archive.data(), archive.size(), shifted.data() + 1,
                     shifted.size() - 1);
  std::vector<double> restored(points);
  std::memcpy(restored.data(), shifted.data() + 1, shifted.size() - 1);
  CHECK(restored == context.decompress<double>(archive));
}

TEST_CASE("parts of a field have its values", "[library]") {
  const auto values = make_values<float>(points);
  cuszi_options options = cuszi::absolute(1e-2);
  options.frame_bytes = 5 * 30 * 40 * sizeof(float);
  options.axes = CUSZI_AXES_LATTICE;
  const Archive archive = archive_of(values, options);
  cuszi::Context context;
  const auto whole = context.decompress<float>(archive);
  cuszi_part part = cuszi_whole_field();
  part.first[0] = 3;
  part.end[0] = 8;
  part.first[2] = 6;
  for (const std::uint64_t stride : {1U, 2U}) {
    part.stride = stride;
    cuszi_field field{};
    REQUIRE(cuszi_part_field(context.get(), archive.data(), archive.size(), &part, &field) ==
            CUSZI_OK);
    std::vector<float> expected;
    for (std::uint64_t z = 3; z < 8; ++z) {
      for (std::uint64_t y = 0; y < 30; ++y) {
        for (std::uint64_t x = 6; x < 40; ++x) {
          if ((z | y | x) % stride == 0) expected.push_back(whole[(z * 30 + y) * 40 + x]);
        }
      }
    }
    REQUIRE(cuszi_field_bytes(&field) == expected.size() * sizeof(float));
    std::vector<float> restored(expected.size());
    const auto restore = [&](std::size_t room) {
      return cuszi_decompress_part(context.get(), nullptr, archive.data(), archive.size(), &part,
                                   restored.data(), room);
    };
    CHECK(restore(expected.size() * sizeof(float) - 1) == CUSZI_NO_ROOM);
    CHECK(restore(expected.size() * sizeof(float)) == CUSZI_OK);
    CHECK(restored == expected);
  }
  part.stride = 3;
  CHECK(cuszi_decompress_part(context.get(), nullptr, archive.data(), archive.size(), &part,
                              nullptr, 0) == CUSZI_BAD_USAGE);
  part = cuszi_whole_field();
  part.end[0] = 13;
  CHECK(cuszi_decompress_part(context.get(), nullptr, archive.data(), archive.size(), &part,
                              nullptr, 0) == CUSZI_BAD_USAGE);
}

TEST_CASE("frames are parts", "[library]") {
  const auto values = make_values<double>(points);
  cuszi_options options = cuszi::absolute(1e-2);
  options.frame_bytes = 65536;
  cuszi::Context context;
  const Archive archive = context.compress(values, dims, options);
  const auto whole = context.decompress<double>(archive);
  const std::uint64_t frames = context.info(archive.data(), archive.size()).frames;
  REQUIRE(frames > 1);
  cuszi_part part = cuszi_whole_field();
  std::vector<double> joined;
  for (std::uint64_t i = 0; i < frames; ++i) {
    REQUIRE(cuszi_frame_part(context.get(), archive.data(), archive.size(), i, &part) == CUSZI_OK);
    cuszi_field field{};
    cuszi_part_field(context.get(), archive.data(), archive.size(), &part, &field);
    std::vector<double> frame(cuszi_field_bytes(&field) / sizeof(double));
    CHECK(cuszi_decompress_part(context.get(), nullptr, archive.data(), archive.size(), &part,
                                frame.data(), frame.size() * sizeof(double)) == CUSZI_OK);
    joined.insert(joined.end(), frame.begin(), frame.end());
  }
  CHECK(joined == whole);
  CHECK(cuszi_frame_part(context.get(), archive.data(), archive.size(), frames, &part) ==
        CUSZI_BAD_USAGE);
}

TEST_CASE("damaged archives give an error", "[library]") {
  const auto values = make_values<float>(points);
  cuszi_options options = cuszi::absolute(1e-2);
  options.preset = CUSZI_PRESET_CUSZI;
  const Archive whole = archive_of(values, options);
  std::vector<float> restored(points);
  cuszi::Context context;
  const auto status_of = [&](const Archive& archive) {
    const cuszi_status status =
        cuszi_decompress(context.get(), nullptr, archive.data(), archive.size(), restored.data(),
                         restored.size() * sizeof(float));
    const std::string text = cuszi_last_error(context.get());
    CHECK(text.empty() == (status == CUSZI_OK));
    return status;
  };
  REQUIRE(status_of(whole) == CUSZI_OK);
  std::mt19937 random(11);
  for (int i = 0; i < 150; ++i) {
    Archive damaged = whole;
    damaged[random() % damaged.size()] ^= std::byte{static_cast<unsigned char>(1U << (i % 8))};
    CHECK(status_of(damaged) == CUSZI_BAD_ARCHIVE);
  }
  for (std::size_t size = 0; size < whole.size(); size += 29) {
    CHECK(status_of({whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)}) ==
          CUSZI_BAD_ARCHIVE);
  }
  CHECK(status_of(whole) == CUSZI_OK);  // the context is as good as before
}

TEST_CASE("threads with a context each make the same archives", "[library]") {
  constexpr unsigned count = cuszi::test::sanitized ? 3 : 8;
  constexpr int turns = cuszi::test::sanitized ? 1 : 3;
  std::vector<Archive> expected;
  for (unsigned i = 0; i < count; ++i) {
    expected.push_back(archive_of(make_values<float>(points, i), cuszi::relative(1e-3)));
  }
  std::vector<int> good(count, 0);
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < count; ++i) {
    threads.emplace_back([&, i] {
      cuszi::Context context;
      cuszi_options options = cuszi::relative(1e-3);
      options.threads = 1 + static_cast<std::int32_t>(i % 2);
      const auto values = make_values<float>(points, i);
      for (int turn = 0; turn < turns; ++turn) {
        const Archive archive = context.compress(values, dims, options);
        const auto restored = context.decompress<float>(archive);
        double largest = 0;
        for (std::size_t k = 0; k < points; ++k) {
          largest = std::max(largest, std::abs(static_cast<double>(values[k] - restored[k])));
        }
        const double bound = context.info(archive.data(), archive.size()).bound_absolute;
        good[i] += archive == expected[i] && largest <= bound ? 1 : 0;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(good == std::vector<int>(count, turns));
}

TEST_CASE("a forked child works on with the context of its parent", "[library]") {
  const auto values = make_values<float>(points, 3);
  cuszi_options options = cuszi::relative(1e-3);
  options.threads = 4;
  cuszi::Context context;
  const Archive expected = context.compress(values, dims, options);
  CHECK(in_child([&] {
    return context.compress(values, dims, options) == expected &&
           context.decompress<float>(expected).size() == points;
  }));
  CHECK(context.compress(values, dims, options) == expected);
}

TEST_CASE("threads that wait take no processor's time", "[library]") {
  if (cuszi::test::sanitized) return;  // whose own work would be measured
  for (const auto& [extent, turns] : {std::pair{24U, 60}, std::pair{64U, 6}}) {
    const auto values = make_values<float>(std::size_t{extent} * extent * extent);
    cuszi_options options = cuszi::relative(1e-3);
    options.preset = CUSZI_PRESET_CUSZI;
    cuszi::Context context;
    const auto seconds_with = [&, extent = extent, turns = turns](std::int32_t threads) {
      options.threads = threads;
      const auto compress = [&] { context.compress(values, {extent, extent, extent}, options); };
      compress();
      return cpu_seconds(turns, compress);
    };
    const double of_one = seconds_with(1);
    INFO(extent);
    CHECK(seconds_with(2) < 1.5 * of_one);
  }
}

TEST_CASE("more threads than the system has do not end the process", "[library]") {
  if (cuszi::test::sanitized) return;  // whose shadow memory is no smaller
  const auto values = make_values<float>(points, 3);
  cuszi_options options = cuszi::relative(1e-3);
  const Archive expected = cuszi::Context().compress(values, dims, options);
  options.threads = 512;
  CHECK(in_child([&] {
    std::size_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    const rlim_t most = pages * 4096 + (std::size_t{48} << 20);  // six stacks of threads
    const rlimit limit{most, most};
    if (setrlimit(RLIMIT_AS, &limit) != 0) return false;
    return cuszi::Context().compress(values, dims, options) == expected;
  }));
}

namespace {

constexpr auto unnamed = std::numeric_limits<double>::quiet_NaN();

/// The warning for waves in which every seventh value is `there`, with a fill value unless unnamed.
template <class T>
std::string warning_for(cuszi::Context& context, double there, double named,
                        cuszi_options options = cuszi::relative(1e-3)) {
  auto values = make_values<T>(points);
  for (std::size_t i = 3; i < values.size(); i += 7) values[i] = static_cast<T>(there);
  options.fills = &named;
  options.fill_count = std::isnan(named) ? 0 : 1;
  context.compress(values, dims, options);
  return context.warning();
}

}  // namespace

TEST_CASE("what spoils a range is told, or an error where that is asked", "[library]") {
  cuszi::Context context;
  CHECK(warning_for<float>(context, 1e20, unnamed).find("1e+20 repeats far outside") == 0);
  CHECK(warning_for<float>(context, 0.5, unnamed).empty());
  CHECK(warning_for<float>(context, 1e20, 1e20).empty());
  CHECK(warning_for<float>(context, 0.5, 1e20).empty());  // a chunk where nothing is missing
  for (const double there : {1e20, double{1e20F}}) {
    const double named = there == 1e20 ? double{1e20F} : 1e20;
    const std::string text = warning_for<double>(context, there, named);
    INFO(text);
    CHECK(text.find("rounded otherwise") != std::string::npos);
    CHECK(text.find("repeats") == std::string::npos);
  }
  cuszi_options options = cuszi::relative(1e-3);
  options.strict = 1;
  CHECK(warning_for<float>(context, 1e20, 1e20, options).empty());
  try {
    warning_for<float>(context, 1e20, unnamed, options);
    FAIL("not strict");
  } catch (const cuszi::Error& error) {
    CHECK(error.status() == CUSZI_BAD_INPUT);
    CHECK(std::string(error.what()).find("1e+20") == 0);
    CHECK(context.warning().empty());
  }
}

TEST_CASE("fill values at both ends, or in some frames alone, are suspected", "[library]") {
  auto values = make_values<float>(points);
  for (std::size_t i = 3; i < values.size(); i += 7) values[i] = i % 2 == 0 ? 9e33F : -9e33F;
  cuszi::Context context;
  context.compress(values, dims, cuszi::relative(1e-3));
  CHECK(context.warning().find("-9e+33 repeats") == 0);
  CHECK(context.warning().find("; 9e+33 repeats") != std::string::npos);

  values = make_values<float>(points);
  std::fill(values.begin(), values.begin() + points / 2, 1e20F);
  cuszi_options options = cuszi::relative(1e-3);
  options.frame_bytes = points;  // a quarter
  context.compress(values, dims, options);
  CHECK(context.warning().find("1e+20 repeats") == 0);
}

TEST_CASE("a target that is not met is warned of, or an error", "[library]") {
  cuszi::Context context;
  cuszi_options options = cuszi::ratio(1e6);
  context.compress(make_values<float>(points), dims, options);
  CHECK(context.warning().find("the target ratio:1e+06 was not met") == 0);
  options.strict = 1;
  CHECK(failure_of(options).first == CUSZI_BAD_BOUND);
}
