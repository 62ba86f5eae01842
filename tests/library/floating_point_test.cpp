#include <fenv.h>

#include <cstring>
#include <limits>
#include <span>

#include "tests/library/fields.hpp"
#include "tests/support/sanitized.hpp"

namespace cuszi::test {

namespace {

/// Traps what a debugging build of a simulation traps, and restores what was trapped before.
class Traps {
 public:
  static constexpr int trapped = FE_INVALID | FE_DIVBYZERO | FE_OVERFLOW;
  Traps() : before_(::fegetexcept()) {
    ::feclearexcept(FE_ALL_EXCEPT);
    ::feenableexcept(trapped);
  }
  Traps(const Traps&) = delete;
  Traps& operator=(const Traps&) = delete;
  ~Traps() {
    ::fedisableexcept(FE_ALL_EXCEPT);
    ::feenableexcept(before_);
  }
  static bool is_untouched() {
    return ::fegetexcept() == trapped && ::fetestexcept(FE_ALL_EXCEPT) == 0;
  }

 private:
  int before_;
};

/// Rounds up, and on x86 flushes subnormal numbers to zero.
class OddRounding {
 public:
  OddRounding() {
    ::fegetenv(&before_);
    ::fesetround(FE_UPWARD);
#if defined(__SSE2__)
    __builtin_ia32_ldmxcsr(__builtin_ia32_stmxcsr() | 0x8040U);
#endif
  }
  OddRounding(const OddRounding&) = delete;
  OddRounding& operator=(const OddRounding&) = delete;
  ~OddRounding() { ::fesetenv(&before_); }

 private:
  ::fenv_t before_{};
};

/// Waves in which every 19th value is infinite, quiet or signalling.
std::vector<float> rare_values() {
  std::vector<float> values = make_values<float>(points);
  constexpr float infinite = std::numeric_limits<float>::infinity();
  constexpr std::uint32_t signalling = 0x7FA12345;
  for (std::size_t i = 0; i < points; i += 19) {
    values[i] = i % 2 == 0 ? infinite : -infinite;
    if (i % 3 == 1) values[i] = std::numeric_limits<float>::quiet_NaN();
    if (i % 3 == 2) std::memcpy(&values[i], &signalling, sizeof signalling);
  }
  return values;
}

const std::vector<cuszi_options> asked{absolute(1e-3), relative(1e-3), psnr(60), ratio(10)};

}  // namespace

TEST_CASE("callers may trap exceptions", "[library]") {
  const auto tried = std::span(asked).first(sanitized ? 1 : asked.size());
  const std::vector<float> values = rare_values();
  const cuszi_field field = field_of<float>(dims);
  for (const int preset : {CUSZI_PRESET_RATIO, CUSZI_PRESET_CUSZI, CUSZI_PRESET_CUSZ,
                           CUSZI_PRESET_FAST, CUSZI_PRESET_ZFP}) {
    for (cuszi_options options : tried) {
      options.preset = preset;
      options.verify = 1;
      options.threads = 2;
      INFO("preset " << preset << ", mode " << options.mode);
      const Archive expected = archive_of(values, options);
      Archive made(cuszi_bound(&field, &options));
      std::vector<float> restored(values.size());
      std::size_t size = 0;
      Archive in_batch(made.size());
      cuszi_compression member{nullptr, field, values.data(), in_batch.data(), in_batch.size(), 0,
                               0,       0};
      bool is_untouched = true;
      std::vector<cuszi_status> statuses;
      {
        const Traps traps;
        cuszi_context* const context = cuszi_context_create();
        const auto note = [&](cuszi_status status) {
          statuses.push_back(status);
          is_untouched = is_untouched && Traps::is_untouched();
        };
        note(cuszi_compress(context, &options, &field, values.data(), made.data(), made.size(),
                            &size));
        note(cuszi_decompress(context, nullptr, made.data(), size, restored.data(),
                              restored.size() * sizeof(float)));
        note(cuszi_compress_batch(context, &options, &member, 1));
        cuszi_context_destroy(context);
        is_untouched = is_untouched && Traps::is_untouched();
      }
      CHECK(statuses == std::vector<cuszi_status>(3, CUSZI_OK));
      CHECK(is_untouched);
      made.resize(size);
      CHECK((made == expected));
      in_batch.resize(member.size);
      CHECK((in_batch == expected));
    }
  }
}

TEST_CASE("targets do not depend on how the caller rounds", "[library]") {
  if (sanitized) return;  // slow searches, which others make
  for (const double scale : {1.0, 0x1p-1030}) {
    std::vector<double> values = make_values<double>(points);
    for (double& value : values) value *= scale;
    for (const cuszi_options& options : asked) {
      INFO("mode " << options.mode << ", scale " << scale);
      Context context;
      const Archive expected = context.compress(values, dims, options);
      const double reached = context.reached();
      Archive made;
      {
        const OddRounding rounding;
        made = context.compress(values, dims, options);
      }
      CHECK((made == expected));
      CHECK((context.reached() == reached || std::isnan(reached)));
    }
  }
}

}  // namespace cuszi::test
