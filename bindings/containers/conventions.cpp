#include "bindings/containers/conventions.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <sstream>
#include <string_view>

namespace cuszi {

namespace {

/// Separated by spaces.
constexpr const char* lists_of_names[] = {
    "coordinates",
    "bounds",
    "climatology",
    "grid_mapping",  // "crs" or "crs: x y"
    "geometry",
    "nodes",
    "node_count",
    "part_node_count",
    "interior_ring",
    "node_coordinates",
    "edge_coordinates",
    "face_coordinates",
    "volume_coordinates",
    "edge_node_connectivity",
    "face_node_connectivity",
    "face_edge_connectivity",
    "face_face_connectivity",
    "edge_face_connectivity",
    "boundary_node_connectivity",
};

/// "area: areacella volume: volcello"
constexpr const char* lists_of_roles[] = {"cell_measures", "formula_terms"};

/// Others end in _coordinate.
constexpr std::string_view auxiliary_standard_names[] = {
    "latitude",
    "longitude",
    "grid_latitude",
    "grid_longitude",
    "time",
    "forecast_period",
    "forecast_reference_time",
    "altitude",
    "depth",
    "height",
    "height_above_geopotential_datum",
    "height_above_mean_sea_level",
    "height_above_reference_ellipsoid",
    "model_level_number",
    "cell_area",
};

constexpr std::string_view units_of_places[] = {
    "degrees_north", "degree_north", "degrees_N", "degree_N", "degreesN", "degreeN",
    "degrees_east",  "degree_east",  "degrees_E", "degree_E", "degreesE", "degreeE",
};

template <std::size_t count>
bool contains(const std::string_view (&words)[count], std::string_view word) {
  return std::find(std::begin(words), std::end(words), word) != std::end(words);
}

bool has(const Attributes& attributes, const char* name) {
  return !attributes.numbers(name).empty() || !attributes.text(name).empty();
}

/// CMIP also marks fluxes "positive", but they have several axes and a standard name.
bool is_vertical(const Attributes& attributes, const Variable& variable) {
  return has(attributes, "positive") &&
         (variable.extents.size() <= 1 || !has(attributes, "standard_name"));
}

bool is_auxiliary(const Attributes& attributes, const Variable& variable) {
  const std::string standard_name = attributes.text("standard_name");
  const std::string units = attributes.text("units");
  return contains(auxiliary_standard_names, standard_name) ||
         standard_name.ends_with("_coordinate") || contains(units_of_places, units) ||
         units.find(" since ") != std::string::npos || has(attributes, "axis") ||
         has(attributes, "flag_values") || has(attributes, "flag_masks") ||
         is_vertical(attributes, variable);
}

/// Also numbers stored as text.
std::vector<double> numbers_or_text(const Attributes& attributes, const char* name) {
  std::vector<double> values = attributes.numbers(name);
  std::istringstream words(attributes.text(name));
  for (std::string word; words >> word;) {
    double value = 0;
    const char* const end = word.data() + word.size();
    const auto [next, status] = std::from_chars(word.data(), end, value);
    if (status != std::errc{} || next != end) return {};
    values.push_back(value);
  }
  return values;
}

template <class T>
double next_number(double limit, T towards) {
  const auto near = static_cast<T>(limit);
  const bool is_beyond = towards > 0 ? double{near} > limit : double{near} < limit;
  return is_beyond ? near : std::nextafter(near, towards);
}

void add_isovalue(double value, Variable& variable) {
  auto& all = variable.isovalues;
  const bool is_known = std::find(all.begin(), all.end(), value) != all.end();
  if (std::isfinite(value) && !is_known) all.push_back(value);
}

/// The first invalid number; some readers round the limit to the variable's type.
void add_limit(double limit, bool is_most, Variable& variable) {
  if (is_wide_integer(*variable.dtype)) return;
  if (is_cast(*variable.dtype)) {
    return add_isovalue(is_most ? std::floor(limit) + 1 : std::ceil(limit) - 1, variable);
  }
  with_type_of(*variable.dtype, [&](auto zero) {
    using T = decltype(zero);
    const T infinity = std::numeric_limits<T>::infinity();
    for (const double as_read : {limit, double{static_cast<T>(limit)}}) {
      add_isovalue(next_number<T>(as_read, is_most ? infinity : -infinity), variable);
    }
  });
}

void add_limits(const Attributes& attributes, Variable& variable) {
  const std::vector<double> range = attributes.numbers("valid_range");
  const std::vector<double> least = attributes.numbers("valid_min");
  const std::vector<double> most = attributes.numbers("valid_max");
  if (least.size() == 1) add_limit(least[0], false, variable);
  if (most.size() == 1) add_limit(most[0], true, variable);
  if (range.size() != 2) return;
  add_limit(range[0], false, variable);
  add_limit(range[1], true, variable);
}

}  // namespace

void apply_conventions(const Attributes& attributes, Variable& variable) {
  if (!variable.dtype) return;
  for (const char* const name : {"_FillValue", "missing_value"}) {
    for (const double value : numbers_or_text(attributes, name)) variable.add_fill(value);
  }
  add_limits(attributes, variable);
  const std::vector<double> scale = attributes.numbers("scale_factor");
  if (variable.is_packed && scale.size() == 1) variable.scale = scale[0];
  if (is_auxiliary(attributes, variable)) variable.is_auxiliary = true;
}

void add_auxiliary_names(const Attributes& attributes, std::set<std::string>& names) {
  const auto add = [&](const char* attribute, bool has_roles) {
    std::istringstream words(attributes.text(attribute));
    for (std::string word; words >> word;) {
      if (!word.ends_with(':')) names.insert(word);
      if (word.ends_with(':') && !has_roles) names.insert(word.substr(0, word.size() - 1));
    }
  };
  for (const char* const attribute : lists_of_names) add(attribute, false);
  for (const char* const attribute : lists_of_roles) add(attribute, true);
}

void mark_auxiliary(const std::set<std::string>& names, std::vector<Variable>& variables) {
  for (Variable& variable : variables) {
    const std::string last = variable.name.substr(variable.name.rfind('/') + 1);
    if (names.contains(last) || names.contains('/' + variable.name)) variable.is_auxiliary = true;
  }
}

}  // namespace cuszi
