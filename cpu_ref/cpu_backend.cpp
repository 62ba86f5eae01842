#include "cpu_ref/cpu_backend.hpp"

#include <algorithm>
#include <cstring>
#include <deque>

#include "core/energy.hpp"
#include "core/hash.hpp"
#include "cpu_ref/ans.hpp"
#include "cpu_ref/huffman.hpp"
#include "cpu_ref/interp.hpp"
#include "cpu_ref/lorenzo.hpp"
#include "cpu_ref/multilevel.hpp"
#include "cpu_ref/scan.hpp"
#include "cpu_ref/trials.hpp"

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

/// Moves the codes or contexts of points that are not missing to the front; returns how many there
/// are.
template <class T, class IsMissing>
std::size_t remove_missing(std::span<T> codes, const IsMissing& missing) {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < codes.size(); ++i) {
    codes[kept] = codes[i];
    kept += missing(i) ? 0 : 1;
  }
  return kept;
}

/// The inverse in place for `kept` codes; those of missing points are undefined.
template <class IsMissing>
void insert_missing(std::span<QuantCode> codes, std::size_t kept, const IsMissing& missing) {
  for (std::size_t i = codes.size(); i-- > 0;) {
    if (!missing(i)) codes[i] = codes[--kept];
  }
}

bool codes_missing_points(const PredictorParams& params) {
  return std::visit([](const auto& p) { return p.codes_missing_points; }, params);
}

/// The predictors of one pass.
template <class T>
void predict_at_once(const PredictorParams& params, double bound, const FrameInput<T>& frame,
                     Predicted<T>& out) {
  if (const auto* lorenzo = std::get_if<LorenzoParams>(&params)) {
    predict_quantise(*lorenzo, bound, frame, out);
  } else {
    predict_quantise(std::get<InterpParams>(params), bound, frame, out);
  }
}

template <class T>
void restore_at_once(const PredictorParams& params, std::span<const QuantCode> codes,
                     const Sections& sections, const FrameOutput<T>& frame) {
  if (const auto* lorenzo = std::get_if<LorenzoParams>(&params)) {
    reconstruct(*lorenzo, codes, sections, frame);
  } else {
    reconstruct(std::get<InterpParams>(params), codes, sections, frame);
  }
}

/// Bitcomp is NVIDIA's: its streams have no public description, and its library's decoder for the
/// CPU does not survive damaged ones.
[[noreturn]] void refuse_bitcomp(const char* what) {
  throw DeviceError(std::string(what) +
                    " needs a GPU with nvCOMP (package nvidia-libnvcomp-cu13) and a cuszi built "
                    "with CUDA");
}

class CpuBackend final : public Backend {
 public:
  std::string name() const override { return "cpu"; }

  FieldScan load(const FrameShape& shape, Bytes values, const FillValues& fills,
                 const PredictorParams& draft) override {
    shape_ = shape;
    input_ = values;
    sections_.clear();
    contexts_.clear();
    with_type_of(shape.dtype, [&](auto zero) {
      using T = decltype(zero);
      scan_ = scan_frame(shape.extents(), as_values<T>(values), fills, draft);
      mask_ = build_mask(as_values<T>(values), fills, scan_.missing);
    });
    return scan_;
  }

  Mask mask() const override { return mask_; }

  std::vector<double> values_at(std::span<const std::uint64_t> points) override {
    std::vector<double> picked(points.size());
    with_type_of(shape_.dtype, [&](auto zero) {
      const auto values = as_values<decltype(zero)>(input_);
      std::transform(points.begin(), points.end(), picked.begin(),
                     [&](std::uint64_t point) { return static_cast<double>(values[point]); });
    });
    return picked;
  }

  bool holds(std::uint64_t bits) override {
    return with_type_of(shape_.dtype, [&](auto zero) {
      using T = decltype(zero);
      return cpu::holds(as_values<T>(input_), static_cast<BitsOf<T>>(bits));
    });
  }

  void refine(Method& method, const FrameConfig& config, double bound) override {
    const auto* const multilevel = std::get_if<MultilevelParams>(&method.predictor);
    if (multilevel == nullptr) return;
    method = with_type_of(shape_.dtype, [&](auto zero) {
      return cpu::refine(*multilevel, config, bound, shape_.dims, input<decltype(zero)>());
    });
  }

  PassCounts predict_quantise(const PredictorParams& params, double bound, int pass,
                              Sections& out) override {
    PassCounts counts;
    with_type_of(shape_.dtype, [&](auto zero) {
      using T = decltype(zero);
      if (pass == 0) {
        engine_.reset();
        if (const auto* p = std::get_if<MultilevelParams>(&params)) {
          engine_ = make_encoder(*p, bound, input<T>());
        }
      }
      begin_pass(pass, codes_missing_points(params));
      Predicted<T> predicted{codes_, {}, {}, {}};
      if (engine_) {
        if (engine_->follows_coarse_lattice(pass)) {
          keep(SectionId::lattice_hash, to_bytes(std::vector{engine_->coarse_hash()}), out);
        }
        engine_->predict_quantise(pass, codes_, predicted.outliers);
      } else {
        predict_at_once(params, bound, input<T>(), predicted);
      }
      counts = {predicted.outliers.size(), predicted.patches.size()};
      keep(SectionId::anchors, to_bytes(predicted.anchors), out);
      keep(SectionId::outliers, SparseList::encode(predicted.outliers, codes_.size()), out);
      keep(SectionId::patches, SparseList::encode(predicted.patches, codes_.size()), out);
    });
    symbols_ = without_gaps(std::span(codes_));
    return counts;
  }

  void fit_contexts(const PredictorParams& /*params*/, int pass, Sections& out) override {
    if (!engine_) return;
    contexts_.resize(codes_.size());
    keep(SectionId::weights, engine_->fit_contexts(pass, contexts_), out);
    contexts_.resize(without_gaps(std::span(contexts_)).size());
  }

  void encode(const CoderParams& params, const HuffmanTuning& tuning, int pass,
              Sections& out) override {
    if (const auto* ans = std::get_if<AnsParams>(&params)) {
      AnsStream stream = ans_encode(*ans, symbols_, contexts_, context_count(pass));
      keep(SectionId::index, std::move(stream.index), out);
      keep(SectionId::codes, std::move(stream.codes), out);
      return;
    }
    HuffmanStream stream = huffman_encode(std::get<HuffmanParams>(params), tuning.width, symbols_);
    keep(SectionId::codebook, std::move(stream.codebook), out);
    keep(SectionId::index, std::move(stream.index), out);
    keep(SectionId::codes, std::move(stream.codes), out);
  }

  void pack(Sections& /*sections*/) override { refuse_bitcomp("--lossless bitcomp"); }

  void gather(const Sections& sections, MutableBytes out) override {
    for (const Section& section : sections.list()) {
      std::copy(section.bytes.begin(), section.bytes.end(), out.begin());
      out = out.subspan(section.bytes.size());
    }
  }

  std::uint64_t hash(Bytes bytes) override { return block_hash(bytes); }

  void copy(Bytes from, MutableBytes to) override {
    std::copy(from.begin(), from.end(), to.begin());
  }

  Bytes resident(Bytes bytes) override { return bytes; }

  void unpack(Sections& /*sections*/) override { refuse_bitcomp("an archive packed with Bitcomp"); }

  void begin(const FrameShape& shape, const FrameHeader& header, const Mask& mask,
             MutableBytes out) override {
    shape_ = shape;
    scan_.min = header.min;
    scan_.max = header.max;
    mask_ = mask;
    output_ = out;
    engine_.reset();
    contexts_.clear();
    if (!header.predictor) return;
    codes_missing_points_ = codes_missing_points(*header.predictor);
    if (const auto* p = std::get_if<MultilevelParams>(&*header.predictor)) {
      with_type_of(shape_.dtype,
                   [&](auto zero) { engine_ = make_decoder(*p, output<decltype(zero)>()); });
    }
  }

  void contexts(const PredictorParams& /*params*/, int pass, const Sections& sections) override {
    if (!engine_) return;
    begin_pass(pass, codes_missing_points_);
    contexts_.resize(codes_.size());
    engine_->contexts(pass, sections.find(SectionId::weights), contexts_);
    contexts_.resize(without_gaps(std::span(contexts_)).size());
  }

  void decode(const CoderParams& params, int pass, const Sections& sections) override {
    begin_pass(pass, codes_missing_points_);
    if (engine_ && engine_->follows_coarse_lattice(pass)) check_coarse_lattice(sections);
    const auto gaps = static_cast<std::size_t>(
        has_gaps_ && !engine_
            ? mask_.count
            : static_cast<std::uint64_t>(std::count(gaps_.begin(), gaps_.end(), 1)));
    symbols_ = std::span(codes_).first(codes_.size() - gaps);
    const Bytes index = sections.find(SectionId::index);
    const Bytes codes = sections.find(SectionId::codes);
    if (const auto* ans = std::get_if<AnsParams>(&params)) {
      ans_decode(*ans, index, codes, contexts_, context_count(pass), symbols_);
    } else if (!symbols_.empty()) {
      huffman_decode(std::get<HuffmanParams>(params), sections.at(SectionId::codebook), index,
                     codes, symbols_);
    }
    if (has_gaps_) {
      insert_missing(std::span(codes_), symbols_.size(), [&](std::size_t i) { return is_gap(i); });
    }
  }

  void reconstruct(const PredictorParams& params, int pass, const Sections& sections) override {
    const SparseList outliers =
        engine_ ? SparseList::decode(sections.find(SectionId::outliers), codes_.size())
                : SparseList{};
    if (engine_) {
      engine_->reconstruct(pass, codes_, outliers);
      return;
    }
    with_type_of(shape_.dtype, [&](auto zero) {
      restore_at_once(params, codes_, sections, output<decltype(zero)>());
    });
  }

  void fill(std::uint64_t bits) override {
    with_type_of(shape_.dtype, [&](auto zero) {
      using T = decltype(zero);
      std::ranges::fill(as_values<T>(output_), value_of<T>(bits));
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
  template <class T>
  FrameInput<T> input() const {
    return {shape_.extents(), as_values<T>(input_), mask_, scan_.min, scan_.max};
  }
  template <class T>
  FrameOutput<T> output() const {
    return {shape_.extents(), as_values<T>(output_), mask_, scan_.min, scan_.max};
  }

  /// Makes room for the codes of a pass and finds out which of them are missing points.
  void begin_pass(int pass, bool codes_missing) {
    codes_.resize(engine_ ? engine_->pass(pass).points : shape_.points());
    has_gaps_ = mask_.any() && !codes_missing;
    gaps_ = engine_ ? engine_->missing(pass) : std::vector<std::uint8_t>{};
  }

  bool is_gap(std::size_t i) const { return engine_ ? gaps_[i] != 0 : mask_(i); }

  template <class T>
  std::span<T> without_gaps(std::span<T> of_points) const {
    if (!has_gaps_) return of_points;
    return of_points.first(remove_missing(of_points, [&](std::size_t i) { return is_gap(i); }));
  }

  std::size_t context_count(int pass) const {
    return engine_ && !contexts_.empty() ? engine_->pass(pass).groups * contexts_per_group : 1;
  }

  void check_coarse_lattice(const Sections& sections) const {
    ByteReader in(sections.at(SectionId::lattice_hash), "the hash of the coarse lattice");
    if (in.get<std::uint64_t>() != engine_->coarse_hash()) {
      throw ArchiveError("the coarse lattice was not restored to what the encoder saw");
    }
  }

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
  bool codes_missing_points_ = false;
  bool has_gaps_ = false;                     ///< some points of the frame stand in no stream
  std::unique_ptr<MultilevelEngine> engine_;  ///< of a predictor of several passes
  std::vector<std::uint8_t> gaps_;            ///< of the pass
  std::vector<std::uint8_t> contexts_;        ///< of the symbols; empty: all alike
  std::vector<QuantCode> codes_;              ///< one per point of the pass
  std::span<QuantCode> symbols_;              ///< the part of codes_ that is coded
  std::deque<std::vector<std::byte>> sections_;
};

}  // namespace

std::unique_ptr<Backend> make_backend() { return std::make_unique<CpuBackend>(); }

}  // namespace cuszi::cpu
