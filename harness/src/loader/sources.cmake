# The loading ladder.
list(APPEND LABRIG_HARNESS_SOURCES
  src/loader/climb.cpp
  src/loader/elf_file.cpp
  src/loader/inspection.cpp
  src/loader/loaded_plugin.cpp
  src/loader/manifest.cpp
)
