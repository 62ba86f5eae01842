#include "gpu/coders/nvcomp.hpp"

#include <dlfcn.h>

#include <bit>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "core/base/error.hpp"
#include "cuszi/gpu.hpp"

namespace cuszi::gpu {

namespace {

constexpr const char* file_name = "libnvcomp.so.6";

/// Subset of nvcomp/native/bitcomp.h; enumerations are int.
struct Nvcomp {
  using Handle = BitcompContext*;

  int (*create_plan)(Handle* plan, std::size_t bytes, int type, int mode, int algorithm);
  int (*create_plan_from_compressed_data)(Handle* plan, const void* stream);
  int (*destroy_plan)(Handle plan);
  int (*set_stream)(Handle plan, cudaStream_t stream);
  int (*compress_lossless)(Handle plan, const void* input, void* output);
  int (*uncompress)(Handle plan, const void* input, void* output);
  std::size_t (*max_buflen)(std::size_t bytes);
  int (*get_compressed_size_async)(const void* stream, std::size_t* size, cudaStream_t cuda_stream);
  int (*get_compressed_info)(const void* stream, std::size_t* bytes, std::size_t* uncompressed,
                             int* type, int* mode, int* algorithm);
};

constexpr int success = 0;
constexpr int lossless = 0;
constexpr int default_algorithm = 0;
constexpr int sparse_algorithm = 1;
constexpr int float_types = 8;  ///< and above; below, unsigned and signed integers alternate

int unsigned_type(ByteCount integer) { return 2 * std::countr_zero(integer); }
ByteCount integer_of(int type) { return ByteCount{1} << (type / 2); }

std::vector<std::string> places() {
  if (const char* const named = std::getenv("CUSZI_NVCOMP_LIB")) return {named};
  std::vector<std::string> result{file_name};
  if (const char* const home = std::getenv("HOME")) {
    result.push_back(std::string(home) + "/.local/lib/cuszi/" + file_name);
  }
  result.push_back(std::string("/usr/local/lib/cuszi/") + file_name);
  return result;
}

/// Never unloaded: its kernels belong to the device's context. Returns null and sets
/// `reason` if it cannot be loaded.
void* find_library(std::string& reason) {
  for (const std::string& place : places()) {
    if (void* const library = dlopen(place.c_str(), RTLD_NOW | RTLD_LOCAL)) return library;
    if (reason.empty()) reason = dlerror();
  }
  return nullptr;
}

void* load_library() {
  std::string reason;
  if (void* const library = find_library(reason)) return library;
  throw DeviceError("Bitcomp needs nvCOMP, which cannot be loaded (" + reason +
                    "); scripts/install_nvcomp.sh installs it (package nvidia-libnvcomp-cu13), or "
                    "CUSZI_NVCOMP_LIB names its " +
                    file_name);
}

template <class Function>
void find(void* library, const char* name, Function& function) {
  void* const symbol = dlsym(library, name);
  if (symbol == nullptr) {
    throw DeviceError(std::string("the loaded nvCOMP has no ") + name +
                      "; Bitcomp needs nvCOMP 6 (package nvidia-libnvcomp-cu13)");
  }
  function = reinterpret_cast<Function>(symbol);
}

Nvcomp load() {
  void* const library = load_library();
  Nvcomp nvcomp{};
  find(library, "bitcompCreatePlan", nvcomp.create_plan);
  find(library, "bitcompCreatePlanFromCompressedData", nvcomp.create_plan_from_compressed_data);
  find(library, "bitcompDestroyPlan", nvcomp.destroy_plan);
  find(library, "bitcompSetStream", nvcomp.set_stream);
  find(library, "bitcompCompressLossless", nvcomp.compress_lossless);
  find(library, "bitcompUncompress", nvcomp.uncompress);
  find(library, "bitcompMaxBuflen", nvcomp.max_buflen);
  find(library, "bitcompGetCompressedSizeAsync", nvcomp.get_compressed_size_async);
  find(library, "bitcompGetCompressedInfo", nvcomp.get_compressed_info);
  return nvcomp;
}

const Nvcomp& nvcomp() {
  static const Nvcomp loaded = load();
  return loaded;
}

void check_nvcomp(int status, const char* what) {
  if (status == success) return;
  throw DeviceError(std::string("nvCOMP failed to ") + what + " (its status " +
                    std::to_string(status) + ")");
}

}  // namespace

void require_bitcomp() { nvcomp(); }

std::optional<std::string> nvcomp_version() {
  struct Properties {  // nvcompProperties_t of nvcomp/shared_types.h
    std::uint32_t version;
    std::uint32_t cudart_version;
  };
  std::string reason;
  void* const library = find_library(reason);
  void* const symbol = library == nullptr ? nullptr : dlsym(library, "nvcompGetProperties");
  if (symbol == nullptr) return std::nullopt;
  Properties properties{};
  if (reinterpret_cast<int (*)(Properties*)>(symbol)(&properties) != success) return std::nullopt;
  const std::uint32_t version = properties.version;
  return std::to_string(version / 1000) + '.' + std::to_string(version % 1000 / 100) + '.' +
         std::to_string(version % 100);
}

BitcompStream read_bitcomp_header(const std::byte* header, ByteCount size) {
  std::size_t stream_bytes = size;
  std::size_t string_bytes = 0;
  int type = -1;
  int mode = -1;
  int algorithm = -1;
  const int status =
      nvcomp().get_compressed_info(header, &stream_bytes, &string_bytes, &type, &mode, &algorithm);
  if (status != success || stream_bytes != size || type < 0 || type >= float_types ||
      mode != lossless) {
    throw ArchiveError("a packed section is no Bitcomp stream of its size");
  }
  return {string_bytes, integer_of(type)};
}

BitcompPlan::BitcompPlan(ByteCount size, BitcompView view, cudaStream_t cuda_stream)
    : cuda_stream_(cuda_stream) {
  const int algorithm = view.sparse ? sparse_algorithm : default_algorithm;
  check_nvcomp(
      nvcomp().create_plan(&context_, size, unsigned_type(view.integer), lossless, algorithm),
      "prepare to pack");
  check_nvcomp(nvcomp().set_stream(context_, cuda_stream), "take a stream");
}

BitcompPlan::BitcompPlan(const std::byte* header, cudaStream_t cuda_stream)
    : cuda_stream_(cuda_stream) {
  check_nvcomp(nvcomp().create_plan_from_compressed_data(&context_, header), "prepare to unpack");
  check_nvcomp(nvcomp().set_stream(context_, cuda_stream), "take a stream");
}

BitcompPlan::BitcompPlan(BitcompPlan&& other) noexcept
    : context_(std::exchange(other.context_, nullptr)), cuda_stream_(other.cuda_stream_) {}

BitcompPlan::~BitcompPlan() {
  if (context_ != nullptr) nvcomp().destroy_plan(context_);
}

ByteCount BitcompPlan::most_bytes(ByteCount size) { return nvcomp().max_buflen(size); }

void BitcompPlan::pack(const std::byte* string, std::byte* stream,
                       std::size_t* stream_bytes) const {
  check_nvcomp(nvcomp().compress_lossless(context_, string, stream), "pack");
  check_nvcomp(nvcomp().get_compressed_size_async(stream, stream_bytes, cuda_stream_),
               "query a size");
}

void BitcompPlan::unpack(const std::byte* stream, std::byte* string) const {
  check_nvcomp(nvcomp().uncompress(context_, stream, string), "unpack");
}

}  // namespace cuszi::gpu
