# Puts links to the HDF5 filter where each of Debian's HDF5 libraries looks for filters.
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
