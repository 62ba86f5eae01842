#pragma once

namespace cuszi {

/// A base of classes that are neither copied nor moved.
struct Unmovable {
  Unmovable() = default;
  Unmovable(const Unmovable&) = delete;
  Unmovable& operator=(const Unmovable&) = delete;
};

/// A base of classes with virtual functions.
struct Interface : Unmovable {
  virtual ~Interface() = default;
};

}  // namespace cuszi
