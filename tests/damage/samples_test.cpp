#include <array>

#include "codec/archive/archive_reader.hpp"
#include "tests/support/archive_codec.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/hostile_archive.hpp"
#include "tests/support/open_archive.hpp"
#include "tests/support/sample_archives.hpp"

namespace cuszi::test {

namespace {

/// What archives have between them; a value that none has is one that no edit of them reaches.
struct Inventory {
  std::array<int, 6> kinds{};  ///< of the numbers 4 and 5, kinds 6 and 7
  std::array<int, 14> sections{};
  std::array<int, 2> transformed{};  ///< of coded frames: no, yes
  std::array<int, 2> bounded{};      ///< the same of bounds of their own
  std::array<int, 6> predictors{};
  std::array<int, 3> coders{};
  std::array<std::array<int, 4>, 2> indices{};  ///< [CoderId][IndexKind], of coders that have one
  std::array<int, 2> ans_modes{};               ///< of a chain's first table: as codes, by gaps
  std::array<int, 1 + bit_references> mask_forms{};  ///< words, places by reference
  std::array<int, dtype_table.size()> dtypes{};
  std::array<int, 4> ranks{};
  std::array<int, 3> roles{};  ///< [AxisRole], of axes of multilevel
  int several_frames = 0;

  void add(Bytes archive) {
    const OpenArchive open(archive);
    ++dtypes.at(static_cast<std::size_t>(open.header.dtype));
    ++ranks.at(static_cast<std::size_t>(open.header.plan.dims.rank() - 1));
    several_frames += open.frames.size() > 1 ? 1 : 0;
    for (const OpenFrame& frame : open.frames) add(frame);
  }

 private:
  void add(const OpenFrame& frame) {
    const auto kind = static_cast<std::size_t>(frame.header.kind);
    ++kinds.at(kind < 4 ? kind : kind - 2);
    const bool coded = frame.header.kind == FrameKind::coded;
    if (coded) add_method(frame.header);
    if (coded) ++transformed.at(frame.header.transform ? 1 : 0);
    if (coded) ++bounded.at(frame.header.bounds ? 1 : 0);
    for (const OpenLevel& level : frame.levels) {
      for (const OpenSection& section : level) {
        add(section, coded && id_of(*frame.header.coder) == CoderId::ans);
      }
    }
  }

  void add_method(const FrameHeader& header) {
    ++predictors.at(static_cast<std::size_t>(id_of(*header.predictor)));
    std::visit(
        [&](const auto& c) {
          const auto coder = static_cast<std::size_t>(c.id);
          ++coders.at(coder);
          if constexpr (requires { c.index; }) {
            ++indices.at(coder).at(static_cast<std::size_t>(c.index));
          }
        },
        *header.coder);
    if (const auto* const params = std::get_if<MultilevelParams>(&*header.predictor)) {
      for (const AxisRole role : params->lattice.roles) ++roles.at(static_cast<std::size_t>(role));
    }
  }

  void add(const OpenSection& section, bool is_ans) {
    ++sections.at(static_cast<std::size_t>(section.id));
    const auto first = std::to_integer<std::size_t>(section.bytes.front());
    if (section.id == SectionId::mask_bits) ++mask_forms.at(first);
    if (section.id == SectionId::codes && is_ans && (first & 0x80U) != 0) {
      ++ans_modes.at(first >> 6 & 1U);
    }
  }
};

template <class Counts>
void check_all(const Counts& counts) {
  for (std::size_t i = 0; i < counts.size(); ++i) {
    INFO("value " << i);
    CHECK(counts[i] > 0);
  }
}

/// Ids without a name are none.
void check_sections(const Inventory& inventory) {
  for (std::size_t i = 0; i < inventory.sections.size(); ++i) {
    INFO("section " << i);
    CHECK((inventory.sections[i] > 0 || name_of(static_cast<SectionId>(i)).empty()));
  }
}

Inventory inventory_of(const std::vector<SampleArchive>& archives) {
  Inventory inventory;
  for (const SampleArchive& s : archives) inventory.add(s.archive);
  return inventory;
}

}  // namespace

TEST_CASE("the samples are small and hold every kind of frame and section") {
  for (const SampleArchive& s : small_archives()) {
    INFO(s.name << ", " << s.archive.size() << " bytes");
    CHECK(s.archive.size() <= 2048);
  }
  const Inventory inventory = inventory_of(small_archives());
  check_all(inventory.kinds);
  check_sections(inventory);
}

TEST_CASE("fuzzing starts from every way to make an archive", "[unsanitized]") {
  const Inventory inventory = inventory_of(seed_archives());
  check_all(inventory.kinds);
  check_sections(inventory);
  check_all(inventory.transformed);
  check_all(inventory.bounded);
  check_all(inventory.predictors);
  check_all(inventory.coders);
  for (const auto& of_coder : inventory.indices) check_all(of_coder);
  check_all(inventory.ans_modes);
  check_all(inventory.mask_forms);
  check_all(inventory.dtypes);
  check_all(inventory.ranks);
  check_all(inventory.roles);
  CHECK(inventory.several_frames > 1);
}

TEST_CASE("an archive that is taken apart is put together again") {
  for (const SampleArchive& s : seed_archives()) {
    INFO(s.name);
    CHECK(OpenArchive(s.archive).close() == s.archive);
    CHECK(read_hostile(s.archive) == Outcome::restored);
  }
}

}  // namespace cuszi::test
