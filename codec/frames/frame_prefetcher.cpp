#include "codec/frames/frame_prefetcher.hpp"

#include <numeric>
#include <utility>

#include "codec/field/field_source.hpp"
#include "codec/frames/frame_scheduler.hpp"
#include "core/base/error.hpp"

namespace cuszi {

namespace {

/// Arena and archives, in frames; upper limit.
constexpr ByteCount frames_of_work = 6;

}  // namespace

FramePrefetcher::FramePrefetcher(Backend& backend, FieldSource& field, bool twice,
                                 std::size_t tracks, FrameShare share)
    : field_(field),
      transfer_(field.is_stream() ? nullptr : backend.transfer()),
      twice_(twice && field.plan().frames() > 1),
      share_(share),
      buffers_(tracks),
      free_(tracks) {
  std::iota(buffers_.begin(), buffers_.end(), std::size_t{0});
  if (transfer_ == nullptr || !twice_) return;
  if (!field.device_frame(0).empty() || !fits_device()) return;
  kept_.reset(transfer_);
  kept_places_.resize(field.plan().frames());
}

void FramePrefetcher::expect(std::uint64_t i) {
  if (transfer_ != nullptr && field_.device_frame(i).empty() && fetched_ != i) fetch(i);
}

FrameValues FramePrefetcher::frame(std::uint64_t i, Backend& user, std::size_t place) {
  if (transfer_ == nullptr) return field_.take(i);
  if (const Bytes values = field_.device_frame(i); !values.empty()) return values;
  if (fetched_ != i) fetch(i);
  fetching_.wait();
  fetched_.reset();
  if (!keeps(i)) std::swap(free_, buffers_[place]);
  const Bytes values = values_;
  if (twice_ && !kept_) field_.recognise(i, user.hashes({&values, 1}).front());
  if (const std::uint64_t next = i + share_.step; next < field_.plan().frames()) fetch(next);
  return values;
}

/// False if free memory is unknown.
bool FramePrefetcher::fits_device() const try {
  return ceil_div(field_.layout().field_bytes(), share_.step) +
             buffers_.size() * frames_of_work * field_.frame_bytes(0) <=
         transfer_->free_bytes();
} catch (const DeviceError&) {
  return false;
}

void FramePrefetcher::fetch(std::uint64_t i) {
  fetched_.reset();
  fetching_.wait();
  const bool is_there = keeps(i) && !kept_places_[i].empty();
  const std::size_t buffer =
      keeps(i) ? first_kept_buffer + i : buffer_for(DeviceBuffer::field, free_);
  values_ = is_there ? kept_places_[i] : transfer_->memory(buffer, field_.frame_bytes(i));
  fetched_ = i;
  if (is_there) return;
  if (keeps(i)) kept_places_[i] = values_;
  fetching_.start([this, i, to = values_] {
    transfer_->upload(
        to, [&](ByteCount offset, MutableBytes piece) { field_.read_part(i, offset, piece); });
  });
}

void FramePrefetcher::ReleaseKept::operator()(Transfer* transfer) const noexcept {
  transfer->release(first_kept_buffer);
}

}  // namespace cuszi
