# Installing, and the CMake package for submissions and labs of other folders. Built and installed trees have one shape:
#
#   bin/          labrig and its helpers (labrig-supervisor, -worker, -device, -handout)
#   lib/          liblabrig-core.so, -amp.so, -data.so, -triage.so, -sdk.so, -plan.so, -bench.so, the cuda backend
#   include/labrig/
#   share/labrig/ build.json (how this labrig was built), explain/ (entries of `labrig explain`); installed also labs/ and
#                 profiles/
#   share/        man/man1/labrig.1, bash-completion/, zsh/, fish/: the manual page and completions
#   lib/cmake/labrig/   installed only: find_package(labrig)
include(CMakePackageConfigHelpers)

# build.json: what the harness needs to compile a student's folder as this labrig compiles plugins.
function(labrig_json_list result)
  string(JOIN "\", \"" joined ${ARGN})
  if(joined)
    set(joined "\"${joined}\"")
  endif()
  set(${result} "[${joined}]" PARENT_SCOPE)
endfunction()
labrig_json_list(compile_options ${LABRIG_PLUGIN_COMPILE_OPTIONS})
labrig_json_list(link_options ${LABRIG_PLUGIN_LINK_OPTIONS})
file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/share/labrig/build.json CONTENT [[{
  "version": "@PROJECT_VERSION@",
  "compiler": "@CMAKE_CXX_COMPILER@",
  "compiler_version": "@CMAKE_CXX_COMPILER_ID@ @CMAKE_CXX_COMPILER_VERSION@",
  "header_hash": "@LABRIG_HEADER_HASH@",
  "sanitize": "@LABRIG_SANITIZE@",
  "compile_options": @compile_options@,
  "link_options": @link_options@
}
]] @ONLY)

foreach(program labrig labrig-supervisor labrig-worker labrig-device)
  if(TARGET ${program})
    install(TARGETS ${program} RUNTIME DESTINATION bin)
  endif()
endforeach()
install(TARGETS labrig-core labrig-amp labrig-data labrig-triage labrig-sdk labrig-plan labrig-sdk-bench labrig-handout EXPORT labrig-targets
  LIBRARY DESTINATION lib RUNTIME DESTINATION bin)
if(TARGET labrig-cuda)
  install(TARGETS labrig-cuda LIBRARY DESTINATION lib)
endif()
# What is installed has its final RPATH from the start: built and installed trees have one shape, and CMake would pad a
# build RPATH with an empty element, which stands for the current folder.
foreach(target labrig-core labrig-amp labrig-data labrig-triage labrig-sdk labrig-plan labrig-sdk-bench labrig-cuda labrig labrig-supervisor labrig-worker labrig-device labrig-handout)
  if(TARGET ${target})
    set_target_properties(${target} PROPERTIES BUILD_WITH_INSTALL_RPATH ON)
  endif()
endforeach()
foreach(header IN LISTS LABRIG_PUBLIC_HEADERS)
  install(FILES ${header} DESTINATION include/labrig)
endforeach()
install(FILES ${LABRIG_INCLUDE_DIR}/labrig/header_hash.h DESTINATION include/labrig)
install(FILES ${CMAKE_BINARY_DIR}/share/labrig/build.json DESTINATION share/labrig)
install(DIRECTORY ${CMAKE_BINARY_DIR}/labs DESTINATION share/labrig
  PATTERN CMakeFiles EXCLUDE PATTERN "*.cmake" EXCLUDE)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/reference/profiles DESTINATION share/labrig FILES_MATCHING PATTERN "*.toml")

# The package: the exported targets, and the same LabrigPlugin.cmake that this tree uses. The build folder is a package
# too, so that a student's folder finds the labrig that made it.
install(EXPORT labrig-targets NAMESPACE labrig:: DESTINATION lib/cmake/labrig)
export(EXPORT labrig-targets NAMESPACE labrig:: FILE ${CMAKE_BINARY_DIR}/lib/cmake/labrig/labrig-targets.cmake)
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/labrigConfig.cmake.in
  ${CMAKE_BINARY_DIR}/lib/cmake/labrig/labrigConfig.cmake INSTALL_DESTINATION lib/cmake/labrig)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/lib/cmake/labrig/labrigConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
file(COPY ${CMAKE_CURRENT_LIST_DIR}/LabrigPlugin.cmake DESTINATION ${CMAKE_BINARY_DIR}/lib/cmake/labrig)
install(FILES ${CMAKE_BINARY_DIR}/lib/cmake/labrig/labrigConfig.cmake ${CMAKE_CURRENT_LIST_DIR}/LabrigPlugin.cmake
  ${CMAKE_BINARY_DIR}/lib/cmake/labrig/labrigConfigVersion.cmake DESTINATION lib/cmake/labrig)
