#include "core/pipeline/kept_values.hpp"

#include <future>

namespace cuszi {

namespace {

/// What byte planes of a frame come to, by a sample of its values.
class PackedSample {
 public:
  PackedSample(Backend& backend, Bytes values, ByteCount value_size) : all_(values.size()) {
    if (is_small()) return;
    Sections pieces;
    for (ByteCount i = 0; i < count; ++i)
      pieces.add(SectionId::raw,
                 values.subspan((values.size() - piece) / (count - 1) * i / value_size * value_size,
                                piece));
    std::vector<std::byte> sample(pieces.size());
    backend.gather(std::span(&pieces, 1), sample);
    const auto pack = [value_size, sample = std::move(sample)] {
      ByteCount packed = 0;
      for (ByteCount i = 0; i < count; ++i)
        packed += pack_values(Bytes(sample).subspan(i * piece, piece), value_size).size();
      return packed;
    };
    const bool is_host_idle = backend.transfer() != nullptr;
    packed_ = std::async(is_host_idle ? std::launch::async : std::launch::deferred, pack);
  }

  /// Small frames are to be packed to know it. The pieces of a sample pack worse than the whole
  /// frame, by about an eighth; large frames, which take long, are packed if it is 5 % smaller.
  bool may_win(ByteCount bytes) {
    if (is_small()) return true;
    const ByteCount sampled = packed_.get() * (all_ / piece);
    return all_ <= quick ? sampled / 8 < bytes * count / 7 : sampled / 19 < bytes * count / 20;
  }

 private:
  static constexpr ByteCount piece = ByteCount{1} << 14;
  static constexpr ByteCount count = 16;
  static constexpr ByteCount quick = ByteCount{4} << 20;  ///< takes 20 ms to pack

  bool is_small() const { return all_ <= piece * count; }

  ByteCount all_;
  std::future<ByteCount> packed_;
};

/// In host memory: those of a device are copied to `copy`.
Bytes host_values(Backend& backend, Bytes values, std::vector<std::byte>& copy) {
  if (backend.transfer() == nullptr) return values;
  copy.resize(values.size());
  backend.copy(values, copy);
  return copy;
}

}  // namespace

Sections KeptValues::sections(Bytes values) const {
  Sections all;
  if (kind != FrameKind::predicted) {
    all.add(SectionId::raw, kind == FrameKind::lossless ? Bytes(packed) : values);
    return all;
  }
  const WordSections<Bytes>& own = words.sections;
  all.add(SectionId::codebook, own.head);
  all.add(SectionId::index, own.index);
  all.add(SectionId::contexts, own.classes);
  if (!own.raw.empty()) all.add(SectionId::raw, own.raw);
  if (!own.codes.empty()) all.add(SectionId::codes, own.codes);
  return all;
}

KeptValues keep_values(Backend& backend, EncodeSession& session, const FrameShape& shape,
                       Bytes values, std::uint64_t step) {
  KeptValues kept;
  kept.bytes = values.size();
  const ByteCount value_size = size_of(shape.dtype);
  PackedSample sample(backend, values, value_size);
  kept.words = session.encode_lossless(values, shape, step);
  constexpr ByteCount entries = 20;  // of four more sections
  const ByteCount size = kept.words.sections.size();
  if (size + entries < kept.bytes && size >= least_payload_bytes(kept.bytes)) {
    kept.bytes = size + entries;
    kept.kind = FrameKind::predicted;
  }
  if (sample.may_win(kept.bytes)) {
    std::vector<std::byte> copy;
    kept.packed = pack_values(host_values(backend, values, copy), value_size);
    if (kept.packed.size() < kept.bytes) {
      kept.bytes = kept.packed.size();
      kept.kind = FrameKind::lossless;
    }
  }
  return kept;
}

}  // namespace cuszi
