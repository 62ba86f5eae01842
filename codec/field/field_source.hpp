#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "codec/field/field_name.hpp"
#include "codec/io/background.hpp"
#include "codec/io/byte_source.hpp"
#include "core/archive/frame_plan.hpp"
#include "core/base/growing_memory.hpp"
#include "core/pipeline/pipeline.hpp"

namespace cuszi {

/// A raw field, frame by frame, in memory that holds one, and the next one where a file is read
/// ahead: whatever happens to its file meanwhile, all that is made of a frame is made of the same
/// values. Every function that reads throws InputError.
class FieldSource {
 public:
  /// Throws InputError if the source's size is not that of the field, unless other bytes may
  /// follow.
  FieldSource(std::unique_ptr<ByteSource> source, const FieldLayout& layout, const FieldCuts& plan);

  const FieldLayout& layout() const { return layout_; }
  const FieldCuts& plan() const { return plan_; }
  ByteCount frame_bytes(std::uint64_t i) const {
    return plan_.frame_dims(i).count() * size_of(layout_.dtype);
  }

  /// True if frames can be read only once and in their order.
  bool is_stream() const { return !source_->size() && !whole_; }

  /// Reads the whole field into memory, so that all frames can be read again.
  void hold();

  /// The values of frame `i` in the machine's byte order, valid until the next call. The last frame
  /// asked for can be asked for again, whatever the source, unless its memory was taken.
  Bytes frame(std::uint64_t i);

  /// Promises that every frame is asked for once, so that take() may give its memory away.
  void use_once() { is_used_once_ = true; }

  /// The values of frame `i` as frame() gives them, with their memory if it is the source's own and
  /// every frame is used once.
  FrameValues take(std::uint64_t i);

  /// The values of frame `i` where the source has them in a device's memory; else none.
  Bytes device_frame(std::uint64_t i) const;

  /// Fills `part` with the values of frame `i` from byte `offset` on, in the machine's byte order;
  /// for several threads at once. Not in a stream.
  void read_part(std::uint64_t i, ByteCount offset, MutableBytes part) const;

  /// Checks `hash`, the block_hash of frame `i`, against that of earlier readings; to be called
  /// whenever the frame has been read. For several threads with a frame each. Throws InputError if
  /// it differs: the file was changed meanwhile.
  void recognise(std::uint64_t i, std::uint64_t hash);

  /// Throws if others have changed the field's file meanwhile; to be called when the field is no
  /// longer needed.
  void expect_unchanged() const { source_->expect_unchanged(); }

  /// The open file that is read, if it is one; else -1.
  int descriptor() const { return source_->descriptor(); }

 private:
  /// The next frame on its way from a file.
  struct Ahead {
    Buffer buffer;
    std::optional<std::uint64_t> frame;
    std::size_t got = 0;
    Background reading;
  };

  Bytes usable(Bytes all, std::uint64_t i) const;
  bool take_ahead(std::uint64_t i);
  void read_ahead(std::uint64_t i);
  void move_to(ByteCount offset);
  void read(MutableBytes values);
  void require_all(ByteCount missing) const;
  void expect_end();

  std::unique_ptr<ByteSource> source_;
  FieldLayout layout_;
  FieldCuts plan_;
  Buffer buffer_;
  std::unique_ptr<Ahead> ahead_;
  std::optional<std::uint64_t> held_;                 ///< the frame in the buffer
  bool whole_ = false;                                ///< the buffer holds the field
  bool is_used_once_ = false;                         ///< see use_once()
  ByteCount position_ = 0;                            ///< in a stream
  std::vector<std::optional<std::uint64_t>> hashes_;  ///< of the frames that have been read
};

/// Opens a field as the options say and plans its frames, of about `frame_bytes` if given.
FieldSource open_field(const std::string& path, const FieldOptions& options,
                       std::optional<ByteCount> frame_bytes = {});

}  // namespace cuszi
