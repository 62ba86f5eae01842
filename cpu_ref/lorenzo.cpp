#include "cpu_ref/lorenzo.hpp"

#include "cpu_ref/parallel.hpp"

namespace cuszi::cpu {

namespace {

/// A chunk clipped to the frame.
struct Chunk {
  Extents3 first;
  Extents3 size;

  std::uint64_t points() const { return count_of(size); }
};

Extents3 chunk_grid(const LorenzoParams& params, const Extents3& extents) {
  return {ceil_div(extents[0], params.chunk[0]), ceil_div(extents[1], params.chunk[1]),
          ceil_div(extents[2], params.chunk[2])};
}

Chunk chunk_at(const LorenzoParams& params, const Extents3& extents, const Extents3& at) {
  Chunk chunk{};
  for (unsigned axis = 0; axis < 3; ++axis) {
    chunk.first[axis] = at[axis] * params.chunk[axis];
    chunk.size[axis] = std::min(params.chunk[axis], extents[axis] - chunk.first[axis]);
  }
  return chunk;
}

/// Calls row(point in the frame, offset in the chunk) for every row of a chunk.
template <class Row>
void for_each_row(const Chunk& chunk, const Extents3& extents, const Row& row) {
  std::uint64_t offset = 0;
  for (std::uint64_t z = 0; z < chunk.size[0]; ++z) {
    for (std::uint64_t y = 0; y < chunk.size[1]; ++y, offset += chunk.size[2]) {
      row(point_at({chunk.first[0] + z, chunk.first[1] + y, chunk.first[2]}, extents), offset);
    }
  }
}

/// Runs work(state, chunk) over all chunks, a row of them at a time.
template <class MakeState, class Work, class Finish>
void for_each_chunk(const LorenzoParams& params, const Extents3& extents,
                    const MakeState& make_state, const Work& work, const Finish& finish) {
  const Extents3 grid = chunk_grid(params, extents);
  const auto row_of_chunks = [&](auto& state, std::uint64_t i) {
    for (std::uint64_t x = 0; x < grid[2]; ++x) {
      work(state, chunk_at(params, extents, {i / grid[1], i % grid[1], x}));
    }
  };
  parallel_for(grid[0] * grid[1], make_state, row_of_chunks, finish);
}

/// A chunk's integers seen along one axis: in each block, neighbours are `stride` apart.
struct Lines {
  std::uint64_t stride;
  std::uint64_t block;
};

std::array<Lines, 3> lines_of(const Extents3& size) {
  const std::uint64_t plane = size[1] * size[2];
  return {{{1, size[2]}, {size[2], plane}, {plane, size[0] * plane}}};
}

/// Sums of a damaged archive may leave the range of int64: they wrap.
std::int64_t wrapping_sum(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}

/// Replaces values by their differences along each axis, zero outside of the chunk.
void difference(std::span<std::int64_t> q, const Extents3& size) {
  for (const auto& [stride, block] : lines_of(size)) {
    for (std::uint64_t start = 0; start < q.size(); start += block) {
      for (std::uint64_t i = block; i-- > stride;) q[start + i] -= q[start + i - stride];
    }
  }
}

/// The inverse: partial sums along each axis.
void accumulate(std::span<std::int64_t> q, const Extents3& size) {
  for (const auto& [stride, block] : lines_of(size)) {
    for (std::uint64_t start = 0; start < q.size(); start += block) {
      for (std::uint64_t i = stride; i < block; ++i) {
        q[start + i] = wrapping_sum(q[start + i], q[start + i - stride]);
      }
    }
  }
}

/// A thread's work on one chunk after the other of a frame to compress.
template <class T>
class ChunkEncoder {
 public:
  ChunkEncoder(const LorenzoParams& params, double bound, const FrameInput<T>& frame,
               Predicted<T>& out)
      : frame_(frame),
        out_(out),
        step_(2 * params.half_step),
        inverse_step_(1 / step_),
        bound_(bound),
        min_(static_cast<T>(frame.min)),
        max_(static_cast<T>(frame.max)),
        radius_(static_cast<std::int32_t>(params.radius)),
        integers_(count_of(params.chunk)) {}

  void encode(const Chunk& chunk) {
    const std::span<std::int64_t> q = std::span(integers_).first(chunk.points());
    for_each_row(chunk, frame_.extents, [&](std::uint64_t point, std::uint64_t offset) {
      prequantise_row(point, q.subspan(offset, chunk.size[2]));
    });
    difference(q, chunk.size);
    for_each_row(chunk, frame_.extents, [&](std::uint64_t point, std::uint64_t offset) {
      encode_row(point, q.subspan(offset, chunk.size[2]));
    });
  }

  /// Adds what the codes of all chunks so far cannot say.
  void finish() const {
    append_entries(out_.outliers, outliers_);
    append_entries(out_.patches, patches_);
  }

 private:
  void prequantise_row(std::uint64_t point, std::span<std::int64_t> row) {
    std::int64_t last = 0;
    for (std::uint64_t x = 0; x < row.size(); ++x) {
      const bool missing = frame_.mask.any() && frame_.mask(point + x);
      if (!missing) last = prequantise_point(point + x);
      row[x] = last;
    }
  }

  std::int64_t prequantise_point(std::uint64_t point) {
    const T value = frame_.values[point];
    const Prequantised q = prequantise(static_cast<double>(value), inverse_step_);
    const T restored = dequantise<T>(q.value, step_, min_, max_);
    if (!q.in_range || !may_restore_to(value, restored, bound_, frame_.fills)) {
      patches_.push_back(exact_value(point, value));
    }
    return q.value;
  }

  void encode_row(std::uint64_t point, std::span<const std::int64_t> deltas) {
    for (std::uint64_t x = 0; x < deltas.size(); ++x) {
      const QuantCode code = code_of_delta(deltas[x], radius_);
      if (code == outlier_code) outliers_.push_back({point + x, zigzag(deltas[x])});
      out_.codes[point + x] = code;
    }
  }

  const FrameInput<T>& frame_;
  Predicted<T>& out_;
  double step_;
  double inverse_step_;
  double bound_;
  T min_;
  T max_;
  std::int32_t radius_;
  std::vector<std::int64_t> integers_;
  std::vector<SparseEntry> outliers_;
  std::vector<SparseEntry> patches_;
};

}  // namespace

template <class T>
void predict_quantise(const LorenzoParams& params, double bound, const FrameInput<T>& frame,
                      Predicted<T>& out) {
  for_each_chunk(
      params, frame.extents, [&] { return ChunkEncoder<T>(params, bound, frame, out); },
      [](ChunkEncoder<T>& encoder, const Chunk& chunk) { encoder.encode(chunk); },
      [](const ChunkEncoder<T>& encoder) { encoder.finish(); });
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

  const auto restore_chunk = [&](std::vector<std::int64_t>& integers, const Chunk& chunk) {
    const std::span<std::int64_t> q = std::span(integers).first(chunk.points());
    for_each_row(chunk, frame.extents, [&](std::uint64_t point, std::uint64_t offset) {
      for (std::uint64_t x = 0; x < chunk.size[2]; ++x) {
        const QuantCode code = codes[point + x];
        q[offset + x] = code != outlier_code ? delta_of_code(code, radius)
                                             : unzigzag(outliers.find(point + x).value_or(0));
      }
    });
    accumulate(q, chunk.size);
    for_each_row(chunk, frame.extents, [&](std::uint64_t point, std::uint64_t offset) {
      for (std::uint64_t x = 0; x < chunk.size[2]; ++x) {
        frame.values[point + x] = dequantise<T>(q[offset + x], step, min, max);
      }
    });
  };
  for_each_chunk(
      params, frame.extents, [&] { return std::vector<std::int64_t>(count_of(params.chunk)); },
      restore_chunk, [](const auto&) {});
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
