#pragma once

#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

#include <cstdint>

#include "core/base/unmovable.hpp"

namespace cuszi {

/// Sets the thread's arithmetic to IEEE (round to nearest, subnormals, no traps) for its lifetime,
/// because flushed subnormals would change bytes. Restores modes and exception flags.
class IeeeArithmetic : Unmovable {
 public:
  IeeeArithmetic() : before_(get()) {
    if (!is_standard(before_)) set(standard);
  }
  ~IeeeArithmetic() { set(before_); }

 private:
#if defined(__SSE2__)
  using Control = std::uint32_t;
  static Control get() { return _mm_getcsr(); }
  static void set(Control control) { _mm_setcsr(control); }
  static constexpr Control standard = 0x1F80;
  static bool is_standard(Control control) { return (control & ~0x3FU) == standard; }
#elif defined(__aarch64__)
  struct Control {
    std::uint64_t modes = 0;
    std::uint64_t seen = 0;
  };
  static Control get() {
    Control control;
    asm volatile("mrs %0, fpcr\n\tmrs %1, fpsr" : "=r"(control.modes), "=r"(control.seen));
    return control;
  }
  static void set(const Control& control) {
    asm volatile("msr fpcr, %0\n\tmsr fpsr, %1" : : "r"(control.modes), "r"(control.seen));
  }
  static constexpr Control standard{};
  static bool is_standard(const Control& control) { return control.modes == 0; }
#else
  using Control = int;
  static Control get() { return 0; }
  static void set(Control) {}
  static constexpr Control standard = 0;
  static bool is_standard(Control) { return true; }
#endif

  Control before_;
};

}  // namespace cuszi
