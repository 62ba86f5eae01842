#pragma once

#include <map>
#include <numeric>

#include "cpu_ref/base/thread_count.hpp"
#include "gpu/runtime/copies.hpp"
#include "gpu/runtime/launch.cuh"

namespace cuszi::gpu {

template <class Task>
struct OneFrame {
  Task task;

  static constexpr unsigned shared_words = 1;

  __device__ const Task& find(std::uint32_t* /*shared*/, unsigned& block) const {
    block = blockIdx.x;
    return task;
  }
};

template <class Task>
__device__ const Task& bring_task(const Task& there, std::uint32_t* shared) {
  static_assert(sizeof(Task) % sizeof(std::uint32_t) == 0);
  for (unsigned i = threadIdx.x; i < sizeof(Task) / sizeof(std::uint32_t); i += blockDim.x)
    shared[i] = reinterpret_cast<const std::uint32_t*>(&there)[i];
  __syncthreads();
  return *reinterpret_cast<const Task*>(shared);
}

/// Frames with as many thread blocks each, whose tasks are on the device: frames along grid.y.
template <class Task>
struct EqualFrames {
  const Task* tasks;

  static constexpr unsigned shared_words = sizeof(Task) / sizeof(std::uint32_t);

  __device__ const Task& find(std::uint32_t* shared, unsigned& block) const {
    block = blockIdx.x;
    return bring_task(tasks[blockIdx.y], shared);
  }
};

/// The tasks of equal frames: an argument of kernels if there is one frame, else on the device.
template <class Task>
class FrameTasks {
 public:
  FrameTasks() = default;
  FrameTasks(DeviceContext& gpu, std::vector<Task> tasks) : tasks_(std::move(tasks)) {
    if (tasks_.size() > 1) there_ = upload(gpu, tasks_.data(), tasks_.size());
  }

  std::span<const Task> list() const { return tasks_; }
  unsigned count() const { return static_cast<unsigned>(tasks_.size()); }

  /// Calls launch(OneFrame or EqualFrames).
  template <class Launch>
  void visit(const Launch& launch) const {
    if (there_ == nullptr) {
      launch(OneFrame<Task>{tasks_.front()});
    } else {
      launch(EqualFrames<Task>{there_});
    }
  }

 private:
  std::vector<Task> tasks_;
  const Task* there_ = nullptr;
};

/// The numbers below `count`, grouped by key_of(number).
template <class KeyOf>
std::vector<std::vector<std::size_t>> group_equal(std::size_t count, const KeyOf& key_of) {
  std::map<decltype(key_of(count)), std::vector<std::size_t>> by_key;
  for (std::size_t i = 0; i < count; ++i) by_key[key_of(i)].push_back(i);
  std::vector<std::vector<std::size_t>> groups;
  for (auto& [key, numbers] : by_key) groups.push_back(std::move(numbers));
  return groups;
}

template <class Task>
struct FrameOfMany {
  Task task;
  std::uint32_t first_block;
  std::uint32_t blocks;
};

template <class Task>
struct ManyFrames {
  const FrameOfMany<Task>* frames;
  const std::uint32_t* of_block;  ///< frame of each block

  static constexpr unsigned shared_words = sizeof(FrameOfMany<Task>) / sizeof(std::uint32_t);

  /// `shared` has `shared_words` words.
  __device__ const Task& find(std::uint32_t* shared, unsigned& block) const {
    const FrameOfMany<Task>& here = bring_task(frames[of_block[blockIdx.x]], shared);
    block = blockIdx.x - here.first_block;
    return here.task;
  }
};

/// One thread block per frame.
template <class Task>
__global__ void number_blocks(const FrameOfMany<Task>* frames, std::uint32_t* of_block) {
  const FrameOfMany<Task>& frame = frames[blockIdx.x];
  for (unsigned i = threadIdx.x; i < frame.blocks; i += blockDim.x)
    of_block[frame.first_block + i] = blockIdx.x;
}

/// Calls each(i) for i in [0, count) on host threads.
template <class F>
void for_each_of_many(DeviceContext& gpu, std::size_t count, const F& each) {
  constexpr std::size_t fewest_at_once = 32;  // less does not pay for waking a thread
  const std::size_t parts =
      std::min(static_cast<std::size_t>(threads_in_use()), ceil_div(count, fewest_at_once));
  gpu.host().for_each(parts, [&](std::size_t part) {
    for (std::size_t i = count * part / parts; i < count * (part + 1) / parts; ++i) each(i);
  });
}

/// Uploads tasks of `blocks.size()` frames. task_of(i) is called concurrently.
template <class Task, class TaskOf>
ManyFrames<Task> bring_many(DeviceContext& gpu, std::span<const std::uint32_t> blocks,
                            const TaskOf& task_of) {
  const std::size_t count = blocks.size();
  std::vector<std::uint32_t> first(count);
  std::exclusive_scan(blocks.begin(), blocks.end(), first.begin(), 0U);
  auto* const staged = gpu.take_pinned<FrameOfMany<Task>>(count);
  for_each_of_many(gpu, count, [&](std::size_t i) {
    new (staged + i) FrameOfMany<Task>{task_of(i), first[i], blocks[i]};
  });
  auto* const frames = gpu.take<FrameOfMany<Task>>(count);
  copy_pinned(gpu, frames, staged, count);
  auto* const of_block = gpu.take<std::uint32_t>(first.back() + blocks.back());
  constexpr unsigned threads = 64;
  number_blocks<<<static_cast<unsigned>(count), threads, 0, gpu.stream()>>>(frames, of_block);
  check_launch("number_blocks");
  return {frames, of_block};
}

/// Calls launch(OneFrame or ManyFrames).
template <class Task, class TaskOf, class Launch>
void visit_many(DeviceContext& gpu, std::span<const std::uint32_t> blocks, const TaskOf& task_of,
                const Launch& launch) {
  if (blocks.size() == 1) {
    launch(OneFrame<Task>{task_of(0)});
  } else {
    launch(bring_many<Task>(gpu, blocks, task_of));
  }
}

}  // namespace cuszi::gpu
