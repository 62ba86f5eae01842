#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iostream>

#include "tests/support/sample_archives.hpp"

namespace {

using cuszi::test::SampleArchive;

void write(const std::filesystem::path& folder, const SampleArchive& seed) {
  std::ofstream file;
  file.exceptions(std::ios::failbit | std::ios::badbit);
  file.open(folder / (seed.name + ".cuszi"), std::ios::binary);
  file.write(reinterpret_cast<const char*>(seed.archive.data()),
             static_cast<std::streamsize>(seed.archive.size()));
}

}  // namespace

/// Writes the archives where fuzzing starts into a folder, which is made if it is not there.
int main(int argc, char** argv) try {
  if (argc != 2) {
    std::cerr << "usage: make_seeds FOLDER\n";
    return EXIT_FAILURE;
  }
  const std::filesystem::path folder = argv[1];
  std::filesystem::create_directories(folder);
  for (const SampleArchive& seed : cuszi::test::seed_archives()) write(folder, seed);
  for (const SampleArchive& seed : cuszi::test::claiming_archives()) write(folder, seed);
  write(folder, cuszi::test::members_archive());
  return EXIT_SUCCESS;
} catch (const std::exception& error) {
  std::cerr << "make_seeds: " << error.what() << '\n';
  return EXIT_FAILURE;
}
