#pragma once

#include <cstddef>
#include <mutex>
#include <string>
#include <string_view>

#include "cuszi/cuszi.h"

namespace cuszi::api {

/// Keeps the lowest number's message; thread-safe.
class FirstOfMany {
 public:
  void add(std::size_t number, cuszi_status status, const char* text) noexcept;

  bool is_there() const { return count_ != 0; }
  cuszi_status status() const { return status_; }
  /// "member 7: ... (and 2 more)"
  std::string text(std::string_view each) const;

 private:
  std::mutex mutex_;  ///< guards the rest
  std::size_t count_ = 0;
  std::size_t number_ = 0;
  cuszi_status status_ = CUSZI_OK;
  std::string text_;
};

}  // namespace cuszi::api
