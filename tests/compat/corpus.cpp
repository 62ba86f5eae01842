#include "tests/compat/corpus.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "app/cli/json.hpp"
#include "tests/support/open_archive.hpp"

namespace cuszi::test {

namespace {

namespace fs = std::filesystem;

constexpr const char* heading =
    "name\tdims\tdtype\tfield\toptions\toffset\tsize\tvalues_hash\tfeatures";

std::string read_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  if (!(text << file.rdbuf())) throw std::runtime_error("cannot read " + path.string());
  return text.str();
}

std::vector<std::string> cut(const std::string& line, char separator) {
  std::vector<std::string> parts;
  std::stringstream text(line);
  for (std::string part; std::getline(text, part, separator);) parts.push_back(part);
  return parts;
}

CorpusArchive read_line(const std::string& line, Bytes archives) {
  const std::vector<std::string> cells = cut(line, '\t');
  if (cells.size() != 9) throw std::runtime_error("a line of the manifest is '" + line + "'");
  CorpusArchive archive{cells[0], cells[1], cells[2], cells[3], cells[4]};
  const std::uint64_t offset = std::stoull(cells[5]);
  const std::uint64_t size = std::stoull(cells[6]);
  if (offset > archives.size() || size > archives.size() - offset) {
    throw std::runtime_error(archive.name + " is not in archives.bin");
  }
  const Bytes bytes = archives.subspan(offset, size);
  archive.archive.assign(bytes.begin(), bytes.end());
  archive.hash = std::stoull(cells[7], nullptr, 16);
  for (const std::string& feature : cut(cells[8], ' ')) archive.features.insert(feature);
  return archive;
}

template <class Name>
std::string feature(const char* what, const Name& name) {
  return fmt::format("{}:{}", what, name);
}

void add_coder(const CoderParams& params, std::set<std::string>& features) {
  std::visit(
      [&](const auto& coder) {
        if constexpr (requires { coder.index; }) {
          features.insert(feature("index", app::name_of(coder.index)));
        }
      },
      params);
  features.insert(feature("coder", cuszi::name_of(params)));
}

void add_frame(const OpenFrame& frame, std::set<std::string>& features) {
  const FrameHeader& header = frame.header;
  features.insert(feature("frame", name_of(header.kind)));
  if (header.transform) features.insert(feature("transform", name_of(header.transform->params)));
  if (header.predictor) features.insert(feature("predictor", name_of(id_of(*header.predictor))));
  if (header.coder) add_coder(*header.coder, features);
  for (const OpenLevel& level : frame.levels) {
    for (const OpenSection& section : level) {
      features.insert(feature("section", name_of(section.id)));
      if (section.unpacked) features.insert("lossless:bitcomp");
    }
  }
  if (header.predictor && std::holds_alternative<MultilevelParams>(*header.predictor)) {
    for (const AxisRole role : std::get<MultilevelParams>(*header.predictor).lattice.roles) {
      features.insert(feature("axis", app::name_of(role)));
    }
  }
}

/// "WHAT:NAME" for the numbers from 0 to below `count` of an enumeration that have a name.
template <class Id>
void add_all(const char* what, std::size_t count, std::set<std::string>& features) {
  for (std::size_t i = 0; i < count; ++i) {
    const std::string_view name = name_of(static_cast<Id>(i));
    if (!name.empty()) features.insert(feature(what, name));
  }
}

template <std::size_t... Row>
void add_transforms(std::index_sequence<Row...> /*rows*/, std::set<std::string>& features) {
  (features.insert(feature("transform", name_of(TransformParams(std::in_place_index<Row>)))), ...);
}

}  // namespace

std::vector<fs::path> corpus_folders() {
  const char* const elsewhere = std::getenv("CUSZI_CORPUS");
  const fs::path all = elsewhere != nullptr ? elsewhere : CUSZI_SOURCE_DIR "/test_data/compat";
  std::set<fs::path> folders;
  for (const auto& entry : fs::directory_iterator(all)) {
    if (entry.is_directory()) folders.insert(entry.path());
  }
  return {folders.begin(), folders.end()};
}

std::vector<CorpusArchive> read_corpus(const fs::path& folder) {
  const std::string archives = read_file(folder / "archives.bin");
  std::stringstream manifest(read_file(folder / "manifest.tsv"));
  std::string line;
  if (!std::getline(manifest, line) || line != heading) {
    throw std::runtime_error("the manifest does not begin with its columns");
  }
  std::vector<CorpusArchive> corpus;
  while (std::getline(manifest, line)) {
    corpus.push_back(read_line(line, std::as_bytes(std::span(archives))));
  }
  return corpus;
}

void write_corpus(const fs::path& folder, const std::vector<CorpusArchive>& corpus) {
  fs::create_directories(folder);
  std::ofstream manifest;
  std::ofstream archives;
  manifest.exceptions(std::ios::failbit | std::ios::badbit);
  archives.exceptions(std::ios::failbit | std::ios::badbit);
  manifest.open(folder / "manifest.tsv", std::ios::binary);
  archives.open(folder / "archives.bin", std::ios::binary);
  manifest << heading << '\n';
  std::uint64_t offset = 0;
  for (const CorpusArchive& a : corpus) {
    manifest << fmt::format("{}\t{}\t{}\t{}\t{}\t{}\t{}\t{:016x}\t{}\n", a.name, a.dims, a.dtype,
                            a.field, a.options, offset, a.archive.size(), a.hash,
                            fmt::join(a.features, " "));
    archives.write(reinterpret_cast<const char*>(a.archive.data()),
                   static_cast<std::streamsize>(a.archive.size()));
    offset += a.archive.size();
  }
}

std::set<std::string> features_of(Bytes archive) {
  const OpenArchive open(archive);
  std::set<std::string> features{
      feature("dtype", name_of(open.header.dtype)),
      feature("rank", open.header.plan.dims.rank()),
      feature("mode", cuszi::name_of(open.header.mode)),
  };
  if (open.header.fills.count != 0) features.insert("fills");
  if (open.frames.size() > 1) features.insert("frames");
  if (open.amendment) {
    features.insert(feature("amended", static_cast<int>(open.amendment->grid.kind)));
  }
  for (const OpenFrame& frame : open.frames) add_frame(frame, features);
  return features;
}

std::set<std::string> all_features() {
  std::set<std::string> features{"dtype:f32", "dtype:f64", "fills", "frames"};
  for (int rank = 1; rank <= Dims::max_rank; ++rank) features.insert(feature("rank", rank));
  for (const ErrorMode mode :
       {ErrorMode::absolute, ErrorMode::relative, ErrorMode::pointwise,
        ErrorMode::absolute_or_pointwise, ErrorMode::absolute_and_pointwise}) {
    features.insert(feature("mode", cuszi::name_of(mode)));
  }
  features.insert("lossless:bitcomp");
  for (int grid = 0; grid < 3; ++grid) features.insert(feature("amended", grid));
  add_all<FrameKind>("frame", 4, features);
  add_all<PredictorId>("predictor", std::variant_size_v<PredictorParams>, features);
  add_all<CoderId>("coder", std::variant_size_v<CoderParams>, features);
  add_all<SectionId>("section", static_cast<std::size_t>(SectionId::optional) + 1, features);
  add_transforms(std::make_index_sequence<std::variant_size_v<TransformParams>>{}, features);
  for (int i = 0; i < 4; ++i) {
    features.insert(feature("index", app::name_of(static_cast<IndexKind>(i))));
  }
  for (int i = 0; i < 3; ++i) {
    features.insert(feature("axis", app::name_of(static_cast<AxisRole>(i))));
  }
  return features;
}

}  // namespace cuszi::test
