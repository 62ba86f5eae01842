#pragma once

#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

#include <cstdint>

namespace cuszi {

/// While it lives, its thread's arithmetic is IEEE's: rounded to nearest, with subnormal numbers.
/// Other libraries in the process may have set their threads to flush those to zero, which would
/// change bytes. Restores what was set before.
class IeeeArithmetic {
 public:
  IeeeArithmetic() : before_(get()) {
    if (before_ != standard()) set(standard());
  }
  IeeeArithmetic(const IeeeArithmetic&) = delete;
  IeeeArithmetic& operator=(const IeeeArithmetic&) = delete;
  ~IeeeArithmetic() {
    if (before_ != standard()) set(before_);
  }

 private:
#if defined(__SSE2__)
  using Control = std::uint32_t;
  static Control get() { return _mm_getcsr() & ~exceptions_seen; }
  static void set(Control control) { _mm_setcsr(control); }
  static Control standard() { return 0x1F80; }  // no exception traps
  static constexpr Control exceptions_seen = 0x3F;
#elif defined(__aarch64__)
  using Control = std::uint64_t;
  static Control get() {
    Control control = 0;
    asm volatile("mrs %0, fpcr" : "=r"(control));
    return control;
  }
  static void set(Control control) { asm volatile("msr fpcr, %0" : : "r"(control)); }
  static Control standard() { return 0; }
#else
  using Control = int;
  static Control get() { return 0; }
  static void set(Control) {}
  static Control standard() { return 0; }
#endif

  Control before_;
};

}  // namespace cuszi
