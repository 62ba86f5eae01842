#pragma once

#include <span>

#include "codec/field/field_source.hpp"
#include "codec/settings/settings.hpp"
#include "core/backend/backend.hpp"

namespace cuszi {

// Many small fields in a device's memory at once. Their archives are there too, or are read from
// the host's. Archives and values are those of compress_field() and restore_field(). What needs
// more than a batch has is left out without a word, to be done alone: other methods, large fields,
// masks, values that are stored or one and the same, too little room, damage.

/// A field of a batch and the memory for its archive.
struct FieldOfBatch {
  FieldLayout layout;
  const FieldSettings* settings;
  Bytes values;
  MutableBytes room;
  ByteCount size = 0;  ///< is set: of the archive; 0 if the field is left out

  ByteCount value_bytes() const { return values.size(); }
};

/// Whether fields with these settings may come with a batch.
bool may_join_batch(const FieldSettings& settings);

/// Whether a field of so many bytes gains anything by it.
constexpr bool is_small_in_batch(ByteCount bytes) { return bytes <= ByteCount{64} << 20; }

/// Compresses fields whose settings may come with a batch.
void compress_batch(Backend& backend, std::span<FieldOfBatch> fields);

/// An archive of a batch and the memory for its values.
struct ArchiveOfBatch {
  Bytes archive;
  MutableBytes room;
  bool is_on_host = false;  ///< the archive, not the values
  bool is_done = false;     ///< is set: all values are restored

  ByteCount value_bytes() const { return room.size(); }
};

/// Restores archives of one frame.
void restore_batch(Backend& backend, std::span<ArchiveOfBatch> archives);

}  // namespace cuszi
