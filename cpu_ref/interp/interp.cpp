#include "cpu_ref/interp/interp.hpp"

#include "cpu_ref/base/parallel.hpp"

namespace cuszi::cpu {

namespace {

/// Calls each(anchor, point) in raster order.
template <class Each>
void for_each_anchor(const InterpParams& params, const Extents3& extents, const Each& each) {
  const Extents3 grid = anchor_grid(params, extents);
  std::uint64_t anchor = 0;
  for (std::uint64_t z = 0; z < grid[0]; ++z) {
    for (std::uint64_t y = 0; y < grid[1]; ++y) {
      for (std::uint64_t x = 0; x < grid[2]; ++x, ++anchor) {
        each(anchor, point_at({z * params.anchor, y * params.anchor, x * params.anchor}, extents));
      }
    }
  }
}

/// All anchors, missing ones filled. value_at(point) is called for the valid ones in order.
template <class T, class ValueAt>
std::vector<T> complete_anchors(const InterpParams& params, const Extents3& extents,
                                const Mask& mask, T min, T max, const ValueAt& value_at) {
  const Extents3 grid = anchor_grid(params, extents);
  std::vector<T> anchors(count_of(grid));
  std::vector<std::uint8_t> missing(anchors.size(), 0);
  for_each_anchor(params, extents, [&](std::uint64_t anchor, std::uint64_t point) {
    if (mask.any() && mask(point)) {
      missing[anchor] = 1;
    } else {
      anchors[anchor] = value_at(point);
    }
  });
  const T middle = min + (max - min) * static_cast<T>(0.5);
  for (std::uint64_t row = 0; row < anchors.size(); row += grid[2]) {
    fill_missing_anchors(anchors.data() + row, missing.data() + row, grid[2], middle);
  }
  return anchors;
}

/// A tile's closed box, one per thread.
template <class T>
struct Box {
  TileBox tile{};
  std::vector<T> values;  ///< original, then restored
  std::vector<QuantCode> codes;
  std::vector<std::uint8_t> missing;  ///< empty without missing points

  Box(const InterpParams& params, bool any_missing) {
    const std::uint64_t points = (params.tile[0] + 1) * (params.tile[1] + 1) * (params.tile[2] + 1);
    values.resize(points);
    codes.resize(points);
    if (any_missing) missing.resize(points);
  }

  std::uint32_t offset(std::uint32_t z, std::uint32_t y, std::uint32_t x) const {
    return (z * tile.box[1] + y) * tile.box[2] + x;
  }

  std::uint64_t point(std::uint32_t z, std::uint32_t y, const Extents3& extents) const {
    return point_at({tile.first[0] + z, tile.first[1] + y, tile.first[2]}, extents);
  }
};

/// Calls row(point in the frame, offset in the box) for each row of size[2] points.
template <class T, class Row>
void for_each_row(const Box<T>& box, const Extents32& size, const Extents3& extents,
                  const Row& row) {
  for (std::uint32_t z = 0; z < size[0]; ++z) {
    for (std::uint32_t y = 0; y < size[1]; ++y) row(box.point(z, y, extents), box.offset(z, y, 0));
  }
}

template <class T>
void load_missing(Box<T>& box, const Mask& mask, const Extents3& extents) {
  if (!mask.any()) return;
  for_each_row(box, box.tile.box, extents, [&](std::uint64_t point, std::uint32_t offset) {
    for (std::uint32_t x = 0; x < box.tile.box[2]; ++x)
      box.missing[offset + x] = mask(point + x) ? 1 : 0;
  });
}

template <class T>
void load_anchors(Box<T>& box, const InterpParams& params, const Extents3& extents,
                  std::span<const T> anchors) {
  const Extents3 grid = anchor_grid(params, extents);
  const std::uint32_t step = params.anchor;
  for (std::uint32_t z = 0; z < box.tile.box[0]; z += step) {
    for (std::uint32_t y = 0; y < box.tile.box[1]; y += step) {
      for (std::uint32_t x = 0; x < box.tile.box[2]; x += step) {
        const Extents3 at{(box.tile.first[0] + z) / step, (box.tile.first[1] + y) / step,
                          (box.tile.first[2] + x) / step};
        box.values[box.offset(z, y, x)] = anchors[point_at(at, grid)];
      }
    }
  }
}

/// restored = point(offset, prediction).
template <class T, class Point>
void run_stage(Box<T>& box, const InterpParams& params, const InterpStage& stage,
               std::vector<Spline<T>>& splines, const Point& point) {
  const std::uint32_t axis = stage.axis;
  splines.clear();
  for (std::uint32_t i = 0; i < stage.count[axis]; ++i) {
    splines.push_back(spline_for<T>(params.cubic[axis], stage.first[axis] + i * stage.step[axis],
                                    stage.spacing, box.tile.box[axis]));
  }
  const Extents32 strides{box.tile.box[1] * box.tile.box[2], box.tile.box[2], 1};
  const auto stride = static_cast<std::ptrdiff_t>(strides[axis]) * stage.spacing;
  T* const values = box.values.data();
  for (std::uint32_t z = 0; z < stage.count[0]; ++z) {
    for (std::uint32_t y = 0; y < stage.count[1]; ++y) {
      std::uint32_t offset = box.offset(stage.first[0] + z * stage.step[0],
                                        stage.first[1] + y * stage.step[1], stage.first[2]);
      for (std::uint32_t x = 0; x < stage.count[2]; ++x, offset += stage.step[2]) {
        const Spline<T>& spline = splines[axis == 2 ? x : axis == 1 ? y : z];
        values[offset] = point(offset, predict_on_line(spline, values + offset, stride));
      }
    }
  }
}

/// Predicts a box by levels and axes: restored = point(quantizer, offset, prediction).
template <class T, class Point>
void run_stages(Box<T>& box, const InterpParams& params, std::span<const Quantizer<T>> quantizers,
                std::vector<Spline<T>>& splines, const Point& point) {
  for (int level = params.levels(); level >= 1; --level) {
    const Quantizer<T> quantizer = quantizers[static_cast<std::size_t>(level - 1)];
    for (int turn = 0; turn < 3; ++turn) {
      const InterpStage stage = interp_stage(params, box.tile.box, level, turn);
      run_stage(box, params, stage, splines, [&](std::uint32_t offset, T prediction) {
        return point(quantizer, offset, prediction);
      });
    }
  }
}

template <class T>
std::vector<Quantizer<T>> level_quantizers(const InterpParams& params, double bound, double min,
                                           double max, const RestoreRules<T>& rules = {}) {
  std::vector<Quantizer<T>> quantizers;
  for (int level = 1; level <= params.levels(); ++level) {
    quantizers.emplace_back(params.half_step[static_cast<std::size_t>(level - 1)], bound, min, max,
                            params.radius, rules);
  }
  return quantizers;
}

template <class MakeState, class Work, class Finish>
void for_each_tile(const InterpParams& params, const Extents3& extents, const MakeState& make_state,
                   const Work& work, const Finish& finish) {
  const Extents3 grid = tile_grid(params, extents);
  const auto row_of_tiles = [&](auto& state, std::uint64_t i) {
    for (std::uint64_t x = 0; x < grid[2]; ++x) {
      work(state, tile_box(params, extents, {i / grid[1], i % grid[1], x}));
    }
  };
  parallel_for(grid[0] * grid[1], make_state, row_of_tiles, finish);
}

template <class T>
class TileEncoder {
 public:
  TileEncoder(const InterpParams& params, std::span<const Quantizer<T>> quantizers,
              std::span<const T> anchors, const FrameInput<T>& frame, Predicted<T>& out)
      : params_(params),
        quantizers_(quantizers),
        anchors_(anchors),
        frame_(frame),
        out_(out),
        box_(params, frame.mask.any()) {}

  void encode(const TileBox& tile) {
    load(tile);
    if (frame_.rules.any()) {
      quantise_tile(frame_.rules);
    } else {
      quantise_tile(RestoreRules<T>{});  // compile-time empty, so that loops have no test
    }
    store();
  }

  void finish() const { append_entries(out_.outliers, outliers_); }

 private:
  void quantise_tile(const RestoreRules<T> rules) {
    QuantCode* const codes = box_.codes.data();
    T* const values = box_.values.data();
    const auto each = [&](const Quantizer<T>& quantizer, std::uint32_t offset, T prediction) {
      const Quantised<T> q = quantise(quantizer, rules, values[offset], prediction);
      codes[offset] = q.code;
      return q.restored;
    };
    if (!frame_.mask.any()) {
      run_stages(box_, params_, quantizers_, splines_, each);
      return;
    }
    run_stages(box_, params_, quantizers_, splines_,
               [&](const Quantizer<T>& quantizer, std::uint32_t offset, T prediction) {
                 if (box_.missing[offset] != 0) return prediction;
                 return each(quantizer, offset, prediction);
               });
  }

  /// Anchors and missing points get the code of no error.
  void load(const TileBox& tile) {
    box_.tile = tile;
    std::fill(box_.codes.begin(), box_.codes.end(), static_cast<QuantCode>(params_.radius));
    for_each_row(box_, tile.box, frame_.extents, [&](std::uint64_t point, std::uint32_t offset) {
      std::copy_n(frame_.values.data() + point, tile.box[2], box_.values.data() + offset);
    });
    load_anchors(box_, params_, frame_.extents, anchors_);
    load_missing(box_, frame_.mask, frame_.extents);
  }

  void store() {
    const Extents32& own = box_.tile.own;
    for_each_row(box_, own, frame_.extents, [&](std::uint64_t point, std::uint32_t offset) {
      const QuantCode* const codes = box_.codes.data() + offset;
      std::copy_n(codes, own[2], out_.codes.data() + point);
      for (std::uint32_t x = 0; x < own[2]; ++x) {
        if (codes[x] == outlier_code) {
          outliers_.push_back(exact_value(point + x, frame_.values[point + x]));
        }
      }
    });
  }

  const InterpParams& params_;
  std::span<const Quantizer<T>> quantizers_;
  std::span<const T> anchors_;
  const FrameInput<T>& frame_;
  Predicted<T>& out_;
  Box<T> box_;
  std::vector<Spline<T>> splines_;
  std::vector<SparseEntry> outliers_;
};

template <class T>
class TileDecoder {
 public:
  TileDecoder(const InterpParams& params, std::span<const Quantizer<T>> quantizers,
              std::span<const T> anchors, std::span<const QuantCode> codes,
              const SparseList& outliers, const FrameOutput<T>& frame)
      : params_(params),
        quantizers_(quantizers),
        anchors_(anchors),
        codes_(codes),
        outliers_(outliers),
        frame_(frame),
        box_(params, frame.mask.any()) {}

  void decode(const TileBox& tile) {
    load(tile);
    const QuantCode* const codes = box_.codes.data();
    const bool any_missing = frame_.mask.any();
    run_stages(box_, params_, quantizers_, splines_,
               [&](const Quantizer<T>& quantizer, std::uint32_t offset, T prediction) {
                 if (any_missing && box_.missing[offset] != 0) return prediction;
                 if (codes[offset] == outlier_code) return outlier_at(offset);
                 return restore(quantizer, prediction, codes[offset]);
               });
    for_each_row(box_, tile.own, frame_.extents, [&](std::uint64_t point, std::uint32_t offset) {
      std::copy_n(box_.values.data() + offset, tile.own[2], frame_.values.data() + point);
    });
  }

 private:
  void load(const TileBox& tile) {
    box_.tile = tile;
    for_each_row(box_, tile.box, frame_.extents, [&](std::uint64_t point, std::uint32_t offset) {
      std::copy_n(codes_.data() + point, tile.box[2], box_.codes.data() + offset);
    });
    load_anchors(box_, params_, frame_.extents, anchors_);
    load_missing(box_, frame_.mask, frame_.extents);
  }

  T outlier_at(std::uint32_t offset) const {
    const std::uint32_t row = offset / box_.tile.box[2];
    const std::uint64_t start =
        box_.point(row / box_.tile.box[1], row % box_.tile.box[1], frame_.extents);
    return value_of<T>(outliers_.find(start + offset % box_.tile.box[2]).value_or(0));
  }

  const InterpParams& params_;
  std::span<const Quantizer<T>> quantizers_;
  std::span<const T> anchors_;
  std::span<const QuantCode> codes_;
  const SparseList& outliers_;
  const FrameOutput<T>& frame_;
  Box<T> box_;
  std::vector<Spline<T>> splines_;
};

}  // namespace

template <class T>
void predict_quantise(const InterpParams& params, double bound, const FrameInput<T>& frame,
                      Predicted<T>& out) {
  const std::vector<T> anchors =
      complete_anchors<T>(params, frame.extents, frame.mask, static_cast<T>(frame.min),
                          static_cast<T>(frame.max), [&](std::uint64_t point) {
                            out.anchors.push_back(frame.values[point]);
                            return frame.values[point];
                          });
  const auto quantizers = level_quantizers<T>(params, bound, frame.min, frame.max, frame.rules);
  for_each_tile(
      params, frame.extents,
      [&] { return TileEncoder<T>(params, quantizers, anchors, frame, out); },
      [](TileEncoder<T>& encoder, const TileBox& tile) { encoder.encode(tile); },
      [](const TileEncoder<T>& encoder) { encoder.finish(); });
  sort_entries(out.outliers);
}

template <class T>
void reconstruct(const InterpParams& params, std::span<const QuantCode> codes,
                 const Sections& sections, const FrameOutput<T>& frame) {
  ByteReader stored(sections.find(SectionId::anchors), "the anchors");
  const std::vector<T> anchors = complete_anchors<T>(
      params, frame.extents, frame.mask, static_cast<T>(frame.min), static_cast<T>(frame.max),
      [&](std::uint64_t /*point*/) { return stored.get<T>(); });
  stored.expect_end();
  const SparseList outliers =
      SparseList::decode(sections.find(SectionId::outliers), frame.values.size());
  const double no_bound = 0;
  const auto quantizers = level_quantizers<T>(params, no_bound, frame.min, frame.max);
  for_each_tile(
      params, frame.extents,
      [&] { return TileDecoder<T>(params, quantizers, anchors, codes, outliers, frame); },
      [](TileDecoder<T>& decoder, const TileBox& tile) { decoder.decode(tile); },
      [](const TileDecoder<T>&) {});
}

template void predict_quantise(const InterpParams&, double, const FrameInput<float>&,
                               Predicted<float>&);
template void predict_quantise(const InterpParams&, double, const FrameInput<double>&,
                               Predicted<double>&);
template void reconstruct(const InterpParams&, std::span<const QuantCode>, const Sections&,
                          const FrameOutput<float>&);
template void reconstruct(const InterpParams&, std::span<const QuantCode>, const Sections&,
                          const FrameOutput<double>&);

}  // namespace cuszi::cpu
