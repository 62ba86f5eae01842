#include "cpu_ref/session/cpu_backend.hpp"

#include <algorithm>

#include "cpu_ref/base/parallel.hpp"
#include "cpu_ref/base/wide_vectors.hpp"
#include "cpu_ref/field/metrics.hpp"
#include "cpu_ref/session/sessions.hpp"

namespace cuszi::cpu {

namespace {

class CpuBackend final : public Backend {
 public:
  std::string name() const override { return "cpu"; }

  std::unique_ptr<EncodeSession> encode(const FrameShape& shape, Bytes values,
                                        const ValueRules& rules, const PredictorParams& draft,
                                        const std::optional<FieldScan>& known) override {
    return make_encode_session(workspace_, shape, values, rules, draft, known);
  }

  std::unique_ptr<DecodeSession> decode(Bytes payload) override {
    return make_decode_session(workspace_, payload);
  }

  Quality measure_quality(DType dtype, Bytes original, Bytes restored, const ValueRules& rules,
                          const ValueBound& bound) override {
    return cpu::measure_quality(dtype, original, restored, rules, bound);
  }

  void for_each(std::size_t count, const std::function<void(std::size_t)>& each) override {
    in_threads(count, each);
  }

  std::vector<std::uint64_t> hashes(std::span<const Bytes> strings) override {
    return host_hashes(strings);
  }

  void copy(Bytes from, MutableBytes to) override {
    std::copy(from.begin(), from.end(), to.begin());
  }

  void gather(std::span<const Sections> passes, MutableBytes out) override {
    for (const Sections& sections : passes) {
      for (const Section& section : sections.list()) {
        copy(section.bytes, out);
        out = out.subspan(section.bytes.size());
      }
    }
  }

 private:
  Workspace workspace_;
};

}  // namespace

std::string_view simd_in_use() {
  switch (widest_vectors()) {
    case VectorSet::avx512: return "AVX-512";
    case VectorSet::avx2: return "AVX2";
    case VectorSet::portable: break;
  }
  return "portable";
}

std::unique_ptr<Backend> make_backend() { return std::make_unique<CpuBackend>(); }

void refuse_bitcomp(const char* what) {
  throw DeviceError(std::string(what) +
                    " needs a GPU with nvCOMP (package nvidia-libnvcomp-cu13) and a cuszi built "
                    "with CUDA");
}

}  // namespace cuszi::cpu
