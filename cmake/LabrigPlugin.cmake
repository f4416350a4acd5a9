# The two functions that build plugins, in this tree and, through find_package(labrig), in any other:
#
#   labrig_add_submission(<target> LAB <id> SOURCES <file>… [OUTPUT_NAME <name>])
#       -> plugins/<id>/<name>.labrig.so      <name> is the target's name when not given
#   labrig_add_lab(<id> [FOLDER <dir>] [SOURCE lab.cpp])
#       -> labs/<id>/{judge.so,call.so} and, from the folder: lab.toml, interface.hpp, reference.json (if there),
#          handout.md, handout.html (rendered), starter/
#
# Both write below LABRIG_OUTPUT_DIR, by default the top build folder. A lab that is built in the same project must be
# added before its submissions; other labs are found in LABRIG_LABS (a folder of labs: variable or environment), then
# among the installed ones.

# What keeps a plugin safe to load, in one place: the harness compiles students' folders with the same options (they
# travel in share/labrig/build.json).
#   hidden visibility   the entry symbol is the only one exported
#   -fno-gnu-unique     two plugins never share an inline variable, and a plugin can be unloaded
#   -z defs, -z now     a missing symbol is found by the linker, or at the latest when the plugin is loaded
#   -ffp-contract=off   the same bits from every compiler
set(LABRIG_PLUGIN_COMPILE_OPTIONS -fPIC -fvisibility=hidden -fvisibility-inlines-hidden -ffp-contract=off)
set(LABRIG_PLUGIN_LINK_OPTIONS -Wl,-z,defs -Wl,-z,now -Wl,--as-needed)
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  list(APPEND LABRIG_PLUGIN_COMPILE_OPTIONS -fno-gnu-unique)
endif()
if(LABRIG_SANITIZE)
  list(APPEND LABRIG_PLUGIN_COMPILE_OPTIONS -fsanitize=${LABRIG_SANITIZE} -fno-omit-frame-pointer)
  list(APPEND LABRIG_PLUGIN_LINK_OPTIONS -fsanitize=${LABRIG_SANITIZE})
  if(LABRIG_SANITIZE MATCHES undefined)
    list(APPEND LABRIG_PLUGIN_COMPILE_OPTIONS -fno-sanitize-recover=undefined)
  endif()
endif()

function(labrig_plugin_options target)
  target_compile_features(${target} PRIVATE cxx_std_20)
  target_compile_options(${target} PRIVATE "$<$<COMPILE_LANGUAGE:CXX>:${LABRIG_PLUGIN_COMPILE_OPTIONS}>")
  target_link_options(${target} PRIVATE ${LABRIG_PLUGIN_LINK_OPTIONS})
  set_target_properties(${target} PROPERTIES
    CXX_EXTENSIONS OFF PREFIX "" DEBUG_POSTFIX "" POSITION_INDEPENDENT_CODE ON
    CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON CUDA_RUNTIME_LIBRARY Shared)
endfunction()

# Where built plugins and labs go.
function(labrig_output_dir result)
  if(LABRIG_OUTPUT_DIR)
    set(${result} ${LABRIG_OUTPUT_DIR} PARENT_SCOPE)
  else()
    set(${result} ${CMAKE_BINARY_DIR} PARENT_SCOPE)
  endif()
endfunction()

# The folder that holds a lab's interface.hpp.
function(labrig_find_lab id result)
  get_property(folder GLOBAL PROPERTY LABRIG_LAB_FOLDER_${id})
  foreach(labs "${LABRIG_LABS}" "$ENV{LABRIG_LABS}" "${LABRIG_INSTALLED_LABS}")
    if(NOT folder AND labs AND EXISTS ${labs}/${id}/interface.hpp)
      set(folder ${labs}/${id})
    endif()
  endforeach()
  if(NOT folder)
    message(FATAL_ERROR "labrig: there is no lab `${id}`: it was not added with labrig_add_lab() before this line, and is "
                        "neither in LABRIG_LABS (`${LABRIG_LABS}$ENV{LABRIG_LABS}`) nor installed. Run `labrig labs` to "
                        "see the installed ones, or configure with -DLABRIG_LABS=<folder of labs>.")
  endif()
  set(${result} ${folder} PARENT_SCOPE)
endfunction()

function(labrig_add_submission target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "LAB;OUTPUT_NAME" "SOURCES")
  if(NOT arg_LAB OR NOT arg_SOURCES OR arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "labrig_add_submission(<target> LAB <id> SOURCES <file>… [OUTPUT_NAME <name>])")
  endif()
  if(NOT arg_OUTPUT_NAME)
    set(arg_OUTPUT_NAME ${target})
  endif()
  labrig_find_lab(${arg_LAB} folder)
  labrig_output_dir(out)
  add_library(${target} MODULE ${arg_SOURCES})
  labrig_plugin_options(${target})
  target_include_directories(${target} PRIVATE ${folder})
  target_link_libraries(${target} PRIVATE labrig::core labrig::amp labrig::data)  # those that it uses: --as-needed
  set_target_properties(${target} PROPERTIES OUTPUT_NAME ${arg_OUTPUT_NAME} SUFFIX .labrig.so
    LIBRARY_OUTPUT_DIRECTORY ${out}/plugins/${arg_LAB} LIBRARY_OUTPUT_DIRECTORY_RELEASE ${out}/plugins/${arg_LAB}
    LIBRARY_OUTPUT_DIRECTORY_DEBUG ${out}/plugins/${arg_LAB})
  if(LABRIG_PCH)  # in labrig's own tree
    labrig_share_precompiled(${target} ${folder}/interface.hpp)
  endif()
endfunction()

function(labrig_add_lab id)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "SOURCE;FOLDER" "")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "labrig_add_lab(<id> [FOLDER <dir>] [SOURCE lab.cpp])")
  endif()
  if(NOT arg_FOLDER)
    set(arg_FOLDER ${CMAKE_CURRENT_SOURCE_DIR})
  endif()
  if(NOT arg_SOURCE)
    set(arg_SOURCE lab.cpp)
  endif()
  get_filename_component(folder ${arg_FOLDER} ABSOLUTE)
  get_filename_component(source ${arg_SOURCE} ABSOLUTE BASE_DIR ${folder})
  foreach(needed ${folder}/lab.toml ${folder}/interface.hpp ${folder}/handout.md ${source})
    if(NOT EXISTS ${needed})
      message(FATAL_ERROR "labrig: the lab `${id}` has no ${needed}")
    endif()
  endforeach()
  set_property(GLOBAL PROPERTY LABRIG_LAB_FOLDER_${id} ${folder})
  labrig_output_dir(out)
  set(out ${out}/labs/${id})

  # One source, two modules: the judge's code is not in the module that runs beside a submission.
  foreach(part judge call)
    set(module lab-${id}-${part})
    string(TOUPPER ${part} upper)
    add_library(${module} MODULE ${source})
    labrig_plugin_options(${module})
    target_compile_definitions(${module} PRIVATE LABRIG_LAB_PART_${upper})
    target_include_directories(${module} PRIVATE ${folder})
    target_link_libraries(${module} PRIVATE labrig::sdk labrig::amp labrig::data labrig::bench)  # those that it uses
    set_target_properties(${module} PROPERTIES OUTPUT_NAME ${part} SUFFIX .so LIBRARY_OUTPUT_DIRECTORY ${out}
      LIBRARY_OUTPUT_DIRECTORY_RELEASE ${out} LIBRARY_OUTPUT_DIRECTORY_DEBUG ${out})
  endforeach()

  # The files that travel with the modules. They are data, so a new one is picked up without being listed.
  file(GLOB_RECURSE starter RELATIVE ${folder} CONFIGURE_DEPENDS ${folder}/starter/*)
  file(GLOB plain RELATIVE ${folder} CONFIGURE_DEPENDS ${folder}/lab.toml ${folder}/interface.hpp
    ${folder}/reference.json ${folder}/handout.md)
  set(copies "")
  foreach(name IN LISTS plain starter)
    add_custom_command(OUTPUT ${out}/${name} DEPENDS ${folder}/${name}
      COMMAND ${CMAKE_COMMAND} -E copy ${folder}/${name} ${out}/${name} COMMENT "lab ${id}: ${name}" VERBATIM)
    list(APPEND copies ${out}/${name})
  endforeach()
  add_custom_command(OUTPUT ${out}/handout.html DEPENDS ${folder}/handout.md labrig::handout
    COMMAND labrig::handout ${folder}/handout.md ${out}/handout.html COMMENT "lab ${id}: handout.html" VERBATIM)
  add_custom_target(lab-${id} ALL DEPENDS ${copies} ${out}/handout.html)
  add_dependencies(lab-${id} lab-${id}-judge lab-${id}-call)
endfunction()
