#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "codec/field/field_name.hpp"
#include "codec/field/fill_watch.hpp"
#include "cpu_ref/session/cpu_backend.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/check_frame.hpp"
#include "tests/support/sanitized.hpp"

namespace cuszi::test {

namespace {

namespace fs = std::filesystem;

/// Where real fields are, if there are any: they are not a part of the project.
fs::path fields_folder() {
  const char* const shared = std::getenv("CUSZI_SHARED");
  return fs::path(shared != nullptr ? shared : CUSZI_SOURCE_DIR "/../shared") / "data";
}

std::vector<fs::path> packed_fields() {
  std::vector<fs::path> fields;
  std::error_code missing;
  for (const auto& entry : fs::directory_iterator(fields_folder(), missing)) {
    if (entry.path().extension() == ".xz") fields.push_back(entry.path());
  }
  std::sort(fields.begin(), fields.end());
  return fields;
}

std::vector<std::byte> unpack(const fs::path& packed) {
  const fs::path field = fs::current_path() / "real_field.tmp";
  const std::string command = "xz -dc '" + packed.string() + "' > '" + field.string() + "'";
  REQUIRE(std::system(command.c_str()) == 0);
  std::vector<std::byte> bytes(fs::file_size(field));
  std::ifstream(field, std::ios::binary)
      .read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  fs::remove(field);
  return bytes;
}

std::vector<double> bounds_to_try() {
  if (tries_all_cases()) return {1e-2, 1e-3, 1e-4, 1e-6};
  return {1e-2, 1e-6};
}

}  // namespace

TEST_CASE("real fields keep their promises at coarse and fine bounds") {
  const std::vector<fs::path> fields = packed_fields();
  if (fields.empty()) {
    WARN("not run: no real fields in " << fields_folder() << "; set CUSZI_SHARED");
    return;
  }
  const auto backend = cpu::make_backend();
  for (const fs::path& packed : fields) {
    const std::string name = packed.stem().string();
    const std::vector<std::byte> values = unpack(packed);
    FrameTask task;
    task.shape = {DType::f32, dims_in_name(name, values.size() / 4).value()};
    if (name.starts_with("tos_ipsl")) task.fills.add(1e20);
    for (const PredictorId predictor :
         {PredictorId::lorenzo, PredictorId::interp, PredictorId::multilevel}) {
      for (const double bound : bounds_to_try()) {
        INFO(name << ' ' << name_of(predictor) << " rel " << bound);
        task.config.predictor.id = predictor;
        task.config.coder = predictor == PredictorId::multilevel ? CoderId::ans : CoderId::huffman;
        task.bound = bound;
        check_frame(*backend, task, values);
      }
    }
  }
}

TEST_CASE("of real fields only one with unnamed fill values is suspected") {
  const std::vector<fs::path> fields = packed_fields();
  if (fields.empty()) {
    WARN("not run: no real fields in " << fields_folder() << "; set CUSZI_SHARED");
    return;
  }
  for (const fs::path& packed : fields) {
    const std::string name = packed.stem().string();
    INFO(name);
    const std::vector<std::byte> values = unpack(packed);
    for (const bool range_counts : {true, false}) {
      FillWatch watch({}, {0, {}, {}, range_counts});
      watch.look_at(DType::f32, values);
      CHECK(watch.warnings().empty() != name.starts_with("tos_ipsl"));
    }
  }
}

}  // namespace cuszi::test
