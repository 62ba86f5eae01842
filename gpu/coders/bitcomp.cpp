#include <vector>

#include "gpu/coders/nvcomp.hpp"
#include "gpu/field/hash.cuh"
#include "gpu/runtime/copies.hpp"

namespace cuszi::gpu {

namespace {

/// Chosen by experiments on real and simulated fields.
BitcompView view_of(SectionId id, DType dtype) {
  if (id == SectionId::codes) return {true, 1};
  return {false, id == SectionId::anchors ? size_of(dtype) : 4};
}

/// Savings below 1/32 are not worth the time to unpack.
bool is_worth_it(ByteCount packed, ByteCount size) { return packed + size / 32 < size; }

struct Packing {
  std::byte* stream;
  const std::size_t* size;  ///< in host memory after the next sync()
  BitcompPlan plan;         ///< must outlive the work
};

Packing pack(DeviceContext& gpu, Bytes section, BitcompView view) {
  const ByteCount padded = ceil_div(section.size(), view.integer) * view.integer;
  if (padded != section.size()) {
    auto* const copy = gpu.take_zeroed<std::byte>(padded);
    start_copy(gpu, copy, section.data(), section.size());
    section = {copy, padded};
  }
  BitcompPlan plan(padded, view, gpu.stream());
  auto* const stream = gpu.take<std::byte>(BitcompPlan::most_bytes(padded));
  auto* const size = gpu.take<std::size_t>(1);
  plan.pack(section.data(), stream, size);
  return {stream, download(gpu, size, 1), std::move(plan)};
}

/// `header` is a copy of the stream's header in host memory.
Bytes unpack(DeviceContext& gpu, const Section& section, const std::byte* header) {
  const ByteCount size = section.unpacked->size;
  const BitcompStream stated = read_bitcomp_header(header, section.bytes.size());
  if (stated.string_bytes != ceil_div(size, stated.integer) * stated.integer) {
    throw ArchiveError("the size of a packed section is wrong");
  }
  auto* const stream = gpu.take<std::byte>(section.bytes.size());  // sections are unaligned
  start_copy(gpu, stream, section.bytes.data(), section.bytes.size());
  auto* const string = gpu.take<std::byte>(stated.string_bytes);
  BitcompPlan(header, gpu.stream()).unpack(stream, string);
  return {string, size};
}

}  // namespace

void bitcomp_pack(DeviceContext& gpu, DType dtype, Sections& sections) {
  std::vector<Packing> packings;
  for (const Section& section : sections.list()) {
    if (!is_packable(section.id)) continue;
    packings.push_back(pack(gpu, section.bytes, view_of(section.id, dtype)));
  }
  gpu.sync();

  std::vector<Section> packed;
  std::vector<Bytes> originals;
  auto packing = packings.begin();
  for (const Section& section : sections.list()) {
    packed.push_back(section);
    if (!is_packable(section.id)) continue;
    const Bytes stream{packing->stream, *packing->size};
    ++packing;
    if (!is_worth_it(stream.size(), section.bytes.size())) continue;
    packed.back() = {section.id, stream, Unpacked{section.bytes.size(), 0}};
    originals.push_back(section.bytes);
  }
  const std::vector<std::uint64_t> hashes = block_hashes(gpu, originals);
  auto hash = hashes.begin();
  sections = {};
  for (Section& section : packed) {
    if (section.unpacked) section.unpacked->hash = *hash++;
    sections.add(section);
  }
}

void bitcomp_unpack(DeviceContext& gpu, Sections& sections) {
  std::vector<const std::byte*> headers;
  for (const Section& section : sections.list()) {
    if (!section.unpacked) continue;
    const Bytes bytes = section.bytes;
    if (bytes.size() < bitcomp_header_bytes) throw ArchiveError("a packed section is truncated");
    headers.push_back(download(gpu, bytes.data(), bitcomp_header_bytes));
  }
  if (headers.empty()) return;
  gpu.sync();

  std::vector<Bytes> strings;
  for (const Section& section : sections.list()) {
    if (section.unpacked) strings.push_back(unpack(gpu, section, headers[strings.size()]));
  }
  const std::vector<std::uint64_t> hashes = block_hashes(gpu, strings);
  Sections result;
  std::size_t i = 0;
  for (const Section& section : sections.list()) {
    result.add(section.id, section.unpacked ? strings[i] : section.bytes);
    if (section.unpacked && hashes[i++] != section.unpacked->hash) {
      throw ArchiveError("a packed section does not unpack to its original bytes");
    }
  }
  sections = result;
}

}  // namespace cuszi::gpu
