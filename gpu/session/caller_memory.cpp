#include "cuszi/gpu.hpp"
#include "gpu/runtime/stream.hpp"

namespace cuszi::gpu {

namespace {

/// cuMemGetAddressRange of the driver's own interface, which is not linked.
using AddressRange = int (*)(std::uintptr_t* begin, std::size_t* size, std::uintptr_t address);

/// Null where there is none.
AddressRange find_address_range() {
  constexpr unsigned version = 12000;  // of the interface
  void* function = nullptr;
  if (cudaGetDriverEntryPointByVersion("cuMemGetAddressRange", &function, version,
                                       cudaEnableDefault) == cudaSuccess) {
    return reinterpret_cast<AddressRange>(function);
  }
  static_cast<void>(cudaGetLastError());
  return nullptr;
}

}  // namespace

std::optional<int> device_of(const void* memory) {
  cudaPointerAttributes attributes{};
  if (cudaPointerGetAttributes(&attributes, memory) != cudaSuccess) {
    static_cast<void>(cudaGetLastError());  // without a driver, all memory is the host's
    return std::nullopt;
  }
  const bool device =
      attributes.type == cudaMemoryTypeDevice || attributes.type == cudaMemoryTypeManaged;
  return device ? std::optional(attributes.device) : std::nullopt;
}

Bytes piece_of_memory(const void* memory) {
  static const AddressRange address_range = find_address_range();
  std::uintptr_t begin = 0;
  std::size_t size = 0;
  const auto address = reinterpret_cast<std::uintptr_t>(memory);
  if (address_range == nullptr || address_range(&begin, &size, address) != 0) return {};
  return {reinterpret_cast<const std::byte*>(begin), size};
}

/// In a stream of the thread's own, so that threads do not wait for each other.
void copy(Bytes from, MutableBytes to) {
  check(
      cudaMemcpyAsync(to.data(), from.data(), from.size(), cudaMemcpyDefault, cudaStreamPerThread),
      "copy");
  check(cudaStreamSynchronize(cudaStreamPerThread), "copy");
}

void copy_ends(Bytes from, MutableBytes ends) {
  const ByteCount width = ends.size() / 2;
  const ByteCount apart = from.size() - width;
  constexpr ByteCount most_pitch = 0x7FFFFFFF;  // of CUDA
  if (apart < width || apart > most_pitch) {
    copy(from.first(width), ends.first(width));
    copy(from.last(width), ends.last(width));
  } else {  // as the rows of a matrix
    check(cudaMemcpy2DAsync(ends.data(), width, from.data(), apart, width, 2,
                            cudaMemcpyDeviceToHost, cudaStreamPerThread),
          "copy");
    check(cudaStreamSynchronize(cudaStreamPerThread), "copy");
  }
}

void wait_for_stream(void* stream) {
  check(cudaStreamSynchronize(static_cast<cudaStream_t>(stream)), "finish the caller's work");
}

std::function<void()> mark_stream(void* stream) {
  auto* const callers = static_cast<cudaStream_t>(stream);
  cudaStreamCaptureStatus capture = cudaStreamCaptureStatusNone;
  check(cudaStreamIsCapturing(callers, &capture), "query a stream");
  if (capture != cudaStreamCaptureStatusNone) {
    throw UsageError("asynchronous calls cannot be captured into a CUDA graph");
  }
  const auto mark = std::make_shared<Event>();
  mark->record(callers);
  return [mark] { mark->wait(); };
}

std::optional<int> device_in_use() {
  int device = 0;
  if (cudaGetDevice(&device) == cudaSuccess) return device;
  static_cast<void>(cudaGetLastError());
  return std::nullopt;
}

int use_device(int device) {
  int before = 0;
  check(cudaGetDevice(&before), "query the current device");
  check(cudaSetDevice(device), "select a device");
  return before;
}

void return_to_device(int before) noexcept { cudaSetDevice(before); }

}  // namespace cuszi::gpu
