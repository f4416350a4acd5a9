# Standards, warnings, sanitizers, and where things are built: <build>/{bin,lib,include,labs,plugins,profiles}, the same
# layout that `make install` and `make bundle` give.
option(LABRIG_TESTS "Build the tests" ON)
option(LABRIG_WERROR "Treat warnings as errors" OFF)
option(LABRIG_PCH "Precompile the headers that many sources include: for a build from nothing without ccache" OFF)
option(LABRIG_FUZZ "Build tests/fuzz as libFuzzer programs; needs clang" OFF)
set(LABRIG_SANITIZE "" CACHE STRING "Sanitizers for everything, as -fsanitize= takes them: address,undefined or thread")

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release)
endif()

set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)
# Programs and libraries find each other relative to themselves, built or installed.
set(CMAKE_BUILD_RPATH_USE_ORIGIN ON)
set(CMAKE_BUILD_RPATH "$ORIGIN;$ORIGIN/../lib")
set(CMAKE_INSTALL_RPATH "$ORIGIN;$ORIGIN/../lib")

# Warnings for our own code: labrig_compile_options(target).
function(labrig_compile_options target)
  target_compile_options(${target} PRIVATE
    $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wshadow -Wconversion -Wno-sign-conversion -Wnon-virtual-dtor>
    # g++ 12 sees overlaps in `text + string` that are not there (GCC bug 105651).
    $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CXX_COMPILER_ID:GNU>>:-Wno-restrict>)
  if(LABRIG_WERROR)
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-Werror>)
  endif()
endfunction()

# labrig_cheap_to_build([level, else -O1]): for folders whose code waits for programs and files, not for the processor: harness and reports
# at -O1, where JSON takes the compiler little more than half of what it takes at -O3 (7.0 and 4.0 s a file); most tests at
# -O0, a third less than -O1 for rows of EXPECT_EQ (6.3 and 4.0 s). Under the sanitizers all of it at -O0, half of what -O1
# takes (14.5 and 6.1 s), and without those checks of every pointer that the address sanitizer makes anyway (a third less).
macro(labrig_cheap_to_build)
  set(labrig_level ${ARGN} -O1)
  list(GET labrig_level 0 labrig_level)
  if(LABRIG_SANITIZE)
    add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-O0>)
    if(LABRIG_SANITIZE MATCHES undefined)
      add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-fno-sanitize=null,alignment,object-size,vptr>)
    endif()
  else()
    add_compile_options($<$<AND:$<CONFIG:Release>,$<COMPILE_LANGUAGE:CXX>>:${labrig_level}>)
  endif()
endmacro()

# labrig_precompile(target header...): with LABRIG_PCH these, and common ones of the standard library, are compiled once for
# the target. What each source includes stays true without it, which is how everybody but CI builds. Halves the time for most
# sources of the core.
function(labrig_precompile target)
  if(LABRIG_PCH)
    target_precompile_headers(${target} PRIVATE <algorithm> <array> <cstdint> <functional> <map> <memory> <optional> <span>
      <string> <vector> ${ARGN})
  endif()
endfunction()

# labrig_compile_together(target [APART source...]): with LABRIG_PCH eight sources at a time are one for the compiler, which then
# makes the templates of JSON once and not eight times. Sources that name something of their own as another does are APART.
function(labrig_compile_together target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "APART")
  if(LABRIG_PCH)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 8)
    set_source_files_properties(${arg_APART} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  endif()
endfunction()

# labrig_share_precompiled(target header): the same for targets that differ in nothing but their source, like the submissions to
# a lab: the first that is compiled with these options makes it, the others reuse it.
function(labrig_share_precompiled target header)
  get_directory_property(options COMPILE_OPTIONS)
  string(SHA256 key "${header} ${options}")
  get_property(first GLOBAL PROPERTY LABRIG_PCH_${key})
  if(first)
    target_precompile_headers(${target} REUSE_FROM ${first})
  else()
    target_precompile_headers(${target} PRIVATE ${header})
    set_property(GLOBAL PROPERTY LABRIG_PCH_${key} ${target})
  endif()
  set_target_properties(${target} PROPERTIES DEFINE_SYMBOL "")  # -D<target>_EXPORTS would make each its own case
endfunction()

# The same bits at every optimisation level and from every compiler: no contraction, no fast-math.
add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-ffp-contract=off>)
if(LABRIG_SANITIZE)
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-fsanitize=${LABRIG_SANITIZE}> $<$<COMPILE_LANGUAGE:CXX>:-fno-omit-frame-pointer>)
  if(LABRIG_SANITIZE MATCHES undefined)
    add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-fno-sanitize-recover=undefined>)
  endif()
  add_link_options(-fsanitize=${LABRIG_SANITIZE})
  # g++ says so by itself.
  if(CMAKE_CXX_COMPILER_ID MATCHES Clang AND LABRIG_SANITIZE MATCHES "address|thread")
    string(TOUPPER ${CMAKE_MATCH_0} upper)
    add_compile_definitions(__SANITIZE_${upper}__=1)
  endif()
endif()
if(LABRIG_FUZZ)
  if(NOT CMAKE_CXX_COMPILER_ID MATCHES Clang)
    message(FATAL_ERROR "LABRIG_FUZZ=ON needs clang++, which brings libFuzzer; this is ${CMAKE_CXX_COMPILER}: use the preset "
                        "`fuzz`, or configure with -DCMAKE_CXX_COMPILER=clang++-19")
  endif()
endif()
# labrig_watched_by_fuzzers(target): what libFuzzer looks at, to find its way to code that it has not seen.
function(labrig_watched_by_fuzzers target)
  if(LABRIG_FUZZ)
    target_compile_options(${target} PRIVATE -fsanitize=fuzzer-no-link)
  endif()
endfunction()
