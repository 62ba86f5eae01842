#pragma once

#include <vector>

#include "codec/archive/field_codec.hpp"
#include "codec/io/byte_source.hpp"
#include "tests/support/frame_codec.hpp"

namespace cuszi::test {

/// Bytes that come through a pipe: their number is not known before their end.
class PipeSource final : public ByteSource {
 public:
  explicit PipeSource(Bytes bytes) : memory_(bytes) {}

  std::string name() const override { return "a pipe"; }
  std::size_t read(MutableBytes out) override { return memory_.read(out); }
  std::size_t read_at(ByteCount /*offset*/, MutableBytes /*out*/) const override { return 0; }
  std::optional<ByteCount> size() const override { return std::nullopt; }

 private:
  MemorySource memory_;
};

/// The settings that compress a field as its frames are to be compressed.
FieldSettings settings_of(const FrameTask& task);

/// The archive of a field in memory.
std::vector<std::byte> make_archive(const Dims& dims, DType dtype, Bytes values,
                                    const FieldSettings& settings);

/// The archive of a field in memory, cut into frames by `plan` and compressed by `backend`.
std::vector<std::byte> make_archive(Backend& backend, const FieldCuts& plan, DType dtype,
                                    Bytes values, const FieldSettings& settings);

inline constexpr DeviceChoice on_cpu{DeviceChoice::Kind::cpu, 0};

/// The values of all frames of an archive. Throws ArchiveError.
std::vector<std::byte> restore_archive(ByteSource& archive, const DeviceChoice& device = on_cpu);
std::vector<std::byte> restore_archive(Bytes archive, const DeviceChoice& device = on_cpu);

struct RestoredPreview {
  Dims dims;
  std::vector<std::byte> values;
  ByteCount bytes_read;
};

/// A box of an archive's field at every stride-th point. Throws ArchiveError.
RestoredPreview restore_preview(ByteSource& archive, std::uint64_t stride, const Box& box = {});

/// The values, of `size` bytes each, at every stride-th index of the axes that are shorter in
/// `shown` than in `dims`.
std::vector<std::byte> thinned(Bytes values, ByteCount size, const Dims& dims, const Dims& shown,
                               std::uint64_t stride);

}  // namespace cuszi::test
