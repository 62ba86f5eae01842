#include <algorithm>

#include "gpu/cells/cells.cuh"
#include "gpu/field/hash.cuh"
#include "gpu/runtime/many.cuh"
#include "gpu/session/scan.cuh"
#include "gpu/session/sessions.hpp"
#include "gpu/tiles/tiles.cuh"

namespace cuszi::gpu {

namespace {

/// Where each string begins in a buffer of all, and how large that is.
struct Offsets {
  std::vector<ByteCount> of;
  ByteCount all = 0;

  explicit Offsets(std::span<const Bytes> strings) {
    of.reserve(strings.size());
    for (const Bytes string : strings) {
      of.push_back(all);
      all += ceil_div(string.size(), alignment) * alignment;
    }
  }

  static constexpr ByteCount alignment = 8;
};

std::vector<Bytes> sources(std::span<const BatchCopy> pieces) {
  std::vector<Bytes> from;
  from.reserve(pieces.size());
  for (const BatchCopy& piece : pieces) from.push_back(piece.from);
  return from;
}

/// Frames of one type, with their numbers in the batch.
struct OfType {
  std::vector<BatchFrame> frames;
  std::vector<std::size_t> numbers;

  OfType(std::span<const BatchFrame> all, DType dtype) {
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (all[i].shape.dtype != dtype) continue;
      frames.push_back(all[i]);
      numbers.push_back(i);
    }
  }
};

/// The results of find(zero, frames) for the frames of each type.
template <class Result, class Find>
std::vector<Result> by_types(std::span<const BatchFrame> frames, const Find& find) {
  std::vector<Result> results(frames.size());
  for (const DType dtype : {DType::f32, DType::f64}) {
    const OfType some(frames, dtype);
    if (some.frames.empty()) continue;
    const auto found = with_type_of(dtype, [&](auto zero) { return find(zero, some); });
    for (std::size_t i = 0; i < found.size(); ++i) results[some.numbers[i]] = found[i];
  }
  return results;
}

/// Tasks of frames, with their numbers in the batch.
template <class Task>
struct Numbered {
  std::vector<Task> tasks;
  std::vector<std::size_t> numbers;
};

/// The frames of type T that Input's predictor codes.
template <class T, class Input>
Numbered<Input> inputs_of(std::span<const BatchEncoding> frames) {
  Numbered<Input> inputs;
  for (std::size_t i = 0; i < frames.size(); ++i) {
    const auto& [frame, range, params, bound] = frames[i];
    const auto* const own = std::get_if<decltype(Input::params)>(&params);
    if (own == nullptr || frame.shape.dtype != dtype_of<T>) continue;
    if (inputs.tasks.empty()) inputs.tasks.reserve(frames.size() - i);
    inputs.numbers.push_back(i);
    inputs.tasks.push_back({*own,
                            bound,
                            {frame.shape.extents(),
                             reinterpret_cast<const T*>(frame.values.data()),
                             {},
                             0,
                             range.min,
                             range.max,
                             frame.shape.dims}});
  }
  return inputs;
}

template <class T, class Output>
Numbered<Output> outputs_of(std::span<const BatchDecoding> frames, std::uint32_t* flaws) {
  Numbered<Output> outputs;
  for (std::size_t i = 0; i < frames.size(); ++i) {
    const BatchDecoding& frame = frames[i];
    const auto* const own = std::get_if<decltype(Output::params)>(&frame.params);
    if (own == nullptr || frame.shape.dtype != dtype_of<T>) continue;
    FrameOutput<T> output{frame.shape.extents(),
                          reinterpret_cast<T*>(frame.values.data()),
                          {},
                          0,
                          frame.min,
                          frame.max,
                          frame.shape.dims};
    output.whole = output.extents;
    if (outputs.tasks.empty()) outputs.tasks.reserve(frames.size() - i);
    outputs.numbers.push_back(i);
    outputs.tasks.push_back({*own, frame.passes, output, flaws + i});
  }
  return outputs;
}

/// Sets what has been coded.
using FinishBatch = std::function<void(std::span<std::optional<BatchCoded>> coded)>;

class GpuFrameBatch final : public FrameBatch {
 public:
  GpuFrameBatch(FrameSlot& slot, DeviceContext& gpu) : FrameBatch(slot), gpu_(gpu) { gpu_.reset(); }

  void for_each(std::size_t count, const std::function<void(std::size_t)>& each) override {
    for_each_of_many(gpu_, count, each);
  }

  std::vector<std::optional<BatchRange>> scan(std::span<const BatchFrame> frames) override {
    return by_types<std::optional<BatchRange>>(frames, [&](auto zero, const OfType& some) {
      return scan_batch<decltype(zero)>(gpu_, some.frames);
    });
  }
  std::vector<std::optional<BatchRange>> sample(std::span<const BatchFrame> frames) override {
    return by_types<std::optional<BatchRange>>(frames, [&](auto zero, const OfType& some) {
      return sample_batch<decltype(zero)>(gpu_, some.frames);
    });
  }
  std::vector<std::span<const double>> draw(std::span<const BatchFrame> frames,
                                            std::span<const std::uint64_t> counts) override {
    return by_types<std::span<const double>>(frames, [&](auto zero, const OfType& some) {
      std::vector<std::uint64_t> own;
      for (const std::size_t i : some.numbers) own.push_back(counts[i]);
      return draw_batch<decltype(zero)>(gpu_, some.frames, own);
    });
  }

  std::vector<std::span<const double>> values_at(
      std::span<const BatchFrame> frames,
      std::span<const std::vector<std::uint64_t>> points) override {
    return by_types<std::span<const double>>(frames, [&](auto zero, const OfType& some) {
      std::vector<std::uint64_t> counts;
      std::vector<std::uint64_t> all;
      for (const std::size_t i : some.numbers) {
        counts.push_back(points[i].size());
        all.insert(all.end(), points[i].begin(), points[i].end());
      }
      if (all.empty()) return std::vector<std::span<const double>>(some.frames.size());
      return draw_batch<decltype(zero)>(gpu_, some.frames, counts,
                                        gpu::upload(gpu_, all.data(), all.size()));
    });
  }
  std::vector<CellsSample> samples_of_cells(std::span<const BatchFrame> frames) override {
    auto* const found = gpu_.take_pinned<CellsSample>(frames.size());
    for (const DType dtype : {DType::f32, DType::f64}) {
      with_type_of(dtype, [&](auto zero) {
        using T = decltype(zero);
        std::vector<BackgroundTask<T>> tasks;
        for (std::size_t i = 0; i < frames.size(); ++i) {
          if (frames[i].shape.dtype != dtype) continue;
          tasks.push_back({reinterpret_cast<const T*>(frames[i].values.data()),
                           frames[i].shape.points(), MissingTest<T>{}, found + i});
        }
        if (!tasks.empty()) find_backgrounds(gpu_, FrameTasks<BackgroundTask<T>>(gpu_, tasks));
      });
    }
    gpu_.sync();
    return {found, found + frames.size()};
  }

  std::vector<std::optional<BatchCoded>> encode(std::span<const BatchEncoding> frames) override {
    std::vector<FinishBatch> finish;
    start_tiles<float>(frames, finish);
    start_tiles<double>(frames, finish);
    start_cells<float>(frames, finish);
    start_cells<double>(frames, finish);
    gpu_.sync();
    std::vector<std::optional<BatchCoded>> coded(frames.size());
    for (const FinishBatch& some : finish) some(coded);
    return coded;
  }

  std::vector<std::uint64_t> place(std::span<const BatchCopy> sections,
                                   std::span<const Bytes> levels) override {
    if (sections.empty()) return {};
    std::vector<CopyPiece> pieces;
    for (const BatchCopy& section : sections)
      pieces.push_back({section.to.data(), section.from.data(), section.from.size()});
    copy_many(gpu_, pieces);
    const auto hashes = start_many_hashes(gpu_, levels);
    gpu_.sync();
    return hashes();
  }

  std::vector<BatchDecoded> decode(std::span<const BatchDecoding> frames) override {
    std::vector<BatchDecoded> decoded(frames.size());
    if (frames.empty()) return decoded;
    std::vector<Bytes> levels;
    for (const BatchDecoding& frame : frames)
      levels.insert(levels.end(), frame.levels.begin(), frame.levels.end());
    std::function<std::vector<std::uint64_t>()> hashes;
    gpu_.streams().fork([&] { hashes = start_many_hashes(gpu_, levels); });
    auto* const flaws = gpu_.take_zeroed<std::uint32_t>(frames.size());
    decode<float>(frames, decoded, flaws);
    decode<double>(frames, decoded, flaws);
    const std::uint32_t* const found_flaws = gpu::download(gpu_, flaws, frames.size());
    const std::uint32_t& flaws_of_lists = *gpu::download(gpu_, gpu_.flaws(), 1);
    gpu_.streams().sync_all();
    const std::vector<std::uint64_t> found = hashes();
    auto next = found.begin();
    for (std::size_t i = 0; i < frames.size(); ++i) {
      const auto end = next + static_cast<std::ptrdiff_t>(frames[i].levels.size());
      decoded[i].hashes.assign(next, end);
      next = end;
      if (found_flaws[i] != 0 || flaws_of_lists != 0) decoded[i].is_done = false;
    }
    return decoded;
  }

  std::vector<Bytes> bring(std::span<const Bytes> strings) override {
    const Offsets offsets(strings);
    auto* const staged = gpu_.take_pinned<std::byte>(offsets.all);
    auto* const there = gpu_.take<std::byte>(offsets.all);
    std::vector<Bytes> brought(strings.size());
    constexpr ByteCount least_share = ByteCount{1} << 20;  // of a thread: to wake it takes longer
    const auto threads = static_cast<std::size_t>(threads_in_use());
    const std::size_t parts = std::min<std::size_t>(
        {threads, strings.size(), static_cast<std::size_t>(offsets.all / least_share) + 1});
    gpu_.host().for_each(parts, [&](std::size_t part) {
      const std::size_t end = strings.size() * (part + 1) / parts;
      for (std::size_t i = strings.size() * part / parts; i < end; ++i) {
        std::copy(strings[i].begin(), strings[i].end(), staged + offsets.of[i]);
        brought[i] = {there + offsets.of[i], strings[i].size()};
      }
    });
    copy_pinned(gpu_, there, staged, offsets.all);
    return brought;
  }

  void upload(std::span<const BatchCopy> pieces) override {
    const std::vector<Bytes> there = bring(sources(pieces));
    std::vector<CopyPiece> copies;
    for (std::size_t i = 0; i < pieces.size(); ++i)
      copies.push_back({pieces[i].to.data(), there[i].data(), there[i].size()});
    copy_many(gpu_, copies);
    gpu_.sync();
  }

  void download(std::span<const BatchCopy> pieces) override {
    const Offsets offsets(sources(pieces));
    auto* const there = gpu_.take<std::byte>(offsets.all);
    std::vector<CopyPiece> copies;
    for (std::size_t i = 0; i < pieces.size(); ++i)
      copies.push_back({there + offsets.of[i], pieces[i].from.data(), pieces[i].from.size()});
    copy_many(gpu_, copies);
    const std::byte* const host = gpu::download(gpu_, there, offsets.all);
    gpu_.sync();
    for (std::size_t i = 0; i < pieces.size(); ++i)
      std::copy_n(host + offsets.of[i], pieces[i].to.size(), pieces[i].to.begin());
  }

 private:
  template <class T>
  void start_tiles(std::span<const BatchEncoding> frames, std::vector<FinishBatch>& finish) {
    const auto own = std::make_shared<const Numbered<TilesInput<T>>>(
        inputs_of<T, TilesInput<T>>(frames));  // with an address that lasts
    finish.push_back([tiles = start_to_encode_tiles<T>(gpu_, own->tasks),
                      own](std::span<std::optional<BatchCoded>> coded) {
      const auto found = tiles();
      for (std::size_t i = 0; i < found.size(); ++i) {
        if (!found[i]) continue;
        coded[own->numbers[i]] = BatchCoded{{found[i]->coded}, found[i]->min, found[i]->max};
      }
    });
  }

  template <class T>
  void start_cells(std::span<const BatchEncoding> frames, std::vector<FinishBatch>& finish) {
    auto [inputs, numbers] = inputs_of<T, CellsInput<T>>(frames);
    finish.push_back([cells = start_to_encode_cells<T>(gpu_, inputs), numbers = std::move(numbers),
                      frames](std::span<std::optional<BatchCoded>> coded) {
      std::vector<std::vector<OwnCoded>> own = cells();
      for (std::size_t i = 0; i < own.size(); ++i) {
        const BatchRange& range = frames[numbers[i]].range;
        coded[numbers[i]] = BatchCoded{std::move(own[i]), range.min, range.max};
      }
    });
  }

  template <class T>
  void decode(std::span<const BatchDecoding> frames, std::span<BatchDecoded> decoded,
              std::uint32_t* flaws) {
    const auto start = [&](const auto& outputs, const auto& decode_frames) {
      for (const std::size_t i : outputs.numbers) decoded[i].is_done = true;
      decode_frames(gpu_, std::span(outputs.tasks), [&](std::size_t i, const ArchiveError&) {
        decoded[outputs.numbers[i]].is_done = false;
      });
    };
    start(outputs_of<T, TilesOutput<T>>(frames, flaws), start_to_decode_tiles<T>);
    start(outputs_of<T, CellsOutput<T>>(frames, flaws), start_to_decode_cells<T>);
  }

  DeviceContext& gpu_;
};

}  // namespace

std::unique_ptr<FrameBatch> make_frame_batch(FrameSlot& slot, DeviceContext& gpu) {
  return std::make_unique<GpuFrameBatch>(slot, gpu);
}

}  // namespace cuszi::gpu
