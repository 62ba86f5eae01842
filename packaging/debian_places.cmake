# Puts things where Debian's programs look for them.

# zsh reads the completions of packages from vendor-completions; site-functions are those of
# /usr/local alone.
set(zsh ${CPACK_TEMPORARY_DIRECTORY}/usr/share/zsh)
if(EXISTS ${zsh}/site-functions)
  file(RENAME ${zsh}/site-functions ${zsh}/vendor-completions)
endif()

# Each of the HDF5 libraries has a folder of filters.
file(GLOB_RECURSE plugin ${CPACK_TEMPORARY_DIRECTORY}/*/libh5cuszi.so)
if(plugin)
  execute_process(COMMAND dpkg-architecture -qDEB_HOST_MULTIARCH OUTPUT_VARIABLE triplet
                  OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  foreach(flavour serial openmpi mpich)
    set(folder ${CPACK_TEMPORARY_DIRECTORY}/usr/lib/${triplet}/hdf5/${flavour}/plugins)
    file(MAKE_DIRECTORY ${folder})
    file(RELATIVE_PATH target ${folder} ${plugin})
    file(CREATE_LINK ${target} ${folder}/libh5cuszi.so SYMBOLIC)
  endforeach()
endif()
