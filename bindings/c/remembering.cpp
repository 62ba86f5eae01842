#include <algorithm>
#include <array>
#include <cstring>
#include <span>
#include <vector>

#include "bindings/c/options.hpp"
#include "codec/archive/archive_reader.hpp"
#include "codec/frames/device_memory.hpp"
#include "core/base/bytes.hpp"

namespace cuszi::api {

namespace {

/// All that affects an archive's bytes.
std::uint64_t settings_hash(const cuszi_options& options, const FillValues& fills) {
  cuszi_options bare{};
  std::memcpy(&bare, &options, sizeof bare);  // including padding
  bare.fills = nullptr;
  bare.fill_count = bare.more_fill_count = 0;
  std::ranges::fill(bare.more_fills, 0);
  bare.device = bare.device_index = bare.threads = 0;
  bare.devices = bare.memory_limit = 0;
  bare.stream = nullptr;
  bare.verify = bare.strict = 0;
  bare.has_padding = 0;
  bare.padding = 0;
  std::array<std::uint64_t, 2> hashes{block_hash(std::as_bytes(std::span(&bare, 1))),
                                      block_hash(std::as_bytes(std::span(fills.values)))};
  return block_hash(std::as_bytes(std::span(hashes)));
}

/// Copies device memory only.
Bytes on_host(Bytes bytes, std::vector<std::byte>& copy) {
  if (!device_of(bytes.data())) return bytes;
  copy.resize(bytes.size());
  copy_memory(bytes, copy);
  return copy;
}

std::vector<std::byte> restored(Backends& backends, Bytes archive) {
  MemorySource source(archive);
  ArchiveReader reader(source);
  const ArchiveHeader& header = reader.header();
  std::vector<std::byte> values(header.plan.dims.count() * size_of(header.dtype));
  CallTimes times;
  restore_values(backends, reader, times, std::nullopt, values);
  return values;
}

/// Nullopt if options forbid it or are invalid.
std::optional<FieldKind> remembered_kind(const cuszi_options& options,
                                         const FieldLayout& layout) try {
  if (options.remember == 0 || options.bound_field != nullptr) return std::nullopt;
  if (target_of(options) || error_mode_of(options) == ErrorMode::relative) return std::nullopt;
  const FieldSettings settings = checked_settings(options);
  if (are_repeatable(layout.dtype, settings)) return std::nullopt;
  return FieldKind{layout.dtype, layout.dims, settings_hash(options, settings.fills)};
} catch (const UsageError&) {
  return std::nullopt;
}

}  // namespace

bool may_be_amended(const cuszi_options& options, const FieldLayout& layout) {
  const auto kind = remembered_kind(options, layout);
  return kind && RememberedArchives::of_process().has(*kind);
}

void remember(const cuszi_options& options, const FieldLayout& layout, Bytes archive,
              Bytes values) {
  const auto kind = remembered_kind(options, layout);
  if (!kind) return;
  std::vector<std::byte> bytes(archive.size());
  copy_memory(archive, bytes);
  RememberedArchives::of_process().add(*kind, std::move(bytes),
                                       device_of(values.data()) ? Bytes{} : values);
}

std::optional<AmendedField> amend_remembered(Backends& backends, const cuszi_options& options,
                                             const FieldSettings& settings,
                                             const FieldLayout& layout, Bytes values) {
  const auto kind = remembered_kind(options, layout);
  RememberedArchives& all = RememberedArchives::of_process();
  if (!kind || !all.has(*kind)) return std::nullopt;
  std::vector<std::byte> copy;
  const Bytes here = on_host(values, copy);
  const auto nearest = all.nearest(*kind, here, settings.fills,
                                   [&](Bytes archive) { return restored(backends, archive); });
  if (nearest.empty()) return std::nullopt;
  std::vector<Bytes> archives;
  archives.reserve(nearest.size());
  for (const auto& archive : nearest) archives.emplace_back(*archive);
  return amend_field(backends, settings, layout, here, archives);
}

}  // namespace cuszi::api
