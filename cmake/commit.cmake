# cmake -DSOURCE=FOLDER -DHEADER=FILE -P commit.cmake: writes a C++ header with the commit of a git
# checkout, marked where files differ from it; an empty one where FOLDER is not the top of a checkout.
# A header that says so already is left alone.
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
