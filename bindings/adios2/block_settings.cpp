#include "block_settings.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <initializer_list>
#include <sstream>
#include <stdexcept>
#include <string_view>

namespace cuszi::adios {

namespace {

struct Parameter {
  const std::string& name;
  const std::string& text;

  [[noreturn]] void refuse(const std::string& accepted) const {
    throw std::invalid_argument("cuszi: " + name + " '" + text + "' is not " + accepted);
  }

  template <class Number>
  Number number(std::string_view part, const char* accepted) const {
    Number value{};
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), value);
    if (error != std::errc() || end != part.data() + part.size()) refuse(accepted);
    return value;
  }

  double real() const { return number<double>(text, "a number"); }
  int whole() const { return number<int>(text, "a whole number"); }

  std::vector<double> several() const {
    std::vector<double> values;
    std::istringstream parts(text);
    for (std::string part; std::getline(parts, part, ',');) {
      values.push_back(number<double>(part, "numbers separated by commas"));
    }
    return values;
  }

  int choice(std::initializer_list<std::string_view> names) const {
    const auto* const found = std::find(names.begin(), names.end(), text);
    if (found != names.end()) return static_cast<int>(found - names.begin());
    std::string accepted;
    for (const std::string_view each : names)
      accepted.append(accepted.empty() ? "one of " : ", ").append(each);
    refuse(accepted);
  }
};

void set_bound(BlockSettings& to, cuszi_mode mode, const Parameter& parameter) {
  if (to.has_bound)
    throw std::invalid_argument(
        "cuszi: more than one bound; give one of abs, rel, pw_rel, abs_or_pw_rel, abs_and_pw_rel, "
        "psnr and ratio");
  to.has_bound = true;
  to.choices.mode = mode;
  to.choices.bound = parameter.real();
}

void set_range(BlockSettings& to, const Parameter& parameter) {
  const std::vector<double> range = parameter.several();
  if (range.size() != 2) parameter.refuse("two numbers, like 0,100");
  to.choices.has_range = 1;
  to.choices.range_min = range[0];
  to.choices.range_max = range[1];
}

struct Setter {
  std::string_view name;
  void (*set)(BlockSettings& to, const Parameter& parameter);
};

constexpr Setter setters[] = {
    {"abs", [](BlockSettings& to, const Parameter& it) { set_bound(to, CUSZI_ABS, it); }},
    {"rel", [](BlockSettings& to, const Parameter& it) { set_bound(to, CUSZI_REL, it); }},
    {"pw_rel", [](BlockSettings& to, const Parameter& it) { set_bound(to, CUSZI_PWREL, it); }},
    {"abs_or_pw_rel",
     [](BlockSettings& to, const Parameter& it) { set_bound(to, CUSZI_ABS_OR_PWREL, it); }},
    {"abs_and_pw_rel",
     [](BlockSettings& to, const Parameter& it) { set_bound(to, CUSZI_ABS_AND_PWREL, it); }},
    {"pw", [](BlockSettings& to, const Parameter& it) { to.choices.pw = it.real(); }},
    {"psnr", [](BlockSettings& to, const Parameter& it) { set_bound(to, CUSZI_PSNR, it); }},
    {"ratio", [](BlockSettings& to, const Parameter& it) { set_bound(to, CUSZI_RATIO, it); }},
    {"value_range", set_range},
    {"fill", [](BlockSettings& to, const Parameter& it) { to.fills = it.several(); }},
    {"preset",
     [](BlockSettings& to, const Parameter& it) {
       to.choices.preset = it.choice({"ratio", "cuszi", "cusz", "fast", "zfp", "balanced"});
     }},
    {"effort",
     [](BlockSettings& to, const Parameter& it) {
       to.choices.effort = it.choice({"normal", "fast"});
     }},
    {"device",
     [](BlockSettings& to, const Parameter& it) {
       to.choices.device = it.choice({"auto", "cpu", "cuda"});
     }},
    {"threads", [](BlockSettings& to, const Parameter& it) { to.choices.threads = it.whole(); }},
    {"verify",
     [](BlockSettings& to, const Parameter& it) {
       to.choices.verify = it.choice({"no", "yes"});
     }},
    {"strict",
     [](BlockSettings& to, const Parameter& it) {
       to.choices.strict = it.choice({"no", "yes"});
     }},
    {"order",
     [](BlockSettings& to, const Parameter& it) {
       to.column_major = it.choice({"row", "column"}) == 1;
     }},
};

/// ADIOS2's own; ignored.
constexpr std::string_view of_adios2[] = {"pluginname", "pluginlibrary", "verbose"};

[[noreturn]] void refuse_name(const std::string& name) {
  std::string text = "cuszi: unknown parameter " + name;
  for (const Setter& setter : setters)
    text.append(&setter == setters ? "; parameters are " : ", ").append(setter.name);
  throw std::invalid_argument(text);
}

}  // namespace

cuszi_options BlockSettings::options() const {
  cuszi_options options = choices;
  options.fill_count = static_cast<std::uint32_t>(fills.size());
  options.fills = fills.data();
  return options;
}

BlockSettings read_settings(const std::map<std::string, std::string>& parameters) {
  BlockSettings settings;
  for (const auto& [name, text] : parameters) {
    if (std::find(std::begin(of_adios2), std::end(of_adios2), name) != std::end(of_adios2))
      continue;
    const auto* const found =
        std::find_if(std::begin(setters), std::end(setters),
                     [&name = name](const Setter& each) { return each.name == name; });
    if (found == std::end(setters)) refuse_name(name);
    found->set(settings, {name, text});
  }
  return settings;
}

}  // namespace cuszi::adios
