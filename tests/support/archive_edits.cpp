#include "tests/support/archive_edits.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

namespace cuszi::test {

namespace {

constexpr unsigned section_kinds = 14;

/// Where numbers begin to need more bits, or stop to be believed.
std::uint64_t boundary(Random& random) {
  const std::uint64_t power =
      std::uint64_t{1} << random.pick({0, 4, 6, 7, 8, 14, 15, 16, 20, 24, 31, 32, 53, 60, 63});
  return power - 1 + random.below(3);
}

/// A number near `value`, or one that is far off.
std::uint64_t changed(std::uint64_t value, Random& random) {
  if (random.one_in(6)) return boundary(random);
  if (random.one_in(4)) return random.next() >> random.below(64);
  return random.one_in(2) ? value + 1 + random.below(4) : value - std::min(value, random.below(5));
}

double changed(double value, Random& random) {
  constexpr double largest = std::numeric_limits<double>::max();
  return random.pick({-value, 0.0, value * 2, value / 2, value * 1e30, value * 1e-30, value + 1,
                      5e-324, largest, -largest, std::numeric_limits<double>::infinity(),
                      std::numeric_limits<double>::quiet_NaN()});
}

template <class T>
T& any(std::vector<T>& list, Random& random) {
  return list[random.below(list.size())];
}

template <class T>
auto any_place(std::vector<T>& list, Random& random) {
  return list.begin() + static_cast<std::ptrdiff_t>(random.below(list.size()));
}

/// Doubles, drops, or moves one of a list.
template <class T>
void rearrange(std::vector<T>& list, Random& random) {
  if (list.empty()) return;
  switch (random.below(3)) {
    case 0: list.insert(any_place(list, random), T(any(list, random))); break;
    case 1: list.erase(any_place(list, random)); break;
    default: std::swap(any(list, random), any(list, random));
  }
}

// Sections.

/// Moves the border between two sections: their sum, and with it the payload, stays.
void move_border(OpenLevel& level, Random& random) {
  if (level.size() < 2) return;
  const std::size_t i = random.below(level.size() - 1);
  std::vector<std::byte>& from = level[i].bytes;
  std::vector<std::byte>& to = level[i + 1].bytes;
  const auto first = from.end() - static_cast<std::ptrdiff_t>(
                                      std::min<std::uint64_t>(from.size(), 1 + random.below(8)));
  to.insert(to.begin(), first, from.end());
  from.erase(first, from.end());
}

void change_kind(OpenLevel& level, Random& random) {
  OpenSection& section = any(level, random);
  switch (random.below(4)) {
    case 0: std::swap(section.id, any(level, random).id); break;
    case 1:
      section.id = static_cast<SectionId>(random.below(section_kinds));
      section.wide_id = 14 + random.below(8);
      break;
    case 2: section.pass = changed(section.pass, random) % 4200; break;
    default:
      section.unpacked =
          section.unpacked ? std::nullopt : std::optional(Unpacked{2 * section.bytes.size(), 7});
  }
}

void swap_bytes(OpenLevel& level, Random& random) {
  std::swap(any(level, random).bytes, any(level, random).bytes);
}

/// Removes, adds or repeats bytes.
void resize(std::vector<std::byte>& bytes, Random& random) {
  switch (random.below(4)) {
    case 0: bytes.insert(bytes.end(), random.below(20), std::byte{0}); break;
    case 1:
      bytes.erase(bytes.begin() + static_cast<std::ptrdiff_t>(random.below(bytes.size() + 1)),
                  bytes.end());
      break;
    case 2: bytes.clear(); break;
    default: {
      const std::vector<std::byte> again = bytes;
      bytes.insert(bytes.end(), again.begin(), again.end());
    }
  }
}

void flip_bits(std::vector<std::byte>& bytes, Random& random) {
  for (std::uint64_t i = 1 + random.below(4); i > 0; --i) {
    any(bytes, random) ^= std::byte{1} << random.below(8);
  }
}

void change_bytes(std::vector<std::byte>& bytes, Random& random) {
  for (std::uint64_t i = 1 + random.below(4); i > 0; --i) {
    any(bytes, random) = static_cast<std::byte>(random.next());
  }
}

/// Makes a number of 1 to 8 bytes another one.
void change_number(std::vector<std::byte>& bytes, Random& random) {
  const std::size_t at = random.below(bytes.size());
  const std::size_t size = std::min<std::size_t>(random.pick({1U, 2U, 4U, 8U}), bytes.size() - at);
  std::uint64_t number = 0;
  std::memcpy(&number, bytes.data() + at, size);
  number = changed(number, random);
  std::memcpy(bytes.data() + at, &number, size);
}

void change_content(std::vector<std::byte>& bytes, Random& random) {
  if (bytes.empty()) return;
  switch (random.below(3)) {
    case 0: flip_bits(bytes, random); break;
    case 1: change_bytes(bytes, random); break;
    default: change_number(bytes, random);
  }
}

// Statements.

TransformParams random_transform(Random& random) {
  const Knee knee(std::ldexp(1.5, static_cast<int>(random.below(2000)) - 1000));
  switch (random.below(4)) {
    case 0: return SymlogTransform{knee};
    case 1: return LogLinearTransform{knee};
    case 2: return LogLinearTransform{Knee(changed(1.0, random))};
    default: return LogTransform{static_cast<std::int16_t>(random.next())};
  }
}

void change_transform(std::optional<FrameTransform>& transform, Random& random) {
  if (!transform) {
    transform = FrameTransform{LogTransform{}, -1, 1, 0};
    return;
  }
  switch (random.below(5)) {
    case 0: transform.reset(); break;
    case 1: transform->min = changed(transform->min, random); break;
    case 2: transform->max = changed(transform->max, random); break;
    case 3: transform->kept = changed(transform->kept, random); break;
    default: transform->params = random_transform(random);
  }
}

void change_bounds(std::optional<FrameBounds>& bounds, Random& random) {
  if (!bounds) {
    bounds = FrameBounds{1, 0.5, 0};
    return;
  }
  switch (random.below(4)) {
    case 0: bounds.reset(); break;
    case 1: bounds->largest = changed(bounds->largest, random); break;
    case 2: bounds->least = changed(bounds->least, random); break;
    default: bounds->kept = changed(bounds->kept, random);
  }
}

void change_statement(OpenFrame& frame, Random& random) {
  FrameHeader& header = frame.header;
  switch (random.below(7)) {
    case 0: header.index = changed(header.index, random); break;
    case 1: header.missing = changed(header.missing, random); break;
    case 2: header.min = changed(header.min, random); break;
    case 3: header.max = changed(header.max, random); break;
    case 4: change_transform(header.transform, random); break;
    case 5: change_bounds(header.bounds, random); break;
    default:
      header.kind = random.pick({FrameKind::stored, FrameKind::lossless, FrameKind::coded,
                                 FrameKind::constant, FrameKind::predicted, FrameKind::tiled});
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
  switch (random.below(8)) {
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
    case 5: params.snap = static_cast<std::uint8_t>(random.below(64)); break;
    case 6: params.background = changed(params.background, random); break;
    default: params.half_step = changed(params.half_step, random);
  }
}

void change_params(TilesParams& params, Random& random) {
  params.half_step = changed(params.half_step, random);
}

void change_params(CellsParams& params, Random& random) {
  if (random.one_in(4)) params.rank = static_cast<int>(random.below(5));
  double& number = random.one_in(2) ? params.half_step : params.background;
  number = changed(number, random);
}

void change_params(ZfpCoding& params, Random& random) {
  switch (random.below(7)) {
    case 0: params.chunk = static_cast<std::uint32_t>(random.below(1 << 18)); break;
    case 1: params.index = static_cast<IndexKind>(random.below(4)); break;
    case 2: params.partition = static_cast<std::uint32_t>(1 + random.below(1 << 21)); break;
    case 3: params.zfp.min_bits = static_cast<std::uint32_t>(random.below(20'000)); break;
    case 4: params.zfp.max_bits = static_cast<std::uint32_t>(random.below(20'000)); break;
    case 5: params.zfp.max_precision = static_cast<std::uint32_t>(random.below(70)); break;
    default: params.zfp.min_exponent = static_cast<std::int32_t>(random.below(3'000)) - 1'500;
  }
}

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

void change_dims(FieldCuts& plan, Random& random) {
  const auto extents = plan.dims.extents();
  std::vector<std::uint64_t> other(extents.begin(), extents.end());
  switch (random.below(5)) {
    case 0: std::swap(other.front(), other.back()); break;
    case 1: any(other, random) += random.below(3); break;
    case 2: any(other, random) = changed(any(other, random), random); break;
    case 3: other.insert(other.begin(), 1 + random.below(3)); break;
    default: other.erase(other.begin());
  }
  plan.dims = Dims::make(other).value_or(plan.dims);
}

void change_header(ArchiveHeader& header, Random& random) {
  switch (random.below(9)) {
    case 0: header.dtype = static_cast<DType>(random.below(dtype_table.size())); break;
    case 1: header.plan.height = changed(header.plan.height, random); break;
    case 2: header.plan.axis = static_cast<int>(random.below(5)); break;
    case 3: header.bound_absolute = changed(header.bound_absolute, random); break;
    case 4: header.bound_asked = changed(header.bound_asked, random); break;
    case 5:
      header.fills.count = random.below(FillValues::max_count + 1);
      header.fills.values[random.below(FillValues::max_count)] = changed(1.0, random);
      break;
    case 6: header.mode = static_cast<ErrorMode>(random.below(6)); break;
    case 7: header.share_asked = changed(header.share_asked, random); break;
    default: change_dims(header.plan, random);
  }
}

void edit_frame(OpenArchive& archive, Random& random) {
  OpenFrame& frame = any(archive.frames, random);
  if (random.one_in(8)) {
    rearrange(frame.levels, random);
  } else if (random.one_in(2)) {
    change_statement(frame, random);
  } else {
    change_method(frame.header, random);
  }
}

void edit_section(OpenLevel& level, Random& random) {
  if (level.empty()) return;
  switch (random.below(8)) {
    case 0: move_border(level, random); break;
    case 1: change_kind(level, random); break;
    case 2: swap_bytes(level, random); break;
    case 3: rearrange(level, random); break;
    case 4: resize(any(level, random).bytes, random); break;
    default: change_content(any(level, random).bytes, random);
  }
}

/// A level taken at random, if there are any.
OpenLevel* any_level(OpenArchive& archive, Random& random) {
  if (archive.frames.empty()) return nullptr;
  std::vector<OpenLevel>& levels = any(archive.frames, random).levels;
  return levels.empty() ? nullptr : &any(levels, random);
}

/// A section of this kind of any frame, if there is one.
const OpenSection* find_section(const OpenArchive& archive, SectionId id, Random& random) {
  std::vector<const OpenSection*> found;
  for (const OpenFrame& frame : archive.frames) {
    for (const OpenLevel& level : frame.levels) {
      for (const OpenSection& section : level) {
        if (section.id == id) found.push_back(&section);
      }
    }
  }
  return found.empty() ? nullptr : any(found, random);
}

}  // namespace

void edit(OpenArchive& archive, Random& random) {
  if (random.one_in(8)) {
    change_header(archive.header, random);
  } else if (random.one_in(16)) {
    rearrange(archive.frames, random);
  } else if (archive.frames.empty()) {
    return;
  } else if (random.one_in(3)) {
    edit_frame(archive, random);
  } else if (OpenLevel* const level = any_level(archive, random)) {
    edit_section(*level, random);
  }
}

void edit_from(OpenArchive& archive, const OpenArchive& other, Random& random) {
  if (archive.frames.empty() || other.frames.empty()) return;
  OpenFrame& frame = any(archive.frames, random);
  const OpenFrame& source = other.frames[random.below(other.frames.size())];
  switch (random.below(6)) {
    case 0: frame = source; break;
    case 1: frame.header = source.header; break;
    case 2:
      frame.header.predictor = source.header.predictor;
      frame.header.coder = source.header.coder;
      if (!frame.header.predictor) frame.header.kind = source.header.kind;
      break;
    case 3: frame.levels = source.levels; break;
    default:
      if (OpenSection* const section = any_section(archive, random)) {
        const OpenSection* const like = find_section(other, section->id, random);
        if (like != nullptr) section->bytes = like->bytes;
      }
  }
}

OpenSection* any_section(OpenArchive& archive, Random& random) {
  OpenLevel* const level = any_level(archive, random);
  return level == nullptr || level->empty() ? nullptr : &any(*level, random);
}

}  // namespace cuszi::test
