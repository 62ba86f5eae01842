// The decoder of one archive, which cuszi.js drives. Calls return `done`, or `again` if bytes of
// the archive have to be fetched before the call is repeated, or `failed`. text() is JSON, or the
// error.

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <optional>
#include <string>

#include "codec/archive/amend.hpp"
#include "codec/archive/archive_reader.hpp"
#include "codec/settings/limits.hpp"
#include "core/archive/preview.hpp"
#include "core/base/error.hpp"
#include "core/base/growing_memory.hpp"
#include "core/pipeline/pipeline.hpp"
#include "cpu_ref/session/cpu_backend.hpp"

/// Copies bytes of the archive; 0 if they have not been fetched.
extern "C" [[clang::import_module("cuszi"), clang::import_name("read")]] int read_fetched(
    double offset, std::byte* to, std::size_t size);

namespace cuszi::browser {

namespace {

enum Status : int { done, again, failed };

struct NotFetched {};

/// Larger archives are refused, so that all sizes in one fit size_t.
constexpr ByteCount most_archive_bytes = (ByteCount{1} << 32) - 1;
/// Frames that take more memory to restore are refused.
constexpr ByteCount most_memory = ByteCount{1} << 31;

class FetchedSource final : public ByteSource {
 public:
  explicit FetchedSource(ByteCount size) : size_(size) {
    if (size <= most_archive_bytes) return;
    throw ArchiveError(
        fmt::format("the archive has {} bytes, more than {}", size, most_archive_bytes));
  }

  std::string name() const override { return "archive"; }
  std::optional<ByteCount> size() const override { return size_; }

  std::size_t read_at(ByteCount offset, MutableBytes out) const override {
    const ByteCount left = size_ - std::min(offset, size_);
    const std::size_t count = std::min<ByteCount>(out.size(), left);
    if (count == 0) return 0;
    if (read_fetched(static_cast<double>(offset), out.data(), count) == 0) throw NotFetched();
    return count;
  }

 private:
  ByteCount size_;
};

ByteCount bytes_of(const Preview& part, std::uint64_t frame, DType dtype) {
  return part.of_frame(frame).points() * size_of(dtype);
}

/// `out` has bytes_of(part, i) bytes, at least one.
void restore_frame(Backend& backend, ArchiveReader& reader, const Preview& part, std::uint64_t i,
                   MutableBytes out) {
  std::optional<FramePreview> shown;
  const ArchiveFrame frame = reader.frame(i, [&](const ArchiveFrame& table) {
    shown = FramePreview::of(table.shape.dims, table.header, part.of_frame(i));
    const ByteCount needed = restoring_bytes(table.shape, table.header, *shown);
    if (needed > most_memory) {
      throw MemoryError(fmt::format("frame {} ({} of {}) needs {} bytes to restore, more than {}",
                                    i, table.shape.dims.to_string(), name_of(table.shape.dtype),
                                    needed, most_memory));
    }
    return shown->levels;
  });
  StepTimes times;
  decompress_frame(backend, frame.shape, frame.header, *shown, frame.payload, out, times);
}

void restore_all(Backend& backend, ArchiveReader& reader, MutableBytes out) {
  const Preview whole(reader.header().plan, 1);
  for (std::uint64_t i = 0; i < reader.frames(); ++i) {
    const MutableBytes values = out.first(bytes_of(whole, i, reader.header().dtype));
    restore_frame(backend, reader, whole, i, values);
    out = out.subspan(values.size());
  }
}

/// No bound is null.
std::string json_of(double bound) {
  return bound < no_bound ? fmt::format("{}", bound) : std::string("null");
}

class Archive {
 public:
  explicit Archive(double bytes) : source_(static_cast<ByteCount>(bytes)), reader_(source_) {
    first_ = reader_.frame(0, [](const ArchiveFrame&) { return std::size_t{0}; });
    if (!reader_.amendment()) return;
    amended_.emplace(reader_, most_memory, [this](ArchiveReader& inner, MutableBytes values) {
      restore_all(*backend_, inner, values);
    });
  }

  std::string report() const {
    const ArchiveHeader& header = reader_.header();
    const FrameHeader& frame = first_.header;
    return fmt::format(
        R"({{"shape":[{}],"dtype":"{}","fieldBytes":{},"archiveBytes":{},"mode":"{}","asked":{},)"
        R"("pointwise":{},"bound":{},"fills":[{}],"frames":{},"members":{},"kind":"{}",)"
        R"("predictor":"{}","coder":"{}","warning":"{}"}})",
        fmt::join(header.plan.dims.extents(), ","), name_of(header.dtype),
        header.plan.dims.count() * size_of(header.dtype), *source_.size(), name_of(header.mode),
        json_of(header.bound_asked), json_of(header.share_asked), json_of(header.bound_absolute),
        fmt::join(std::span(header.fills.values).first(header.fills.count), ","), reader_.frames(),
        reader_.members(), name_of(frame.kind),
        frame.predictor ? name_of(id_of(*frame.predictor)) : "none",
        frame.coder ? name_of(*frame.coder) : "none", reader_.unfinished_warning());
  }

  /// `box` is first index and end of each axis. Returns the shape of the part.
  std::string select(std::span<const double> box, std::uint64_t stride) {
    const FieldCuts& plan = reader_.header().plan;
    Box chosen;
    for (std::size_t axis = 0; axis < plan.dims.extents().size(); ++axis) {
      chosen.first.at(axis) = static_cast<std::uint64_t>(box[2 * axis]);
      chosen.end.at(axis) = static_cast<std::uint64_t>(box[2 * axis + 1]);
    }
    if (!std::has_single_bit(stride) || stride > most_stride) {
      throw UsageError(
          fmt::format("a stride of {}; it is a power of two from 1 to {}", stride, most_stride));
    }
    part_.emplace(plan, stride, chosen);
    part_->choose_axes(first_.shape.dims, first_.header);
    return fmt::format("[{}]", fmt::join(part_->dims().extents(), ","));
  }

  /// The selected values of a frame; maybe none.
  void restore(std::uint64_t frame) {
    const ArchiveHeader& header = reader_.header();
    const ByteCount size = bytes_of(part_.value(), frame, header.dtype);
    if (size > most_memory) {
      throw MemoryError(
          fmt::format("frame {} has {} bytes of values, more than {}", frame, size, most_memory));
    }
    values_.resize(size);
    if (size == 0) return;
    restore_frame(*backend_, reader_, *part_, frame, values_.view());
    if (!amended_) return;
    amended_->put(header.plan.origin(frame), part_->of_frame(frame), values_.view());
  }

  MutableBytes values() const { return values_.view(); }

 private:
  FetchedSource source_;
  ArchiveReader reader_;
  ArchiveFrame first_;  ///< its table
  std::unique_ptr<Backend> backend_ = cpu::make_backend();
  std::optional<AmendedPoints> amended_;
  std::optional<Preview> part_;
  Buffer values_;
};

std::optional<Archive> archive;
std::string answer;

template <class Work>
Status call(const Work& work) noexcept {
  try {
    work();
    return done;
  } catch (const NotFetched&) {
    return again;
  } catch (const std::bad_alloc&) {
    answer = "not enough memory";
  } catch (const std::exception& error) {
    answer = error.what();
  }
  return failed;
}

}  // namespace

}  // namespace cuszi::browser

using namespace cuszi::browser;

extern "C" {

int cuszi_open(double bytes) {
  return call([&] {
    archive.emplace(bytes);
    answer = archive->report();
  });
}

int cuszi_select(double first0, double end0, double first1, double end1, double first2, double end2,
                 double first3, double end3, double stride) {
  return call([&] {
    const double box[] = {first0, end0, first1, end1, first2, end2, first3, end3};
    answer = archive.value().select(box, static_cast<std::uint64_t>(stride));
  });
}

int cuszi_restore(double frame) {
  return call([&] { archive.value().restore(static_cast<std::uint64_t>(frame)); });
}

const char* cuszi_text() { return answer.data(); }
std::size_t cuszi_text_size() { return answer.size(); }
std::byte* cuszi_values() { return archive.value().values().data(); }
std::size_t cuszi_values_size() { return archive.value().values().size(); }

}  // extern "C"
