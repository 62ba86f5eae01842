# cmake -DSOURCE=FOLDER -DHEADER=FILE -P commit.cmake: writes a header with the checkout's commit,
# marked if files differ; empty if FOLDER is not the top of a checkout. Keeps an unchanged header.
set(commit "")
find_program(GIT git)
if(GIT)
  execute_process(COMMAND ${GIT} -C ${SOURCE} rev-parse --show-toplevel
                  OUTPUT_VARIABLE top OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  file(REAL_PATH ${SOURCE} source)
  if(top STREQUAL source)
    execute_process(COMMAND ${GIT} -C ${SOURCE} describe --always --exclude=* --abbrev=12 --dirty
                    OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  endif()
endif()
file(CONFIGURE OUTPUT ${HEADER} @ONLY CONTENT [[
#pragma once

#include <string_view>

namespace cuszi::app {

inline constexpr std::string_view commit = "@commit@";

}  // namespace cuszi::app
]])
