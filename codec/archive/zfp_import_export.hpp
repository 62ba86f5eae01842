#pragma once

#include <optional>

#include "codec/archive/archive_reader.hpp"
#include "codec/archive/field_codec.hpp"
#include "codec/io/byte_sink.hpp"
#include "core/zfp/zfp_header.hpp"

namespace cuszi {

/// How a stream of the zfp library becomes an archive.
struct ZfpImport {
  std::optional<ZfpHeader> header;  ///< of a stream that has none
  ZfpConfig zfp;                    ///< of which the chunk counts
  IndexConfig index;
  std::optional<ByteCount> frame_bytes;  ///< if the user wishes
};

/// Makes an archive of a stream of the zfp library: its blocks' bits are moved as they are, and an
/// index is made. There is a bound of 0 if the stream is reversible, else none. Throws ArchiveError
/// if it is damaged, InputError if an archive cannot hold it: integers, extents of 1, values that
/// come back infinite.
CompressedField import_zfp(Bytes stream, const ZfpImport& how, ByteSink& sink);

/// What an exported stream is, and what it lacks.
struct ZfpExport {
  ZfpHeader header;
  ByteCount bytes = 0;
  std::uint64_t patches = 0;  ///< that only the archive has
};

/// Writes an archive of zfp streams as one stream with the library's header, the bits as they are.
/// Throws ArchiveError if the archive is damaged, UsageError if it holds what such a stream cannot:
/// another predictor's frames, missing values, frames that are no whole rows of blocks.
ZfpExport export_zfp(ArchiveReader& archive, ByteSink& sink);

}  // namespace cuszi
