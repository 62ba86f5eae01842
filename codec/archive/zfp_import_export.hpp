#pragma once

#include <optional>

#include "codec/archive/archive_reader.hpp"
#include "codec/archive/field_codec.hpp"
#include "codec/io/byte_sink.hpp"
#include "core/zfp/zfp_header.hpp"

namespace cuszi {

struct ZfpImport {
  std::optional<ZfpHeader> header;  ///< of a stream without one
  ZfpConfig zfp;                    ///< only its chunk matters
  IndexConfig index;
  std::optional<ByteCount> frame_bytes;
};

/// Converts a zfp stream to an archive by copying bits and adding an index. The bound is 0 if
/// reversible, else none. Throws ArchiveError on damage, InputError for integers, extents of 1 and
/// values that decode to infinity.
CompressedField import_zfp(Bytes stream, const ZfpImport& how, ByteSink& sink);

struct ZfpExport {
  ZfpHeader header;
  ByteCount bytes = 0;
  std::uint64_t patches = 0;  ///< lost
};

/// Converts an archive of zfp frames to one stream by copying bits. Throws ArchiveError on damage,
/// UsageError for other predictors, missing values and frames that cut blocks.
ZfpExport export_zfp(ArchiveReader& archive, ByteSink& sink);

}  // namespace cuszi
