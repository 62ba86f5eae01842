// Asynchronous calls.
#include <span>
#include <utility>

#include "bindings/c/options.hpp"
#include "bindings/c/pending_calls.hpp"
#include "bindings/c/single_call.hpp"
#include "codec/frames/device_memory.hpp"

namespace cuszi::api {

namespace {

/// Waits for what was queued on the caller's stream before the call.
std::function<void()> turn_of(const cuszi_options& options,
                              std::initializer_list<const void*> memory) {
  const RunSettings run = run_settings(options);
  std::optional<int> device = device_with(memory);
  if (run.stream == nullptr && !device) return [] {};
  if (!device && run.device.kind == DeviceChoice::Kind::cuda) device = run.device.index;
  const DeviceScope scope(device);
  return mark_stream(run.stream);
}

/// Host or device memory, or NULL.
template <class T>
void tell(T* to, T result) {
  if (to == nullptr) return;
  copy_memory(std::as_bytes(std::span(&result, 1)), std::as_writable_bytes(std::span(to, 1)));
}

/// Host or device memory.
std::size_t read_size(const std::size_t* from) {
  std::size_t size = 0;
  copy_memory(std::as_bytes(std::span(from, 1)), std::as_writable_bytes(std::span(&size, 1)));
  return size;
}

void compress_later(cuszi_context& context, const cuszi_options* caller_options,
                    const cuszi_field* caller_field, const void* values, void* archive,
                    std::size_t capacity, std::size_t* archive_size, std::int32_t* status) {
  const cuszi_options options = read_options(caller_options);
  const cuszi_field field = required("field", caller_field);
  required("archive_size", archive_size);
  const auto size = std::make_shared<std::size_t>(0);
  context.pending().add(
      [=, turn = turn_of(options, {values, archive, archive_size, status})](cuszi_context& worker) {
        return worker.call([&] {
          turn();
          compress(worker, &options, &field, values, archive, capacity, size.get());
        });
      },
      [=](cuszi_context& worker, cuszi_status made) {
        return worker.call([&] {
          tell(archive_size, made == CUSZI_OK ? *size : 0);
          tell(status, std::int32_t{made});
        });
      });
}

void decompress_later(cuszi_context& context, const cuszi_options* caller_options,
                      const cuszi_field* caller_field, const void* archive,
                      const std::size_t* archive_size, void* values, std::size_t capacity,
                      std::int32_t* status) {
  const cuszi_options options = read_options(caller_options);
  const std::optional<cuszi_field> field =
      caller_field == nullptr ? std::nullopt : std::optional(*caller_field);
  required("archive_size", archive_size);
  context.pending().add(
      [=, turn = turn_of(options, {values, archive, archive_size, status})](cuszi_context& worker) {
        return worker.call([&] {
          turn();
          decompress(worker, &options, archive, read_size(archive_size), cuszi_whole_field(),
                     values, capacity, field ? &*field : nullptr);
        });
      },
      [=](cuszi_context& worker, cuszi_status made) {
        return worker.call([&] { tell(status, std::int32_t{made}); });
      });
}

}  // namespace

}  // namespace cuszi::api

extern "C" {

cuszi_status cuszi_compress_async(cuszi_context* context, const cuszi_options* options,
                                  const cuszi_field* field, const void* values, void* archive,
                                  size_t capacity, size_t* archive_size, int32_t* status) {
  if (context == nullptr) return CUSZI_BAD_USAGE;
  return context->call_beside_pending([&] {
    cuszi::api::compress_later(*context, options, field, values, archive, capacity, archive_size,
                               status);
  });
}

cuszi_status cuszi_decompress_async(cuszi_context* context, const cuszi_options* options,
                                    const cuszi_field* field, const void* archive,
                                    const size_t* archive_size, void* values, size_t capacity,
                                    int32_t* status) {
  if (context == nullptr) return CUSZI_BAD_USAGE;
  return context->call_beside_pending([&] {
    cuszi::api::decompress_later(*context, options, field, archive, archive_size, values, capacity,
                                 status);
  });
}

cuszi_status cuszi_wait(cuszi_context* context) {
  if (context == nullptr) return CUSZI_BAD_USAGE;
  return context->call([&] { context->report_pending(); });
}

}  // extern "C"
