#include <stdlib.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "app/commands/commands.hpp"
#include "cuszi/gpu.hpp"
#include "gpu/session/sessions.hpp"
#include "test_data/fields.hpp"
#include "tests/support/catch.hpp"

namespace cuszi::test {

namespace {

namespace fs = std::filesystem;

bool has_device() {
  if (gpu::device_count() != 0) return true;
  WARN("no GPU here: the test is skipped");
  return false;
}

/// A folder that goes with the test.
class Folder {
 public:
  Folder() {
    std::string name = (fs::temp_directory_path() / "cuszi_test.XXXXXX").string();
    REQUIRE(::mkdtemp(name.data()) != nullptr);
    path_ = name;
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }

  std::string operator()(const std::string& name) const { return path_ / name; }

  std::size_t files() const {
    return static_cast<std::size_t>(
        std::distance(fs::directory_iterator(path_), fs::directory_iterator()));
  }

 private:
  fs::path path_;
};

app::ExitCode cuszi_run(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "cuszi");
  std::vector<const char*> argv;
  argv.reserve(arguments.size());
  for (const std::string& argument : arguments) argv.push_back(argument.c_str());
  return app::run(static_cast<int>(argv.size()), argv.data());
}

void write_file(const std::string& path, const std::vector<std::byte>& bytes) {
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
}

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

TEST_CASE("files make the trip through a device as through the host", "[gpu]") {
  if (!has_device()) return;
  const Folder folder;
  const std::string field = folder("u_40x300x301.f32");
  auto values = make_field(FieldKind::rough, Dims{40, 300, 301}, DType::f32, 3);
  constexpr ByteCount slice_bytes = 300 * 301 * sizeof(float);
  // So that the first of several frames has one value.
  std::fill_n(values.begin(), 14 * slice_bytes, std::byte{0});
  write_file(field, values);
  for (const std::string frame_size : {"1GiB", "5MiB", "3MiB"}) {
    for (const std::string mode : {"rel", "abs"}) {
      for (const std::string device : {"cpu", "cuda"}) {
        REQUIRE(cuszi_run({"compress", field, "-e", "1e-3", "-m", mode, "--preset", "cuszi",
                           "--frame-size", frame_size, "--device", device, "-o", folder(device),
                           "--force", "--quiet"}) == app::ExitCode::ok);
        REQUIRE(cuszi_run({"decompress", folder(device), "--device", device, "-o",
                           folder(device + ".f32"), "--force", "--quiet"}) == app::ExitCode::ok);
      }
      REQUIRE(read_file(folder("cuda")) == read_file(folder("cpu")));
      REQUIRE(read_file(folder("cuda.f32")) == read_file(folder("cpu.f32")));
    }
  }
}

TEST_CASE("a frame that does not fit the device leaves nothing behind", "[gpu]") {
  if (!has_device()) return;
  const Folder folder;
  const std::string field = folder("hole.f32");
  write_file(field, {});
  constexpr ByteCount size = ByteCount{1} << 42;
  std::error_code unsupported;
  fs::resize_file(field, size, unsupported);
  if (unsupported) {
    WARN("no file can be so large here: the test is skipped");
    return;
  }
  REQUIRE(cuszi_run({"compress", field, "-d", std::to_string(size / 4), "-t", "f32", "-e", "1",
                     "-m", "abs", "--preset", "cusz", "--frame-size", std::to_string(size),
                     "--device", "cuda", "-o", folder("out.cuszi"), "--quiet"}) ==
          app::ExitCode::device);
  REQUIRE(folder.files() == 1);
  const std::string small = folder("u_20x30x40.f32");
  write_file(small, make_field(FieldKind::smooth, Dims{20, 30, 40}, DType::f32, 1));
  REQUIRE(cuszi_run({"compress", small, "-e", "1e-3", "--preset", "cusz", "--device", "cuda", "-o",
                     folder("out.cuszi"), "--quiet"}) == app::ExitCode::ok);
}

TEST_CASE("pieces arrive on the device and come back, or their failure does", "[gpu]") {
  if (!has_device()) return;
  const auto transfer = gpu::make_transfer(0);
  for (const ByteCount size :
       {ByteCount{0}, ByteCount{1}, ByteCount{4} << 20, (ByteCount{70} << 20) + 3}) {
    std::vector<std::byte> sent(size);
    for (std::size_t i = 0; i < size; ++i) sent[i] = static_cast<std::byte>(i * 2654435761U >> 13);
    std::vector<std::byte> received(size);
    const MutableBytes memory = transfer->memory(0, size);
    transfer->upload(memory, [&](ByteCount offset, MutableBytes piece) {
      std::copy_n(sent.begin() + static_cast<std::ptrdiff_t>(offset), piece.size(), piece.begin());
    });
    transfer->download(memory, [&](ByteCount offset, MutableBytes piece) {
      std::copy(piece.begin(), piece.end(), received.begin() + static_cast<std::ptrdiff_t>(offset));
    });
    REQUIRE(received == sent);
  }
  const MutableBytes memory = transfer->memory(0, ByteCount{70} << 20);
  const auto fail = [](ByteCount offset, MutableBytes /*piece*/) {
    if (offset != 0) throw InputError("ends early");
  };
  REQUIRE_THROWS_AS(transfer->upload(memory, fail), InputError);
  REQUIRE_THROWS_AS(transfer->download(memory, fail), InputError);
}

}  // namespace cuszi::test
