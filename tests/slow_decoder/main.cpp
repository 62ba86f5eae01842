#include <exception>
#include <fstream>
#include <iostream>
#include <iterator>
#include <span>

#include "tests/slow_decoder/slow_archive.hpp"

/// Usage: slow_decoder ARCHIVE > VALUES
int main(int count, char** arguments) {
  if (count != 2) {
    std::cerr << "usage: slow_decoder ARCHIVE > VALUES\n";
    return 1;
  }
  try {
    std::ifstream file(arguments[1], std::ios::binary);
    const std::vector<char> archive{std::istreambuf_iterator<char>(file), {}};
    const std::vector<std::byte> values = cuszi::slow::decode(std::as_bytes(std::span(archive)));
    std::cout.write(reinterpret_cast<const char*>(values.data()),
                    static_cast<std::streamsize>(values.size()));
    std::cout.flush();
    return std::cout.good() ? 0 : 2;
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 3;
  }
}
