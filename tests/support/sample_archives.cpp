#include "tests/support/sample_archives.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <functional>
#include <limits>

#include "codec/archive/amend.hpp"
#include "cpu_ref/session/cpu_backend.hpp"
#include "test_data/fields.hpp"
#include "test_data/random.hpp"
#include "tests/support/archive_codec.hpp"
#include "tests/support/bytes.hpp"
#include "tests/support/open_archive.hpp"

namespace cuszi::test {

namespace {

using Choose = std::function<void(FieldSettings&)>;

SampleArchive sample(const std::string& name, FieldKind kind, const Dims& dims, DType dtype,
                     const Choose& choose) {
  FieldSettings settings;
  settings.bound = 1e-2;
  choose(settings);
  return {name, make_archive(dims, dtype, make_field(kind, dims, dtype, 3), settings)};
}

/// The settings of the preset `ratio`.
FieldSettings ratio_settings() {
  FieldSettings settings;
  settings.bound = 1e-2;
  settings.frame.predictor.id = PredictorId::multilevel;
  settings.frame.coder = CoderId::ans;
  return settings;
}

/// A bound that is a share of each value.
void make_pointwise(FieldSettings& settings) { settings.mode = ErrorMode::pointwise; }

void set_two_bounds(FieldSettings& settings, ErrorMode mode) {
  settings.mode = mode;
  settings.bound = 1e-3;
  settings.share = 1e-2;
}

/// Regions with bounds of their own, one of them lossless.
void add_regions(FieldSettings& settings) {
  settings.places.regions = {{{{0, 2, 1, 0}, {3, 20, 9, 1}}, 2e-3},
                             {{{1, 0, 0, 0}, {2, 5, 2, 1}}, 0}};
}

/// A field whose missing points lie behind each other at this distance.
SampleArchive masked_sample(const std::string& name, const Dims& dims, std::uint64_t distance) {
  auto values = make_values<float>(FieldKind::smooth, dims, 3);
  Random random(3);
  std::vector<bool> is_missing(distance);
  for (std::size_t i = 0; i < distance; ++i) is_missing[i] = random.one_in(3);
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (is_missing[i % distance]) values[i] = std::numeric_limits<float>::quiet_NaN();
  }
  return {name, make_archive(dims, DType::f32, bytes_of(values), ratio_settings())};
}

/// Frames that are coded, of one value, packed and stored.
SampleArchive mixed_sample() {
  const FieldCuts plan{Dims{4, 20, 21}, 0, 1};
  auto values = make_values<float>(FieldKind::smooth, plan.dims, 3);
  const auto frame = [&](std::size_t i) { return std::span(values).subspan(i * 420, 420); };
  std::fill(frame(1).begin(), frame(1).end(), 0.5F);
  FieldSettings settings = ratio_settings();
  settings.mode = ErrorMode::absolute;
  for (float& value : frame(2)) value = value > 0 ? 1e-42F : 0;  // finer than any step
  Random random(3);
  for (float& value : frame(3))
    value = std::bit_cast<float>(static_cast<std::uint32_t>(random.next()));
  settings.bound = 1e-3;
  return {"mixed frames",
          make_archive(*cpu::make_backend(), plan, DType::f32, bytes_of(values), settings)};
}

SampleArchive framed_sample() {
  const FieldCuts plan{Dims{4, 5, 6, 7}, 0, 2};
  FieldSettings settings;
  settings.bound = 1e-2;
  settings.frame.index.kind = IndexKind::none;
  const auto values = make_values<float>(FieldKind::smooth, plan.dims, 3);
  return {"several frames, no index",
          make_archive(*cpu::make_backend(), plan, DType::f32, bytes_of(values), settings)};
}

/// An archive to which a later version has added sections that readers may do without, at both ends
/// of all levels.
SampleArchive with_optional_sections(const std::string& name, const SampleArchive& from) {
  OpenArchive open(from.archive);
  for (OpenFrame& frame : open.frames) {
    for (OpenLevel& level : frame.levels) {
      const std::size_t last = level.empty() ? 0 : level.back().pass;
      level.insert(level.begin(), {SectionId::optional, 0, {}, std::vector<std::byte>(5), 16});
      level.push_back({SectionId::optional, last, {}, std::vector<std::byte>(200), 1000});
      level.push_back({SectionId::optional, last, {}, std::vector<std::byte>(1), 1000});
    }
  }
  return {name, open.close()};
}

/// Two levels, of several passes.
SampleArchive levels_sample() {
  return sample("levels", FieldKind::smooth, {17, 20, 30}, DType::f32, [](FieldSettings& s) {
    s.frame.predictor.id = PredictorId::multilevel;
    s.frame.coder = CoderId::ans;
  });
}

/// An archive of which a box was written anew, with values of another field.
SampleArchive amended_sample(const std::string& name, const Dims& dims, DType dtype, const Box& box,
                             const Choose& choose) {
  FieldSettings settings;
  settings.mode = ErrorMode::absolute;
  settings.bound = 1e-2;
  choose(settings);
  const auto archive =
      make_archive(dims, dtype, make_field(FieldKind::smooth, dims, dtype, 3), settings);
  std::vector<std::byte> values = restore_archive(archive);
  const std::vector<std::byte> others = make_field(FieldKind::missing, dims, dtype, 4);
  for_each_point(Selection{dims, box.first, {1, 1, 1, 1}, box.end}, [&](std::uint64_t i) {
    std::copy_n(others.begin() + static_cast<std::ptrdiff_t>(i * size_of(dtype)), size_of(dtype),
                values.begin() + static_cast<std::ptrdiff_t>(i * size_of(dtype)));
  });
  Backends backends(on_cpu);
  const Bytes archives[] = {archive};
  return {name, amend_field(backends, settings, {dtype, dims}, values, archives).value().archive};
}

SampleArchive constant_sample() {
  const Dims dims{10, 30};
  auto values = make_values<float>(FieldKind::constant, dims, 3);
  for (std::size_t i = 0; i < values.size(); i += 7) {
    values[i] = std::numeric_limits<float>::quiet_NaN();
  }
  return {"one value with a mask", make_archive(dims, DType::f32, bytes_of(values), {})};
}

/// One of every combination of predictor, coder and index, in turn of every type and rank.
void add_methods(std::vector<SampleArchive>& archives) {
  const std::array<Dims, 4> dims{Dims{700}, Dims{25, 31}, Dims{6, 11, 13}, Dims{2, 5, 8, 9}};
  std::size_t turn = 0;
  for (const PredictorId predictor :
       {PredictorId::lorenzo, PredictorId::interp, PredictorId::multilevel}) {
    for (const CoderId coder : {CoderId::huffman, CoderId::ans}) {
      for (const IndexKind index :
           {IndexKind::none, IndexKind::offset, IndexKind::length, IndexKind::hybrid}) {
        const DType dtype = (turn / 4 + turn) % 2 == 0 ? DType::f32 : DType::f64;
        const Dims& shape = dims.at((turn / 2 + turn) % dims.size());
        archives.push_back(
            sample(fmt::format("{}-{}-{}-{}-{}", name_of(predictor), name_of(coder),
                               static_cast<int>(index), shape.to_string(), name_of(dtype)),
                   turn % 3 == 0 ? FieldKind::rough : FieldKind::missing, shape, dtype,
                   [&](FieldSettings& s) {
                     s.frame.predictor.id = predictor;
                     s.frame.coder = coder;
                     s.frame.huffman.chunk = 64;
                     s.frame.index = {index, 3};
                   }));
        ++turn;
      }
    }
  }
}

/// Predictors that code themselves, of every type and rank.
void add_self_coded(std::vector<SampleArchive>& archives) {
  for (const Dims& dims : {Dims{3000}, Dims{40, 41}, Dims{9, 17, 33}, Dims{2, 5, 8, 9}}) {
    for (const DType dtype : {DType::f32, DType::f64}) {
      for (const PredictorId id : {PredictorId::tiles, PredictorId::zfp}) {
        archives.push_back(
            sample(fmt::format("{}-{}-{}", name_of(id), dims.to_string(), name_of(dtype)),
                   FieldKind::smooth, dims, dtype, [id](auto& s) { s.frame.predictor.id = id; }));
      }
    }
  }
}

/// Tiles of words, whose values come back as they are.
SampleArchive words_sample(FieldKind kind, const Dims& dims, DType dtype) {
  return sample(fmt::format("words of tiles, {} {}", dims.to_string(), name_of(dtype)), kind, dims,
                dtype, [](FieldSettings& s) {
                  s.frame.predictor.id = PredictorId::tiles;
                  s.bound = 0;
                });
}

/// A tile whose integers would leave their range is kept as it is, between others.
SampleArchive raw_tile_sample() {
  std::vector<double> values(4096);
  Random random(3);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = 1e-3 * static_cast<double>(i);
  for (std::size_t i = 1024; i < 2048; ++i)
    values[i] = 1e10 + static_cast<double>(random.below(99));
  FieldSettings settings;
  settings.mode = ErrorMode::absolute;
  settings.bound = 1e-3;
  settings.frame.predictor.id = PredictorId::tiles;
  return {"raw tile", make_archive(Dims{values.size()}, DType::f64, bytes_of(values), settings)};
}

/// A zfp stream that claims other parameters than those it was written under.
SampleArchive zfp_claim(const std::string& name, const ZfpParams& params) {
  OpenArchive open(sample(name, FieldKind::smooth, {20, 21}, DType::f64, [](FieldSettings& s) {
                     s.frame.predictor.id = PredictorId::zfp;
                   }).archive);
  std::get<ZfpCoding>(open.frames.front().header.predictor.value()).zfp = params;
  return {name, open.close()};
}

/// A field of 0 but for every second point of a part: no neighbour tells of those.
SampleArchive hidden_sample(std::uint64_t size) {
  std::vector<float> values(size, 0.0F);
  Random random(3);
  for (std::size_t i = size / 3 | 1; i < size / 2; i += 2) {
    values[i] = static_cast<float>(random.below(16));
  }
  values[0] = 100;
  return {fmt::format("gaps-hidden-{}", size),
          make_archive(Dims{size}, DType::f32, bytes_of(values), ratio_settings())};
}

/// ANS with long gaps, in one segment and in several, with and without contexts.
void add_gaps(std::vector<SampleArchive>& archives) {
  archives.push_back(hidden_sample(3000));
  archives.push_back(hidden_sample(16000));
  for (const PredictorId predictor : {PredictorId::lorenzo, PredictorId::multilevel}) {
    for (const std::uint64_t values : {3000U, 14000U}) {
      archives.push_back(sample(fmt::format("gaps-{}-{}", name_of(predictor), values),
                                FieldKind::sparse, Dims{values}, DType::f32, [&](FieldSettings& s) {
                                  s.bound = 1e-5;
                                  s.frame.predictor.id = predictor;
                                  s.frame.coder = CoderId::ans;
                                }));
    }
  }
}

/// Values that are predicted as others.
void add_types(std::vector<SampleArchive>& archives) {
  for (std::size_t i = 0; i < dtype_table.size(); ++i) {
    const auto dtype = static_cast<DType>(i);
    if (!is_cast(dtype)) continue;
    archives.push_back(sample(fmt::format("values of {}", name_of(dtype)), FieldKind::missing,
                              {9, 10, 11}, dtype, [&](FieldSettings& s) {
                                s.mode = ErrorMode::absolute;
                                s.bound = is_integer(dtype) ? 3 : 1e-2;
                              }));
  }
}

/// What `multilevel` does in fields whose rows are long enough for its fast paths, with axes of
/// every role.
void add_shapes(std::vector<SampleArchive>& archives) {
  using enum AxisRole;
  const auto add = [&](const char* name, FieldKind kind, const Dims& dims,
                       std::array<AxisRole, 4> roles, int reach) {
    for (const DType dtype : {DType::f32, DType::f64}) {
      archives.push_back(sample(fmt::format("{}-{}", name, name_of(dtype)), kind, dims, dtype,
                                [&](FieldSettings& s) {
                                  s.bound = 1e-3;
                                  s.frame.predictor.id = PredictorId::multilevel;
                                  s.frame.predictor.radius = kind == FieldKind::rough ? 8 : 512;
                                  s.frame.predictor.multilevel.roles = AxisRoles{false, roles};
                                  s.frame.predictor.multilevel.reach = reach;
                                  s.frame.coder = CoderId::ans;
                                }));
    }
  };
  add("lattice", FieldKind::smooth, {14, 15, 40}, {lattice, lattice, lattice, lattice}, 3);
  add("plane", FieldKind::rough, {40, 90}, {lattice, lattice, lattice, lattice}, 7);
  add("holes", FieldKind::missing, {17, 18, 19}, {lattice, lattice, lattice, lattice}, 5);
  add("layers", FieldKind::smooth, {7, 24, 50}, {lattice, layered, lattice, lattice}, 3);
  add("rough layers", FieldKind::rough, {7, 24, 50}, {lattice, layered, lattice, lattice}, 5);
  add("layers of lines", FieldKind::rough, {9, 20, 40}, {lattice, layered, lattice, independent},
      3);
  add("layers of points", FieldKind::smooth, {5, 9, 9, 30},
      {independent, lattice, lattice, layered}, 3);
  add("lines", FieldKind::smooth, {5, 6, 12, 30}, {independent, lattice, lattice, independent}, 3);
}

/// Every reference of masks, frames of every kind in one archive, and what else methods leave out.
void add_others(std::vector<SampleArchive>& archives) {
  using S = FieldSettings;
  archives.push_back(masked_sample("mask like the row before", {40, 70}, 70));
  archives.push_back(masked_sample("mask like the slice before", {20, 13, 17}, 13 * 17));
  archives.push_back(masked_sample("mask like row and slice before", {20, 13, 17}, 17));
  archives.push_back(mixed_sample());
  archives.push_back(
      with_optional_sections("optional sections in frames of all kinds", mixed_sample()));
  archives.push_back(with_optional_sections("optional sections in levels", levels_sample()));
  for (const DType dtype : {DType::f32, DType::f64}) {
    archives.push_back(sample(fmt::format("regions-{}", name_of(dtype)), FieldKind::missing,
                              {20, 30, 20}, dtype, [](S& s) {
                                s = ratio_settings();
                                add_regions(s);
                              }));
  }
  for (const Dims& dims : {Dims{17, 20, 33}, Dims{70, 66}, Dims{5000}}) {
    archives.push_back(sample(fmt::format("cells of rank {}", dims.rank()), FieldKind::missing,
                              dims, DType::f32, [](S& s) {
                                s.frame.predictor.id = PredictorId::cells;
                                s.bound = 1e-4;
                              }));
  }
  archives.push_back(
      sample("cells of slices", FieldKind::slices, {5, 40, 70}, DType::f32, [](S& s) {
        s.frame.predictor.id = PredictorId::cells;
        s.bound = 1e-3;
      }));
  for (const Dims& dims : {Dims{3000}, Dims{40, 41}, Dims{9, 17, 33}}) {
    for (const DType dtype : {DType::f32, DType::i32})
      archives.push_back(words_sample(FieldKind::smooth, dims, dtype));
  }
  archives.push_back(sample("constant", FieldKind::constant, {30, 40}, DType::f64, [](auto&) {}));
  archives.push_back(sample("tiles", FieldKind::filled, {17, 20, 33}, DType::f32, [](S& s) {
    s.fills.add(filled_value);
    s.frame.predictor.interp.cubic = Cubic::natural;
    s.frame.predictor.interp.order = std::array<std::uint8_t, 3>{2, 0, 1};
  }));
}

}  // namespace

const std::vector<SampleArchive>& small_archives() {
  using S = FieldSettings;
  static const std::vector<SampleArchive> all{
      sample("lorenzo with a mask and outliers", FieldKind::missing, {8, 8, 9}, DType::f32,
             [](S& s) {
               s.frame.predictor.id = PredictorId::lorenzo;
               s.frame.predictor.radius = 4;
               s.frame.huffman.chunk = 64;
             }),
      sample("interp with fill values and outliers", FieldKind::filled, {24, 40}, DType::f32,
             [](S& s) {
               s.fills.add(filled_value);
               s.frame.predictor.radius = 2;
               s.frame.index.kind = IndexKind::length;
               s.frame.huffman.chunk = 64;
             }),
      sample("interp of doubles, offsets", FieldKind::rough, {600}, DType::f64,
             [](S& s) {
               s.bound = 1e-1;
               s.frame.index.kind = IndexKind::offset;
               s.frame.huffman.chunk = 64;
             }),
      sample("lorenzo with patches", FieldKind::wide, {250}, DType::f64,
             [](S& s) {
               s.mode = ErrorMode::absolute;
               s.bound = 1e280;
               s.frame.predictor.id = PredictorId::lorenzo;
             }),
      framed_sample(),
      with_optional_sections("optional sections", framed_sample()),
      sample("multilevel in layers with a mask and outliers", FieldKind::missing, {6, 12, 14},
             DType::f32,
             [](S& s) {
               s.frame.predictor.id = PredictorId::multilevel;
               s.frame.predictor.multilevel.axes = AxisChoice{AxisRole::layered, 0};
               s.frame.predictor.radius = 16;
               s.frame.coder = CoderId::ans;
             }),
      sample("multilevel of doubles", FieldKind::steps, {40, 60}, DType::f64,
             [](S& s) {
               s.frame.predictor.id = PredictorId::multilevel;
               s.frame.coder = CoderId::ans;
             }),
      sample("multilevel with weights of its own", FieldKind::smooth, {9, 30, 30}, DType::f32,
             [](S& s) {
               s.frame.predictor.id = PredictorId::multilevel;
               s.frame.coder = CoderId::ans;
             }),
      sample("multilevel with Huffman", FieldKind::rough, {9, 9, 9}, DType::f32,
             [](S& s) { s.frame.predictor.id = PredictorId::multilevel; }),
      sample("lorenzo with ANS", FieldKind::rough, {700}, DType::f32,
             [](S& s) {
               s.frame.predictor.id = PredictorId::lorenzo;
               s.frame.coder = CoderId::ans;
             }),
      sample("tiles with a mask", FieldKind::missing, {8, 8, 9}, DType::f32,
             [](S& s) { s.frame.predictor.id = PredictorId::tiles; }),
      sample("tiles with patches", FieldKind::wide, {120}, DType::f64,
             [](S& s) {
               s.mode = ErrorMode::absolute;
               s.bound = 1e280;
               s.frame.predictor.id = PredictorId::tiles;
             }),
      sample("logarithms with signs and a mask", FieldKind::missing, {8, 8, 9}, DType::f32,
             [](S& s) {
               make_pointwise(s);
               s.frame.predictor.id = PredictorId::multilevel;
               s.frame.coder = CoderId::ans;
             }),
      sample("logarithms of doubles", FieldKind::wide, {120}, DType::f64,
             [](S& s) {
               make_pointwise(s);
               s.frame.predictor.id = PredictorId::tiles;
             }),
      sample("regions with bounds of their own", FieldKind::smooth, {9, 20, 10}, DType::f32,
             [](S& s) {
               s = ratio_settings();
               add_regions(s);
             }),
      sample("regions in cells", FieldKind::smooth, {9, 20, 10}, DType::f32,
             [](S& s) {
               s.bound = 1e-2;
               s.frame.predictor.id = PredictorId::cells;
               add_regions(s);
             }),
      sample("regions with nothing to code", FieldKind::smooth, {100, 120}, DType::f32,
             [](S& s) {
               s = ratio_settings();
               s.mode = ErrorMode::absolute;
               s.bound = 1000;
               s.places.regions = {{{{0, 0, 0, 0}, {100, 120, 1, 1}}, 100}};
             }),
      sample("zfp", FieldKind::smooth, {8, 9, 10}, DType::f32,
             [](S& s) { s.frame.predictor.id = PredictorId::zfp; }),
      sample("zfp of a fixed rate", FieldKind::sparse, {8, 9, 10}, DType::f32,
             [](S& s) {
               s.frame.predictor.id = PredictorId::zfp;
               s.frame.predictor.zfp.mode = {ZfpMode::Kind::rate, 8};
             }),
      sample("zfp with a mask", FieldKind::missing, {20, 21}, DType::f64,
             [](S& s) { s.frame.predictor.id = PredictorId::zfp; }),
      sample("zfp with patches", FieldKind::rough, {200}, DType::f64,
             [](S& s) {
               s.bound = 0.4;
               s.fills.add(0);
               s.frame.predictor.id = PredictorId::zfp;
             }),
      sample("halves", FieldKind::missing, {8, 8, 9}, DType::f16, [](S& /*s*/) {}),
      sample("integers", FieldKind::smooth, {20, 21}, DType::u16,
             [](S& s) { s.frame.predictor.id = PredictorId::tiles; }),
      sample("lossless", FieldKind::ramp, {10, 30}, DType::f64, [](S& s) { s.bound = 0; }),
      sample("predicted", FieldKind::rough, {5, 7, 9}, DType::f32, [](S& s) { s.bound = 0; }),
      sample("predicted without differences", FieldKind::smooth, {200}, DType::f64,
             [](S& s) { s.bound = 0; }),
      words_sample(FieldKind::ramp, {10, 30}, DType::i32),
      constant_sample(),
      sample("stored", FieldKind::wide, {150}, DType::f32, [](S& s) { s.bound = 0; }),
      amended_sample("amended", {9, 10, 11}, DType::f32, {{2, 0, 3, 0}, {5, 10, 9, 1}},
                     [](S& s) { s.frame.predictor.id = PredictorId::lorenzo; }),
      amended_sample("amended under a share of each value", {20, 20}, DType::f64,
                     {{3, 4, 0, 0}, {9, 20, 1, 1}},
                     [](S& s) {
                       make_pointwise(s);
                       s.frame.predictor.id = PredictorId::tiles;
                     }),
      amended_sample("amended by exact values", {300}, DType::f32, {{7, 0, 0, 0}, {27, 1, 1, 1}},
                     [](S& s) { s.frame.predictor.id = PredictorId::tiles; }),
      amended_sample("amended halves", {12, 20}, DType::f16, {{3, 4, 0, 0}, {9, 20, 1, 1}},
                     [](S& s) { s.frame.predictor.id = PredictorId::tiles; }),
      amended_sample("amended integers", {9, 10, 5}, DType::u16, {{2, 0, 1, 0}, {5, 10, 5, 1}},
                     [](S& s) {
                       s.bound = 40;
                       s.frame.predictor.id = PredictorId::lorenzo;
                     }),
      sample("the larger of two bounds", FieldKind::rough, {8, 8, 9}, DType::f32,
             [](S& s) {
               s = ratio_settings();
               set_two_bounds(s, ErrorMode::absolute_or_pointwise);
             }),
      sample("the smaller of two bounds", FieldKind::rough, {150}, DType::f64,
             [](S& s) {
               set_two_bounds(s, ErrorMode::absolute_and_pointwise);
               s.frame.predictor.id = PredictorId::tiles;
             }),
  };
  return all;
}

std::vector<std::byte> packed_archive() {
  OpenArchive open(small_archives().front().archive);
  for (OpenSection& section : open.frames.front().levels.front()) {
    if (section.id == SectionId::codes) section.unpacked = Unpacked{2 * section.bytes.size(), 7};
  }
  return open.close();
}

std::vector<SampleArchive> claiming_archives() {
  ZfpParams long_blocks;
  long_blocks.min_bits = 2000;
  return {{"packed", packed_archive()},
          zfp_claim("zfp-reversible", ZfpParams::reversible()),
          zfp_claim("zfp-long-blocks", long_blocks),
          zfp_claim("zfp-rate", ZfpParams::rate(16, 2, ZfpType<double>::exponent_bits))};
}

SampleArchive members_archive() {
  SampleArchive all{"members", {}};
  for (const std::uint64_t slices : {2U, 1U, 5U}) {
    const SampleArchive member =
        sample("member", FieldKind::smooth, {slices, 9, 10}, DType::f32, [](auto&) {});
    all.archive.insert(all.archive.end(), member.archive.begin(), member.archive.end());
  }
  return all;
}

const std::vector<SampleArchive>& seed_archives() {
  static const std::vector<SampleArchive> all = [] {
    std::vector<SampleArchive> archives = small_archives();
    add_methods(archives);
    add_self_coded(archives);
    archives.push_back(raw_tile_sample());
    add_gaps(archives);
    add_types(archives);
    add_shapes(archives);
    add_others(archives);
    return archives;
  }();
  return all;
}

}  // namespace cuszi::test
