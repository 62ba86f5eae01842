#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "codec/field/field_name.hpp"
#include "codec/io/byte_source.hpp"
#include "core/archive/frame_plan.hpp"
#include "core/base/growing_memory.hpp"
#include "core/pipeline/pipeline.hpp"
#include "cpu_ref/base/thread_pool.hpp"

namespace cuszi {

/// Reads a raw field frame by frame, files one frame ahead. Each frame is read once, so that all
/// uses see the same values even if the file changes. Readers throw InputError.
class FieldSource {
 public:
  /// Throws InputError if the size is wrong.
  FieldSource(std::unique_ptr<ByteSource> source, const FieldLayout& layout, const FieldCuts& plan);

  const FieldLayout& layout() const { return layout_; }
  const FieldCuts& plan() const { return plan_; }
  ByteCount frame_bytes(std::uint64_t i) const {
    return plan_.frame_dims(i).count() * size_of(layout_.dtype);
  }

  /// Whether frames can be read only once, in order.
  bool is_stream() const { return !source_->size() && !whole_; }

  /// Loads the field, so that frames can be read again.
  void hold();

  /// Frame `i` in native byte order, valid until the next call. The last frame can be read again
  /// unless take() moved it.
  Bytes frame(std::uint64_t i);

  /// Promises to read each frame once, so that take() may move it.
  void use_once() { is_used_once_ = true; }

  /// frame() with ownership, if possible.
  FrameValues take(std::uint64_t i);

  /// Frame `i` in device memory; empty if it is not there.
  Bytes device_frame(std::uint64_t i) const;

  /// Reads from byte `offset`, in native byte order. Thread-safe. Not for streams.
  void read_part(std::uint64_t i, ByteCount offset, MutableBytes part) const;

  /// Compares `hash` (block_hash) with earlier reads; call after each. Thread-safe for different
  /// frames. Throws InputError if the file has changed.
  void recognise(std::uint64_t i, std::uint64_t hash);

  /// Throws InputError if the file has changed; call at the end.
  void expect_unchanged() const { source_->expect_unchanged(); }

  /// -1 if there is no file.
  int descriptor() const { return source_->descriptor(); }

 private:
  struct Ahead {
    Buffer buffer;
    std::optional<std::uint64_t> frame;
    std::size_t got = 0;
    Task reading;
  };

  Bytes usable(Bytes all, std::uint64_t i) const;
  bool take_ahead(std::uint64_t i);
  void read_ahead(std::uint64_t i);
  void move_to(ByteCount offset);
  void read(ByteCount offset, MutableBytes values);
  void require_all(ByteCount missing) const;
  void expect_end();

  std::unique_ptr<ByteSource> source_;
  FieldLayout layout_;
  FieldCuts plan_;
  Buffer buffer_;
  std::unique_ptr<Ahead> ahead_;
  std::optional<std::uint64_t> held_;  ///< frame in the buffer
  bool whole_ = false;                 ///< holds the field
  bool is_used_once_ = false;
  ByteCount position_ = 0;                            ///< of a stream
  std::vector<std::optional<std::uint64_t>> hashes_;  ///< per frame read
};

/// Opens a field; plans frames of about `frame_bytes`, if given.
FieldSource open_field(const std::string& path, const FieldOptions& options,
                       std::optional<ByteCount> frame_bytes = {});

}  // namespace cuszi
