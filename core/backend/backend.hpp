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
#include "core/field/frame_shape.hpp"
#include "core/field/metrics.hpp"
#include "core/field/restore_rules.hpp"

namespace cuszi {

/// Waits for hashes that are being computed and returns them, in the order of the strings.
using PendingHashes = std::function<std::vector<std::uint64_t>()>;

/// A CPU or a device that computes: it makes the sessions that take frames from values to sections
/// and back, one at a time, on one thread, and keeps its memory from one session to the next.
class Backend {
 public:
  Backend() = default;
  Backend(const Backend&) = delete;
  Backend& operator=(const Backend&) = delete;
  virtual ~Backend() = default;

  /// "cpu", or the device's name.
  virtual std::string name() const = 0;

  /// The transfers to and from the backend's own memory; null if it works in the host's.
  virtual Transfer* transfer() { return nullptr; }

  /// Another backend of the same device, on which another thread may work on a frame of up to
  /// `frame_bytes` bytes at the same time. It shares the transfers of this backend and is destroyed
  /// with it. Null where one frame takes the whole device, or memory is short.
  virtual Backend* sibling(ByteCount /*frame_bytes*/) { return nullptr; }

  /// Waits until all work that was started is done, so that the time of a step can be measured.
  virtual void synchronize() noexcept {}

  /// Begins to encode a frame by a predictor whose geometry is that of `draft`. `known` is what an
  /// earlier session for this frame has scanned, if there was one. `values` must stay valid as long
  /// as the session, or until PassEncoder::most_bytes() has told something.
  virtual std::unique_ptr<EncodeSession> encode(const FrameShape& shape, Bytes values,
                                                const ValueRules& rules,
                                                const PredictorParams& draft,
                                                const std::optional<FieldScan>& known) = 0;
  /// Begins to restore a frame from its payload, which must stay valid as long as the session.
  virtual std::unique_ptr<DecodeSession> decode(Bytes payload) = 0;

  /// Begins to work on many small frames in its memory together. Null where that wins nothing.
  virtual std::unique_ptr<FrameBatch> batch() { return nullptr; }

  /// Compares restored values with the original ones under a bound and rules. Not during a session.
  virtual Quality measure_quality(DType dtype, Bytes original, Bytes restored,
                                  const ValueRules& rules, const ValueBound& bound) = 0;

  // Services, in the backend's memory or the host's.

  /// Work of the host, by as many threads as the backend has for that.
  virtual void for_each(std::size_t count, const std::function<void(std::size_t)>& each) {
    one_by_one(count, each);
  }

  /// The block_hash of each string.
  virtual std::vector<std::uint64_t> hashes(std::span<const Bytes> strings) = 0;
  /// Starts to compute the block_hash of each string while the session in use works on. The result
  /// must be read before that session ends. Empty where the backend cannot compute both at once;
  /// then use hashes().
  virtual PendingHashes start_hashes(std::span<const Bytes> /*strings*/) { return {}; }
  /// Copies `from` to `to`, of the same size; complete on return.
  virtual void copy(Bytes from, MutableBytes to) = 0;
  /// Copies the sections of all passes one after the other to `out`, of exactly their size.
  virtual void gather(std::span<const Sections> passes, MutableBytes out) = 0;
};

/// Backend::for_each() for what takes a function.
inline ForEach host_work_of(Backend& backend) {
  return [&backend](std::size_t count, const std::function<void(std::size_t)>& each) {
    backend.for_each(count, each);
  };
}

}  // namespace cuszi
