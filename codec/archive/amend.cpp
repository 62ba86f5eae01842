#include "codec/archive/amend.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <memory>
#include <span>
#include <type_traits>

#include "codec/archive/archive_output.hpp"
#include "codec/archive/archive_reader.hpp"
#include "codec/field/field_source.hpp"
#include "core/base/bytes.hpp"
#include "core/field/sparse_list.hpp"
#include "core/field/stored_type.hpp"

namespace cuszi {

namespace {

/// Origin of a point's value.
enum class Point : std::uint8_t {
  of_base,  ///< unchanged, in the base
  as_was,   ///< unchanged, in the amendment
  fresh     ///< new or changed
};

bool is_whole(Point point) { return point != Point::of_base; }

template <class S>
std::vector<S> restored_values(Backends& backends, Bytes archive) {
  MemorySource source(archive);
  ArchiveReader reader(source);
  std::vector<S> values(reader.header().plan.dims.count());
  CallTimes times;
  restore_values(backends, reader, times, std::nullopt, std::as_writable_bytes(std::span(values)));
  return values;
}

std::vector<std::byte> compressed(Backends& backends, const FieldSettings& settings,
                                  const FieldLayout& layout, Bytes values,
                                  std::vector<FillWarning>* warnings = nullptr) {
  FieldSource source(std::make_unique<MemorySource>(values), layout,
                     plan_frames(layout.dims, layout.dtype, settings.frame_bytes));
  MemorySink archive;
  CallTimes times;
  CompressedField made = compress_field(backends, settings, source, archive, times);
  if (warnings != nullptr) *warnings = std::move(made.warnings);
  return archive.take();
}

FieldSettings of_part(FieldSettings settings) {
  settings.expected_fills = 0;
  settings.frame.isovalues = {};
  settings.frame.predictor.multilevel.axes.reset();
  settings.places = {};
  return settings;
}

FieldSettings lossless(FieldSettings settings) {
  settings = of_part(std::move(settings));
  settings.mode = ErrorMode::absolute;
  settings.bound = settings.share = 0;
  settings.frame.predictor.zfp.mode = {};
  return settings;
}

/// Grid of the coded values; empty if the bound differs between points.
ValueGrid grid_for(DType dtype, const FieldSettings& settings) {
  const bool has_grid = !settings.places.any() && settings.bound > 0 && settings.bound < no_bound &&
                        settings.frame.predictor.zfp.mode.kind == ZfpMode::Kind::accuracy;
  return has_grid ? ValueGrid::of(dtype, value_bound(settings.asked(), {})) : ValueGrid{};
}

/// Tightens the bound so that rounding to the nearest grid value restores the value.
FieldSettings on_grid(const ValueGrid& grid, const FieldSettings& settings) {
  constexpr double margin = 1 - 0x1p-8;  // for rounding
  FieldSettings kept = of_part(settings);
  switch (settings.mode) {
    case ErrorMode::pointwise: kept.bound *= margin / 4; break;
    case ErrorMode::absolute_or_pointwise:
    case ErrorMode::absolute_and_pointwise:
      kept.bound *= margin / 2;
      kept.share *= margin / 4;
      break;
    default: kept.bound = grid.step / 2 * margin;
  }
  return kept;
}

std::vector<std::byte> assembled(Amendment amendment, Bytes base, Bytes exact, Bytes inner) {
  amendment.base_bytes = base.size();
  amendment.exact_bytes = exact.size();
  amendment.exact_hash = block_hash(exact);
  amendment.inner_bytes = inner.size();
  std::vector<std::byte> archive = write_amended_header(amendment);
  for (const Bytes part : {base, exact, inner}) {
    archive.insert(archive.end(), part.begin(), part.end());
  }
  MemorySource source(archive);
  ArchiveReader(source).read_amendment();  // throws unless the archive is readable
  return archive;
}

/// How many of the largest values, by their bits, can mark holes: all integers, or the NaN.
template <class S>
constexpr std::uint64_t most_holes() {
  if constexpr (std::is_integral_v<S>) {
    return std::uint64_t{1} << (8 * sizeof(S));
  } else if constexpr (std::is_floating_point_v<S>) {
    return (std::uint64_t{1} << (std::numeric_limits<S>::digits - 1)) - 1;
  } else {
    return (std::uint64_t{1} << S::fraction_bits) - 1;
  }
}

/// `S` is the type of stored values.
template <class S>
class Amender {
 public:
  using Bits = StoredBits<S>;
  using Work = WorkOf<S>;
  static constexpr bool is_integral = std::is_integral_v<S>;

  Amender(Backends& backends, const FieldSettings& settings, const FieldLayout& layout,
          Bytes values)
      : backends_(backends),
        settings_(settings),
        layout_(layout),
        bytes_(values),
        bound_(value_bound(settings.asked(), {})),
        values_(layout.dims.count()),
        missing_(stored_fills(layout.dtype, settings.fills)) {
    std::memcpy(values_.data(), values.data(), values.size());
  }

  std::optional<AmendedField> amend(std::span<const Bytes> archives) {
    const Bytes archive = nearest(archives);
    const Bytes base = read(archive);
    if (fresh() == 0) return AmendedField{{archive.begin(), archive.end()}};
    for (const Bytes other : archives) {
      if (other.data() != archive.data()) keep_values_of(other);
    }
    const Kept kept = count_kept();
    if (kept.count == 0) return std::nullopt;
    AmendedField made{};
    if (kept.count < values_.size() / few_kept) {
      made.archive = anew(made.warnings);
    } else if (kept.is_constant) {
      // A new chunk may share only empty points with the base.
      const std::vector<Point> points = points_;
      made.archive = anew(made.warnings);
      points_ = points;
      std::vector<std::byte> other = on_base(base, made.warnings);
      if (other.size() < made.archive.size()) made.archive = std::move(other);
    } else {
      made.archive = on_base(base, made.warnings);
    }
    if (made.archive.size() <= bytes_.size() / 2) return made;
    // Without a base, incompressible values are stored once.
    points_.assign(values_.size(), Point::as_was);
    std::vector<std::byte> whole = with_inner(of_hull(), nothing(), lossless(settings_));
    if (whole.size() < made.archive.size()) made.archive = std::move(whole);
    return made;
  }

 private:
  struct Kept {
    std::uint64_t count = 0;
    bool is_constant = true;
  };

  Kept count_kept() const {
    Kept kept;
    Bits first{};
    for (std::uint64_t i = 0; i < values_.size(); ++i) {
      if (points_[i] == Point::fresh || is_missing(values_[i])) continue;
      if (kept.count++ == 0) first = bits(values_[i]);
      kept.is_constant = kept.is_constant && bits(values_[i]) == first;
    }
    return kept;
  }

  /// Below one unchanged point in this many, everything is coded anew.
  static constexpr std::uint64_t few_kept = 64;
  /// Up to this many points are listed exactly.
  static constexpr std::uint64_t few_points = 32;

  Bytes nearest(std::span<const Bytes> archives) {
    if (archives.size() == 1) return archives.front();
    std::uint64_t fewest = values_.size() + 1;
    Bytes best;
    for (const Bytes archive : archives) {
      read(archive);
      if (fresh() >= fewest) continue;
      fewest = fresh();
      best = archive;
    }
    return best;
  }

  /// Marks points that another archive, perhaps an earlier version, restores to the same bits.
  void keep_values_of(Bytes archive) {
    const std::vector<S> others = restored_values<S>(backends_, archive);
    for (std::uint64_t i = 0; i < values_.size(); ++i) {
      if (points_[i] == Point::fresh && bits(values_[i]) == bits(others[i])) {
        points_[i] = Point::as_was;
      }
    }
  }

  std::uint64_t fresh() const {
    return static_cast<std::uint64_t>(std::ranges::count(points_, Point::fresh));
  }

  /// Restores the archive, marks changed points, returns the base.
  Bytes read(Bytes archive) {
    MemorySource source(archive);
    ArchiveReader reader(source);
    const Bytes base = reader.amendment()
                           ? archive.subspan(archive.size() - reader.amendment()->bytes())
                                 .first(reader.amendment()->base_bytes)
                           : archive;
    restored_ = restored_values<S>(backends_, base);
    points_.assign(values_.size(), Point::of_base);
    if (reader.amendment()) take_amended(reader);
    for (std::uint64_t i = 0; i < values_.size(); ++i) {
      if (bits(values_[i]) != bits(restored_[i])) points_[i] = Point::fresh;
    }
    return base;
  }

  AmendedPoints amended_points(ArchiveReader& reader) {
    CallTimes times;
    return {reader, std::nullopt, [&](ArchiveReader& inner, MutableBytes values) {
              restore_values(backends_, inner, times, std::nullopt, values);
            }};
  }

  void take_amended(ArchiveReader& reader) {
    const AmendedPoints amended = amended_points(reader);
    for_each_in_box(*reader.amendment(), [&](std::uint64_t of_box, std::uint64_t i) {
      if (!amended.has(of_box)) return;
      restored_[i] = value_at(amended, of_box);
      points_[i] = Point::as_was;
    });
  }

  static S value_at(const AmendedPoints& amended, std::uint64_t of_box) {
    S value;
    std::memcpy(&value, amended.values().data() + of_box * sizeof value, sizeof value);
    return value;
  }

  static Bits bits(S value) { return std::bit_cast<Bits>(value); }
  static Work work(S value) { return converted_to<Work>(value); }
  bool is_missing(S value) const { return missing_(work(value)); }
  static S nearest(const ValueGrid& grid, S value) {
    return converted_to<S>(grid.nearest(work(value)));
  }

  /// A new archive with a list of inexactly restored points.
  std::vector<std::byte> anew(std::vector<FillWarning>& warnings) {
    std::vector<std::byte> base = compressed(backends_, settings_, layout_, bytes_, &warnings);
    const std::vector<S> back = restored_values<S>(backends_, base);
    for (std::uint64_t i = 0; i < values_.size(); ++i) {
      const bool as_was = points_[i] != Point::fresh && bits(back[i]) != bits(values_[i]);
      points_[i] = as_was ? Point::as_was : Point::of_base;
    }
    if (std::ranges::none_of(points_, is_whole)) return base;
    Amendment amendment = of_hull();
    return assembled(amendment, base, listed(amendment), {});
  }

  std::vector<std::byte> on_base(Bytes base, std::vector<FillWarning>& warnings) {
    std::vector<std::byte> blank;
    if (std::ranges::all_of(points_, is_whole)) base = blank = nothing();
    return with_amendment(base, warnings);
  }

  /// A placeholder when no point of the base is left.
  std::vector<std::byte> nothing() const {
    const std::vector<S> zeros(values_.size());
    return compressed(backends_, of_part(settings_), layout_, std::as_bytes(std::span(zeros)));
  }

  std::vector<std::byte> with_amendment(Bytes base, std::vector<FillWarning>& warnings) {
    Amendment amendment = of_hull();
    const auto points = static_cast<std::uint64_t>(std::ranges::count_if(points_, is_whole));
    if (points <= few_points) return assembled(amendment, base, listed(amendment), {});
    amendment.grid = grid_for(layout_.dtype, settings_);
    if (amendment.grid.kind == ValueGrid::Kind::none) {
      return with_inner(amendment, base, lossless(settings_), &warnings);
    }
    fill_holes(amendment);
    std::vector<std::byte> made =
        with_inner(amendment, base, on_grid(amendment.grid, settings_), &warnings);
    // The grid has changed, or the bound is near the rounding error.
    if (exact_ <= points / 8) return made;
    amendment.grid = {};
    const std::vector<std::byte> whole = with_inner(amendment, base, lossless(settings_));
    return whole.size() < made.size() ? whole : made;
  }

  /// Moves the base's points inside the box to the amendment if they are on its grid; masking them
  /// is slower.
  void fill_holes(const Amendment& amendment) {
    std::uint64_t holes = 0;
    bool are_on_grid = true;
    for_each_in_box(amendment, [&](std::uint64_t /*of_box*/, std::uint64_t i) {
      if (is_whole(points_[i])) return;
      ++holes;
      const bool is_on_grid = bits(nearest(amendment.grid, values_[i])) == bits(values_[i]);
      are_on_grid = are_on_grid && is_on_grid && !is_missing(values_[i]);
    });
    if (are_on_grid && holes <= amendment.dims.count() / 4) take_holes(amendment);
  }

  void take_holes(const Amendment& amendment) {
    for_each_in_box(amendment, [&](std::uint64_t /*of_box*/, std::uint64_t i) {
      if (!is_whole(points_[i])) points_[i] = Point::as_was;
    });
  }

  /// An amendment with an inner archive and a list of the points that it misses.
  std::vector<std::byte> with_inner(Amendment amendment, Bytes base, FieldSettings settings,
                                    std::vector<FillWarning>* warnings = nullptr) {
    leave_holes(amendment, settings);
    const std::vector<S> box = in_box(amendment);
    const FieldLayout layout{layout_.dtype, amendment.dims};
    const std::vector<std::byte> inner =
        compressed(backends_, settings, layout, std::as_bytes(std::span(box)), warnings);
    const std::vector<std::byte> unlisted = assembled(amendment, base, {}, inner);
    MemorySource source(unlisted);
    ArchiveReader reader(source);
    const AmendedPoints back = amended_points(reader);
    const std::vector<std::byte> list = listed(amendment, &back);
    return list.empty() ? unlisted : assembled(amendment, base, list, inner);
  }

  /// Chooses the inner archive's value at points of the base, which it restores exactly: a NaN, or
  /// a further fill value of integers. If all are in use, the amendment takes these points.
  void leave_holes(Amendment& amendment, FieldSettings& settings) {
    bool has_holes = false;
    for_each_in_box(amendment, [&](std::uint64_t /*of_box*/, std::uint64_t i) {
      has_holes = has_holes || !is_whole(points_[i]);
    });
    if (!has_holes) return;
    constexpr std::size_t most_fills = IsoValues::max_count / 2;  // see work_rules()
    const std::optional<Bits> hole = unused_bits(amendment);
    if (!hole || (is_integral && settings.fills.count >= most_fills)) return take_holes(amendment);
    amendment.hole = *hole;
    if (is_integral) settings.fills.add(converted_to<double>(std::bit_cast<S>(*hole)));
  }

  bool is_good(std::uint64_t i, S back) const {
    const S value = values_[i];
    if (points_[i] == Point::as_was || is_missing(value)) return bits(back) == bits(value);
    return bound_.holds(work(value), work(back)) && !is_missing(back) &&
           on_same_sides(settings_.frame.isovalues, work(value), work(back));
  }

  std::vector<S> in_box(const Amendment& amendment) const {
    const auto hole = std::bit_cast<S>(static_cast<Bits>(amendment.hole.value_or(0)));
    std::vector<S> box(amendment.dims.count());
    for_each_in_box(amendment, [&](std::uint64_t of_box, std::uint64_t i) {
      const bool stays = points_[i] != Point::fresh || is_missing(values_[i]);
      const S value = stays ? values_[i] : nearest(amendment.grid, values_[i]);
      box[of_box] = is_whole(points_[i]) ? value : hole;
    });
    return box;
  }

  /// Exact values of the amendment's points, or of those that `back` restores otherwise.
  std::vector<std::byte> listed(const Amendment& amendment, const AmendedPoints* back = nullptr) {
    std::vector<SparseEntry> entries;
    for_each_in_box(amendment, [&](std::uint64_t of_box, std::uint64_t i) {
      if (!is_whole(points_[i])) return;
      const bool is_restored =
          back != nullptr && back->has(of_box) && is_good(i, value_at(*back, of_box));
      if (!is_restored) entries.push_back({of_box, bits(values_[i])});
    });
    exact_ = entries.size();
    return SparseList::encode(entries, amendment.dims.count());
  }

  template <class F>
  void for_each_in_box(const Amendment& amendment, const F& f) const {
    Selection selection{layout_.dims};
    selection.first = amendment.box.first;
    selection.end = amendment.box.end;
    std::uint64_t of_box = 0;
    for_each_point(selection, [&](std::uint64_t i) { f(of_box++, i); });
  }

  Amendment of_hull() const {
    const auto rank = static_cast<std::size_t>(layout_.dims.rank());
    Amendment amendment;
    amendment.box.first.fill(Box::no_end);
    amendment.box.end.fill(0);
    std::array<std::uint64_t, Dims::max_rank> at{};
    for (const Point point : points_) {
      for (std::size_t axis = 0; axis < rank && is_whole(point); ++axis) {
        amendment.box.first.at(axis) = std::min(amendment.box.first.at(axis), at.at(axis));
        amendment.box.end.at(axis) = std::max(amendment.box.end.at(axis), at.at(axis) + 1);
      }
      for (std::size_t axis = rank; axis-- > 0;) {
        if (++at.at(axis) < layout_.dims[static_cast<int>(axis)]) break;
        at.at(axis) = 0;
      }
    }
    std::array<std::uint64_t, Dims::max_rank> extents{};
    for (std::size_t axis = 0; axis < rank; ++axis) {
      extents.at(axis) = amendment.box.end.at(axis) - amendment.box.first.at(axis);
    }
    amendment.dims = Dims::make(std::span(extents).first(rank)).value();
    return amendment;
  }

  /// Bits of a NaN, or of an integer, that the box does not use.
  std::optional<Bits> unused_bits(const Amendment& amendment) const {
    constexpr auto all = static_cast<Bits>(~Bits{0});
    constexpr auto highest = std::is_unsigned_v<S> ? all : static_cast<Bits>(all >> 1);
    constexpr std::uint64_t most = std::uint64_t{1} << 16;
    std::vector<bool> is_used(std::min(most, most_holes<S>()));
    for_each_in_box(amendment, [&](std::uint64_t /*of_box*/, std::uint64_t i) {
      const auto below = static_cast<Bits>(highest - bits(values_[i]));
      if (is_whole(points_[i]) && below < is_used.size()) is_used[below] = true;
    });
    const auto unused = std::ranges::find(is_used, false);
    if (unused == is_used.end()) return std::nullopt;
    return static_cast<Bits>(highest - static_cast<Bits>(unused - is_used.begin()));
  }

  Backends& backends_;
  const FieldSettings& settings_;
  FieldLayout layout_;
  Bytes bytes_;
  ValueBound bound_;
  std::vector<S> values_;
  MissingTest<Work> missing_;
  std::vector<S> restored_;
  std::vector<Point> points_;
  std::uint64_t exact_ = 0;  ///< entries of the last list
};

}  // namespace

bool are_repeatable(DType dtype, const FieldSettings& settings) {
  const ValueBound bound = stored_bound(dtype, value_bound(settings.asked(), {}));
  return is_wide_integer(dtype) || (!bound.goes_with_values() && bound.bound == 0);
}

std::optional<AmendedField> amend_field(Backends& backends, const FieldSettings& settings,
                                        const FieldLayout& layout, Bytes values,
                                        std::span<const Bytes> archives) {
  using Result = std::optional<AmendedField>;
  return with_stored_type_of(layout.dtype, [&](auto zero) -> Result {
    using S = decltype(zero);
    if constexpr (std::is_integral_v<S> && sizeof(S) == 8) {
      throw InternalError("64-bit integers are not amended");
    } else {
      return Amender<S>(backends, settings, layout, values).amend(archives);
    }
  });
}

}  // namespace cuszi
