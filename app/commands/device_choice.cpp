#include <fmt/format.h>

#include <filesystem>
#include <set>

#include "app/cli/standard_streams.hpp"
#include "app/commands/commands.hpp"
#include "app/report/report.hpp"
#include "codec/archive/field_codec.hpp"
#include "codec/files/field_path.hpp"
#include "codec/io/byte_source.hpp"
#include "core/base/error.hpp"

namespace cuszi::app {

namespace {

namespace fs = std::filesystem;

/// Nullopt unless it is a regular file.
std::optional<ByteCount> file_bytes(const std::string& file) {
  std::error_code error;
  if (!fs::is_regular_file(file, error)) return std::nullopt;
  const ByteCount bytes = fs::file_size(file, error);
  return error ? std::nullopt : std::optional(bytes);
}

/// Nullopt if it is unknown. Throws Error for an input that cannot be opened.
std::optional<ByteCount> field_bytes(const FieldPath& path, const FieldOptions& options) {
  const std::optional<ByteCount> bytes = file_bytes(path.file);
  if (path.format != Format::raw) return bytes;
  return layout_of(path.file, options, bytes).field_bytes();
}

std::string reason(const Weighing& weighing, const Workload& work, const RunOptions& run) {
  if (run.device.kind != DeviceChoice::Kind::automatic) return "as asked";
  if (device_count() == 0) return "no GPU";
  if (!weighing.seconds) return std::string(work.needs_device);
  const auto [cpu, device] = *weighing.seconds;
  return weighing.prefers_device ? fmt::format("{}: about {:.2f} s, the CPU about {:.2f} s",
                                               bytes_text(work.bytes), device, cpu)
                                 : fmt::format("{}: about {:.2f} s, a GPU about {:.2f} s",
                                               bytes_text(work.bytes), cpu, device);
}

}  // namespace

Workload compression_of(const CompressOptions& options) {
  const FrameConfig& config = options.settings.frame;
  const bool restores =
      options.verify || (options.target && options.target->kind == Target::Kind::psnr);
  Workload work;
  std::set<std::string> containers;
  for (const std::string& input : options.inputs) {
    try {
      const FieldPath path = field_path(input);
      if (path.holds_variables() && !containers.insert(path.file).second) continue;
      const std::optional<ByteCount> bytes = field_bytes(path, options.field);
      if (!bytes) return Workload::of_unknown_size();
      work.add_compression(*bytes, config);
      if (restores) work.add_restoration(*bytes, config.predictor.id);
    } catch (const Error&) {
      // Compressing reports it.
    }
  }
  return work;
}

Workload restoration_of(const std::vector<std::string>& archives,
                        std::optional<std::uint64_t> frame) {
  Workload work;
  for (const std::string& archive : archives) {
    if (!file_bytes(archive)) return Workload::of_unknown_size();
    try {
      FileSource source(archive);
      work.add(cuszi::restoration_of(source, frame));
    } catch (const Error&) {
      // Restoring reports it.
    }
  }
  return work;
}

void choose_device(Backends& backends, const RunOptions& run,
                   const std::function<Workload()>& work_of) {
  const bool is_weighed = run.device.kind == DeviceChoice::Kind::automatic;
  const Workload work = is_weighed ? work_of() : Workload{};
  const Weighing weighing = weigh(run.device, work);
  backends.prefer_device(weighing.prefers_device);
  if (!run.verbose) return;
  static_cast<void>(backends.all_for_frames());
  print_error(
      fmt::format("cuszi: device: {} ({})\n", backends.last_name(), reason(weighing, work, run)));
}

}  // namespace cuszi::app
