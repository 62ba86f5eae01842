#pragma once

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "codec/archive/field_codec.hpp"
#include "codec/frames/call_times.hpp"
#include "codec/io/byte_sink.hpp"
#include "codec/io/file_descriptor.hpp"
#include "core/base/growing_memory.hpp"

namespace cuszi {

/// An unlinked file in TMPDIR. All functions throw OutputError.
class ScratchFile final : public ByteSink {
 public:
  ScratchFile();

  void write(Bytes bytes) override;
  bool takes_any_order() const override { return true; }
  void write_at(ByteCount offset, Bytes bytes) override;
  void set_size(ByteCount size) { parts_.set_size(file_.get(), size); }

  /// Opens the file.
  std::string path() const;

 private:
  FileDescriptor file_;
  FileParts parts_;
};

/// Compresses and restores single frames in a backend's memory, without files and transfers.
class Workbench {
 public:
  explicit Workbench(Backend& backend) : backend_(backend) {}

  Backend& backend() const { return backend_; }

  /// Sets the frame, which must stay valid, and its local bounds.
  void put(const FrameShape& shape, Bytes values, std::optional<AskedBounds> asked = {});

  /// Within the backend's memory.
  void copy(CallTimes& times);

  FrameReport compress(const FieldSettings& settings, const ValueBound& bound, CallTimes& times,
                       const FrameAdvice& advice = {});

  /// In the backend's memory.
  Bytes archive() const { return archive_; }

  /// Local bounds of the last archive, whose header this is.
  std::optional<FrameBoundsByPlace> bounds(const FrameHeader& header) const;

  /// From the header on; `archive` may be in any memory.
  void restore(const FrameShape& shape, Bytes archive, CallTimes& times);

  /// The last, in host memory.
  Bytes restored();

  /// Waits after each step, for exact times.
  CallTimes synchronized_times() const;

 private:
  MutableBytes room(std::size_t number, Buffer& on_host, ByteCount size);

  Backend& backend_;
  FrameShape shape_;
  Bytes values_;
  std::optional<AskedBounds> asked_;
  MutableBytes archive_;
  MutableBytes restored_;
  Buffer archive_room_;
  Buffer restored_room_;
  Buffer host_;
};

class Runs {
 public:
  void add(CallTimes times) { runs_.push_back(std::move(times)); }

  /// By time; the faster of two.
  const CallTimes& median();

 private:
  std::vector<CallTimes> runs_;
};

/// The lower median; reorders `values`.
template <class T, class Less = std::less<>>
const T& median_of(std::vector<T>& values, const Less& less = {}) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 2);
  std::nth_element(values.begin(), middle, values.end(), less);
  return *middle;
}

}  // namespace cuszi
