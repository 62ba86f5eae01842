#include "bindings/c/pending_calls.hpp"

#include <utility>

namespace cuszi::api {

void PendingCalls::add(std::function<cuszi_status(cuszi_context&)> make,
                       std::function<cuszi_status(cuszi_context&, cuszi_status)> finish) {
  queue_.add([this, number = count_, make = std::move(make), finish = std::move(finish)] {
    const cuszi_status status = make(worker_);
    note(number);
    if (finish(worker_, status) != CUSZI_OK && status == CUSZI_OK) note(number);
  });
  ++count_;
}

void PendingCalls::note(std::size_t number) {
  if (worker_.status() != CUSZI_OK) failure_->add(number, worker_.status(), worker_.error());
  if (*worker_.warning() != '\0') warning_->add(number, worker_.status(), worker_.warning());
}

void PendingCalls::report(cuszi_context& context) {
  wait();
  if (warning_->is_there()) context.set_warning(warning_->text("call"));
  if (failure_->is_there()) context.set(failure_->status(), "", failure_->text("call").c_str());
  failure_.emplace();
  warning_.emplace();
  count_ = 0;
}

}  // namespace cuszi::api
