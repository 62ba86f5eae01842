// A simulation that keeps compressed time steps in memory and restores a part of one.
#include <cmath>
#include <cstdio>
#include <cuszi/cuszi.hpp>
#include <vector>

namespace {

constexpr std::size_t rows = 200, columns = 300, steps = 20;

/// Explicit scheme for heat, with cold edges.
std::vector<double> next(const std::vector<double>& now) {
  std::vector<double> after = now;
  for (std::size_t y = 1; y + 1 < rows; ++y) {
    for (std::size_t x = 1; x + 1 < columns; ++x) {
      const std::size_t i = y * columns + x;
      after[i] +=
          0.2 * (now[i - 1] + now[i + 1] + now[i - columns] + now[i + columns] - 4 * now[i]);
    }
  }
  return after;
}

/// Columns 100 to 199 of row 100.
std::vector<double> middle(cuszi::Context& context, const std::vector<std::byte>& archive) {
  cuszi_part part = cuszi_whole_field();
  part.first[0] = 100, part.end[0] = 101;
  part.first[1] = 100, part.end[1] = 200;
  std::vector<double> values(100);
  if (cuszi_decompress_part(context.get(), nullptr, archive.data(), archive.size(), &part,
                            values.data(), values.size() * sizeof(double)) != CUSZI_OK) {
    throw cuszi::Error(cuszi_last_status(context.get()), cuszi_last_error(context.get()));
  }
  return values;
}

}  // namespace

int main() {
  try {
    cuszi::Context context;  // reuses memory between calls
    const cuszi_options options = cuszi::absolute(1e-3);
    std::vector<double> field(rows * columns, 20.0);
    for (std::size_t y = 90; y < 110; ++y) {
      for (std::size_t x = 140; x < 160; ++x) field[y * columns + x] = 100.0;
    }
    std::vector<std::vector<std::byte>> kept;
    std::size_t bytes = 0;
    for (std::size_t step = 0; step < steps; ++step) {
      for (int i = 0; i < 10; ++i) field = next(field);
      kept.push_back(context.compress(field, {rows, columns}, options));
      bytes += kept.back().size();
    }
    const std::vector<double> shown = middle(context, kept.back());
    for (std::size_t x = 0; x < shown.size(); ++x) {
      if (!(std::abs(shown[x] - field[100 * columns + 100 + x]) <= 1e-3)) return 2;
    }
    std::printf("%zu steps: %zu bytes became %zu\n", steps, steps * field.size() * sizeof(double),
                bytes);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
