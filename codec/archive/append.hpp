#pragma once

#include <string>

#include "codec/settings/settings.hpp"

namespace cuszi {

/// Writes an archive as a member behind the last one of the file, which is created if need be, and
/// syncs it. If the writer is stopped, the file reads as before; an unfinished member is replaced.
/// Other writers wait. Throws ArchiveError, before writing, if the members are not one field or the
/// file is damaged; OutputError.
void append_member(const std::string& path, Bytes member);

/// Sets the bound of the file's first member, and adds its fill values. Throws UsageError if it has
/// no bound.
void continue_settings(const std::string& path, FieldSettings& settings);

}  // namespace cuszi
