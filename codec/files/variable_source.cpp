#include "codec/files/variable_source.hpp"

#include <algorithm>
#include <cstring>

namespace cuszi {

namespace {

constexpr ByteCount least_read = 4 << 20;   ///< per call
constexpr ByteCount most_held = 256 << 20;  ///< unless a chunk is larger

/// The container libraries are not thread-safe.
std::mutex& libraries() {
  static std::mutex mutex;
  return mutex;
}

}  // namespace

VariableSource::VariableSource(std::string name, std::shared_ptr<Container> container,
                               Variable variable, std::unique_ptr<FileSource> file)
    : name_(std::move(name)),
      container_(std::move(container)),
      variable_(std::move(variable)),
      file_(std::move(file)) {
  size_ = size_of(*variable_.dtype) * variable_.values();
  row_bytes_ = size_;
  const std::size_t rank = variable_.extents.size();
  for (std::size_t axis = 0; axis < rank; ++axis) {
    cut_ = axis;
    rows_ = variable_.extents[axis];
    row_bytes_ /= std::max<std::uint64_t>(rows_, 1);
    thickness_ = variable_.chunk.empty() ? 1 : std::min(variable_.chunk[axis], rows_);
    if (rows_ > 1 && thickness_ * row_bytes_ <= most_held) break;
  }
  const ByteCount together = std::max<ByteCount>(thickness_ * row_bytes_, 1);
  thickness_ = std::min(rows_, thickness_ * std::max<ByteCount>(1, least_read / together));
}

std::size_t VariableSource::read_at(ByteCount offset, MutableBytes out) const {
  const std::scoped_lock turn(libraries());
  const std::size_t wanted = std::min<ByteCount>(out.size(), size_ - std::min(offset, size_));
  for (std::size_t done = 0; done < wanted;) {
    done += read_some(offset + done, out.subspan(done, wanted - done));
  }
  return wanted;
}

/// Caches a partly read chunk.
std::size_t VariableSource::read_some(ByteCount offset, MutableBytes out) const {
  const std::uint64_t row = offset / row_bytes_;
  const std::uint64_t in_cut = row % rows_;
  const ByteCount within = offset % row_bytes_;
  const std::uint64_t left = std::min<std::uint64_t>(out.size() / row_bytes_, rows_ - in_cut);
  if (within == 0 && in_cut % thickness_ == 0) {
    const std::uint64_t whole = in_cut + left == rows_ ? left : left / thickness_ * thickness_;
    if (whole != 0) {
      read_rows(row, whole, out.first(whole * row_bytes_));
      return whole * row_bytes_;
    }
  }
  const std::uint64_t first = row - in_cut % thickness_;
  if (held_rows_ == 0 || held_first_ != first) {
    held_rows_ = 0;
    const std::uint64_t rows = std::min(thickness_, rows_ - first % rows_);
    read_rows(first, rows, held_.resize(rows * row_bytes_));
    held_first_ = first;
    held_rows_ = rows;
  }
  const Bytes rest = held_.view().subspan(offset - first * row_bytes_);
  const std::size_t count = std::min(rest.size(), out.size());
  std::memcpy(out.data(), rest.data(), count);
  return count;
}

void VariableSource::read_rows(std::uint64_t first, std::uint64_t count, MutableBytes out) const {
  std::vector<std::uint64_t> start(variable_.extents.size(), 0);
  std::vector<std::uint64_t> counts = variable_.extents;
  if (!start.empty()) {
    start[cut_] = first % rows_;
    counts[cut_] = count;
    std::uint64_t outer = first / rows_;
    for (std::size_t axis = cut_; axis-- > 0;) {
      start[axis] = outer % variable_.extents[axis];
      counts[axis] = 1;
      outer /= variable_.extents[axis];
    }
  }
  container_->read(variable_, start, counts, out);
}

}  // namespace cuszi
