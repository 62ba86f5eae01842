#include "cpu_ref/lorenzo/lorenzo.hpp"

#include <algorithm>
#include <limits>

#include "core/lorenzo/lorenzo_rounding.hpp"
#include "cpu_ref/base/parallel.hpp"
#include "cpu_ref/base/wide_vectors.hpp"

namespace cuszi::cpu {

namespace {

/// Neighbouring chunks along x, clipped to the frame.
struct Slab {
  Extents3 first;
  Extents3 size;

  std::uint64_t points() const { return count_of(size); }
  std::uint64_t width() const { return size[2]; }
};

/// Fits a cache, unless one chunk is larger.
constexpr std::uint64_t slab_points = std::uint64_t{1} << 15;

Extents3 slab_size(const LorenzoParams& params) {
  const std::uint64_t chunks = std::max<std::uint64_t>(1, slab_points / count_of(params.chunk));
  return {params.chunk[0], params.chunk[1], chunks * params.chunk[2]};
}

/// Calls row(point in the frame, offset in the slab).
template <class Row>
void for_each_row(const Slab& slab, const Extents3& extents, const Row& row) {
  std::uint64_t offset = 0;
  for (std::uint64_t z = 0; z < slab.size[0]; ++z) {
    for (std::uint64_t y = 0; y < slab.size[1]; ++y, offset += slab.width()) {
      row(point_at({slab.first[0] + z, slab.first[1] + y, slab.first[2]}, extents), offset);
    }
  }
}

template <class MakeState, class Work, class Finish>
void for_each_slab(const LorenzoParams& params, const Extents3& extents,
                   const MakeState& make_state, const Work& work, const Finish& finish) {
  const Extents3 size = slab_size(params);
  const Extents3 grid{ceil_div(extents[0], size[0]), ceil_div(extents[1], size[1]),
                      ceil_div(extents[2], size[2])};
  const auto work_on = [&](auto& state, std::uint64_t i) {
    const Extents3 at = coordinates_of(i, grid);
    Slab slab{};
    for (unsigned axis = 0; axis < 3; ++axis) {
      slab.first[axis] = at[axis] * size[axis];
      slab.size[axis] = std::min(size[axis], extents[axis] - slab.first[axis]);
    }
    with_wide_vectors([&] { work(state, slab); });
  };
  parallel_for(count_of(grid), make_state, work_on, finish);
}

/// Sums of damaged archives may overflow.
std::int64_t wrapping_sum(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}

/// Differences along z and y in place; zero outside the chunk.
void difference_rows(std::span<std::int64_t> q, const Slab& slab) {
  const std::uint64_t width = slab.width();
  const std::uint64_t plane = slab.size[1] * width;
  for (std::uint64_t i = q.size(); i-- > plane;) q[i] -= q[i - plane];
  for (std::uint64_t start = 0; start < q.size(); start += plane) {
    for (std::uint64_t row = slab.size[1]; row-- > 1;) {
      std::int64_t* const line = &q[start + row * width];
      for (std::uint64_t x = 0; x < width; ++x) line[x] -= *(line + x - width);
    }
  }
}

/// Partial sums along z and y in place.
void accumulate_rows(std::span<std::int64_t> q, const Slab& slab) {
  const std::uint64_t width = slab.width();
  const std::uint64_t plane = slab.size[1] * width;
  for (std::uint64_t i = plane; i < q.size(); ++i) q[i] = wrapping_sum(q[i], q[i - plane]);
  for (std::uint64_t start = 0; start < q.size(); start += plane) {
    for (std::uint64_t i = start + width; i < start + plane; ++i) {
      q[i] = wrapping_sum(q[i], q[i - width]);
    }
  }
}

template <class T>
class SlabEncoder {
 public:
  SlabEncoder(const LorenzoParams& params, double bound, const FrameInput<T>& frame,
              Predicted<T>& out)
      : frame_(frame),
        out_(out),
        step_(2 * params.half_step),
        inverse_step_(1 / step_),
        bound_(bound),
        min_(static_cast<T>(frame.min)),
        max_(static_cast<T>(frame.max)),
        certain_fraction_(certain_fraction<T>(step_, bound, frame.min, frame.max)),
        zone_(frame.rules.zone(bound)),
        radius_(static_cast<std::int32_t>(params.radius)),
        chunk_width_(params.chunk[2]),
        integers_(count_of(slab_size(params))),
        deltas_(slab_size(params)[2]) {}

  void encode(const Slab& slab) {
    const std::span<std::int64_t> q = std::span(integers_).first(slab.points());
    const std::uint64_t piece = frame_.mask.any() ? chunk_width_ : sure_points;
    for_each_row(slab, frame_.extents, [&](std::uint64_t point, std::uint64_t offset) {
      for (std::uint64_t x = 0; x < slab.width(); x += piece) {
        const std::uint64_t width = std::min(piece, slab.width() - x);
        prequantise_row(point + x, q.subspan(offset + x, width));
      }
    });
    difference_rows(q, slab);
    for_each_row(slab, frame_.extents, [&](std::uint64_t point, std::uint64_t offset) {
      encode_row(point, q.subspan(offset, slab.width()));
    });
  }

  void finish() const {
    append_entries(out_.outliers, outliers_);
    append_entries(out_.patches, patches_);
  }

 private:
  static constexpr std::uint64_t sure_points = 64;

  /// Rows of several chunks must have no missing points.
  void prequantise_row(std::uint64_t point, std::span<std::int64_t> row) {
    if (!frame_.mask.any() && prequantise_certainly(point, row)) return;
    std::int64_t last = 0;
    for (std::uint64_t x = 0; x < row.size(); ++x) {
      const bool missing = frame_.mask.any() && frame_.mask(point + x);
      if (!missing) last = prequantise_point(point + x);
      row[x] = last;
    }
  }

  /// Returns whether all values are certainly within the bound.
  bool prequantise_certainly(std::uint64_t point, std::span<std::int64_t> row) const {
    const T* const values = &frame_.values[point];
    const RuleZone<T> zone = zone_;
    std::int64_t uncertain = 0;
    for (std::uint64_t x = 0; x < row.size(); ++x) {
      const double scaled = static_cast<double>(values[x]) * inverse_step_;
      row[x] = nearest_integer(scaled);
      // No branches, so that the loop vectorises.
      uncertain |= static_cast<std::int64_t>(!(distance_to_integer(scaled) < certain_fraction_)) |
                   static_cast<std::int64_t>(!(magnitude_of(scaled) < most_certain_integer)) |
                   static_cast<std::int64_t>(zone.has(values[x]));
    }
    return uncertain == 0;
  }

  std::int64_t prequantise_point(std::uint64_t point) {
    const T value = frame_.values[point];
    const Prequantised q = prequantise(static_cast<double>(value), inverse_step_);
    const T restored = dequantise<T>(q.value, step_, min_, max_);
    if (!q.in_range || !may_restore_to(value, restored, bound_, frame_.rules)) {
      patches_.push_back(exact_value(point, value));
    }
    return q.value;
  }

  /// `row` holds differences along z and y.
  void encode_row(std::uint64_t point, std::span<const std::int64_t> row) {
    deltas_[0] = row[0];
    for (std::uint64_t x = 1; x < row.size(); ++x) deltas_[x] = row[x] - row[x - 1];
    for (std::uint64_t x = 0; x < row.size(); x += chunk_width_) deltas_[x] = row[x];
    QuantCode* const codes = &out_.codes[point];
    for (std::uint64_t x = 0; x < row.size(); ++x) codes[x] = code_of_delta(deltas_[x], radius_);
    QuantCode least = std::numeric_limits<QuantCode>::max();
    for (std::uint64_t x = 0; x < row.size(); ++x) least = std::min(least, codes[x]);
    if (least != outlier_code) return;
    for (std::uint64_t x = 0; x < row.size(); ++x) {
      if (codes[x] == outlier_code) outliers_.push_back({point + x, zigzag(deltas_[x])});
    }
  }

  const FrameInput<T>& frame_;
  Predicted<T>& out_;
  double step_;
  double inverse_step_;
  double bound_;
  T min_;
  T max_;
  double certain_fraction_;
  RuleZone<T> zone_;  ///< values that rules may affect
  std::int32_t radius_;
  std::uint64_t chunk_width_;
  std::vector<std::int64_t> integers_;
  std::vector<std::int64_t> deltas_;
  std::vector<SparseEntry> outliers_;
  std::vector<SparseEntry> patches_;
};

}  // namespace

template <class T>
void predict_quantise(const LorenzoParams& params, double bound, const FrameInput<T>& frame,
                      Predicted<T>& out) {
  for_each_slab(
      params, frame.extents, [&] { return SlabEncoder<T>(params, bound, frame, out); },
      [](SlabEncoder<T>& encoder, const Slab& slab) { encoder.encode(slab); },
      [](const SlabEncoder<T>& encoder) { encoder.finish(); });
  sort_entries(out.outliers);
  sort_entries(out.patches);
}

template <class T>
void reconstruct(const LorenzoParams& params, std::span<const QuantCode> codes,
                 const Sections& sections, const FrameOutput<T>& frame) {
  const std::uint64_t points = frame.values.size();
  const SparseList outliers = SparseList::decode(sections.find(SectionId::outliers), points);
  const SparseList patches = SparseList::decode(sections.find(SectionId::patches), points);
  const double step = 2 * params.half_step;
  const T min = static_cast<T>(frame.min);
  const T max = static_cast<T>(frame.max);
  const auto radius = static_cast<std::int32_t>(params.radius);
  const std::uint64_t chunk_width = params.chunk[2];

  const auto restore_slab = [&](std::vector<std::int64_t>& integers, const Slab& slab) {
    const std::span<std::int64_t> q = std::span(integers).first(slab.points());
    for_each_row(slab, frame.extents, [&](std::uint64_t point, std::uint64_t offset) {
      for (std::uint64_t first = 0; first < slab.width(); first += chunk_width) {
        const std::uint64_t end = std::min(first + chunk_width, slab.width());
        std::int64_t sum = 0;
        for (std::uint64_t x = first; x < end; ++x) {
          const QuantCode code = codes[point + x];
          const std::int64_t delta = code != outlier_code
                                         ? delta_of_code(code, radius)
                                         : unzigzag(outliers.find(point + x).value_or(0));
          sum = wrapping_sum(sum, delta);
          q[offset + x] = sum;
        }
      }
    });
    accumulate_rows(q, slab);
    for_each_row(slab, frame.extents, [&](std::uint64_t point, std::uint64_t offset) {
      for (std::uint64_t x = 0; x < slab.width(); ++x) {
        frame.values[point + x] = dequantise<T>(q[offset + x], step, min, max);
      }
    });
  };
  for_each_slab(
      params, frame.extents, [&] { return std::vector<std::int64_t>(count_of(slab_size(params))); },
      restore_slab, [](const auto&) {});
  for (const SparseEntry& patch : patches.entries()) {
    frame.values[patch.point] = value_of<T>(patch.value);
  }
}

template void predict_quantise(const LorenzoParams&, double, const FrameInput<float>&,
                               Predicted<float>&);
template void predict_quantise(const LorenzoParams&, double, const FrameInput<double>&,
                               Predicted<double>&);
template void reconstruct(const LorenzoParams&, std::span<const QuantCode>, const Sections&,
                          const FrameOutput<float>&);
template void reconstruct(const LorenzoParams&, std::span<const QuantCode>, const Sections&,
                          const FrameOutput<double>&);

}  // namespace cuszi::cpu
