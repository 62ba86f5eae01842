#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <limits>
#include <sstream>
#include <stdexcept>
#include <utility>

#include "core/base/bytes.hpp"
#include "core/base/error.hpp"
#include "cuszi/cuszi.h"
#include "test_data/fields.hpp"
#include "test_data/random.hpp"
#include "tests/compat/corpus.hpp"
#include "tests/support/archive_codec.hpp"
#include "tests/support/open_archive.hpp"
#include "tests/support/sample_archives.hpp"

namespace cuszi::test {

namespace {

/// A field and how it is compressed.
struct Case {
  FieldKind kind;
  Dims dims;
  DType dtype;
  std::string options;
  /// If it is not 0, a third of so many first points is missing, and like them the points behind.
  std::uint64_t mask_period = 0;
  std::uint64_t seed = 7;
};

using Cases = std::vector<Case>;

constexpr std::array dtypes{DType::f32, DType::f64};
constexpr std::array presets{"ratio", "cuszi", "cusz", "fast", "zfp", "balanced"};
constexpr std::array transformed_presets{"ratio", "cuszi", "cusz", "fast", "balanced"};
const std::array<Dims, 4> shapes{Dims{900}, Dims{24, 41}, Dims{9, 12, 17}, Dims{3, 5, 8, 11}};

/// Every preset for every type and rank.
void add_presets(Cases& cases) {
  for (const char* preset : presets) {
    for (const DType dtype : dtypes) {
      for (const Dims& dims : shapes) {
        cases.push_back(
            {FieldKind::smooth, dims, dtype, fmt::format("error-bound=1e-3 preset={}", preset)});
      }
    }
  }
}

/// Every way to say what is wanted, and bounds from coarse to fine.
void add_bounds(Cases& cases) {
  std::size_t turn = 0;
  const auto next = [&](FieldKind kind, const char* preset, std::string options) {
    const DType dtype = dtypes.at(turn % 2);
    const Dims& dims = shapes.at(turn++ % shapes.size());
    cases.push_back({kind, dims, dtype, fmt::format("{} preset={}", options, preset)});
  };
  for (const char* preset : presets) {
    for (const char* bound : {"1e-1", "1e-2", "1e-4", "1e-6"}) {
      next(FieldKind::rough, preset, fmt::format("error-bound={}", bound));
    }
    next(FieldKind::rough, preset, "error-bound=0.01 mode=abs");
    next(FieldKind::smooth, preset, "error-bound=0.01 value-range=-4,4");
    next(FieldKind::smooth, preset, "target=psnr:60");
    next(FieldKind::rough, preset, "target=ratio:6");
    next(FieldKind::smooth, preset, "error-bound=0.05 keep-sign=yes");
    next(FieldKind::rough, preset, "error-bound=0.05 keep-isovalue=0.25 keep-isovalue=-0.1");
    next(FieldKind::wide, preset, "error-bound=1e30 mode=abs");
    next(FieldKind::ramp, preset, "error-bound=1e-4");
  }
  for (const char* preset : transformed_presets) {
    for (const FieldKind kind : {FieldKind::smooth, FieldKind::rough, FieldKind::wide,
                                 FieldKind::sparse, FieldKind::missing}) {
      next(kind, preset, "error-bound=1e-2 mode=pwrel");
    }
    next(FieldKind::smooth, preset, "error-bound=1e-4 mode=pwrel");
  }
}

/// The larger and the smaller of two bounds.
void add_two_bounds(Cases& cases) {
  std::size_t turn = 0;
  for (const char* preset : transformed_presets) {
    for (const char* mode : {"abs-or-pwrel", "abs-and-pwrel"}) {
      for (const FieldKind kind : {FieldKind::rough, FieldKind::sparse, FieldKind::missing}) {
        cases.push_back({kind, shapes.at(turn % shapes.size()), dtypes.at(turn % 2),
                         fmt::format("error-bound=1e-3 mode={} pw=1e-2 preset={}", mode, preset)});
        ++turn;
      }
    }
  }
}

/// Signs that go on along rows, slices and narrow rows, and those of several lanes.
void add_signs(Cases& cases) {
  for (const Dims& dims : {Dims{24, 41}, Dims{60, 4, 4}, Dims{300, 3}, Dims{30, 50, 60}})
    cases.push_back(
        {FieldKind::smooth, dims, DType::f32, "error-bound=0.5 mode=pwrel preset=balanced"});
}

/// Regions with bounds of their own, one without loss.
void add_regions(Cases& cases) {
  for (const char* preset : {"ratio", "balanced"}) {
    for (const DType dtype : dtypes) {
      for (const Dims& dims : shapes) {
        for (const char* regions : {"region=1:3=1e-4", "region=:2=1e-3 region=2:3=0"}) {
          cases.push_back({FieldKind::missing, dims, dtype,
                           fmt::format("error-bound=1e-2 {} preset={}", regions, preset)});
        }
      }
    }
  }
}

/// Missing values of every kind, and masks like the row or the slice before.
void add_masks(Cases& cases) {
  for (const char* preset : presets) {
    const std::string options = fmt::format("error-bound=1e-3 preset={}", preset);
    for (const DType dtype : dtypes) {
      const Dims& plane = shapes[1];
      const Dims& cube = shapes[2];
      cases.push_back({FieldKind::missing, cube, dtype, options});
      cases.push_back({FieldKind::filled, shapes[3], dtype, options + " fill-value=1e20"});
      cases.push_back({FieldKind::smooth, plane, dtype, options, plane[1]});
      cases.push_back({FieldKind::rough, cube, dtype, options, cube[1] * cube[2]});
    }
  }
}

/// Predictors, coders and their indices in every combination.
void add_methods(Cases& cases) {
  std::size_t turn = 0;
  for (const char* predictor : {"lorenzo", "interp", "multilevel"}) {
    for (const char* coder : {"huffman chunk=64", "ans"}) {
      for (const char* index : {"none", "offset", "length", "hybrid partition=3"}) {
        const FieldKind kind = turn % 3 == 0 ? FieldKind::steps : FieldKind::rough;
        cases.push_back({kind, shapes.at((turn / 2 + turn) % 4), dtypes.at((turn / 4 + turn) % 2),
                         fmt::format("error-bound=1e-2 predictor={} coder={} index={}", predictor,
                                     coder, index)});
        ++turn;
      }
    }
    cases.push_back({FieldKind::sparse, shapes[2], DType::f32,
                     fmt::format("error-bound=1e-5 predictor={} coder=ans radius=8", predictor)});
    cases.push_back(
        {FieldKind::rough, shapes[2], DType::f64,
         fmt::format("error-bound=1e-4 predictor={} coder=huffman radius=4", predictor)});
  }
  for (const char* tile :
       {"8x8x8,anchor=8", "16x16x16,anchor=4,cubic=natural", "8x8x16,alpha=1.25,order=xzy"}) {
    cases.push_back({FieldKind::smooth,
                     {17, 18, 19},
                     DType::f32,
                     fmt::format("error-bound=1e-3 preset=cuszi interp=tile={}", tile)});
  }
}

/// What `multilevel` is told, and what it chooses by itself.
void add_multilevel(Cases& cases) {
  for (const char* effort : {"fast", "normal"}) {
    for (const FieldKind kind :
         {FieldKind::smooth, FieldKind::rough, FieldKind::steps, FieldKind::sparse}) {
      cases.push_back(
          {kind, {13, 16, 21}, DType::f32, fmt::format("error-bound=1e-3 effort={}", effort)});
    }
  }
  for (const char* axes :
       {"lattice", "layered:0", "layered:1", "layered:2", "independent:0", "independent:2"}) {
    for (const char* more : {"reach=3", "reach=5 alpha=1.5", "reach=7 alpha=2 beta=3"}) {
      cases.push_back(
          {FieldKind::rough,
           {7, 14, 20},
           DType::f32,
           fmt::format("error-bound=3e-3 predictor=multilevel axes={} {}", axes, more)});
    }
  }
  cases.push_back({FieldKind::smooth,
                   {2, 6, 9, 10},
                   DType::f64,
                   "error-bound=1e-3 predictor=multilevel axes=independent:0"});
  cases.push_back({FieldKind::smooth, {90, 100, 110}, DType::f32, "error-bound=0.6"});  // padded
}

void add_zfp(Cases& cases) {
  for (const char* mode : {"precision:9", "rate:6", "reversible", "precision:64"}) {
    for (const DType dtype : dtypes) {
      for (const Dims& dims : {Dims{40}, Dims{9, 14}, Dims{6, 7, 9}}) {
        cases.push_back({FieldKind::smooth, dims, dtype,
                         fmt::format("preset=zfp zfp-mode={} zfp-chunk=2", mode)});
      }
    }
  }
  for (const char* index : {"none", "offset", "length", "hybrid partition=2"}) {
    cases.push_back({FieldKind::rough,
                     {2, 5, 6, 7},
                     DType::f32,
                     fmt::format("error-bound=1e-2 preset=zfp zfp-chunk=3 index={}", index)});
  }
}

/// Halves and integers under every preset, and those of 64 bits.
void add_types(Cases& cases) {
  for (std::size_t i = 0; i < dtype_table.size(); ++i) {
    const auto dtype = static_cast<DType>(i);
    if (!is_cast(dtype)) continue;
    cases.push_back({FieldKind::smooth, shapes[2], dtype, "error-bound=0"});
    if (is_wide_integer(dtype)) {
      cases.push_back({FieldKind::rough, shapes[2], dtype, "error-bound=1e12 mode=abs"});
      continue;
    }
    for (const char* preset : presets) {
      cases.push_back({FieldKind::missing, shapes[2], dtype,
                       fmt::format("error-bound=1e-2 preset={}", preset)});
    }
  }
}

/// Frames without codes, several of them, and extents of 1.
void add_frames(Cases& cases) {
  for (const DType dtype : dtypes) {
    for (const FieldKind kind : {FieldKind::steps, FieldKind::wide, FieldKind::missing}) {
      cases.push_back({kind, {8, 19}, dtype, "error-bound=0"});
    }
    for (const Dims& dims : {Dims{1}, Dims{1, 30, 1}, Dims{5, 1, 1, 6}}) {
      cases.push_back({FieldKind::smooth, dims, dtype, "error-bound=1e-2"});
    }
    cases.push_back({FieldKind::constant, shapes[2], dtype, "error-bound=1e-3"});
    cases.push_back({FieldKind::constant, {1100, 500}, dtype, "error-bound=1e-3"});
    cases.push_back({FieldKind::sparse, {60}, dtype, "error-bound=1e-3 fill-value=0"});
  }
  for (const char* preset : presets) {
    cases.push_back({FieldKind::smooth,
                     {26, 40, 40},
                     DType::f32,
                     fmt::format("error-bound=3e-2 preset={} frame-size=64K", preset)});
  }
  cases.push_back(
      {FieldKind::smooth, {2, 2, 92, 90}, DType::f32, "error-bound=1e-2 mode=abs frame-size=64K"});
}

std::vector<std::byte> values_of(const Case& c) {
  std::vector<std::byte> bytes = make_field(c.kind, c.dims, c.dtype, c.seed);
  if (c.mask_period == 0) return bytes;
  Random random(7);
  std::vector<bool> missing(c.mask_period);
  for (std::size_t i = 0; i < missing.size(); ++i) missing[i] = random.one_in(3);
  with_type_of(c.dtype, [&](auto zero) {
    using T = decltype(zero);
    const std::span values(reinterpret_cast<T*>(bytes.data()), bytes.size() / sizeof(T));
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (missing[i % missing.size()]) values[i] = std::numeric_limits<T>::quiet_NaN();
    }
  });
  return bytes;
}

/// The options that "NAME=TEXT NAME=TEXT" says.
cuszi_options options_of(const std::string& text) {
  cuszi_options options = cuszi_default_options();
  options.device = CUSZI_DEVICE_CPU;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    const std::size_t equals = word.find('=');
    const std::string name = word.substr(0, equals);
    if (cuszi_set_option(&options, name.c_str(), word.substr(equals + 1).c_str()) != CUSZI_OK) {
      throw std::runtime_error("the option '" + word + "' is refused");
    }
  }
  return options;
}

std::vector<std::byte> compress(const Case& c) {
  const cuszi_options options = options_of(c.options);
  cuszi_field field{};
  field.dtype = static_cast<std::int32_t>(c.dtype);
  field.rank = c.dims.rank();
  for (int axis = 0; axis < c.dims.rank(); ++axis) field.dims[axis] = c.dims[axis];
  const std::vector<std::byte> values = values_of(c);
  std::vector<std::byte> archive(cuszi_bound(&field, &options));
  const std::unique_ptr<cuszi_context, void (*)(cuszi_context*)> context(cuszi_context_create(),
                                                                         cuszi_context_destroy);
  std::size_t size = 0;
  if (cuszi_compress(context.get(), &options, &field, values.data(), archive.data(), archive.size(),
                     &size) != CUSZI_OK) {
    throw std::runtime_error(c.options + ": " + cuszi_last_error(context.get()));
  }
  archive.resize(size);
  return archive;
}

std::string_view name_of_kind(FieldKind kind) {
  for (const auto& [known, name] : field_kinds) {
    if (known == kind) return name;
  }
  throw std::logic_error("a kind of fields has no name");
}

std::string field_text(const Case& c) {
  const std::string text = fmt::format("{}, seed {}", name_of_kind(c.kind), c.seed);
  return c.mask_period == 0 ? text : fmt::format("{}, masked every {}", text, c.mask_period);
}

CorpusArchive described(std::string name, std::string field, std::string options,
                        std::vector<std::byte> archive) {
  const ArchiveHeader header = OpenArchive(archive).header;
  CorpusArchive result{std::move(name), header.plan.dims.to_string(),
                       std::string(name_of(header.dtype)), std::move(field), std::move(options)};
  result.hash = block_hash(restore_archive(archive));
  result.features = features_of(archive);
  result.archive = std::move(archive);
  return result;
}

void add_group(const char* group, void (*add)(Cases&), std::vector<CorpusArchive>& corpus) {
  Cases cases;
  add(cases);
  for (std::size_t i = 0; i < cases.size(); ++i) {
    corpus.push_back(described(fmt::format("{}-{}", group, i), field_text(cases[i]),
                               cases[i].options, compress(cases[i])));
  }
}

/// What options do not reach: frames of several kinds in one field, segments and masks of every
/// form, sections of later versions.
void add_samples(std::vector<CorpusArchive>& corpus) {
  for (const SampleArchive& s : seed_archives()) {
    corpus.push_back(
        described("sample: " + s.name, "tests/support/sample_archives.cpp", "", s.archive));
  }
}

/// An archive that was made by a device; it restores to what it does without the second pass.
void add_packed(std::vector<CorpusArchive>& corpus) {
  Case c{FieldKind::smooth, {64, 64, 64}, DType::f32, "error-bound=1e-1 preset=cuszi"};
  c.seed = 31;
  CorpusArchive result =
      described("packed", field_text(c), c.options + " lossless=bitcomp", compress(c));
  std::ifstream file(CUSZI_SOURCE_DIR "/test_data/bitcomp/interp_bitcomp.cuszi", std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  const Bytes archive = std::as_bytes(std::span(bytes));
  result.archive.assign(archive.begin(), archive.end());
  result.features = features_of(archive);
  corpus.push_back(std::move(result));
}

std::vector<CorpusArchive> make_corpus() {
  std::vector<CorpusArchive> corpus;
  add_group("preset", add_presets, corpus);
  add_group("bound", add_bounds, corpus);
  add_group("mask", add_masks, corpus);
  add_group("region", add_regions, corpus);
  add_group("method", add_methods, corpus);
  add_group("multilevel", add_multilevel, corpus);
  add_group("zfp", add_zfp, corpus);
  add_group("frame", add_frames, corpus);
  add_group("two", add_two_bounds, corpus);
  add_group("signs", add_signs, corpus);
  add_group("type", add_types, corpus);
  add_samples(corpus);
  add_packed(corpus);
  return corpus;
}

}  // namespace

}  // namespace cuszi::test

/// Makes a corpus in a new folder. Archives of a version stay as they are: what is new in a later
/// one gets a corpus of its own.
int main(int argc, char** argv) try {
  if (argc != 2 || argv[1][0] == '-') {
    std::cerr << "usage: make_corpus FOLDER\n";
    return EXIT_FAILURE;
  }
  if (std::filesystem::exists(argv[1])) {
    std::cerr << "make_corpus: " << argv[1] << " exists; its archives stay as they are\n";
    return EXIT_FAILURE;
  }
  cuszi::test::write_corpus(argv[1], cuszi::test::make_corpus());
  return EXIT_SUCCESS;
} catch (const std::exception& error) {
  std::cerr << "make_corpus: " << error.what() << '\n';
  return EXIT_FAILURE;
}
