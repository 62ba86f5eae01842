#include <fmt/format.h>

#include <string_view>

#include "app/picture/formats.hpp"

namespace cuszi::app {

namespace {

std::string base64_of(std::string_view bytes) {
  constexpr std::string_view digits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    const std::string_view group = bytes.substr(at, 3);
    unsigned bits = 0;
    for (std::size_t i = 0; i < 3; ++i) {
      bits = bits << 8 | (i < group.size() ? static_cast<unsigned char>(group[i]) : 0U);
    }
    for (std::size_t i = 0; i < 4; ++i) {
      text += i <= group.size() ? digits[bits >> (18 - 6 * i) & 63U] : '=';
    }
  }
  return text;
}

}  // namespace

std::string kitty_of(const Picture& picture) {
  constexpr std::size_t most_at_once = 4096;
  const std::string data = base64_of(png_of(picture));
  std::string text;
  for (std::size_t at = 0; at < data.size(); at += most_at_once) {
    const bool goes_on = at + most_at_once < data.size();
    text += fmt::format("\x1b_G{}m={};{}\x1b\\", at == 0 ? "a=T,f=100," : "", goes_on ? 1 : 0,
                        std::string_view(data).substr(at, most_at_once));
  }
  return text + '\n';
}

}  // namespace cuszi::app
