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

/// What a setting is called in cuszi_options; empty for none.
std::string_view member_of(Setting setting);

/// Who sees to it that a call begins after what the caller's stream was given: the call, which
/// waits, or who makes it.
enum class StreamOrder { of_call, of_caller };

class PendingCalls;

}  // namespace cuszi::api

/// Behind the API's opaque type: what stays from call to call.
struct cuszi_context {
  explicit cuszi_context(cuszi::api::StreamOrder order = cuszi::api::StreamOrder::of_call) noexcept;
  cuszi_context(const cuszi_context&) = delete;
  cuszi_context& operator=(const cuszi_context&) = delete;
  /// Waits for pending calls.
  ~cuszi_context();

  /// Does `work`, after pending calls, in IEEE's arithmetic. Its exceptions become a status and a
  /// text that stay until the next call.
  template <class Work>
  cuszi_status call(const Work& work) noexcept {
    return call_beside_pending([&] {
      finish_pending();
      work();
    });
  }

  /// The call() that does not wait for pending ones.
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

  /// The backends of this choice. Throws DeviceError.
  cuszi::Backends& backends(const cuszi::DeviceChoice& choice);

  /// Tells of devices that were given up since this was last asked; empty if none was.
  std::string new_losses();

  /// Contexts for so many threads of a call, which stay as long as this one.
  std::vector<cuszi_context*> workers(std::size_t count);

  /// The calls that return without waiting; made when it is first asked for.
  cuszi::api::PendingCalls& pending();
  /// Tells of pending calls, see PendingCalls::report().
  void report_pending();

  cuszi::api::StreamOrder stream_order() const { return order_; }

  /// How this call ends. The text is of a member of cuszi_options, unless that is empty.
  void set(cuszi_status status, std::string_view member, const char* text) noexcept;

  cuszi_status status() const { return status_; }
  const char* error() const { return error_.c_str(); }

  /// What makes the result of this call useless.
  void set_warning(std::string text) { warning_ = std::move(text); }
  const char* warning() const { return warning_.c_str(); }

  /// What the last compression has reached of its target; NaN without one.
  void set_reached(double reached) { reached_ = reached; }
  double reached() const { return reached_; }

 private:
  /// In a forked child gives up the parent's backends and pending calls without ending them, which
  /// would wait for threads and use a GPU that are the parent's alone.
  void leave_to_parent() noexcept;
  void finish_pending();

  const cuszi::api::StreamOrder order_;
  cuszi_status status_ = CUSZI_OK;
  double reached_ = std::numeric_limits<double>::quiet_NaN();
  std::string error_;
  std::string warning_;
  cuszi::DeviceChoice choice_;
  std::unique_ptr<cuszi::Backends> backends_;
  std::size_t losses_told_ = 0;
  std::vector<std::unique_ptr<cuszi_context>> workers_;
  std::unique_ptr<cuszi::api::PendingCalls> pending_;
  pid_t process_ = 0;  ///< that has made the backends and the pending calls
};
