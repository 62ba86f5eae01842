#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/backend/decode_session.hpp"
#include "core/backend/encode_session.hpp"
#include "core/backend/frame_batch.hpp"
#include "core/backend/transfer.hpp"
#include "core/base/unmovable.hpp"
#include "core/field/frame_shape.hpp"
#include "core/field/metrics.hpp"
#include "core/field/restore_rules.hpp"

namespace cuszi {

/// Returns pending hashes in the order of the strings, and waits if necessary.
using PendingHashes = std::function<std::vector<std::uint64_t>()>;

/// A CPU or GPU. Creates one session at a time, used by one thread, and reuses memory between
/// sessions.
class Backend : public Interface {
 public:
  /// "cpu", or the device's name.
  virtual std::string name() const = 0;

  /// Null if the backend works in host memory.
  virtual Transfer* transfer() { return nullptr; }

  /// A backend on the same device for another thread, with frames of up to `frame_bytes`. Shares
  /// transfers with this one, which owns it. Null if memory is insufficient.
  virtual Backend* sibling(ByteCount /*frame_bytes*/) { return nullptr; }

  /// Waits for pending work, to measure times.
  virtual void synchronize() noexcept {}

  /// `shape` and `values` are of the stored type, `rules` are work_rules(). `draft` gives the
  /// predictor's geometry, `known` the scan of an earlier session. `values` must stay valid as long
  /// as the session, or until PassEncoder::most_bytes() returns a value.
  virtual std::unique_ptr<EncodeSession> encode(const FrameShape& shape, Bytes values,
                                                const ValueRules& rules,
                                                const PredictorParams& draft,
                                                const std::optional<FieldScan>& known) = 0;
  /// The payload must stay valid as long as the session.
  virtual std::unique_ptr<DecodeSession> decode(Bytes payload) = 0;

  /// Many small frames in the backend's memory; null if unsupported.
  virtual std::unique_ptr<FrameBatch> batch() { return nullptr; }

  /// Not during a session.
  virtual Quality measure_quality(DType dtype, Bytes original, Bytes restored,
                                  const ValueRules& rules, const ValueBound& bound) = 0;

  // Memory may be the backend's or the host's.

  /// Host work on the backend's threads.
  virtual void for_each(std::size_t count, const std::function<void(std::size_t)>& each) {
    one_by_one(count, each);
  }

  virtual std::vector<std::uint64_t> hashes(std::span<const Bytes> strings) = 0;
  /// Starts hashes() concurrently with the session, which must not end before the result is read.
  /// Empty if unsupported.
  virtual PendingHashes start_hashes(std::span<const Bytes> /*strings*/) { return {}; }
  /// Concatenates strings of the backend's memory, whose hashes it starts like start_hashes().
  /// Empty, and nothing copied, if unsupported.
  virtual PendingHashes start_hashed_copy(std::span<const Bytes> /*strings*/,
                                          MutableBytes /*out*/) {
    return {};
  }
  /// Both have the same size; complete on return.
  virtual void copy(Bytes from, MutableBytes to) = 0;
  /// Concatenates sections; `out` has exactly their size.
  virtual void gather(std::span<const Sections> passes, MutableBytes out) = 0;
};

inline ForEach host_work_of(Backend& backend) {
  return [&backend](std::size_t count, const std::function<void(std::size_t)>& each) {
    backend.for_each(count, each);
  };
}

}  // namespace cuszi
