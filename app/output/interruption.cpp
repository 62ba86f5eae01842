#include "app/output/interruption.hpp"

#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdlib>

#include "app/cli/exit_code.hpp"

namespace cuszi::app {

namespace {

/// Global for the signal handler.
std::atomic<const char*> unfinished{nullptr};
static_assert(std::atomic<const char*>::is_always_lock_free);

void remove_unfinished() {
  const char* const path = unfinished.load();
  if (path != nullptr) ::unlink(path);
}

extern "C" void end_as_interrupted(int signal) {
  remove_unfinished();
  ::raise(signal);
}

void handle(int signal, void (*handler)(int)) {
  struct sigaction action {};
  ::sigaction(signal, nullptr, &action);
  if (action.sa_handler != SIG_DFL) return;
  action.sa_handler = handler;
  action.sa_flags = static_cast<int>(SA_RESETHAND | SA_NODEFER);
  ::sigaction(signal, &action, nullptr);
}

}  // namespace

void handle_interruptions() {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGABRT, SIGPIPE, SIGXCPU, SIGSEGV,
                           SIGBUS, SIGFPE, SIGILL}) {
    handle(signal, end_as_interrupted);
  }
  handle(SIGXFSZ, SIG_IGN);
  if (std::atexit(remove_unfinished) != 0) throw DeviceError("not enough memory to start");
}

void set_unfinished(const char* path) { unfinished = path; }

}  // namespace cuszi::app
