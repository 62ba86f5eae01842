#include "codec/files/fortran_source.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/base/error.hpp"

namespace cuszi {

namespace {

/// Slabs of the last axis read together: a run in C order per position.
constexpr std::uint64_t most_slabs = 32;

/// Iterates over all but the last index, first axis fastest, with C-order offsets.
class CPlaces {
 public:
  explicit CPlaces(const std::vector<std::uint64_t>& shape)
      : shape_(shape.begin(), shape.end() - 1), index_(shape_.size()), strides_(shape_.size()) {
    std::uint64_t stride = shape.back();
    for (std::size_t axis = shape_.size(); axis-- > 0; stride *= shape_[axis]) {
      strides_[axis] = stride;
    }
  }

  std::uint64_t place() const { return place_; }

  void next() {
    for (std::size_t axis = 0; axis < shape_.size(); ++axis) {
      place_ += strides_[axis];
      if (++index_[axis] < shape_[axis]) return;
      place_ -= strides_[axis] * shape_[axis];
      index_[axis] = 0;
    }
  }

 private:
  std::vector<std::uint64_t> shape_;
  std::vector<std::uint64_t> index_;
  std::vector<std::uint64_t> strides_;
  std::uint64_t place_ = 0;
};

/// Moves values as integers.
template <class Word>
void read_in_c_order(const FileSource& file, const NpyArray& array, MutableBytes out) {
  auto* const values = reinterpret_cast<Word*>(out.data());
  const std::uint64_t slabs = array.shape.back();
  const std::uint64_t slab = array.values() / slabs;
  Buffer buffer;
  for (std::uint64_t first = 0; first < slabs; first += most_slabs) {
    const std::uint64_t count = std::min(most_slabs, slabs - first);
    const MutableBytes bytes = buffer.resize(count * slab * sizeof(Word));
    if (file.read_at(array.header_bytes + first * slab * sizeof(Word), bytes) != bytes.size()) {
      throw InputError(file.name() + ": was changed while it was read; wait until it is written");
    }
    const auto* const read = reinterpret_cast<const Word*>(bytes.data());
    CPlaces to(array.shape);
    for (std::uint64_t i = 0; i < slab; ++i, to.next()) {
      Word* const run = values + to.place() + first;
      for (std::uint64_t k = 0; k < count; ++k) run[k] = read[k * slab + i];
    }
  }
}

}  // namespace

FortranSource::FortranSource(std::unique_ptr<FileSource> file, NpyArray array)
    : file_(std::move(file)), array_(std::move(array)) {}

std::size_t FortranSource::read(MutableBytes out) {
  const std::size_t got = read_at(at_, out);
  at_ += got;
  return got;
}

std::size_t FortranSource::read_at(ByteCount offset, MutableBytes out) const {
  std::call_once(once_, [this] {
    const MutableBytes values = values_.resize(array_.bytes());
    array_.dtype == DType::f32 ? read_in_c_order<std::uint32_t>(*file_, array_, values)
                               : read_in_c_order<std::uint64_t>(*file_, array_, values);
  });
  const Bytes values = values_.view();
  const Bytes rest = values.subspan(std::min<ByteCount>(offset, values.size()));
  const std::size_t count = std::min(rest.size(), out.size());
  std::copy_n(rest.begin(), count, out.begin());
  return count;
}

ByteCount FortranSource::skip(ByteCount count) {
  const ByteCount skipped = std::min(count, array_.bytes() - std::min(at_, array_.bytes()));
  at_ += skipped;
  return skipped;
}

}  // namespace cuszi
