#include <algorithm>
#include <array>
#include <iostream>
#include <optional>

#include "codec/archive/amend.hpp"
#include "core/field/selection.hpp"
#include "tests/property/random_frame.hpp"
#include "tests/support/archive_codec.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/local_bounds.hpp"
#include "tests/support/promises.hpp"

// Fields that are restored, changed in parts and compressed again.

namespace cuszi::test {

namespace {

class Chunk {
 public:
  explicit Chunk(const RandomFrame& frame)
      : task_(frame.task), settings_(settings_of(task_)), originals_(frame.values()) {
    archives_[0] = make_archive(task_.shape.dims, task_.shape.dtype, originals_, settings_);
    restored_ = before_ = restore_archive(archives_[0]);
  }

  /// Writes the selected points of a field.
  void write(const Selection& selection, Bytes field) {
    before_ = restored_;
    is_written_.assign(task_.shape.points(), false);
    for_each_point(selection, [&](std::uint64_t i) {
      is_written_[i] = true;
      std::ranges::copy(value(field, i), restored_.begin() + offset(i));
      std::ranges::copy(value(field, i), originals_.begin() + offset(i));
    });
    std::vector<std::byte> archive = rewritten();
    archives_ = {std::move(archive), std::move(archives_[0])};
    restored_ = restore_archive(archives_[0]);
  }

  /// A point that was not written and has changed.
  std::optional<std::uint64_t> first_moved() const {
    for (std::uint64_t i = 0; i < is_written_.size(); ++i) {
      if (!is_written_[i] && !std::ranges::equal(value(before_, i), value(restored_, i))) return i;
    }
    return std::nullopt;
  }

  /// A point that differs by too much from what was last written.
  std::optional<std::uint64_t> first_broken() const {
    return first_broken_promise(task_.shape.dtype, originals_, restored_,
                                {task_.fills, task_.config.isovalues}, bound_of(task_, 0),
                                bounds_of_points(task_.places, task_.shape.dims), true);
  }

  const std::vector<std::byte>& archive() const { return archives_[0]; }
  const std::vector<std::byte>& restored() const { return restored_; }

 private:
  std::vector<std::byte> rewritten() const {
    const auto [dtype, dims] = task_.shape;
    if (!are_repeatable(dtype, settings_)) {
      Backends backends(on_cpu);
      const std::array<Bytes, 2> known{archives_[0], archives_[1]};
      const auto amended = amend_field(backends, settings_, {dtype, dims}, restored_,
                                       std::span(known).first(known[1].empty() ? 1 : 2));
      if (amended) return amended->archive;
    }
    return make_archive(dims, dtype, restored_, settings_);
  }

  std::ptrdiff_t offset(std::uint64_t i) const {
    return static_cast<std::ptrdiff_t>(i * size_of(task_.shape.dtype));
  }
  Bytes value(Bytes field, std::uint64_t i) const {
    const ByteCount size = size_of(task_.shape.dtype);
    return field.subspan(i * size, size);
  }

  FrameTask task_;
  FieldSettings settings_;
  std::vector<std::byte> originals_;
  std::vector<std::byte> before_;
  std::vector<std::byte> restored_;
  std::vector<bool> is_written_;
  std::array<std::vector<std::byte>, 2> archives_;  ///< the last one first
};

RandomFrame random_chunk(Random& random, std::uint64_t most_points) {
  RandomFrame frame = random_frame_of_any_type(random, 1, most_points);
  FrameTask& task = frame.task;
  if (task.mode == ErrorMode::relative) {  // writes anew would change it
    task.mode = ErrorMode::absolute;
    if (task.bound != no_bound) task.bound *= frame.amplitude;
  }
  task.config.predictor.multilevel.axes.reset();
  return frame;
}

/// A box, rows, or every second or third point.
Selection random_selection(Random& random, const Dims& dims) {
  Selection selection{dims, {}, {1, 1, 1, 1}};
  for (int axis = 0; axis < dims.rank(); ++axis) {
    const auto a = static_cast<std::size_t>(axis);
    selection.end.at(a) = dims[axis];
    if (random.one_in(3)) continue;
    selection.first.at(a) = random.below(dims[axis]);
    selection.end.at(a) -= random.below(dims[axis] - selection.first.at(a));
    if (random.one_in(4)) selection.step.at(a) = 1 + random.below(3);
  }
  return selection;
}

struct AmendedCoverage {
  std::array<int, dtype_table.size()> with_archive{};  ///< amendments that have an inner archive
  int exact = 0;                                       ///< those with exact values
  int without_hole = 0;

  void add(Bytes archive, DType dtype) {
    MemorySource source(archive);
    const ArchiveReader reader(source);
    const auto& amendment = reader.amendment();
    if (!amendment) return;
    with_archive.at(static_cast<std::size_t>(dtype)) += amendment->inner_bytes != 0 ? 1 : 0;
    exact += amendment->exact_bytes != 0 ? 1 : 0;
    without_hole += amendment->inner_bytes != 0 && !amendment->hole ? 1 : 0;
  }
};

AmendedCoverage check_random_chunks(std::uint64_t seed, int count, std::uint64_t most_points) {
  Random random(seed);
  AmendedCoverage coverage;
  for (int i = 0; i < count; ++i) {
    RandomFrame frame = random_chunk(random, most_points);
    Chunk chunk(frame);
    for (std::uint64_t writes = 2 + random.below(4), at = 0; at < writes; ++at) {
      frame.seed = random.next();
      frame.kind = field_kinds.at(random.below(field_kinds.size())).kind;
      const std::vector<std::byte> field = random.one_in(4) ? chunk.restored() : frame.values();
      INFO("chunk " << i << " of seed " << seed << ", write " << at << ": " << frame.to_string());
      chunk.write(random_selection(random, frame.task.shape.dims), field);
      CHECK_FALSE(chunk.first_moved().has_value());
      REQUIRE_FALSE(chunk.first_broken().has_value());
      coverage.add(chunk.archive(), frame.task.shape.dtype);
    }
  }
  return coverage;
}

}  // namespace

TEST_CASE("writing a part of a field of any type moves nothing else") {
  const AmendedCoverage coverage = check_random_chunks(1, some_of(2400), 3000);
  int all = 0;
  for (std::size_t i = 0; i < dtype_table.size(); ++i) {
    INFO(dtype_table[i].name);
    const int count = coverage.with_archive[i];
    all += count;
    if (is_wide_integer(static_cast<DType>(i))) {
      CHECK(count == 0);
    } else {
      CHECK(count > expected_of(10));
    }
  }
  CHECK(all > expected_of(300));
  CHECK(coverage.exact > expected_of(100));
  CHECK(coverage.without_hole > expected_of(10));
}

TEST_CASE("100 000 chunks of any type move nothing but what is written", "[.thorough]") {
  for (const std::uint64_t seed : thorough_seeds(200, 100)) {
    check_random_chunks(seed, 1000, 600);
    std::cout << "seed " << seed << ": 1000 chunks of any type\n" << std::flush;
  }
}

}  // namespace cuszi::test
