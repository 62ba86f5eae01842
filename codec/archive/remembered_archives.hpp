#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <vector>

#include "core/base/dims.hpp"
#include "core/base/dtype.hpp"
#include "core/base/units.hpp"
#include "core/field/mask.hpp"

namespace cuszi {

/// What fields must have alike for one to be a changed version of the other.
struct FieldKind {
  DType dtype = DType::f32;
  Dims dims;
  std::uint64_t settings = 0;  ///< a hash of those that they are compressed with

  friend bool operator==(const FieldKind&, const FieldKind&) = default;
};

/// Archives that were restored and may come back, changed in part, to be compressed: what writes
/// chunks of which HDF5 or Zarr knows only all. For several threads at once.
class RememberedArchives {
 public:
  /// Those of the process. A forked child has its own.
  static RememberedArchives& of_process();

  /// Remembers an archive and a few of the values that it was restored to, unless it is so large
  /// that little else would fit. Forgets what was not used for longest. Without values, which may
  /// be far away, the archive is restored when it may be needed.
  void add(const FieldKind& kind, std::vector<std::byte> archive, Bytes values);

  bool has(const FieldKind& kind) const;

  /// An archive, which stays as long as it is looked at.
  using Archive = std::shared_ptr<const std::vector<std::byte>>;

  /// Gives the values of an archive.
  using Restore = std::function<std::vector<std::byte>(Bytes archive)>;

  /// Archives of this kind that together agree with all values of a field that any agrees with, as
  /// far as a few values tell: a few archives, that with most of them first; none if no value
  /// agrees. Values that are missing count less than all others: they come back exactly anyway.
  std::vector<Archive> nearest(const FieldKind& kind, Bytes values, const FillValues& fills,
                               const Restore& restore);

 private:
  static constexpr ByteCount most_bytes = ByteCount{64} << 20;
  static constexpr std::size_t most_entries = 1024;  ///< more would take long to look through
  static constexpr std::size_t most_nearest = 4;

  struct Entry {
    FieldKind kind;
    Archive archive;
    std::vector<std::byte> sample;  ///< of its values; empty until they are known
    ByteCount bytes;
  };

  void complete(const FieldKind& kind, const Restore& restore);

  mutable std::mutex mutex_;
  std::list<Entry> entries_;  ///< the last used first
  ByteCount bytes_ = 0;
};

}  // namespace cuszi
