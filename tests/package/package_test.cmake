# What a stranger does with an installed labrig: builds a lab of their own (a copy of plugins/template), makes a submission
# folder with `labrig new`, builds it with find_package(labrig), and grades. Nothing here may reach back into the source or
# build folder. Variables: BUILD, SOURCE, COMPILER, CONFIG.
set(WORK ${BUILD}/package-test)
set(PREFIX ${WORK}/prefix)
set(LABRIG ${PREFIX}/bin/labrig)
file(REMOVE_RECURSE ${WORK})
file(MAKE_DIRECTORY ${WORK})
set(ENV{XDG_CACHE_HOME} ${WORK}/cache)
unset(ENV{LABRIG_LABS})

# run(<exit code> <text that must be printed, or ""> <command>…)
function(run expected text)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE code OUTPUT_VARIABLE output ERROR_VARIABLE output WORKING_DIRECTORY ${WORK})
  if(NOT code STREQUAL expected)
    message(FATAL_ERROR "exit ${code}, expected ${expected}: ${ARGN}\n${output}")
  endif()
  if(NOT text STREQUAL "" AND NOT output MATCHES "${text}")
    message(FATAL_ERROR "`${text}` was not printed: ${ARGN}\n${output}")
  endif()
endfunction()

function(must_exist)
  foreach(path IN LISTS ARGN)
    if(NOT EXISTS ${path})
      message(FATAL_ERROR "${path} is missing")
    endif()
  endforeach()
endfunction()

# Moved after installing: everything is found relative to the programs.
run(0 "" ${CMAKE_COMMAND} --install ${BUILD} --config ${CONFIG} --prefix ${WORK}/installed)
file(RENAME ${WORK}/installed ${PREFIX})
must_exist(${LABRIG} ${PREFIX}/bin/labrig-worker ${PREFIX}/bin/labrig-device ${PREFIX}/lib/liblabrig-core.so
  ${PREFIX}/lib/liblabrig-sdk.so ${PREFIX}/include/labrig/tensor.hpp ${PREFIX}/include/labrig/lab.hpp
  ${PREFIX}/include/labrig/abi.h ${PREFIX}/share/labrig/build.json ${PREFIX}/share/labrig/profiles
  ${PREFIX}/share/labrig/labs/transfer-cost/handout.html ${PREFIX}/lib/cmake/labrig/labrigConfig.cmake)
must_exist(${PREFIX}/share/man/man1/labrig.1 ${PREFIX}/share/bash-completion/completions/labrig
  ${PREFIX}/share/zsh/site-functions/_labrig ${PREFIX}/share/fish/vendor_completions.d/labrig.fish)
run(0 "labrig [0-9]" ${LABRIG} --version)
run(0 "\"fit\": true" ${LABRIG} doctor --json)
run(0 "invalid-device-number" ${LABRIG} explain "CUDA error: invalid device ordinal")

# A lab of another folder.
set(LAB ${WORK}/lab)
file(COPY ${SOURCE}/plugins/template/ DESTINATION ${LAB})
run(0 "" ${CMAKE_COMMAND} -S ${LAB} -B ${LAB}/build -D CMAKE_PREFIX_PATH=${PREFIX} -D CMAKE_CXX_COMPILER=${COMPILER})
run(0 "" ${CMAKE_COMMAND} --build ${LAB}/build)
must_exist(${LAB}/build/labs/scale/judge.so ${LAB}/build/labs/scale/call.so ${LAB}/build/labs/scale/handout.html
  ${LAB}/build/labs/scale/starter/submission.cpp ${LAB}/build/plugins/scale/solution.labrig.so)
run(0 "can be loaded and used" ${LABRIG} --labs ${LAB}/build/labs plugin doctor --lab scale
  ${LAB}/build/plugins/scale/solution.labrig.so)

# A submission of a third folder, built by its own CMakeLists.txt.
set(MINE ${WORK}/mine)
run(0 "is ready" ${LABRIG} --labs ${LAB}/build/labs new scale ${MINE})
run(0 "" ${CMAKE_COMMAND} -S ${MINE} -B ${MINE}/build -D CMAKE_CXX_COMPILER=${COMPILER})
run(0 "" ${CMAKE_COMMAND} --build ${MINE}/build)
must_exist(${MINE}/build/plugins/scale/submission.labrig.so)

# Graded by the installed labrig: the starter, the solution as a plugin, the solution as a folder.
run(1 "" ${LABRIG} --labs ${LAB}/build/labs grade ${MINE} --lab scale --out ${WORK}/starter)
run(0 "" ${LABRIG} --labs ${LAB}/build/labs grade ${LAB}/build/plugins/scale/solution.labrig.so --lab scale --out ${WORK}/plugin)
file(COPY ${LAB}/solution/submission.cpp DESTINATION ${MINE})
run(0 "" ${LABRIG} --labs ${LAB}/build/labs grade ${MINE} --lab scale --out ${WORK}/folder)
foreach(graded plugin folder)
  file(READ ${WORK}/${graded}/report.json report)
  string(JSON score GET "${report}" score)
  if(NOT score EQUAL 100)
    message(FATAL_ERROR "the ${graded} got ${score} points, not 100")
  endif()
endforeach()

# Kits of that lab, made by the installed labrig: the student's works by itself, without the lab's own folder.
run(0 "scale" ${LABRIG} --labs ${LAB}/build/labs kit gradescope --lab scale --out ${WORK}/autograder.zip --json)
run(0 "is ready" ${LABRIG} --labs ${LAB}/build/labs kit student --lab scale --out ${WORK}/kit)
run(1 "" ${WORK}/kit/labrig check ${WORK}/kit/scale)
file(COPY ${LAB}/solution/submission.cpp DESTINATION ${WORK}/kit/scale)
run(0 "100 / 100" ${WORK}/kit/labrig check ${WORK}/kit/scale)
