set(LABRIG_KIT_SOURCES
  src/kit/ci_file.cpp
  src/kit/lab_copy.cpp
  src/kit/product.cpp
  src/kit/visible_lab.cpp
  src/kit/zip_file.cpp
)
# The files that kits are made of, staged as links where an installed labrig has them too.
file(GLOB_RECURSE kit_files RELATIVE ${CMAKE_CURRENT_SOURCE_DIR}/app/kit CONFIGURE_DEPENDS
  ${CMAKE_CURRENT_SOURCE_DIR}/app/kit/*/*)
foreach(name IN LISTS kit_files)
  get_filename_component(folder ${name} DIRECTORY)
  file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/share/labrig/kit/${folder})
  file(CREATE_LINK ${CMAKE_CURRENT_SOURCE_DIR}/app/kit/${name} ${CMAKE_BINARY_DIR}/share/labrig/kit/${name} SYMBOLIC)
endforeach()
foreach(folder ci gradescope student)
  install(DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR}/app/kit/${folder} DESTINATION share/labrig/kit)
endforeach()
