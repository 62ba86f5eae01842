#include <unistd.h>

#include "cuszi/gpu.hpp"
#include "gpu/field/hash.cuh"
#include "gpu/field/metrics.cuh"
#include "gpu/runtime/copies.hpp"
#include "gpu/session/sessions.hpp"

namespace cuszi::gpu {

namespace {

class GpuBackend final : public Backend {
 public:
  /// On the device in use.
  explicit GpuBackend(const Device& device) : GpuBackend(device, make_transfer(device.number)) {}
  /// Beside another one, on the device in use.
  GpuBackend(const Device& device, std::shared_ptr<Transfer> transfer)
      : gpu_(device), transfer_(std::move(transfer)) {}

  std::string name() const override { return gpu_.device().name; }

  Transfer* transfer() override { return transfer_.get(); }

  Backend* sibling(ByteCount frame_bytes) override {
    constexpr ByteCount frames_of_work = 20;  // arenas, frames and archives on their way
    if (frame_bytes > most_sibling_bytes_) {
      if (transfer_->free_bytes() / frames_of_work < frame_bytes) return nullptr;
      use_device();
      if (!sibling_) sibling_ = std::make_unique<GpuBackend>(gpu_.device(), transfer_);
      most_sibling_bytes_ = frame_bytes;
    }
    return sibling_.get();
  }

  void synchronize() noexcept override {
    cudaSetDevice(gpu_.device().number);
    cudaStreamSynchronize(gpu_.stream());
  }

  std::unique_ptr<EncodeSession> encode(const FrameShape& shape, Bytes values,
                                        const ValueRules& rules, const PredictorParams& draft,
                                        const std::optional<FieldScan>& known) override {
    use_device();
    return make_encode_session(slot_, gpu_, shape, values, rules, draft, known);
  }

  std::unique_ptr<DecodeSession> decode(Bytes payload) override {
    use_device();
    return make_decode_session(slot_, gpu_, payload);
  }

  std::unique_ptr<FrameBatch> batch() override {
    use_device();
    return make_frame_batch(slot_, gpu_);
  }

  Quality measure_quality(DType dtype, Bytes original, Bytes restored, const ValueRules& rules,
                          const ValueBound& bound) override {
    const FrameInSlot frame(slot_);
    use_device();
    gpu_.reset();
    return gpu::measure_quality(gpu_, dtype, bring(gpu_, original), bring(gpu_, restored), rules,
                                bound);
  }

  void for_each(std::size_t count, const std::function<void(std::size_t)>& each) override {
    gpu_.host().for_each(count, each);
  }

  std::vector<std::uint64_t> hashes(std::span<const Bytes> strings) override {
    use_device();
    return are_on_host(strings) ? host_hashes(strings) : block_hashes(gpu_, strings);
  }

  PendingHashes start_hashes(std::span<const Bytes> strings) override {
    use_device();
    if (are_on_host(strings)) return {};
    PendingHashes hashes;
    gpu_.streams().fork([&] { hashes = start_block_hashes(gpu_, strings); });
    return after_sync(hashes);
  }

  PendingHashes start_hashed_copy(std::span<const Bytes> strings, MutableBytes out) override {
    use_device();
    const auto is_aligned = [](Bytes string) {
      return reinterpret_cast<std::uintptr_t>(string.data()) % sizeof(std::uint64_t) == 0 &&
             is_on_device(string.data());
    };
    if (out.empty() || !is_on_device(out.data()) ||
        !std::all_of(strings.begin(), strings.end(), is_aligned))
      return {};
    return after_sync(start_block_hashes(gpu_, strings, out.data()));
  }

  void copy(Bytes from, MutableBytes to) override {
    use_device();
    if (from.size() <= small_copy) {
      copy_by_staging(from, to);
      return;
    }
    start_copy(gpu_, to.data(), from.data(), from.size());
    gpu_.sync();
  }

  void gather(std::span<const Sections> passes, MutableBytes out) override {
    use_device();
    const bool to_host = !out.empty() && !is_on_device(out.data());
    // What kernels copy lies in page-locked memory before it comes to any other of the host.
    const bool by_staging = to_host && out.size() <= most_staged;
    const MutableBytes to =
        by_staging ? MutableBytes(gpu_.take_pinned<std::byte>(out.size()), out.size()) : out;
    CopyList small;
    MutableBytes rest = to;
    for (const Bytes bytes : runs_of(passes)) {
      const bool by_kernel = (by_staging || !to_host) && bytes.size() <= most_kernel_copy;
      if (by_kernel && gpu_.memory().holds(bytes)) {
        small.add({rest.data(), bytes.data(), bytes.size()});
      } else {
        start_copy(gpu_, rest.data(), bytes.data(), bytes.size());
      }
      rest = rest.subspan(bytes.size());
    }
    small.run(gpu_.stream());
    if (to_host) gpu_.sync();
    if (by_staging) std::copy(to.begin(), to.end(), out.begin());
  }

  ByteCount peak_bytes() const { return gpu_.memory().peak(); }

 private:
  static constexpr ByteCount small_copy = 4096;
  static constexpr ByteCount most_staged = ByteCount{1} << 20;

  /// Sections that follow each other in a block of the arena are one.
  std::vector<Bytes> runs_of(std::span<const Sections> passes) const {
    std::vector<Bytes> runs;
    for (const Sections& sections : passes) {
      for (const Section& section : sections.list()) {
        const Bytes bytes = section.bytes;
        if (!runs.empty() && runs.back().data() + runs.back().size() == bytes.data()) {
          const Bytes joined(runs.back().data(), runs.back().size() + bytes.size());
          if (gpu_.memory().holds(joined)) {
            runs.back() = joined;
            continue;
          }
        }
        runs.push_back(bytes);
      }
    }
    return runs;
  }

  static bool are_on_host(std::span<const Bytes> strings) {
    return std::all_of(strings.begin(), strings.end(),
                       [](Bytes string) { return string.empty() || !is_on_device(string.data()); });
  }

  PendingHashes after_sync(PendingHashes hashes) {
    return [this, hashes = std::move(hashes)] {
      use_device();
      gpu_.streams().sync_all();
      return hashes();
    };
  }

  /// Copies from and to page-locked memory need no second one.
  void copy_by_staging(Bytes from, MutableBytes to) {
    if (staging_ == nullptr) staging_ = pinned_.take<std::byte>(small_copy);
    const bool from_device = !from.empty() && is_on_device(from.data());
    const bool to_device = !to.empty() && is_on_device(to.data());
    if (!from_device) std::copy(from.begin(), from.end(), to_device ? staging_ : to.data());
    if (from_device || to_device) {
      copy_pinned(gpu_, to_device ? to.data() : staging_, from_device ? from.data() : staging_,
                  from.size());
      gpu_.sync();
    }
    if (from_device && !to_device) std::copy_n(staging_, from.size(), to.begin());
  }

  /// Threads that have not made the backend have another device, or none, at first.
  void use_device() const { check(cudaSetDevice(gpu_.device().number), "select a device"); }

  FrameSlot slot_;
  DeviceContext gpu_;
  Arena<PinnedMemory> pinned_;
  std::byte* staging_ = nullptr;
  std::shared_ptr<Transfer> transfer_;
  std::unique_ptr<GpuBackend> sibling_;
  ByteCount most_sibling_bytes_ = 0;  ///< the largest frame that has found memory for it
};

}  // namespace

std::string toolkit_version() {
  return std::to_string(CUDART_VERSION / 1000) + '.' + std::to_string(CUDART_VERSION % 1000 / 10);
}

int device_count() {
  // CUDA cannot be used in a child of a process that has initialised it, but may count devices.
  static const pid_t first_process = ::getpid();
  if (::getpid() != first_process) return 0;
  int count = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess) {
    static_cast<void>(cudaGetLastError());
    return 0;
  }
  return count;
}

std::unique_ptr<Backend> make_backend(int device) {
  if (device < 0 || device >= device_count()) {
    throw DeviceError("there is no GPU " + std::to_string(device) + "; this machine has " +
                      std::to_string(device_count()));
  }
  use_device(device);
  return std::make_unique<GpuBackend>(Device::in_use());
}

ByteCount peak_device_bytes(const Backend& backend) {
  return dynamic_cast<const GpuBackend&>(backend).peak_bytes();
}

}  // namespace cuszi::gpu
