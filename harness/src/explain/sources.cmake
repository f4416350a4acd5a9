list(APPEND LABRIG_HARNESS_SOURCES
  src/explain/catalogue.cpp
  src/explain/checks.cpp
  src/explain/match.cpp
  src/explain/numbers.cpp
  src/explain/pasted.cpp
  src/explain/symptoms.cpp
)
# The entries, staged as links where an installed labrig has them too.
file(GLOB entries CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/src/explain/entries/*.toml)
file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/share/labrig/explain)
foreach(file IN LISTS entries)
  get_filename_component(name ${file} NAME)
  file(CREATE_LINK ${file} ${CMAKE_BINARY_DIR}/share/labrig/explain/${name} SYMBOLIC)
endforeach()
install(FILES ${entries} DESTINATION share/labrig/explain)
