#include <limits>

#include "tests/library/fields.hpp"
#include "tests/support/sanitized.hpp"

namespace cuszi::test {

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
  options.preset = CUSZI_PRESET_CUSZI;  // the quickest
  context.compress(values, dims, options);
  return context.warning();
}

}  // namespace

TEST_CASE("what spoils a range is told, or an error where that is asked", "[library]") {
  cuszi::Context context;
  CHECK(warning_for<float>(context, 1e20, unnamed).find("1e+20 lies far outside") == 0);
  CHECK(warning_for<float>(context, 0.5, unnamed).empty());
  CHECK(warning_for<float>(context, 1e20, 1e20).empty());
  CHECK(warning_for<float>(context, 0.5, 1e20).empty());  // a chunk where nothing is missing
  for (const double there : {1e20, double{1e20F}}) {
    const double named = there == 1e20 ? double{1e20F} : 1e20;
    const std::string text = warning_for<double>(context, there, named);
    INFO(text);
    CHECK(text.find("matches no point, but") != std::string::npos);
    CHECK(text.find("lies far") == std::string::npos);
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
  CHECK(context.warning().find("-9e+33 lies") == 0);
  CHECK(context.warning().find("; 9e+33 lies") != std::string::npos);

  values = make_values<float>(points);
  std::fill(values.begin(), values.begin() + points / 2, 1e20F);
  cuszi_options options = cuszi::relative(1e-3);
  options.frame_bytes = points;  // a quarter
  context.compress(values, dims, options);
  CHECK(context.warning().find("1e+20 lies") == 0);
}

TEST_CASE("few values that mean missing are told where the bound or target refers to the range",
          "[library]") {
  auto values = make_values<float>(points);
  values[points / 3] = values[points / 2] = -999;
  cuszi::Context context;
  for (const cuszi_preset preset : {CUSZI_PRESET_RATIO, CUSZI_PRESET_FAST}) {
    for (const cuszi_options& asked :
         {cuszi::relative(1e-3), cuszi::psnr(60), cuszi::ratio(10), cuszi::absolute(1e-3)}) {
      if (sanitized && preset == CUSZI_PRESET_RATIO && asked.mode != CUSZI_REL) {
        continue;  // slow searches
      }
      cuszi_options options = asked;
      options.preset = preset;
      context.compress(values, dims, options);
      INFO(context.warning());
      const bool is_told = std::string(context.warning()).find("-999 lies") == 0;
      CHECK(is_told == (asked.mode != CUSZI_ABS));
    }
  }
}

TEST_CASE("a value that pads is not suspected", "[library]") {
  auto values = make_values<float>(points);
  for (float& value : values) value = 1013 + value / 100;
  std::fill(values.begin(), values.begin() + points / 2, 0.0F);
  cuszi::Context context;
  cuszi_options options = cuszi::absolute(1e-3);
  context.compress(values, dims, options);
  CHECK(std::string(context.warning()).find("0 lies") == 0);
  options.has_padding = options.strict = 1;
  CHECK_NOTHROW(context.compress(values, dims, options));
  CHECK(std::string(context.warning()).empty());
}

TEST_CASE("a target that is not met is warned of, or an error", "[library]") {
  cuszi::Context context;
  cuszi_options options = cuszi::ratio(1e6);
  options.preset = CUSZI_PRESET_CUSZI;  // the quickest trials
  context.compress(make_values<float>(points), dims, options);
  CHECK(context.warning().find("target ratio:1e+06 not met") == 0);
  options.strict = 1;
  CHECK(failure_of(options).first == CUSZI_BAD_BOUND);
}

}  // namespace cuszi::test
