#include "bindings/c/context.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include "bindings/c/pending_calls.hpp"

cuszi_context::cuszi_context(cuszi::api::StreamOrder order) noexcept : order_(order) {}

cuszi_context::~cuszi_context() { leave_to_parent(); }

cuszi::Backends& cuszi_context::backends(const cuszi::DeviceChoice& choice,
                                         const cuszi::Workload& work) {
  leave_to_parent();
  if (!backends_ || choice_ != choice) {
    backends_.reset();
    backends_ = std::make_unique<cuszi::Backends>(choice);
    choice_ = choice;
    losses_told_ = 0;
    process_ = ::getpid();
  }
  const bool is_batch = choice.kind == cuszi::DeviceChoice::Kind::automatic && batch_on_device_ &&
                        work.needs_device.empty();
  backends_->prefer_device(is_batch ? *batch_on_device_ : weigh(choice, work).prefers_device);
  return *backends_;
}

std::string cuszi_context::new_losses() {
  const std::vector<std::string> lines = backends_->losses();
  if (lines.size() == std::exchange(losses_told_, lines.size())) return {};
  return fmt::format("{}", fmt::join(lines, "; "));
}

std::vector<cuszi_context*> cuszi_context::workers(std::size_t count,
                                                   std::optional<bool> on_device) {
  while (workers_.size() < count) workers_.push_back(std::make_unique<cuszi_context>());
  std::vector<cuszi_context*> first(count);
  for (std::size_t i = 0; i < count; ++i) {
    first[i] = workers_[i].get();
    first[i]->batch_on_device_ = on_device;
  }
  return first;
}

void cuszi_context::leave_to_parent() noexcept {
  if (process_ == ::getpid()) return;
  static_cast<void>(backends_.release());
  static_cast<void>(pending_.release());
}

cuszi::api::PendingCalls& cuszi_context::pending() {
  leave_to_parent();
  if (!pending_) {
    pending_ = std::make_unique<cuszi::api::PendingCalls>();
    process_ = ::getpid();
  }
  return *pending_;
}

void cuszi_context::report_pending() {
  leave_to_parent();
  if (pending_) pending_->report(*this);
}

void cuszi_context::finish_pending() {
  if (!pending_) return;
  leave_to_parent();
  if (pending_) pending_->wait();
}

void cuszi_context::set(cuszi_status status, std::string_view member, const char* text) noexcept {
  status_ = status;
  try {
    error_ = member;
    if (!member.empty()) error_ += ": ";
    error_ += text;
  } catch (const std::bad_alloc&) {
    error_.clear();
  }
}

namespace cuszi::api {

cuszi_status status_of(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::usage: return CUSZI_BAD_USAGE;
    case ErrorKind::input: return CUSZI_BAD_INPUT;
    case ErrorKind::archive: return CUSZI_BAD_ARCHIVE;
    case ErrorKind::bound: return CUSZI_BAD_BOUND;
    case ErrorKind::device: return CUSZI_NO_DEVICE;
    case ErrorKind::output: return CUSZI_NO_ROOM;
    case ErrorKind::memory: return CUSZI_NO_MEMORY;
    case ErrorKind::internal: return CUSZI_INTERNAL;
  }
  return CUSZI_INTERNAL;
}

std::string_view member_of(Setting setting) {
  switch (setting) {
    case Setting::none: return "";
    case Setting::alpha: return "alpha";
    case Setting::axes: return "axes";
    case Setting::beta: return "beta";
    case Setting::fill_values: return "fills";
    case Setting::frame_size: return "frame_bytes";
    case Setting::huffman_width: return "huffman_width";
    case Setting::interp: return "interp_tile";
  }
  return "";
}

}  // namespace cuszi::api
