#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "core/base/error.hpp"

namespace cuszi {

/// Calls `f` with default parameters of the row with this id. A table is a variant in the order of
/// ids. Throws ArchiveError, naming `what`, for an unknown id.
template <class Table, std::size_t Row = 0, class Id, class F>
auto with_row(Id id, std::string_view what, F&& f)
    -> decltype(f(std::variant_alternative_t<0, Table>{})) {
  if constexpr (Row < std::variant_size_v<Table>) {
    using Params = std::variant_alternative_t<Row, Table>;
    static_assert(static_cast<std::size_t>(Params::id) == Row);
    if (id == Params::id) return f(Params{});
    return with_row<Table, Row + 1>(id, what, std::forward<F>(f));
  } else {
    throw ArchiveError(std::string(what) + ' ' + std::to_string(static_cast<int>(id)) +
                       " is unknown to this version");
  }
}

}  // namespace cuszi
