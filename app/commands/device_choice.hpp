#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "app/cli/options.hpp"
#include "codec/frames/backend_choice.hpp"

namespace cuszi::app {

/// The work of compressing all inputs. A variable counts as large as its file; a field that cannot
/// be opened does not count.
Workload compression_of(const CompressOptions& options);

/// The work of restoring all archives, or one frame of each.
Workload restoration_of(const std::vector<std::string>& archives,
                        std::optional<std::uint64_t> frame = {});

/// Chooses for all the work of a command, which is asked for if the choice is automatic. Tells the
/// choice on stderr if verbose. Throws DeviceError.
void choose_device(Backends& backends, const RunOptions& run,
                   const std::function<Workload()>& work_of);

}  // namespace cuszi::app
