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

/// Equal for two versions of a field.
struct FieldKind {
  DType dtype = DType::f32;
  Dims dims;
  std::uint64_t settings = 0;  ///< hash

  friend bool operator==(const FieldKind&, const FieldKind&) = default;
};

/// Restored archives that may be rewritten with changes, because HDF5 and Zarr pass whole chunks
/// only. Thread-safe.
class RememberedArchives {
 public:
  /// A forked child has its own.
  static RememberedArchives& of_process();

  /// Samples the values and evicts the least recently used; ignores very large archives. Without
  /// values, the archive is restored when needed.
  void add(const FieldKind& kind, std::vector<std::byte> archive, Bytes values);

  bool has(const FieldKind& kind) const;

  /// Survives eviction while in use.
  using Archive = std::shared_ptr<const std::vector<std::byte>>;

  using Restore = std::function<std::vector<std::byte>(Bytes archive)>;

  /// A few archives that together match the most sampled values, best first. Missing values count
  /// least: they are restored exactly anyway.
  std::vector<Archive> nearest(const FieldKind& kind, Bytes values, const FillValues& fills,
                               const Restore& restore);

 private:
  static constexpr ByteCount most_bytes = ByteCount{64} << 20;
  static constexpr std::size_t most_entries = 1024;  ///< limits search time
  static constexpr std::size_t most_nearest = 4;

  struct Entry {
    FieldKind kind;
    Archive archive;
    std::vector<std::byte> sample;  ///< empty until values are known
    ByteCount bytes;
  };

  void complete(const FieldKind& kind, const Restore& restore);

  mutable std::mutex mutex_;
  std::list<Entry> entries_;  ///< by last use
  ByteCount bytes_ = 0;
};

}  // namespace cuszi
