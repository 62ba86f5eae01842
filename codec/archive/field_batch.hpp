#pragma once

#include <span>

#include "codec/field/field_source.hpp"
#include "codec/settings/settings.hpp"
#include "core/backend/backend.hpp"

namespace cuszi {

// Many small fields in device memory at once; archives may be in host memory. Results equal those
// of single calls. Unsupported members are skipped for the caller to do singly: other methods,
// large fields, masks, stored or constant values, small buffers, damage.

/// `room` is the buffer for the archive.
struct FieldOfBatch {
  FieldLayout layout;
  const FieldSettings* settings;
  Bytes values;
  MutableBytes room;
  ByteCount size = 0;  ///< output: archive size; 0 if skipped

  ByteCount value_bytes() const { return values.size(); }
};

bool may_join_batch(const FieldSettings& settings);

/// Larger fields gain nothing from a batch.
constexpr bool is_small_in_batch(ByteCount bytes) { return bytes <= ByteCount{64} << 20; }

/// All settings must satisfy may_join_batch().
void compress_batch(Backend& backend, std::span<FieldOfBatch> fields);

/// `room` is the buffer for the values.
struct ArchiveOfBatch {
  Bytes archive;
  MutableBytes room;
  bool is_on_host = false;  ///< of the archive only
  bool is_done = false;     ///< output: all values are restored

  ByteCount value_bytes() const { return room.size(); }
};

/// Restores archives of one frame each.
void restore_batch(Backend& backend, std::span<ArchiveOfBatch> archives);

}  // namespace cuszi
