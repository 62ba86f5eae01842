#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/pipeline.hpp"

namespace cuszi::app {

/// Looks at the frames of a field for missing values that the user's fill values do not name, and
/// for names that fit no value.
class FillWatch {
 public:
  /// `named` by the user, `others` by the field's file.
  FillWatch(const FillValues& named, const FillValues& others);

  /// Looks at a frame that has been loaded.
  void look_at(const LoadedFrame& frame);

  /// What the user should know after all frames, one line each, without the field's name.
  std::vector<std::string> warnings() const;

  /// Whether there seem to be missing values that nobody has named, which make a relative bound
  /// meaningless.
  bool suspects_others() const;

 private:
  /// A value that the user has named.
  struct Named {
    double value;
    bool seen = false;
    std::optional<double> in_other_precision;  ///< which the field has instead
  };

  void look_for(Named& named, const LoadedFrame& frame) const;

  FillValues fills_;  ///< all of them
  std::vector<Named> named_;
  std::optional<std::string> suspect_;  ///< as text that --fill-value takes
};

}  // namespace cuszi::app
