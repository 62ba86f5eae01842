#include "cpu_ref/cpu_backend.hpp"

#include <algorithm>
#include <cstring>
#include <deque>

#include "core/hash.hpp"
#include "cpu_ref/huffman.hpp"
#include "cpu_ref/interp.hpp"
#include "cpu_ref/lorenzo.hpp"
#include "cpu_ref/scan.hpp"

namespace cuszi::cpu {

namespace {

template <class T>
std::span<const T> as_values(Bytes bytes) {
  return {reinterpret_cast<const T*>(bytes.data()), bytes.size() / sizeof(T)};
}

template <class T>
std::span<T> as_values(MutableBytes bytes) {
  return {reinterpret_cast<T*>(bytes.data()), bytes.size() / sizeof(T)};
}

template <class T>
std::vector<std::byte> to_bytes(const std::vector<T>& values) {
  const Bytes bytes = std::as_bytes(std::span(values));
  return {bytes.begin(), bytes.end()};
}

/// Moves the codes of points that are not missing to the front; returns how many there are.
std::size_t remove_missing(std::span<QuantCode> codes, const Mask& mask) {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < codes.size(); ++i) {
    codes[kept] = codes[i];
    kept += mask(i) ? 0 : 1;
  }
  return kept;
}

/// The inverse in place; the codes of missing points are undefined.
void insert_missing(std::span<QuantCode> codes, const Mask& mask) {
  std::size_t next = codes.size() - mask.count;
  for (std::size_t i = codes.size(); i-- > 0;) {
    if (!mask(i)) codes[i] = codes[--next];
  }
}

bool codes_missing_points(const PredictorParams& params) {
  return std::visit([](const auto& p) { return p.codes_missing_points; }, params);
}

class CpuBackend final : public Backend {
 public:
  std::string name() const override { return "cpu"; }

  FieldScan load(const FrameShape& shape, Bytes values, const FillValues& fills,
                 const PredictorParams& draft) override {
    shape_ = shape;
    input_ = values;
    sections_.clear();
    with_type_of(shape.dtype, [&](auto zero) {
      using T = decltype(zero);
      scan_ = scan_frame(shape.extents(), as_values<T>(values), fills, draft);
      mask_ = build_mask(as_values<T>(values), fills, scan_.missing);
    });
    return scan_;
  }

  Mask mask() const override { return mask_; }

  void contexts(const PredictorParams& /*params*/, int /*pass*/) override {}

  PassCounts predict_quantise(const PredictorParams& params, double bound, int /*pass*/,
                              Sections& out) override {
    PassCounts counts;
    codes_.resize(shape_.points());
    symbols_ = codes_;
    with_type_of(shape_.dtype, [&](auto zero) {
      using T = decltype(zero);
      const FrameInput<T> frame{shape_.extents(), as_values<T>(input_), mask_, scan_.min,
                                scan_.max};
      Predicted<T> predicted{codes_, {}, {}, {}};
      std::visit([&](const auto& p) { cpu::predict_quantise(p, bound, frame, predicted); }, params);
      counts = {predicted.outliers.size(), predicted.patches.size()};
      keep(SectionId::anchors, to_bytes(predicted.anchors), out);
      keep(SectionId::outliers, SparseList::encode(predicted.outliers, shape_.points()), out);
      keep(SectionId::patches, SparseList::encode(predicted.patches, shape_.points()), out);
    });
    if (mask_.any() && !codes_missing_points(params)) {
      symbols_ = symbols_.first(remove_missing(codes_, mask_));
    }
    return counts;
  }

  void encode(const CoderParams& params, HuffmanWidth width, int /*pass*/, Sections& out) override {
    HuffmanStream stream = huffman_encode(std::get<HuffmanParams>(params), width, symbols_);
    keep(SectionId::codebook, std::move(stream.codebook), out);
    keep(SectionId::index, std::move(stream.index), out);
    keep(SectionId::codes, std::move(stream.codes), out);
  }

  void gather(const Sections& sections, MutableBytes out) override {
    for (const Section& section : sections.list()) {
      std::copy(section.bytes.begin(), section.bytes.end(), out.begin());
      out = out.subspan(section.bytes.size());
    }
  }

  std::uint64_t hash(Bytes bytes) override { return block_hash(bytes); }

  void copy(Bytes from, MutableBytes to) override { std::copy(from.begin(), from.end(), to.begin()); }

  Bytes resident(Bytes bytes) override { return bytes; }

  void begin(const FrameShape& shape, const FrameHeader& header, const Mask& mask,
             MutableBytes out) override {
    shape_ = shape;
    scan_.min = header.min;
    scan_.max = header.max;
    mask_ = mask;
    output_ = out;
    without_missing_ = !codes_missing_points(header.predictor.value());
  }

  void decode(const CoderParams& params, int /*pass*/, const Sections& sections) override {
    const bool gaps = mask_.any() && without_missing_;
    codes_.resize(shape_.points());
    symbols_ = std::span(codes_).first(shape_.points() - (gaps ? mask_.count : 0));
    huffman_decode(std::get<HuffmanParams>(params), sections.at(SectionId::codebook),
                   sections.find(SectionId::index), sections.find(SectionId::codes), symbols_);
    if (gaps) insert_missing(codes_, mask_);
  }

  void reconstruct(const PredictorParams& params, int /*pass*/, const Sections& sections) override {
    with_type_of(shape_.dtype, [&](auto zero) {
      using T = decltype(zero);
      const FrameOutput<T> frame{shape_.extents(), as_values<T>(output_), mask_, scan_.min,
                                 scan_.max};
      std::visit(
          [&](const auto& p) {
            cpu::reconstruct(p, std::span<const QuantCode>(codes_), sections, frame);
          },
          params);
    });
  }

  void finish() override {
    if (!mask_.any()) return;
    const ByteCount size = size_of(shape_.dtype);
    const std::byte* value = mask_.values.data();
    for (std::uint64_t i = 0; i < shape_.points(); ++i) {
      if (!mask_(i)) continue;
      std::memcpy(output_.data() + i * size, value, size);
      value += size;
    }
  }

 private:
  /// Adds a section unless it is empty, and keeps its bytes.
  void keep(SectionId id, std::vector<std::byte> bytes, Sections& out) {
    if (bytes.empty()) return;
    sections_.push_back(std::move(bytes));
    out.add(id, sections_.back());
  }

  FrameShape shape_;
  FieldScan scan_;
  Mask mask_;
  Bytes input_;
  MutableBytes output_;
  bool without_missing_ = false;
  std::vector<QuantCode> codes_;  ///< one per point
  std::span<QuantCode> symbols_;  ///< the part of codes_ that is coded
  std::deque<std::vector<std::byte>> sections_;
};

}  // namespace

std::unique_ptr<Backend> make_backend() { return std::make_unique<CpuBackend>(); }

}  // namespace cuszi::cpu
