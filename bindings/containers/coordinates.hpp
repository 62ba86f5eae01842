#pragma once

#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "codec/files/container.hpp"

namespace cuszi {

/// The attributes that name a variable's coordinates and their bounds, by the CF conventions.
inline constexpr const char* coordinate_attributes[] = {"coordinates", "bounds", "climatology"};

/// Marks as coordinates the variables whose names stand in one of these texts.
inline void mark_coordinates(const std::vector<std::string>& texts,
                             std::vector<Variable>& variables) {
  std::set<std::string> names;
  for (const std::string& text : texts) {
    std::istringstream words(text);
    for (std::string word; words >> word;) names.insert(word);
  }
  for (Variable& variable : variables) {
    const std::string last = variable.name.substr(variable.name.rfind('/') + 1);
    if (names.contains(last) || names.contains('/' + variable.name)) variable.is_coordinate = true;
  }
}

}  // namespace cuszi
