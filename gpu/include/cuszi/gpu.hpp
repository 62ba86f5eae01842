#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "core/backend/backend.hpp"
#include "core/backend/stream_coder.hpp"
#include "core/field/bound.hpp"
#include "core/pipeline/pipeline.hpp"

/// The CUDA backend's interface, which the tool uses too. With device pointers nothing leaves the
/// device but what the host decides on:
///
///     const auto backend = gpu::make_backend();  // keep it: its memory is taken once
///     StepTimes times;
///     const FrameShape shape{DType::f32, {512, 512, 512}};
///     LoadedFrame frame = load_frame(*backend, config, shape, field, {}, times);
///     const double bound = share_of_range(1e-3, frame.scan().min, frame.scan().max);
///     compress_frame(*backend, config, std::move(frame), 0, bound, allocate, times);
///
///     // `fast` reads the field only once, in compress_frame(), if scan() is not called before
///
///     decompress_frame(*backend, shape, compressed, restored, times);
///
/// `field`, `compressed` and `restored` view device memory, and `allocate` returns device memory
/// of the size that it is asked for. An archive is made of such frames and an ArchiveHeader
/// (docs/reference/format.md).
namespace cuszi::gpu {

/// How many devices there are; none without a driver.
int device_count();

/// A backend on the device of this number (as nvidia-smi counts them). Throws DeviceError if there
/// is none.
///
/// Fields, payloads and outputs may lie in host memory, page-locked or not, or in the device's. Its
/// own memory is taken with the first frame and kept for the next ones.
std::unique_ptr<Backend> make_backend(int device = 0);

/// What codes frames in the order of streams of this device, which becomes the calling thread's.
/// Throws DeviceError.
std::unique_ptr<StreamCoder> make_stream_coder(int device);

/// The device in whose memory a pointer points; none for the host's.
std::optional<int> device_of(const void* memory);

/// Whether kernels reach memory by its address: that of a device, or page-locked.
bool reaches(const void* memory);

/// The allocated piece of a device's memory that a pointer points into; none if that is unknown.
Bytes piece_of_memory(const void* memory);

/// Copies from and to the memory of hosts and devices; complete on return. Throws DeviceError.
void copy(Bytes from, MutableBytes to);

/// Copies the first and the last bytes of memory on a device at once: one half of `ends` each.
void copy_ends(Bytes from, MutableBytes ends);

/// Waits for a stream (cudaStream_t), the default one if it is nullptr. Throws DeviceError.
void wait_for_stream(void* stream);

/// Whether a stream (cudaStream_t) is being captured into a graph. Throws DeviceError.
bool is_being_captured(void* stream);

/// Marks what a stream (cudaStream_t) of the device in use, the default one if it is nullptr, has
/// been given to do up to now. The returned function waits for that. Throws UsageError while the
/// stream is being captured, and DeviceError.
std::function<void()> mark_stream(void* stream);

/// The calling thread's device; none without a driver.
std::optional<int> device_in_use();

/// Makes a device the calling thread's. Returns the one that was it before. Throws DeviceError.
int use_device(int device);
void return_to_device(int before) noexcept;

/// The version of the CUDA toolkit that this was compiled with: "13.0".
std::string toolkit_version();

/// The version of nvCOMP: "6.0.0"; none if it cannot be loaded.
std::optional<std::string> nvcomp_version();

/// Throws DeviceError unless nvCOMP, which Lossless::bitcomp needs, can be loaded.
void require_bitcomp();

/// The most device memory that `backend`, made by make_backend(), has used for one frame beside the
/// field and its archive where those lay on the device.
ByteCount peak_device_bytes(const Backend& backend);

}  // namespace cuszi::gpu
