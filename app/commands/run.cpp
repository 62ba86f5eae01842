
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <memory>

#include "app/cli/cli.hpp"
#include "app/cli/standard_streams.hpp"
#include "app/commands/commands.hpp"
#include "app/output/output_file.hpp"
#include "app/report/failure.hpp"
#include "cpu_ref/base/thread_count.hpp"

namespace cuszi::app {

namespace {

void prepare(const RunOptions& options) {
  auto sink = std::make_shared<spdlog::sinks::stderr_sink_mt>();
  auto logger = std::make_shared<spdlog::logger>("cuszi", std::move(sink));
  logger->set_pattern("%n: %l: %v");
  // JSON already contains what notices say.
  logger->set_level(options.quiet  ? spdlog::level::err
                    : options.json ? spdlog::level::warn
                                   : spdlog::level::info);
  spdlog::set_default_logger(std::move(logger));
}

}  // namespace

ExitCode run(int argc, const char* const* argv) noexcept {
  try {
    open_standard_streams();
    handle_interruptions();
    const std::optional<Command> command = parse_command_line(argc, argv);
    if (!command) return ExitCode::ok;
    return std::visit(
        [](const auto& options) {
          prepare(options.run);
          const ThreadsScope threads(options.run.threads);
          return execute(options);
        },
        *command);
  } catch (...) {
    return tell_failure({});
  }
}

}  // namespace cuszi::app
