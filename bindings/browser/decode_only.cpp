// What the decoder of browsers replaces: no threads, no encoder.

#include "core/base/error.hpp"
#include "core/field/metrics.hpp"
#include "cpu_ref/base/parallel.hpp"
#include "cpu_ref/base/thread_count.hpp"
#include "cpu_ref/session/sessions.hpp"

namespace cuszi {

int usable_threads() { return 1; }
int threads_in_use() { return 1; }
ThreadsScope::ThreadsScope(std::optional<int> /*threads*/) : before_(1) {}
ThreadsScope::~ThreadsScope() = default;

namespace cpu {

void run_in_threads(int /*others*/, const std::function<void()>& part) { part(); }

std::unique_ptr<EncodeSession> make_encode_session(Workspace& /*workspace*/,
                                                   const FrameShape& /*shape*/, Bytes /*values*/,
                                                   const ValueRules& /*rules*/,
                                                   const PredictorParams& /*draft*/,
                                                   const std::optional<FieldScan>& /*known*/) {
  throw InternalError("the decoder of browsers does not compress");
}

Quality measure_quality(DType /*dtype*/, Bytes /*original*/, Bytes /*restored*/,
                        const ValueRules& /*rules*/, const ValueBound& /*bound*/) {
  throw InternalError("the decoder of browsers does not measure");
}

}  // namespace cpu
}  // namespace cuszi
