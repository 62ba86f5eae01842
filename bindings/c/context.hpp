#pragma once

#include <sys/types.h>

#include <limits>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "codec/frames/backend_choice.hpp"
#include "core/base/error.hpp"
#include "core/base/floating_point.hpp"
#include "cuszi/cuszi.h"

namespace cuszi::api {

cuszi_status status_of(ErrorKind kind);

/// In cuszi_options; may be empty.
std::string_view member_of(Setting setting);

/// Whether the call or the caller waits for the caller's stream.
enum class StreamOrder { of_call, of_caller };

class PendingCalls;

}  // namespace cuszi::api

/// The API's opaque type.
struct cuszi_context {
  explicit cuszi_context(cuszi::api::StreamOrder order = cuszi::api::StreamOrder::of_call) noexcept;
  cuszi_context(const cuszi_context&) = delete;
  cuszi_context& operator=(const cuszi_context&) = delete;
  /// Waits for pending calls.
  ~cuszi_context();

  /// Runs `work` after pending calls, in IEEE arithmetic. Exceptions become a status and text, kept
  /// until the next call.
  template <class Work>
  cuszi_status call(const Work& work) noexcept {
    return call_beside_pending([&] {
      finish_pending();
      work();
    });
  }

  /// Like call(), but does not wait for pending calls.
  template <class Work>
  cuszi_status call_beside_pending(const Work& work) noexcept {
    const cuszi::IeeeArithmetic arithmetic;
    try {
      error_.clear();
      warning_.clear();
      status_ = CUSZI_OK;
      work();
    } catch (const cuszi::Error& error) {
      set(cuszi::api::status_of(error.kind()), cuszi::api::member_of(error.setting()),
          error.what());
    } catch (const std::bad_alloc&) {
      set(CUSZI_NO_MEMORY, "", "not enough memory");
    } catch (const std::exception& error) {
      set(CUSZI_INTERNAL, "", error.what());
    } catch (...) {
      set(CUSZI_INTERNAL, "", "an unknown failure");
    }
    return status_;
  }

  /// For a call of this work, or for a batch where workers() says so. Throws DeviceError.
  cuszi::Backends& backends(const cuszi::DeviceChoice& choice, const cuszi::Workload& work);

  /// Devices dropped since the last query.
  std::string new_losses();

  /// One per thread, owned by this context. `on_device` replaces their weighing of single calls.
  std::vector<cuszi_context*> workers(std::size_t count, std::optional<bool> on_device);

  cuszi::api::PendingCalls& pending();
  /// See PendingCalls::report().
  void report_pending();

  cuszi::api::StreamOrder stream_order() const { return order_; }

  /// `member` of cuszi_options may be empty.
  void set(cuszi_status status, std::string_view member, const char* text) noexcept;

  cuszi_status status() const { return status_; }
  const char* error() const { return error_.c_str(); }

  /// Why the result is useless.
  void set_warning(std::string text) { warning_ = std::move(text); }
  const char* warning() const { return warning_.c_str(); }

  /// NaN unless the last compression had a target.
  void set_reached(double reached) { reached_ = reached; }
  double reached() const { return reached_; }

 private:
  /// Leaks the parent's backends and calls in a forked child: destroying them would wait for the
  /// parent's threads and use its GPU.
  void leave_to_parent() noexcept;
  void finish_pending();

  cuszi::api::StreamOrder order_;
  cuszi_status status_ = CUSZI_OK;
  double reached_ = std::numeric_limits<double>::quiet_NaN();
  std::string error_;
  std::string warning_;
  cuszi::DeviceChoice choice_;
  std::optional<bool> batch_on_device_;  ///< of a worker
  std::unique_ptr<cuszi::Backends> backends_;
  std::size_t losses_told_ = 0;
  std::vector<std::unique_ptr<cuszi_context>> workers_;
  std::unique_ptr<cuszi::api::PendingCalls> pending_;
  pid_t process_ = 0;  ///< owner of pending_ and backends
};
