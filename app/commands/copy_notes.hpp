#pragma once

#include <string>

#include "app/report/report.hpp"
#include "codec/files/container.hpp"
#include "codec/files/copy_notes.hpp"

namespace cuszi::app {

/// Whether restored values may differ from the original's.
bool is_lossy(const ValueBound& bound);

/// Attributes of a compressed variable, named as in CF's discussion of lossy compression: codec,
/// version, bound and, if measured, the largest error.
NotedVariable notes_on(const FilteredVariable& filtered,
                       const std::optional<MeasuredQuality>& measured);

/// The attributes of notes_on() without values, which removes them.
NotedVariable no_notes_on(const FilteredVariable& filtered);

/// The time of the call and the command, as in CF's global attribute "history".
std::string history_line(const std::string& command);

}  // namespace cuszi::app
