#pragma once

namespace cuszi::test {

/// Whether the sanitizers watch, which takes ten times as long: tests then try less of what is the
/// same again.
#ifdef CUSZI_SANITIZED
inline constexpr bool sanitized = true;
#else
inline constexpr bool sanitized = false;
#endif

}  // namespace cuszi::test
