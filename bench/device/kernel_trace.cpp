// Lists kernels, copies, memsets and runtime calls of a program by start time.
//
//   CUDA_INJECTION64_PATH=$PWD/libkernel_trace.so KERNEL_TRACE=FILE gpu_bench ...
//
// Columns: start and duration in microseconds, stream (or h and thread), name or bytes.

#include <cupti.h>
#include <cxxabi.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace {

struct Activity {
  std::uint64_t start;  ///< ns
  std::uint64_t end;
  std::string where;  ///< stream or host thread
  std::string name;
};

/// All CUPTI records; lives until exit.
struct Trace {
  std::mutex guard;
  std::vector<Activity> activities;

  static Trace& instance() {
    static Trace trace;
    return trace;
  }
};

constexpr std::size_t buffer_bytes = std::size_t{16} << 20;

void CUPTIAPI give_buffer(std::uint8_t** buffer, std::size_t* size, std::size_t* most_records) {
  *buffer = static_cast<std::uint8_t*>(std::aligned_alloc(8, buffer_bytes));
  *size = buffer_bytes;
  *most_records = 0;
}

template <class Record>
void add(Trace& trace, const CUpti_Activity* record, const std::string& name) {
  const auto* const r = reinterpret_cast<const Record*>(record);
  trace.activities.push_back({r->start, r->end, std::to_string(r->streamId), name});
}

void add_call(Trace& trace, const CUpti_Activity* record) {
  const auto* const call = reinterpret_cast<const CUpti_ActivityAPI*>(record);
  const char* name = nullptr;
  cuptiGetCallbackName(CUPTI_CB_DOMAIN_RUNTIME_API, call->cbid, &name);
  trace.activities.push_back({call->start, call->end, "h" + std::to_string(call->threadId),
                              name == nullptr ? std::to_string(call->cbid) : name});
}

void add(Trace& trace, const CUpti_Activity* record) {
  if (record->kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) {
    using Kernel = CUpti_ActivityKernel9;
    add<Kernel>(trace, record, reinterpret_cast<const Kernel*>(record)->name);
  } else if (record->kind == CUPTI_ACTIVITY_KIND_MEMCPY) {
    using Copy = CUpti_ActivityMemcpy5;
    add<Copy>(trace, record,
              "copy " + std::to_string(reinterpret_cast<const Copy*>(record)->bytes));
  } else if (record->kind == CUPTI_ACTIVITY_KIND_MEMSET) {
    using Clear = CUpti_ActivityMemset4;
    add<Clear>(trace, record,
               "clear " + std::to_string(reinterpret_cast<const Clear*>(record)->bytes));
  } else if (record->kind == CUPTI_ACTIVITY_KIND_RUNTIME) {
    add_call(trace, record);
  }
}

void CUPTIAPI take_buffer(CUcontext /*context*/, std::uint32_t /*stream*/, std::uint8_t* buffer,
                          std::size_t /*size*/, std::size_t valid) {
  Trace& trace = Trace::instance();
  const std::scoped_lock lock(trace.guard);
  CUpti_Activity* record = nullptr;
  while (cuptiActivityGetNextRecord(buffer, valid, &record) == CUPTI_SUCCESS) add(trace, record);
  std::free(buffer);
}

std::string readable(const std::string& name) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> plain(
      abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status), &std::free);
  return status == 0 ? plain.get() : name;
}

void write_trace() {
  cuptiActivityFlushAll(1);
  std::vector<Activity>& all = Trace::instance().activities;
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.start < b.start; });
  const char* const path = std::getenv("KERNEL_TRACE");
  std::FILE* const file = path == nullptr ? stderr : std::fopen(path, "w");
  if (file == nullptr) return std::perror(path);
  for (const Activity& a : all) {
    std::fprintf(file, "%.1f %.1f %s %s\n", static_cast<double>(a.start - all.front().start) * 1e-3,
                 static_cast<double>(a.end - a.start) * 1e-3, a.where.c_str(),
                 readable(a.name).c_str());
  }
  if (file != stderr) std::fclose(file);
}

}  // namespace

/// Called by the CUDA driver before its first API call.
extern "C" int InitializeInjection() {
  Trace::instance();
  for (const CUpti_ActivityKind kind :
       {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_MEMCPY,
        CUPTI_ACTIVITY_KIND_MEMSET, CUPTI_ACTIVITY_KIND_RUNTIME}) {
    cuptiActivityEnable(kind);
  }
  cuptiActivityRegisterCallbacks(give_buffer, take_buffer);
  std::atexit(write_trace);
  return 1;
}
