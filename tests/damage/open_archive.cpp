#include "tests/damage/open_archive.hpp"

#include <algorithm>

#include "core/bytes.hpp"
#include "tests/support/checksums.hpp"

namespace cuszi::test {

namespace {

/// A number near `value`, or one that is far off.
std::uint64_t changed(std::uint64_t value, Random& random) {
  if (random.one_in(4)) return random.next() >> random.below(64);
  return random.one_in(2) ? value + 1 + random.below(4) : value - std::min(value, random.below(5));
}

double changed(double value, Random& random) {
  return random.pick({-value, 0.0, value * 2, value / 2, value * 1e30, value * 1e-30, value + 1});
}

/// Moves the border between two sections: their sum, and with it the payload, stays.
void move_border(LevelEntry& level, Random& random) {
  if (level.sections.size() < 2) return;
  const std::size_t i = random.below(level.sections.size() - 1);
  SectionEntry& from = level.sections[i];
  SectionEntry& to = level.sections[i + 1];
  const ByteCount moved = std::min(from.size, 1 + random.below(8));
  from.size -= moved;
  to.size += moved;
  if (random.one_in(2)) std::swap(from.size, to.size);
}

void change_kind_of_section(LevelEntry& level, Random& random) {
  SectionEntry& section = level.sections[random.below(level.sections.size())];
  SectionEntry& other = level.sections[random.below(level.sections.size())];
  if (random.one_in(2)) {
    std::swap(section.id, other.id);
  } else {
    section.id = static_cast<SectionId>(random.below(11));
  }
}

/// Removes or adds the last bytes of the payload.
void resize_last_section(ArchiveFrame& frame, Random& random) {
  ByteCount& size = frame.header.levels.back().sections.back().size;
  const ByteCount wanted = random.one_in(2) ? size + random.below(20) : random.below(size + 1);
  frame.payload.resize(frame.payload.size() - size + wanted);
  size = wanted;
}

void change_bytes(ArchiveFrame& frame, Random& random) {
  for (std::uint64_t i = 1 + random.below(4); i > 0 && !frame.payload.empty(); --i) {
    frame.payload[random.below(frame.payload.size())] = static_cast<std::byte>(random.next());
  }
}

/// Repeats or drops a whole level.
void change_levels(ArchiveFrame& frame, Random& random) {
  std::vector<LevelEntry>& levels = frame.header.levels;
  if (random.one_in(2)) {
    levels.pop_back();
    return;
  }
  levels.push_back(LevelEntry(levels.back()));
  const std::vector<std::byte> again = frame.payload;
  frame.payload.insert(frame.payload.end(), again.begin(), again.end());
}

void change_statement(ArchiveFrame& frame, Random& random) {
  FrameHeader& header = frame.header;
  switch (random.below(5)) {
    case 0: header.index = changed(header.index, random); break;
    case 1: header.missing = changed(header.missing, random); break;
    case 2: header.min = changed(header.min, random); break;
    case 3: header.max = changed(header.max, random); break;
    default:
      header.kind = random.pick(
          {FrameKind::stored, FrameKind::lossless, FrameKind::coded, FrameKind::constant});
      if (!header.predictor) header.predictor = LorenzoParams{{8, 8, 8}, 512, 1e-3};
      if (!header.coder) header.coder = HuffmanParams{};
  }
}

void change_params(LorenzoParams& params, Random& random) {
  const std::size_t axis = random.below(3);
  switch (random.below(3)) {
    case 0: params.chunk.at(axis) = changed(params.chunk.at(axis), random); break;
    case 1:
      params.radius = static_cast<std::uint32_t>(changed(std::uint64_t{params.radius}, random));
      break;
    default: params.half_step = changed(params.half_step, random);
  }
}

void change_params(InterpParams& params, Random& random) {
  const std::size_t axis = random.below(3);
  switch (random.below(6)) {
    case 0: params.tile.at(axis) = params.anchor * random.below(5); break;
    case 1: params.anchor = 1U << random.below(10); break;
    case 2:
      params.radius = static_cast<std::uint32_t>(changed(std::uint64_t{params.radius}, random));
      break;
    case 3: params.cubic.at(axis) = static_cast<Cubic>(random.below(3)); break;
    case 4: std::swap(params.order.at(axis), params.order.at(random.below(3))); break;
    default: params.half_step.at(axis) = changed(params.half_step.at(axis), random);
  }
}

void change_params(MultilevelParams& params, Random& random) {
  switch (random.below(6)) {
    case 0:
      params.lattice.roles.at(random.below(max_axes)) = static_cast<AxisRole>(random.below(4));
      break;
    case 1: params.lattice.merged = !params.lattice.merged; break;
    case 2: params.reach = static_cast<int>(random.below(9)); break;
    case 3: params.alpha = static_cast<std::uint8_t>(random.below(256)); break;
    case 4:
      if (!params.coefficients.empty()) {
        for (auto& c : params.coefficients[random.below(params.coefficients.size())]) c = 16'000;
      }
      break;
    default: params.half_step = changed(params.half_step, random);
  }
}

void change_params(TilesParams& params, Random& random) {
  params.half_step = changed(params.half_step, random);
}

void change_params(NoCoderParams& /*params*/, Random& /*random*/) {}

void change_params(AnsParams& params, Random& random) {
  switch (random.below(3)) {
    case 0:
      params.centre = static_cast<std::uint32_t>(changed(std::uint64_t{params.centre}, random));
      break;
    case 1: params.index = static_cast<IndexKind>(random.below(4)); break;
    default: params.partition = static_cast<std::uint32_t>(1 + random.below(1 << 21));
  }
}

void change_params(HuffmanParams& params, Random& random) {
  switch (random.below(3)) {
    case 0: params.chunk = 1U << random.below(21); break;
    case 1: params.index = static_cast<IndexKind>(random.below(4)); break;
    default: params.partition = static_cast<std::uint32_t>(1 + random.below(1 << 21));
  }
}

/// There is nothing to change.
void change_params(NoCoderParams& /*params*/, Random& /*random*/) {}

void change_method(FrameHeader& header, Random& random) {
  const auto change = [&](auto& params) { change_params(params, random); };
  if (!header.predictor) return;
  if (random.one_in(2)) {
    std::visit(change, *header.predictor);
  } else {
    std::visit(change, *header.coder);
  }
}

void change_header(ArchiveHeader& header, Random& random) {
  const auto extents = header.plan.dims.extents();
  std::vector<std::uint64_t> other(extents.begin(), extents.end());
  switch (random.below(4)) {
    case 0: header.dtype = header.dtype == DType::f32 ? DType::f64 : DType::f32; break;
    case 1: header.plan.height = changed(header.plan.height, random); break;
    case 2: std::swap(other.front(), other.back()); break;
    default: other[random.below(other.size())] += random.below(3);
  }
  header.plan.dims = Dims::make(other).value_or(header.plan.dims);
}

}  // namespace

OpenArchive::OpenArchive(Bytes archive) {
  MemorySource source(archive);
  ArchiveReader reader(source);
  header = reader.header();
  for (std::uint64_t i = 0; i < reader.frames(); ++i) frames.push_back(reader.next_frame());
}

std::vector<std::byte> OpenArchive::close() const {
  ByteWriter out;
  out.append(write_archive_header(header));
  std::vector<ByteCount> sizes;
  for (const ArchiveFrame& frame : frames) {
    const auto table = write_frame_header(frame.header);
    out.append(table);
    out.append(frame.payload);
    sizes.push_back(table.size() + frame.payload.size());
  }
  out.append(write_archive_footer(sizes));
  std::vector<std::byte> bytes = out.take();
  repair_checksums(bytes);
  return bytes;
}

void edit(OpenArchive& archive, Random& random) {
  ArchiveFrame& frame = archive.frames[random.below(archive.frames.size())];
  if (frame.header.levels.empty()) return;
  LevelEntry& level = frame.header.levels[random.below(frame.header.levels.size())];
  if (level.sections.empty()) return;
  switch (random.below(8)) {
    case 0: move_border(level, random); break;
    case 1: change_kind_of_section(level, random); break;
    case 2: resize_last_section(frame, random); break;
    case 3: change_bytes(frame, random); break;
    case 4: change_levels(frame, random); break;
    case 5: change_statement(frame, random); break;
    case 6: change_method(frame.header, random); break;
    default: change_header(archive.header, random);
  }
}

}  // namespace cuszi::test
