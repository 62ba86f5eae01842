#include "app/commands/file_trip.hpp"

#include "bench/measure/scratch_file.hpp"
#include "codec/archive/archive_reader.hpp"
#include "codec/files/input_field.hpp"

namespace cuszi::app {

FileTrip make_file_trip(const BenchOptions& options, Backends& backends, const std::string& input) {
  FileTrip trip;
  CallTimes times;
  ScratchFile archive;
  {
    const Stopwatch clock;
    FieldSource field = open_input(input, options.field, options.settings.frame_bytes).source;
    trip.field = compress_field(backends.for_config(options.settings.frame), options.settings,
                                field, archive, times);
    trip.compress_seconds = clock.seconds();
  }
  const Stopwatch clock;
  FileSource source(archive.path());
  ArchiveReader reader(source);
  ScratchFile restored;
  const ArchiveHeader& header = reader.header();
  const auto place = [&](std::uint64_t i) {
    return header.plan.first_value(i) * size_of(header.dtype);
  };
  const FrameUser write = [&](std::uint64_t i, MutableBytes values) {
    restored.write_at(place(i), values);
  };
  const PartUser write_part = [&](std::uint64_t i, ByteCount offset, MutableBytes values) {
    restored.write_at(place(i) + offset, values);
  };
  restore_field(backends, reader, times, {write, write_part});
  trip.decompress_seconds = clock.seconds();
  return trip;
}

}  // namespace cuszi::app
