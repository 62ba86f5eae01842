#include "tests/property/random_frame.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iomanip>
#include <limits>
#include <sstream>
#include <utility>

#include "codec/settings/presets.hpp"
#include "core/field/bound.hpp"
#include "core/field/stored_type.hpp"
#include "tests/support/local_bounds.hpp"

namespace cuszi::test {

namespace {

/// Rank and extents around the sizes of tiles, chunks and words.
Dims random_dims(Random& random, std::uint64_t min_points, std::uint64_t max_points) {
  std::vector<std::uint64_t> extents(1 + random.below(Dims::max_rank));
  for (std::uint64_t& extent : extents) {
    extent = random.pick<std::uint64_t>(
        {1, 1, 2, 3, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 40, 64, 65, 129, 513});
  }
  for (;;) {
    const Dims dims = *Dims::make(extents);
    const bool too_many = dims.count() > max_points;
    if (!too_many && dims.count() >= min_points) return dims;
    std::uint64_t& extent = extents[random.below(extents.size())];
    extent = too_many ? (extent + 1) / 2 : extent * 2;
  }
}

std::array<std::uint8_t, 3> random_order(Random& random) {
  std::array<std::uint8_t, 3> order{0, 1, 2};
  for (std::uint64_t i = 2; i > 0; --i) std::swap(order[i], order[random.below(i + 1)]);
  return order;
}

InterpConfig random_interp(Random& random, const Extents3& extents) {
  InterpConfig interp;
  if (random.one_in(2)) {
    const std::uint32_t anchor = random.pick({2U, 4U, 8U, 16U, 32U});
    Extents3 tile{1, 1, 1};
    for (std::size_t axis = 0; axis < 3; ++axis) {
      if (extents[axis] > 1) tile[axis] = anchor * (1 + random.below(2));
    }
    interp.anchor = anchor;
    interp.tile = tile;
  }
  if (random.one_in(2)) interp.alpha = 1 + 1.5 * random.uniform();
  if (random.one_in(2)) interp.cubic = random.pick({Cubic::not_a_knot, Cubic::natural});
  if (random.one_in(2)) interp.order = random_order(random);
  return interp;
}

MultilevelConfig random_multilevel(Random& random, const Dims& dims) {
  MultilevelConfig multilevel;
  multilevel.effort = random.one_in(8) ? Effort::normal : Effort::fast;
  const auto axis = static_cast<int>(random.below(static_cast<std::uint64_t>(dims.rank())));
  if (dims[axis] > 1 && random.one_in(2)) {
    multilevel.axes = AxisChoice{
        random.pick({AxisRole::lattice, AxisRole::independent, AxisRole::layered}), axis};
  }
  if (random.one_in(2)) multilevel.reach = random.pick({3, 5, 7});
  if (random.one_in(2)) multilevel.alpha = 1 + random.uniform();
  if (random.one_in(2)) multilevel.beta = 1 + 2.9 * random.uniform();
  if (random.one_in(3)) multilevel.bound_over_half_step = random.pick({1.25, 1.6, 2.0});
  return multilevel;
}

ZfpConfig random_zfp(Random& random) {
  using Kind = ZfpMode::Kind;
  ZfpConfig zfp;
  if (random.one_in(2)) zfp.chunk = random.pick({1U, 3U, 16U, 1000U});
  switch (random.below(6)) {
    case 0: zfp.mode = {Kind::precision, static_cast<double>(1 + random.below(64))}; break;
    case 1: zfp.mode = {Kind::rate, 0.01 + 40 * random.uniform()}; break;
    case 2: zfp.mode = {Kind::reversible, 0}; break;
    default: break;
  }
  return zfp;
}

PredictorConfig random_predictor(Random& random, const Dims& dims) {
  const Extents3 extents = dims.as_3d();
  PredictorConfig predictor;
  predictor.id = random.pick({PredictorId::lorenzo, PredictorId::interp, PredictorId::multilevel,
                              PredictorId::tiles, PredictorId::zfp, PredictorId::cells});
  predictor.automatic = random.one_in(2);
  predictor.multilevel = random_multilevel(random, dims);
  predictor.zfp = random_zfp(random);
  if (random.one_in(2)) predictor.radius = random.pick({1U, 2U, 7U, 64U, 512U, max_radius});
  if (predictor.id == PredictorId::interp) predictor.interp = random_interp(random, extents);
  return predictor;
}

void choose_coder(Random& random, FrameConfig& config) {
  config.coder = random.pick({CoderId::huffman, CoderId::ans});
  HuffmanConfig& huffman = config.huffman;
  huffman.width = random.pick({HuffmanWidth::automatic, HuffmanWidth::u32, HuffmanWidth::u64});
  config.index.kind =
      random.pick({IndexKind::none, IndexKind::offset, IndexKind::length, IndexKind::hybrid});
  huffman.chunk = random.pick({1U, 16U, 256U, 1024U, 1024U, 1U << 16});
  config.index.partition = random.pick({1U, 3U, 32U, 32U, 1000U});
}

FillValues random_fills(Random& random, FieldKind kind) {
  FillValues fills;
  if (kind == FieldKind::filled || random.one_in(10)) fills.add(filled_value);
  if (random.one_in(10)) fills.add(netcdf_fill_value);
  if (kind == FieldKind::sparse && random.one_in(3)) fills.add(0);
  return fills;
}

IsoValues random_isovalues(Random& random) {
  IsoValues isovalues;
  if (!random.one_in(4)) return isovalues;
  for (std::uint64_t more = 1 + random.below(3); more != 0; --more) {
    isovalues.add(random.pick({0.0, 0.1, 0.5, random.uniform(), -random.uniform()}));
  }
  return isovalues;
}

double random_bound(Random& random) {
  if (random.one_in(20)) return 0;
  if (random.one_in(20)) return std::ldexp(1.0, static_cast<int>(random.below(600)) - 300);
  const double power = random.pick({1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7});
  return random.one_in(2) ? power : power * (1 + 9 * random.uniform());
}

/// Makes the bound a share of each value, or adds one, where the predictor takes one.
void make_pointwise(FrameTask& task, Random& random) {
  if (task.config.predictor.id == PredictorId::zfp) return;
  task.mode = random.pick(
      {ErrorMode::pointwise, ErrorMode::absolute_or_pointwise, ErrorMode::absolute_and_pointwise});
  if (task.bound >= 1) task.bound = 0.75;
  if (has_two_bounds(task.mode)) task.share = random.pick({0.6, 1e-1, 1e-2, 1e-4, 1e-7});
}

/// Asks for smaller bounds of some points, absolute ones, where the predictor takes them.
void add_places(RandomFrame& frame, Random& random) {
  FrameTask& task = frame.task;
  PredictorConfig& predictor = task.config.predictor;
  if (!takes_local_bounds(predictor.id) || task.bound > 1) return;
  predictor.automatic = false;
  predictor.multilevel.bound_over_half_step = MultilevelConfig{}.bound_over_half_step;
  task.mode = ErrorMode::absolute;
  const Dims& dims = task.shape.dims;
  BoundField& field = task.places.field;
  const std::uint64_t regions = random.below(4);
  if (regions == 0 || random.one_in(2)) {
    for (std::uint64_t& extent : field.block) extent = random.pick({1U, 1U, 3U, 8U, 16U, 1000U});
    frame.bounds = std::make_shared<const std::vector<float>>(
        random_bounds(field.count(dims), task.bound, random));
    field.bounds = *frame.bounds;
  }
  for (std::uint64_t i = 0; i < regions; ++i) {
    task.places.regions.push_back(random_region(dims, task.bound, random));
  }
}

/// A binary exponent of values: mostly from -30 to 29, else near the least or the largest of the
/// type.
int random_exponent(Random& random, DType dtype) {
  if (!random.one_in(6)) return static_cast<int>(random.below(60)) - 30;
  const bool is_small = random.one_in(2);
  return with_type_of(dtype, [&](auto zero) {
    using Limits = std::numeric_limits<decltype(zero)>;
    return is_small ? Limits::min_exponent + static_cast<int>(random.below(40))
                    : Limits::max_exponent - 2 - static_cast<int>(random.below(10));
  });
}

Holes random_holes(Random& random) {
  if (!random.one_in(4)) return Holes::none;
  return random.pick({Holes::few, Holes::few, Holes::most, Holes::all_but_one, Holes::all});
}

/// Replaces values by NaN, infinities and, where the task has one, its fill value.
template <class T>
void punch(std::span<T> values, Holes holes, const FillValues& fills, Random& random) {
  constexpr T infinity = std::numeric_limits<T>::infinity();
  const T fill = fills.count == 0 ? infinity : static_cast<T>(fills.values[0]);
  const std::uint64_t survivor = random.below(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    const bool punched = (holes == Holes::few && random.one_in(30)) ||
                         (holes == Holes::most && !random.one_in(30)) ||
                         (holes == Holes::all_but_one && i != survivor) || holes == Holes::all;
    const T hole = random.pick({std::numeric_limits<T>::quiet_NaN(), infinity, -infinity, fill});
    if (punched) values[i] = hole;
  }
}

template <class T>
void change_signs_of_zeros(std::span<T> values, Random& random) {
  for (T& value : values) {
    if (value == 0 && random.one_in(100)) value = -value;
  }
}

template <class T>
void stretch(std::span<T> values, double amplitude, double offset) {
  for (T& value : values) {
    value = static_cast<T>(offset + amplitude * static_cast<double>(value));
  }
}

/// Moves a few finite values far away.
template <class T>
void add_spikes(std::span<T> values, Random& random) {
  for (T& value : values) {
    const T height =
        static_cast<T>(std::ldexp(random.uniform(), static_cast<int>(random.below(80))));
    if (random.one_in(300) && std::isfinite(value) && magnitude_of(value) < 1) value += height;
  }
}

template <class T>
void shape(const RandomFrame& frame, std::span<T> values) {
  Random random(frame.seed);
  if (frame.only) std::fill(values.begin(), values.end(), static_cast<T>(*frame.only));
  if (frame.signed_zeros) change_signs_of_zeros<T>(values, random);
  if (frame.spikes) add_spikes<T>(values, random);
  if (frame.offset != 0 || frame.amplitude != 1) stretch<T>(values, frame.amplitude, frame.offset);
  punch<T>(values, frame.holes, frame.task.fills, random);
}

/// The nearest value of the type; some integers that doubles do not hold.
template <class S>
S stored_value(double value, Random& random) {
  if constexpr (std::is_integral_v<S> && sizeof(S) == 8) {
    const double whole = std::rint(value);
    using Limits = std::numeric_limits<S>;
    if (!(whole < static_cast<double>(Limits::max()))) return Limits::max();
    if (whole < static_cast<double>(Limits::min())) return Limits::min();
    const auto exact = static_cast<S>(whole);
    return random.one_in(3) ? exact ^ static_cast<S>(random.below(1024)) : exact;
  } else {
    return converted_to<S>(value);
  }
}

std::vector<std::byte> as_stored(DType dtype, std::span<const double> values, std::uint64_t seed) {
  Random random(seed);
  std::vector<std::byte> bytes(values.size() * size_of(dtype));
  with_stored_type_of(dtype, [&](auto zero) {
    using S = decltype(zero);
    for (std::size_t i = 0; i < values.size(); ++i) {
      const S value = stored_value<S>(values[i], random);
      std::memcpy(bytes.data() + i * sizeof value, &value, sizeof value);
    }
  });
  return bytes;
}

}  // namespace

std::vector<std::byte> RandomFrame::values() const {
  const DType dtype = task.shape.dtype;
  if (is_cast(dtype)) {
    std::vector<double> values = make_values<double>(kind, task.shape.dims, seed);
    shape(*this, std::span(values));
    return as_stored(dtype, values, seed);
  }
  std::vector<std::byte> bytes = make_field(kind, task.shape.dims, dtype, seed);
  with_type_of(dtype, [&](auto zero) {
    using T = decltype(zero);
    shape(*this, std::span(reinterpret_cast<T*>(bytes.data()), bytes.size() / sizeof(T)));
  });
  return bytes;
}

std::string RandomFrame::to_string() const {
  const PredictorConfig& predictor = task.config.predictor;
  const InterpConfig& interp = predictor.interp;
  const HuffmanConfig& huffman = task.config.huffman;
  constexpr std::array mode_names{" abs ", " rel ", " pwrel ", " abs-or-pwrel ", " abs-and-pwrel "};
  std::ostringstream text;
  text << field_kinds.at(static_cast<std::size_t>(kind)).name << ' ' << task.shape.dims.to_string()
       << ' ' << name_of(task.shape.dtype) << " seed " << seed << " holes "
       << static_cast<int>(holes) << (spikes ? " spikes" : "") << " fills " << task.fills.count
       << " isovalues " << task.config.isovalues.count << " bound " << task.bound
       << mode_names.at(static_cast<std::size_t>(task.mode)) << "share " << task.share << ' '
       << name_of(predictor.id) << (predictor.automatic ? " auto" : "") << " coder "
       << static_cast<int>(task.config.coder) << " effort "
       << static_cast<int>(predictor.multilevel.effort) << " reach "
       << predictor.multilevel.reach.value_or(0) << " bound_over_half_step "
       << predictor.multilevel.bound_over_half_step << " radius " << predictor.radius.value_or(0)
       << " width " << static_cast<int>(huffman.width) << " index "
       << static_cast<int>(task.config.index.kind) << " chunk " << huffman.chunk << " partition "
       << task.config.index.partition << " zfp mode " << static_cast<int>(predictor.zfp.mode.kind)
       << ' ' << predictor.zfp.mode.amount << " chunk " << predictor.zfp.chunk.value_or(0);
  if (task.places.any()) {
    text << " regions " << task.places.regions.size() << " bounds "
         << task.places.field.bounds.size();
  }
  if (amplitude != 1) text << std::setprecision(17) << " times " << amplitude << " plus " << offset;
  if (only) text << " only " << *only << (signed_zeros ? " of any sign" : "");
  if (const auto& axes = predictor.multilevel.axes) {
    text << " axes " << static_cast<int>(axes->role) << ':' << axes->axis;
  }
  if (interp.tile) {
    text << " tile " << (*interp.tile)[0] << 'x' << (*interp.tile)[1] << 'x' << (*interp.tile)[2];
  }
  if (interp.anchor) text << " anchor " << *interp.anchor;
  if (interp.alpha) text << " alpha " << *interp.alpha;
  if (interp.cubic) text << " cubic " << static_cast<int>(*interp.cubic);
  if (interp.order) {
    text << " order ";
    for (const std::uint8_t axis : *interp.order) text << "zyx"[axis];
  }
  return text.str();
}

namespace {

RandomFrame frame_of_predictor(Random& random, std::uint64_t min_points, std::uint64_t max_points,
                               std::optional<PredictorId> predictor) {
  RandomFrame frame;
  frame.kind = field_kinds.at(random.below(field_kinds.size())).kind;
  frame.seed = random.next();
  frame.holes = random_holes(random);
  frame.spikes = random.one_in(5);
  FrameTask& task = frame.task;
  task.shape = {random.pick({DType::f32, DType::f64}), random_dims(random, min_points, max_points)};
  task.config.predictor = random_predictor(random, task.shape.dims);
  if (predictor) task.config.predictor.id = *predictor;
  choose_coder(random, task.config);
  task.fills = random_fills(random, frame.kind);
  task.mode = random.one_in(3) ? ErrorMode::absolute : ErrorMode::relative;
  task.bound = random_bound(random);
  const ZfpMode::Kind kind = task.config.predictor.zfp.mode.kind;
  if (task.config.predictor.id == PredictorId::zfp && kind != ZfpMode::Kind::accuracy &&
      random.one_in(2)) {
    task.mode = ErrorMode::absolute;
    task.bound = kind == ZfpMode::Kind::reversible ? 0 : no_bound;
  }
  Random of_frame(frame.seed);
  task.config.isovalues = random_isovalues(of_frame);
  if (of_frame.one_in(8)) {
    make_pointwise(task, of_frame);
  } else if (of_frame.one_in(4)) {
    add_places(frame, of_frame);
  }
  return frame;
}

/// Spreads values, and what is asked of them, over a part of the type's range.
void stretch_over_type(RandomFrame& frame, Random& random) {
  FrameTask& task = frame.task;
  const DType dtype = task.shape.dtype;
  const double most = is_integer(dtype) ? std::ldexp(1.0, 8 * static_cast<int>(size_of(dtype))) : 1;
  frame.amplitude = most * std::pow(2, -random.uniform() * 12);
  if (random.one_in(2)) frame.offset = most * random.uniform() / 2;
  const bool is_share = task.mode == ErrorMode::relative || task.mode == ErrorMode::pointwise;
  if (random.one_in(2) && !is_share && task.bound != 0 && task.bound != no_bound) {
    task.bound = std::pow(2, -10 * random.uniform());
  }
  if (!is_share && task.bound != no_bound) task.bound *= frame.amplitude;
  for (BoundRegion& region : task.places.regions) region.bound *= frame.amplitude;
  if (frame.bounds) {
    std::vector<float> bounds = *frame.bounds;
    for (float& bound : bounds) bound *= static_cast<float>(frame.amplitude);
    frame.bounds = std::make_shared<const std::vector<float>>(std::move(bounds));
    task.places.field.bounds = *frame.bounds;
  }
  const FillValues fills = std::exchange(task.fills, {});
  for (std::size_t i = 0; i < fills.count; ++i) {
    const double fill = nearest_stored(dtype, fills.values.at(i));
    if (is_stored_value(dtype, fill)) task.fills.add(fill);
  }
  IsoValues& isovalues = task.config.isovalues;
  for (std::size_t i = 0; i < isovalues.count; ++i) {
    isovalues.values.at(i) = frame.offset + frame.amplitude * isovalues.values.at(i);
  }
  if (!is_wide_integer(dtype)) return;
  task.mode = ErrorMode::absolute;
  task.places = {};
  isovalues = {};
}

}  // namespace

RandomFrame random_frame(Random& random, std::uint64_t min_points, std::uint64_t max_points) {
  return frame_of_predictor(random, min_points, max_points, std::nullopt);
}

RandomFrame random_cells_frame(Random& random, std::uint64_t min_points, std::uint64_t max_points) {
  return frame_of_predictor(random, min_points, max_points, PredictorId::cells);
}

RandomFrame random_frame_of_any_type(Random& random, std::uint64_t min_points,
                                     std::uint64_t max_points) {
  RandomFrame frame = random_frame(random, min_points, max_points);
  frame.task.shape.dtype = static_cast<DType>(random.below(dtype_table.size()));
  if (is_cast(frame.task.shape.dtype)) stretch_over_type(frame, random);
  return frame;
}

RandomFrame random_offset_frame(Random& random, std::uint64_t min_points,
                                std::uint64_t max_points) {
  constexpr std::uint64_t finest_share = 50;    // 2^-50
  constexpr std::uint64_t most_amplitude = 20;  // 2^20 bounds
  RandomFrame frame;
  frame.kind = field_kinds.at(random.below(field_kinds.size())).kind;
  frame.seed = random.next();
  frame.spikes = random.one_in(8);
  if (random.one_in(16)) frame.holes = Holes::few;
  FrameTask& task = frame.task;
  task.shape = {random.one_in(8) ? DType::f32 : DType::f64,
                random_dims(random, min_points, max_points)};
  apply(presets[random.below(presets.size())], task.config);
  task.config.predictor.multilevel.effort = random.one_in(4) ? Effort::fast : Effort::normal;
  const auto any_factor = [&] { return 1 + random.uniform(); };
  const int exponent = random_exponent(random, task.shape.dtype);
  frame.offset = std::ldexp(any_factor(), exponent) * random.pick({1.0, -1.0});
  task.mode = ErrorMode::absolute;
  task.bound =
      std::ldexp(any_factor(), exponent - static_cast<int>(random.below(finest_share + 1)));
  frame.amplitude = task.bound * any_factor() *
                    std::ldexp(0.25, static_cast<int>(random.below(most_amplitude + 1)));
  if (frame.seed % 4 == 0) task.config.isovalues.add(frame.offset + frame.amplitude / 3);
  return frame;
}

RandomFrame random_constant_frame(Random& random, std::uint64_t min_points,
                                  std::uint64_t max_points) {
  RandomFrame frame = random_frame(random, min_points, max_points);
  frame.kind = FieldKind::constant;
  frame.spikes = false;
  frame.only = random.pick({0.0, 0.0, -0.0, 1.0, -273.15, 1e-40, -3e38});
  frame.signed_zeros = random.one_in(3);
  return frame;
}

}  // namespace cuszi::test
