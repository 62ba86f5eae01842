#include "core/field/sparse_list.hpp"
#include "core/interp/interp.hpp"
#include "tests/slow_decoder/slow_frame.hpp"

namespace cuszi::slow {

namespace {

template <class T>
class InterpDecoder {
 public:
  InterpDecoder(const InterpParams& params, SlowFrame<T>& frame)
      : params_(params), frame_(frame), extents_(frame.extents) {}

  void run() {
    read_anchors();
    read_codes();
    const Extents3 tiles = tile_grid(params_, extents_);
    for (std::uint64_t i = 0; i < count_of(tiles); ++i) {
      restore_tile(tile_box(params_, extents_, coordinates_of(i, tiles)));
    }
  }

 private:
  const Sections& sections() const { return frame_.passes.front(); }

  /// The anchors, with stand-ins for the missing ones.
  void read_anchors() {
    grid_ = anchor_grid(params_, extents_);
    ByteReader in(sections().find(SectionId::anchors), "the anchors");
    std::vector<std::uint8_t> missing;
    for (std::uint64_t i = 0; i < count_of(grid_); ++i) {
      Extents3 at = coordinates_of(i, grid_);
      for (std::uint64_t& coordinate : at) coordinate *= params_.anchor;
      const bool is_missing = frame_.is_missing(cuszi::point_at(at, extents_));
      missing.push_back(is_missing ? 1 : 0);
      anchors_.push_back(is_missing ? T{0} : in.get<T>());
    }
    in.expect_end();
    const auto min = static_cast<T>(frame_.header.min);
    const auto max = static_cast<T>(frame_.header.max);
    const T middle = min + (max - min) * static_cast<T>(0.5);
    for (std::uint64_t row = 0; row < anchors_.size(); row += grid_[2]) {
      fill_missing_anchors(anchors_.data() + row, missing.data() + row, grid_[2], middle);
    }
  }

  /// A code for every point; those of missing ones mean nothing.
  void read_codes() {
    const std::uint64_t points = frame_.values.size();
    const std::vector<QuantCode> coded = decode_codes(frame_, 0, points - frame_.mask.count);
    std::size_t next = 0;
    for (std::uint64_t i = 0; i < points; ++i) {
      codes_.push_back(frame_.is_missing(i) ? QuantCode{0} : coded.at(next++));
    }
    outliers_ = SparseList::decode(sections().find(SectionId::outliers), points);
  }

  std::uint64_t frame_point(const TileBox& tile, const Extents3& at) const {
    return cuszi::point_at({tile.first[0] + at[0], tile.first[1] + at[1], tile.first[2] + at[2]},
                           extents_);
  }

  /// Restores the closed box of a tile and keeps what the tile owns.
  void restore_tile(const TileBox& tile) {
    const Extents3 box{tile.box[0], tile.box[1], tile.box[2]};
    std::vector<T> values(count_of(box));
    for (std::uint64_t i = 0; i < values.size(); ++i) {
      const Extents3 at = coordinates_of(i, box);
      if (at[0] % params_.anchor != 0 || at[1] % params_.anchor != 0 ||
          at[2] % params_.anchor != 0) {
        continue;
      }
      values[i] = anchors_.at(cuszi::point_at(
          {(tile.first[0] + at[0]) / params_.anchor, (tile.first[1] + at[1]) / params_.anchor,
           (tile.first[2] + at[2]) / params_.anchor},
          grid_));
    }
    for (int level = params_.levels(); level > 0; --level) {
      for (int turn = 0; turn < 3; ++turn) {
        restore_stage(tile, box, level, interp_stage(params_, tile.box, level, turn), values);
      }
    }
    for (std::uint64_t i = 0; i < values.size(); ++i) {
      const Extents3 at = coordinates_of(i, box);
      const bool owned = at[0] < tile.own[0] && at[1] < tile.own[1] && at[2] < tile.own[2];
      if (owned) frame_.values[frame_point(tile, at)] = values[i];
    }
  }

  void restore_stage(const TileBox& tile, const Extents3& box, int level, const InterpStage& stage,
                     std::vector<T>& values) const {
    const Extents3 count{stage.count[0], stage.count[1], stage.count[2]};
    const Extents3 strides{box[1] * box[2], box[2], 1};
    const double no_bound = 0;
    const Quantizer<T> quantizer(params_.half_step.at(static_cast<std::size_t>(level - 1)),
                                 no_bound, frame_.header.min, frame_.header.max, params_.radius);
    for (std::uint64_t i = 0; i < count_of(count); ++i) {
      Extents3 at = coordinates_of(i, count);
      for (unsigned a = 0; a < 3; ++a) at.at(a) = stage.first.at(a) + at.at(a) * stage.step.at(a);
      const auto spline =
          spline_for<T>(params_.cubic.at(stage.axis), static_cast<std::uint32_t>(at.at(stage.axis)),
                        stage.spacing, tile.box.at(stage.axis));
      T& value = values[cuszi::point_at(at, box)];
      const T predicted = predict_on_line(
          spline, &value, static_cast<std::ptrdiff_t>(strides.at(stage.axis) * stage.spacing));
      const std::uint64_t point = frame_point(tile, at);
      if (frame_.is_missing(point)) {
        value = predicted;
      } else if (codes_[point] == outlier_code) {
        value = std::bit_cast<T>(static_cast<BitsOf<T>>(outliers_.find(point).value()));
      } else {
        value = cuszi::restore(quantizer, predicted, codes_[point]);
      }
    }
  }

  const InterpParams& params_;
  SlowFrame<T>& frame_;
  Extents3 extents_;
  Extents3 grid_{};
  std::vector<T> anchors_;
  std::vector<QuantCode> codes_;
  SparseList outliers_;
};

}  // namespace

template <class T>
void restore(const InterpParams& params, SlowFrame<T>& frame) {
  InterpDecoder<T>(params, frame).run();
}

template void restore(const InterpParams&, SlowFrame<float>&);
template void restore(const InterpParams&, SlowFrame<double>&);

}  // namespace cuszi::slow
