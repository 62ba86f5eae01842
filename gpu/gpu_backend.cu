#include "cuszi/gpu.hpp"
#include "gpu/bitcomp.hpp"
#include "gpu/hash.cuh"
#include "gpu/histogram.cuh"
#include "gpu/huffman.cuh"
#include "gpu/interp.cuh"
#include "gpu/lorenzo.cuh"
#include "gpu/predictors.hpp"
#include "gpu/scan.cuh"
#include "gpu/transfer.hpp"

namespace cuszi::gpu {

namespace {

constexpr unsigned threads = 256;
constexpr unsigned most_blocks = 132 * 16;  ///< for threads that take values in turn

bool is_on_device(const void* memory) {
  cudaPointerAttributes attributes{};
  check(cudaPointerGetAttributes(&attributes, memory), "tell whose memory this is");
  return attributes.type == cudaMemoryTypeDevice || attributes.type == cudaMemoryTypeManaged;
}

/// Moves the codes of points that are not missing next to each other.
__global__ void remove_missing(const QuantCode* codes, std::uint64_t points, RankedBits missing,
                               QuantCode* symbols) {
  const std::uint64_t point = std::uint64_t{blockIdx.x} * threads + threadIdx.x;
  if (point < points && !missing.test(point)) symbols[point - missing.rank(point)] = codes[point];
}

/// The inverse; missing points get a code that stands for no outlier.
__global__ void insert_missing(const QuantCode* symbols, std::uint64_t points, RankedBits missing,
                               QuantCode* codes) {
  const std::uint64_t point = std::uint64_t{blockIdx.x} * threads + threadIdx.x;
  if (point >= points) return;
  codes[point] = missing.test(point) ? QuantCode{1} : symbols[point - missing.rank(point)];
}

template <class T>
__global__ void pick(const T* values, const std::uint64_t* points, std::uint64_t count,
                     double* picked) {
  const std::uint64_t i = std::uint64_t{blockIdx.x} * threads + threadIdx.x;
  if (i < count) picked[i] = static_cast<double>(values[points[i]]);
}

/// Sets `found` if any of these values has these bits.
template <class Bits>
__global__ void find_bits(const Bits* values, std::uint64_t points, Bits bits,
                          std::uint32_t* found) {
  const std::uint64_t all = std::uint64_t{gridDim.x} * threads;
  bool here = false;
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * threads + threadIdx.x; i < points; i += all) {
    here |= values[i] == bits;
  }
  if (here) *found = 1;
}

template <class Bits>
__global__ void fill_values(Bits* values, std::uint64_t points, Bits bits) {
  const std::uint64_t all = std::uint64_t{gridDim.x} * threads;
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * threads + threadIdx.x; i < points; i += all) {
    values[i] = bits;
  }
}

/// Puts the bits of missing values, given by rank, in their places.
template <class Bits>
struct PutMissing {
  const Bits* missing;
  Bits* values;

  __device__ void operator()(std::uint64_t point, std::uint64_t rank) const {
    values[point] = missing[rank];
  }
};

/// Calls f with the bits as an integer of the type's size.
template <class F>
void with_bits_of(DType dtype, std::uint64_t bits, const F& f) {
  with_type_of(dtype, [&](auto zero) { f(static_cast<BitsOf<decltype(zero)>>(bits)); });
}

unsigned blocks_in_turn(std::uint64_t points) {
  return static_cast<unsigned>(std::min<std::uint64_t>(ceil_div(points, threads), most_blocks));
}

bool codes_missing_points(const PredictorParams& params) {
  return std::visit([](const auto& p) { return p.codes_missing_points; }, params);
}

const HuffmanParams& huffman_of(const CoderParams& params) {
  if (const auto* const huffman = std::get_if<HuffmanParams>(&params)) return *huffman;
  throw DeviceError(std::string(name_of(params)) + " is not on the GPU yet; use --device cpu");
}

class GpuBackend final : public Backend {
 public:
  std::string name() const override { return name_; }

  explicit GpuBackend(int device) {
    if (device < 0 || device >= device_count()) {
      throw DeviceError("there is no GPU number " + std::to_string(device) + "; this machine has " +
                        std::to_string(device_count()));
    }
    check(cudaSetDevice(device), "select a device");
    cudaDeviceProp properties{};
    check(cudaGetDeviceProperties(&properties, device), "tell its name");
    name_ = properties.name;
    work_ = std::make_unique<Work>();
    transfer_ = make_transfer(device);
  }

  Transfer* transfer() override { return transfer_.get(); }

  void settle() noexcept override { cudaStreamSynchronize(work_->stream()); }

  FieldScan load(const FrameShape& shape, Bytes values, const FillValues& fills,
                 const PredictorParams& draft) override {
    work_->reset();
    shape_ = shape;
    input_ = bring(values);
    with_type_of(shape.dtype, [&](auto zero) {
      using T = decltype(zero);
      const auto* const field = reinterpret_cast<const T*>(input_.data());
      scan_ = scan_frame(*work_, shape.extents(), field, fills, draft);
      missing_ = {};
      if (scan_.missing == 0) return;
      const auto missing = find_missing(*work_, field, shape.points(), fills, scan_.missing);
      missing_ = missing.bits;
      missing_values_ = {reinterpret_cast<const std::byte*>(missing.values),
                         scan_.missing * sizeof(T)};
    });
    return scan_;
  }

  Mask mask() const override {
    Mask mask;
    mask.count = scan_.missing;
    if (mask.count == 0) return mask;
    mask.words.resize(ceil_div(shape_.points(), 64));
    mask.values.resize(missing_values_.size());
    work_->copy(mask.words.data(), missing_.words, mask.words.size());
    work_->copy(mask.values.data(), missing_values_.data(), mask.values.size());
    work_->sync();
    return mask;
  }

  std::vector<double> values_at(std::span<const std::uint64_t> points) override {
    const std::uint64_t count = points.size();
    if (count == 0) return {};
    const auto* const at = work_->upload(points.data(), count);
    auto* const picked = work_->take<double>(count);
    with_type_of(shape_.dtype, [&](auto zero) {
      pick<<<blocks_for(count, threads), threads, 0, work_->stream()>>>(
          reinterpret_cast<const decltype(zero)*>(input_.data()), at, count, picked);
    });
    check_launch("pick");
    const double* const host = work_->download(picked, count);
    work_->sync();
    return {host, host + count};
  }

  bool holds(std::uint64_t bits) override {
    const std::uint64_t points = shape_.points();
    auto* const found = work_->take_zeroed<std::uint32_t>(1);
    with_bits_of(shape_.dtype, bits, [&](auto wanted) {
      find_bits<<<blocks_in_turn(points), threads, 0, work_->stream()>>>(
          reinterpret_cast<const decltype(wanted)*>(input_.data()), points, wanted, found);
    });
    check_launch("find_bits");
    const std::uint32_t& answer = *work_->download(found, 1);
    work_->sync();
    return answer != 0;
  }

  PassCounts predict_quantise(const PredictorParams& params, double bound, int /*pass*/,
                              Sections& out) override {
    const std::uint64_t points = shape_.points();
    auto* const codes = work_->take<QuantCode>(points);
    symbols_ = {codes, points};
    Predicted predicted;
    with_type_of(shape_.dtype, [&](auto zero) {
      using T = decltype(zero);
      const FrameInput<T> frame{shape_.extents(), reinterpret_cast<const T*>(input_.data()),
                                missing_,         scan_.missing,
                                scan_.min,        scan_.max};
      predicted = visit_predictor(params, [&](const auto& p) {
        return gpu::predict_quantise(*work_, p, bound, frame, codes);
      });
    });
    histogram_ = predicted.histogram;
    add(SectionId::anchors, predicted.anchors, out);
    add(SectionId::outliers, predicted.outliers, out);
    add(SectionId::patches, predicted.patches, out);
    if (scan_.missing != 0 && !codes_missing_points(params)) {
      symbols_ = {work_->take<QuantCode>(points - scan_.missing), points - scan_.missing};
      remove_missing<<<blocks_for(points, threads), threads, 0, work_->stream()>>>(
          codes, points, missing_, symbols_.data());
      check_launch("remove_missing");
      histogram_ = count_symbols(*work_, symbols_.data(), symbols_.size(),
                                 static_cast<std::uint32_t>(histogram_.size()));
      work_->sync();
    }
    return predicted.counts;
  }

  void encode(const CoderParams& params, const HuffmanTuning& tuning, int /*pass*/,
              Sections& out) override {
    const HuffmanStream stream = huffman_encode(*work_, huffman_of(params), tuning, symbols_.data(),
                                                symbols_.size(), histogram_);
    add(SectionId::codebook, stream.codebook, out);
    add(SectionId::index, stream.index, out);
    add(SectionId::codes, stream.codes, out);
  }

  void pack(Sections& sections) override { bitcomp_pack(*work_, shape_.dtype, sections); }

  void gather(const Sections& sections, MutableBytes out) override {
    const bool to_host = !out.empty() && !is_on_device(out.data());
    for (const Section& section : sections.list()) {
      work_->copy(out.data(), section.bytes.data(), section.bytes.size());
      out = out.subspan(section.bytes.size());
    }
    if (to_host) work_->sync();
  }

  std::uint64_t hash(Bytes bytes) override {
    if (bytes.empty() || !is_on_device(bytes.data())) return cuszi::block_hash(bytes);
    return gpu::block_hash(*work_, bytes);
  }

  void copy(Bytes from, MutableBytes to) override {
    work_->copy(to.data(), from.data(), from.size());
    work_->sync();
  }

  Bytes resident(Bytes bytes) override {
    work_->reset();
    return bring(bytes);
  }

  void unpack(Sections& sections) override { bitcomp_unpack(*work_, sections); }

  void begin(const FrameShape& shape, const FrameHeader& header, const Mask& mask,
             MutableBytes out) override {
    shape_ = shape;
    scan_.min = header.min;
    scan_.max = header.max;
    scan_.missing = mask.count;
    output_ = out;
    restored_ = is_on_device(out.data()) ? out.data() : work_->take<std::byte>(out.size());
    without_missing_ = mask.any() && header.predictor && !codes_missing_points(*header.predictor);
    missing_ = {};
    if (!mask.any()) return;
    missing_ = make_bits(*work_, shape.points());
    work_->copy(missing_.words, mask.words.data(), mask.words.size());
    rank_bits(*work_, missing_);
    missing_values_ = {work_->upload(mask.values.data(), mask.values.size()), mask.values.size()};
  }

  void decode(const CoderParams& params, int /*pass*/, const Sections& sections) override {
    const std::uint64_t points = shape_.points();
    const std::uint64_t count = points - (without_missing_ ? scan_.missing : 0);
    auto* const symbols = work_->take<QuantCode>(count);
    huffman_decode(*work_, huffman_of(params), sections, symbols, count);
    symbols_ = {symbols, count};
    if (!without_missing_) return;
    auto* const codes = work_->take<QuantCode>(points);
    insert_missing<<<blocks_for(points, threads), threads, 0, work_->stream()>>>(symbols, points,
                                                                                 missing_, codes);
    check_launch("insert_missing");
    symbols_ = {codes, points};
  }

  void reconstruct(const PredictorParams& params, int /*pass*/, const Sections& sections) override {
    with_type_of(shape_.dtype, [&](auto zero) {
      using T = decltype(zero);
      const FrameOutput<T> frame{shape_.extents(), reinterpret_cast<T*>(restored_),
                                 missing_,         scan_.missing,
                                 scan_.min,        scan_.max};
      visit_predictor(params, [&](const auto& p) {
        gpu::reconstruct(*work_, p, symbols_.data(), sections, frame);
      });
    });
  }

  void fill(std::uint64_t bits) override {
    const std::uint64_t points = shape_.points();
    with_bits_of(shape_.dtype, bits, [&](auto value) {
      fill_values<<<blocks_in_turn(points), threads, 0, work_->stream()>>>(
          reinterpret_cast<decltype(value)*>(restored_), points, value);
    });
    check_launch("fill_values");
  }

  void finish() override {
    if (missing_.words != nullptr) {
      if (shape_.dtype == DType::f32)
        put_missing<std::uint32_t>();
      else
        put_missing<std::uint64_t>();
    }
    const std::uint32_t& flaws = *work_->download(work_->flaws(), 1);
    if (restored_ != output_.data()) work_->copy(output_.data(), restored_, output_.size());
    work_->sync();
    if ((flaws & bad_sparse_list) != 0) {
      throw ArchiveError(
          "a sparse list leaves the frame, is out of order or miscounts its entries");
    }
    if ((flaws & bad_chunk_index) != 0) {
      throw ArchiveError("the chunk index is not ascending or leaves the stream");
    }
    if ((flaws & codes_leave_chunk) != 0) throw ArchiveError("the quant-codes leave their chunk");
  }

  ByteCount peak_bytes() const { return work_->device().peak(); }

 private:
  template <class Bits>
  void put_missing() {
    for_each_bit(*work_, missing_,
                 PutMissing<Bits>{reinterpret_cast<const Bits*>(missing_values_.data()),
                                  reinterpret_cast<Bits*>(restored_)});
  }

  /// The bytes in the device's memory: themselves or a copy.
  Bytes bring(Bytes bytes) {
    if (bytes.empty() || is_on_device(bytes.data())) return bytes;
    auto* const memory = work_->take<std::byte>(bytes.size());
    work_->copy(memory, bytes.data(), bytes.size());
    return {memory, bytes.size()};
  }

  static void add(SectionId id, Bytes bytes, Sections& out) {
    if (!bytes.empty()) out.add(id, bytes);
  }

  std::string name_;
  std::unique_ptr<Work> work_;
  std::unique_ptr<Transfer> transfer_;
  FrameShape shape_;
  FieldScan scan_;
  Bytes input_;
  MutableBytes output_;
  std::byte* restored_ = nullptr;  ///< output_, or its stand-in on the device
  RankedBits missing_;
  Bytes missing_values_;
  bool without_missing_ = false;
  std::span<QuantCode> symbols_;  ///< that are coded
  std::span<const std::uint64_t> histogram_;
};

}  // namespace

int device_count() {
  int count = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess) {
    static_cast<void>(cudaGetLastError());
    return 0;
  }
  return count;
}

std::unique_ptr<Backend> make_backend(int device) { return std::make_unique<GpuBackend>(device); }

ByteCount peak_device_bytes(const Backend& backend) {
  return dynamic_cast<const GpuBackend&>(backend).peak_bytes();
}

}  // namespace cuszi::gpu
