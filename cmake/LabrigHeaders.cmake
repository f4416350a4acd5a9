# The public headers, staged as links in <build>/include/labrig, and the hash over them that is part of every plugin's
# build tag: a plugin built against other headers is refused before it is loaded.
file(GLOB_RECURSE LABRIG_PUBLIC_HEADERS CONFIGURE_DEPENDS
  ${CMAKE_CURRENT_SOURCE_DIR}/reference/include/labrig/*.hpp
  ${CMAKE_CURRENT_SOURCE_DIR}/harness/abi/include/labrig/*.h
  ${CMAKE_CURRENT_SOURCE_DIR}/harness/sdk/include/labrig/*.hpp)
list(SORT LABRIG_PUBLIC_HEADERS)
set(LABRIG_INCLUDE_DIR ${CMAKE_BINARY_DIR}/include)
set(hashes "")
foreach(header IN LISTS LABRIG_PUBLIC_HEADERS)
  string(REGEX REPLACE ".*/include/" "" name ${header})
  file(SHA256 ${header} hash)
  string(APPEND hashes "${name} ${hash}\n")
  get_filename_component(folder ${LABRIG_INCLUDE_DIR}/${name} DIRECTORY)
  file(MAKE_DIRECTORY ${folder})
  file(CREATE_LINK ${header} ${LABRIG_INCLUDE_DIR}/${name} SYMBOLIC)
  # A changed header changes the hash: configure again.
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${header})
endforeach()
string(SHA256 LABRIG_HEADER_HASH "${hashes}")
string(SUBSTRING ${LABRIG_HEADER_HASH} 0 16 LABRIG_HEADER_HASH)
file(CONFIGURE OUTPUT ${LABRIG_INCLUDE_DIR}/labrig/header_hash.h CONTENT
"/* Made by CMake: the hash of labrig's public headers. */
#define LABRIG_HEADER_HASH \"@LABRIG_HEADER_HASH@\"
#define LABRIG_VERSION \"@PROJECT_VERSION@\"
" @ONLY)
