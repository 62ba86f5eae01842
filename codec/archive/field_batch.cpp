#include "codec/archive/field_batch.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "codec/archive/field_codec.hpp"
#include "codec/field/fill_watch.hpp"
#include "core/archive/archive.hpp"
#include "core/archive/frame.hpp"
#include "core/pipeline/pipeline_batch.hpp"

namespace cuszi {

namespace {

/// Limits of the intermediate memory.
constexpr ByteCount most_bytes_together = ByteCount{4} << 30;
constexpr std::size_t most_together = 1 << 12;

template <class Member, class Part>
void by_parts(std::span<Member> members, const Part& part) {
  while (!members.empty()) {
    ByteCount bytes = 0;
    std::size_t count = 0;
    while (count < std::min(members.size(), most_together)) {
      bytes += members[count].value_bytes();
      if (count != 0 && bytes > most_bytes_together) break;
      ++count;
    }
    part(members.first(count));
    members = members.subspan(count);
  }
}

bool is_aligned(const void* values, DType dtype) {
  return reinterpret_cast<std::uintptr_t>(values) % size_of(dtype) == 0;
}

struct FieldInWork {
  std::size_t number;
  BatchFrame frame;
  FieldCuts plan;
  PredictorParams draft;
  double bound = 0;
  std::optional<BatchRange> scanned = {};
  BatchRange range = {};  ///< see FrameToCode
  bool is_left_out = false;
  std::vector<std::byte> header = {};
  std::vector<std::byte> footer = {};
  MutableBytes archive = {};  ///< empty: buffer too small
};

/// Nullopt for a field of several frames.
std::optional<FieldInWork> begin_field(const FieldOfBatch& field, std::size_t number) {
  const FieldLayout& layout = field.layout;
  const FieldCuts plan = plan_frames(layout.dims, layout.dtype, field.settings->frame_bytes);
  if (plan.frames() != 1 || is_cast(layout.dtype) || !is_aligned(field.values.data(), layout.dtype))
    return std::nullopt;
  const Dims dims = plan.frame_dims(0);
  return FieldInWork{number,
                     {{layout.dtype, dims}, field.values},
                     plan,
                     draft_predictor(field.settings->frame, dims)};
}

/// Each step runs for the fields still in the batch.
class FieldsInWork {
 public:
  FieldsInWork(FrameBatch& batch, std::span<FieldOfBatch> fields)
      : batch_(batch),
        fields_(fields),
        work_(find_present<FieldInWork>(batch, fields.size(), [&](std::size_t i) {
                return begin_field(fields[i], i);
              }).values) {}

  void find_bounds() {
    const std::vector<std::size_t> unknown = those(
        [&](const FieldInWork& one) { return settings_of(one).needs_range() || is_of_cells(one); });
    const auto ranges = batch_.scan(frames_of(unknown));
    for (std::size_t k = 0; k < unknown.size(); ++k) {
      work_[unknown[k]].scanned = ranges[k];
      work_[unknown[k]].is_left_out = !ranges[k];
    }
    drop_left_out();
    batch_.for_each(work_.size(), [&](std::size_t i) {
      FieldInWork& one = work_[i];
      ValueRange range = settings_of(one).range.value_or(ValueRange{});
      if (settings_of(one).needs_range()) range.add(one.scanned->min, one.scanned->max);
      const ArchiveHeader header =
          archive_header(one.frame.shape.dtype, one.plan, settings_of(one), range);
      one.bound = header.bound_absolute;
      one.header = write_archive_header(header);
      one.is_left_out = one.bound <= 0;
    });
    drop_left_out();
  }

  void find_ranges() {
    const std::vector<std::size_t> unknown =
        those([](const FieldInWork& one) { return !is_of_cells(one); });
    const auto samples = batch_.sample(frames_of(unknown));
    for (FieldInWork& one : work_) one.range = one.scanned.value_or(BatchRange{});
    for (std::size_t k = 0; k < unknown.size(); ++k) {
      work_[unknown[k]].range = samples[k].value_or(BatchRange{});
      work_[unknown[k]].is_left_out = !samples[k];
    }
    drop_left_out();
  }

  /// Drops fields that need warnings.
  void look_for_fills() {
    const std::vector<std::size_t> doubtful = those([&](const FieldInWork& one) {
      return settings_of(one).needs_range() || one.range.magnitude() >= ordinary_bounds * one.bound;
    });
    if (doubtful.empty()) return;
    const auto watch_of = [&](std::size_t i) { return fill_watch_for(settings_of(work_[i])); };
    std::vector<std::uint64_t> counts;
    counts.reserve(doubtful.size());
    for (const std::size_t i : doubtful)
      counts.push_back(watch_of(i).samples_of(work_[i].frame.shape.points()));
    const auto drawn = batch_.draw(frames_of(doubtful), counts);
    batch_.for_each(doubtful.size(), [&](std::size_t k) {
      FillWatch watch = watch_of(doubtful[k]);
      FieldInWork& one = work_[doubtful[k]];
      watch.look_at(one.frame.shape.dtype, one.frame.shape.points(), drawn[k]);
      const bool has_doubtful_ends =
          settings_of(one).needs_range() &&
          !watch.doubtful_ends(one.scanned->min, one.scanned->max).empty();
      one.is_left_out = has_doubtful_ends || !watch.warnings().empty();
    });
    drop_left_out();
  }

  void compress() {
    std::vector<FrameToCode> frames;
    for (const FieldInWork& one : work_)
      frames.push_back({one.frame, one.draft, one.range, one.bound});
    const std::vector<std::vector<std::byte>> tables = compress_batch(
        batch_, frames, [&](std::size_t i, ByteCount size) { return place_of(work_[i], size); });
    std::vector<BatchCopy> pieces;
    for (std::size_t i = 0; i < work_.size(); ++i) {
      FieldInWork& one = work_[i];
      if (tables[i].empty()) continue;
      one.header.insert(one.header.end(), tables[i].begin(), tables[i].end());
      pieces.push_back({one.header, one.archive.first(one.header.size())});
      pieces.push_back({one.footer, one.archive.last(one.footer.size())});
    }
    batch_.upload(pieces);
    for (std::size_t i = 0; i < work_.size(); ++i) {
      if (!tables[i].empty()) fields_[work_[i].number].size = work_[i].archive.size();
    }
  }

 private:
  const FieldSettings& settings_of(const FieldInWork& one) const {
    return *fields_[one.number].settings;
  }

  /// Empty if the buffer is too small.
  MutableBytes place_of(FieldInWork& one, ByteCount size) const {
    const MutableBytes room = fields_[one.number].room;
    one.footer = write_archive_footer({size});
    const ByteCount all = one.header.size() + size + one.footer.size();
    if (all > room.size()) return {};
    one.archive = room.first(all);
    return one.archive.subspan(one.header.size(), size);
  }

  template <class Is>
  std::vector<std::size_t> those(const Is& is) const {
    std::vector<std::size_t> numbers;
    for (std::size_t i = 0; i < work_.size(); ++i) {
      if (is(work_[i])) numbers.push_back(i);
    }
    return numbers;
  }
  std::vector<BatchFrame> frames_of(const std::vector<std::size_t>& numbers) const {
    std::vector<BatchFrame> frames;
    frames.reserve(numbers.size());
    for (const std::size_t i : numbers) frames.push_back(work_[i].frame);
    return frames;
  }
  static bool is_of_cells(const FieldInWork& one) {
    return std::holds_alternative<CellsParams>(one.draft);
  }
  void drop_left_out() {
    std::erase_if(work_, [](const FieldInWork& one) { return one.is_left_out; });
  }

  FrameBatch& batch_;
  std::span<FieldOfBatch> fields_;
  std::vector<FieldInWork> work_;
};

void compress_part(FrameBatch& batch, std::span<FieldOfBatch> fields) {
  FieldsInWork work(batch, fields);
  work.find_bounds();
  work.find_ranges();
  work.look_for_fills();
  work.compress();
}

/// Enough for a header without fill values and a footer of one frame.
struct ArchiveEnds {
  std::array<std::byte, 256> begin;
  std::array<std::byte, 32> end;
};

struct ArchiveInWork {
  std::size_t number;
  FrameToRestore frame;
};

/// Nullopt if damaged or longer than `ends`.
std::optional<ArchiveInWork> begin_archive(const ArchiveOfBatch& archive, const ArchiveEnds& ends,
                                           std::size_t number) try {
  const Bytes all = archive.archive;
  ByteReader in(Bytes(ends.begin).first(std::min(all.size(), ends.begin.size())), "the archive");
  const ByteCount body = read_archive_prefix(in.take(archive_prefix_bytes));
  const ArchiveHeader header = read_archive_header(in.take(body));
  if (header.plan.frames() != 1) return std::nullopt;
  const ByteCount header_bytes = in.position();
  const FrameShape shape{header.dtype, header.plan.frame_dims(0)};
  const ByteCount table = read_frame_prefix(in.take(frame_prefix_bytes));
  FrameHeader frame = read_frame_header(in.take(table), shape.dims, shape.dtype);

  const ByteCount payload_bytes = frame.payload_bytes();
  const std::vector<std::byte> footer =
      write_archive_footer({in.position() - header_bytes + payload_bytes});
  const bool is_whole = may_join_batch(frame) && frame.index == 0 &&
                        footer.size() <= ends.end.size() &&
                        all.size() == in.position() + payload_bytes + footer.size() &&
                        std::equal(footer.rbegin(), footer.rend(), ends.end.rbegin());
  const MutableBytes room = archive.room;
  if (!is_whole || is_cast(shape.dtype) || room.size() < shape.bytes() ||
      !is_aligned(room.data(), shape.dtype)) {
    return std::nullopt;
  }
  return ArchiveInWork{number,
                       {shape, std::move(frame), all.subspan(in.position(), payload_bytes),
                        room.first(shape.bytes())}};
} catch (const ArchiveError&) {
  return std::nullopt;
}

std::vector<ArchiveEnds> read_ends(FrameBatch& batch, std::span<const ArchiveOfBatch> archives) {
  std::vector<ArchiveEnds> ends(archives.size());
  std::vector<BatchCopy> pieces;
  for (std::size_t i = 0; i < archives.size(); ++i) {
    const Bytes all = archives[i].archive;
    const MutableBytes begin(ends[i].begin);
    const MutableBytes end(ends[i].end);
    const Bytes first = all.first(std::min(all.size(), begin.size()));
    const Bytes last = all.last(std::min(all.size(), end.size()));
    if (archives[i].is_on_host) {
      std::copy(first.begin(), first.end(), begin.begin());
      std::copy(last.begin(), last.end(), end.last(last.size()).begin());
      continue;
    }
    pieces.push_back({first, begin.first(first.size())});
    pieces.push_back({last, end.last(last.size())});
  }
  if (!pieces.empty()) batch.download(pieces);
  return ends;
}

void bring_payloads(FrameBatch& batch, std::span<const ArchiveOfBatch> archives,
                    std::span<ArchiveInWork> work) {
  std::vector<std::size_t> places;
  std::vector<Bytes> payloads;
  for (std::size_t i = 0; i < work.size(); ++i) {
    if (!archives[work[i].number].is_on_host) continue;
    places.push_back(i);
    payloads.push_back(work[i].frame.payload);
  }
  if (payloads.empty()) return;
  const std::vector<Bytes> brought = batch.bring(payloads);
  for (std::size_t i = 0; i < places.size(); ++i) work[places[i]].frame.payload = brought[i];
}

void restore_part(FrameBatch& batch, std::span<ArchiveOfBatch> archives) {
  const std::vector<ArchiveEnds> ends = read_ends(batch, archives);
  auto work = find_present<ArchiveInWork>(batch, archives.size(), [&](std::size_t i) {
                return begin_archive(archives[i], ends[i], i);
              }).values;
  bring_payloads(batch, archives, work);
  std::vector<FrameToRestore> frames;
  frames.reserve(work.size());
  for (ArchiveInWork& one : work) frames.push_back(std::move(one.frame));
  const std::vector<char> restored = decompress_batch(batch, frames);
  for (std::size_t i = 0; i < work.size(); ++i) archives[work[i].number].is_done = restored[i] != 0;
}

}  // namespace

bool may_join_batch(const FieldSettings& settings) {
  const FrameConfig& frame = settings.frame;
  return is_for_batches(frame.predictor.id) && frame.lossless == Lossless::none &&
         frame.isovalues.count == 0 && settings.mode < ErrorMode::pointwise &&
         settings.fills.count == 0 && !settings.places.any();
}

void compress_batch(Backend& backend, std::span<FieldOfBatch> fields) {
  by_parts(fields, [&](std::span<FieldOfBatch> part) {
    if (const auto batch = backend.batch()) compress_part(*batch, part);
  });
}

void restore_batch(Backend& backend, std::span<ArchiveOfBatch> archives) {
  by_parts(archives, [&](std::span<ArchiveOfBatch> part) {
    if (const auto batch = backend.batch()) restore_part(*batch, part);
  });
}

}  // namespace cuszi
