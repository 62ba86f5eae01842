#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "core/backend/backend.hpp"
#include "core/field/bound.hpp"
#include "core/pipeline/pipeline.hpp"

/// Interface of the CUDA backend. With device pointers, only data for host decisions leaves the
/// device:
///
///     const auto backend = gpu::make_backend();  // keep it: its memory is reused
///     StepTimes times;
///     const FrameShape shape{DType::f32, {512, 512, 512}};
///     LoadedFrame frame = load_frame(*backend, config, shape, field, {}, times);
///     const double bound = share_of_range(1e-3, frame.scan().min, frame.scan().max);
///     compress_frame(*backend, config, std::move(frame), bound, {allocate}, times);
///
///     // Without scan(), `fast` reads the field only once, in compress_frame().
///
///     decompress_frame(*backend, shape, compressed, restored, times);
///
/// `field`, `compressed` and `restored` are device memory, and `allocate` returns device memory of
/// the requested size. An archive consists of an ArchiveHeader and such frames
/// (docs/reference/format.md).
namespace cuszi::gpu {

/// 0 without a driver.
int device_count();

/// `device` is numbered as by nvidia-smi. Fields, payloads and outputs may be in host, pinned or
/// device memory. Its own memory is reused. Throws DeviceError if there is no such device.
std::unique_ptr<Backend> make_backend(int device = 0);

/// The device that owns a pointer; nullopt for host memory.
std::optional<int> device_of(const void* memory);

/// The device allocation that contains a pointer; empty if unknown.
Bytes piece_of_memory(const void* memory);

/// Between any memories; synchronous. Throws DeviceError.
void copy(Bytes from, MutableBytes to);

/// Copies the first and last bytes of device memory to the halves of `ends`.
void copy_ends(Bytes from, MutableBytes ends);

/// `stream` is a cudaStream_t; nullptr is the default stream. Throws DeviceError.
void wait_for_stream(void* stream);

/// Records an event in a cudaStream_t of the current device (nullptr: default stream), for which
/// the result waits. Throws UsageError during capture, DeviceError.
std::function<void()> mark_stream(void* stream);

/// nullopt without a driver.
std::optional<int> device_in_use();

/// Returns the previous device. Throws DeviceError.
int use_device(int device);
void return_to_device(int before) noexcept;

/// Like "13.0".
std::string toolkit_version();

/// Like "6.0.0"; nullopt if nvCOMP cannot be loaded.
std::optional<std::string> nvcomp_version();

/// Throws DeviceError unless nvCOMP can be loaded, for Lossless::bitcomp.
void require_bitcomp();

/// Peak device memory of a frame, without the field and the archive if those were on the device.
ByteCount peak_device_bytes(const Backend& backend);

}  // namespace cuszi::gpu
