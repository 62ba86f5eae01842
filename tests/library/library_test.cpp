#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <iomanip>
#include <limits>
#include <new>
#include <random>
#include <sstream>

#include "tests/library/fields.hpp"

namespace cuszi::test {

namespace {

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
    {"error-bound", "1e-3", "0.1%"},
    {"mode", "abs", "percent"},
    {"pw", "0.01", "1.5"},
    {"target", "psnr:80", "psnr:401"},
    {"preset", "fast", "best"},
    {"effort", "fast", "best"},
    {"keep-isovalue", "-0.5", "nan"},
    {"keep-sign", "yes", "1"},
    {"region", "0:8,1=1e-4", "0:8=-1"},
    {"bound-blocks", "8x8", "8x0"},
    {"predictor", "interp", "magic"},
    {"axes", "layered:1", "layered"},
    {"reach", "5", "4"},
    {"alpha", "1.5", "1.5x"},
    {"beta", "2", "-"},
    {"radius", "512", "auto2"},
    {"interp", "anchor=8,order=xyz", "order=zz"},
    {"interp-tile", "8x16", "8x0"},
    {"interp-anchor", "8", "9"},
    {"interp-alpha", "2", "two"},
    {"interp-cubic", "natural", "Natural"},
    {"interp-order", "yx", "xyzx"},
    {"zfp-mode", "rate:8", "precision:2.5"},
    {"zfp-chunk", "3", "3.5"},
    {"coder", "ans", "zip"},
    {"huffman-width", "64", "16"},
    {"chunk", "256", "1000"},
    {"index", "none", "all"},
    {"partition", "4", ""},
    {"lossless", "bitcomp", "zstd"},
    {"frame-size", "64K", "64X"},
    {"device", "cuda:3", "cuda:1024"},
    {"threads", "2", "-1"},
    {"fill-value", "netcdf", "none"},
    {"padding", "0", "zero"},
    {"value-range", "-2,3", "3,-2"},
    {"verify", "yes", "true"},
    {"strict", "yes", "1"},
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

TEST_CASE("options that cannot be are refused by name", "[library]") {
  check_refused(&cuszi_options::bound, -1.0, "bound");
  check_refused(&cuszi_options::bound, 1.0, "bound");
  check_refused(&cuszi_options::bound, std::nan(""), "bound");
  check_refused(&cuszi_options::mode, 7, "mode");
  check_refused(&cuszi_options::mode, int{CUSZI_ABS_OR_PWREL}, "pw");
  check_refused(&cuszi_options::pw, 0.5, "pw");
  check_refused(&cuszi_options::preset, 6, "preset");
  check_refused(&cuszi_options::device, -1, "device");
  check_refused(&cuszi_options::threads, -2, "threads");
  check_refused(&cuszi_options::predictor, 8, "predictor");
  check_refused(&cuszi_options::coder, 4, "coder");
  check_refused(&cuszi_options::lossless, 2, "lossless");
  check_refused(&cuszi_options::radius, 1U << 20, "radius");
  check_refused(&cuszi_options::effort, 2, "effort");
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
  const float bound = 1e-4F;
  check_refused(&cuszi_options::bound_field, &bound, "bound_count");  // which is 0
  check_refused(&cuszi_options::bound_count, std::uint64_t{1}, "bound_count");
  check_refused(&cuszi_options::version, 2U, "options");
  check_refused(&cuszi_options::size, 8U, "options");
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
    CHECK((archive_of(values, options) == expected));
  }
}

TEST_CASE("texts of several devices are sets of them", "[library]") {
  cuszi_options options = cuszi_default_options();
  const auto set_by = [&](const char* text) {
    REQUIRE(cuszi_set_option(&options, "device", text) == CUSZI_OK);
    return options.devices;
  };
  CHECK(set_by("cuda:0,1") == 3);
  CHECK(options.device == CUSZI_DEVICE_CUDA);
  CHECK(set_by("cuda:63,2") == (std::uint64_t{1} << 63 | 4));
  CHECK(set_by("cuda:all") == UINT64_MAX);
  CHECK(set_by("cuda:5") == 0);
  CHECK(options.device_index == 5);
  CHECK(set_by("cpu") == 0);
  for (const char* const wrong : {"cuda:0,64", "cuda:0,", "cuda:,1", "cuda:0,-1", "cpu:0,1"}) {
    check_text_refused("device", wrong);
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
  cuszi_options blocks = cuszi::relative(1e-3);
  CHECK(cuszi_set_option(&blocks, "bound-blocks", "8x8") == CUSZI_OK);
  CHECK(failure_of(blocks).second.find("bound_blocks 8 is not 0") == 0);  // without bounds
  CHECK(cuszi_option_error(&options, "", "", line, sizeof line) > 0);
  CHECK(cuszi_set_option(nullptr, "effort", "fast") == CUSZI_BAD_USAGE);
  CHECK(cuszi_set_option(&options, nullptr, "fast") == CUSZI_BAD_USAGE);
  CHECK(cuszi_set_option(&options, "effort", nullptr) == CUSZI_BAD_USAGE);
  CHECK(cuszi_option_error(nullptr, "effort", "fast", line, sizeof line) > 0);

  options.size = offsetof(cuszi_options, more_fills);  // as of an earlier cuszi.h
  CHECK(cuszi_set_option(&options, "effort", "fast") == CUSZI_OK);
  CHECK(options.effort == CUSZI_EFFORT_FAST);
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

TEST_CASE("a device that is not there is told", "[library]") {
  cuszi_options options = cuszi::relative(1e-3);
  options.preset = CUSZI_PRESET_CUSZI;
  options.device = CUSZI_DEVICE_CUDA;
  options.device_index = 1000;
  const auto [status, text] = failure_of(options);
  CHECK(status == CUSZI_NO_DEVICE);
  CHECK(!text.empty());
}

TEST_CASE("cuszi_bound() is enough for noise, whatever the mode and the fill values", "[library]") {
  std::mt19937_64 random(3);
  std::vector<double> values(20000);
  for (double& value : values) value = std::bit_cast<double>(random());
  const cuszi_field field = field_of<double>({values.size()});
  const std::size_t of_any = cuszi_bound(&field, nullptr);
  cuszi_context* const context = cuszi_context_create();
  for (const int mode :
       {CUSZI_ABS, CUSZI_REL, CUSZI_PWREL, CUSZI_ABS_OR_PWREL, CUSZI_ABS_AND_PWREL}) {
    for (const std::uint32_t fills : {0U, 16U}) {
      cuszi_options options = absolute(5e-324);
      options.mode = mode;
      if (mode == CUSZI_REL || mode == CUSZI_PWREL) options.bound = 0;
      if (mode >= CUSZI_ABS_OR_PWREL) options.pw = 1e-15;
      options.more_fill_count = fills;
      for (std::uint32_t i = 0; i < fills; ++i) options.more_fills[i] = i;
      const std::size_t room = cuszi_bound(&field, &options);
      CHECK(room <= of_any);
      Archive archive(room);
      std::size_t size = 0;
      CHECK(cuszi_compress(context, &options, &field, values.data(), archive.data(), room, &size) ==
            CUSZI_OK);
    }
  }
  cuszi_context_destroy(context);
}

TEST_CASE("ends of regions that are 0 or the largest number are open", "[library]") {
  const std::vector<float> values = make_values<float>(points);
  constexpr std::uint64_t largest = std::numeric_limits<std::uint64_t>::max();
  cuszi_options options = absolute(0.1);
  options.preset = CUSZI_PRESET_BALANCED;  // quicker than the default
  options.region_count = 1;
  options.regions[0] = {{4, 0, 0, 0}, {8, 30, 40, 1}, 0.001};
  const Archive expected = archive_of(values, options);
  for (const std::uint64_t open : {std::uint64_t{0}, largest}) {
    std::fill(options.regions[0].end + 1, options.regions[0].end + 4, open);
    CHECK((archive_of(values, options) == expected));
  }
  options.regions[0] = {{}, {12, 30, 40, 1}, 0.001};
  const Archive whole = archive_of(values, options);
  options.regions[0] = {{}, {}, 0.001};
  CHECK((archive_of(values, options) == whole));
  for (const char* const text :
       {"0:18446744073709551615=0.1", "18446744073709551615=0.1", "18446744073709551614=0.1",
        "3:18446744073709551614=0.1", "0:0=0.1", "4:4=0.1", "4:2=0.1"}) {
    INFO(text);
    CHECK(cuszi_set_option(&options, "region", text) == CUSZI_BAD_USAGE);
  }
  CHECK(cuszi_set_option(&options, "region", "3:,:,2:=0.1") == CUSZI_OK);
}

}  // namespace cuszi::test
