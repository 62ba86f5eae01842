#include "bindings/c/first_of_many.hpp"

#include <fmt/format.h>

#include <new>

namespace cuszi::api {

void FirstOfMany::add(std::size_t number, cuszi_status status, const char* text) noexcept {
  const std::scoped_lock lock(mutex_);
  if (count_++ != 0 && number > number_) return;
  number_ = number;
  status_ = status;
  try {
    text_ = text;
  } catch (const std::bad_alloc&) {
    text_.clear();
  }
}

std::string FirstOfMany::text(std::string_view each) const {
  const std::string others = count_ == 1 ? "" : fmt::format(" (and {} more)", count_ - 1);
  return fmt::format("{} {}: {}{}", each, number_, text_, others);
}

}  // namespace cuszi::api
