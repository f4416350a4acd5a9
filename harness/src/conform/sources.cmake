list(APPEND LABRIG_HARNESS_SOURCES
  src/conform/alloc_traces.cpp
  src/conform/json_file.cpp
  src/conform/kinds.cpp
  src/conform/outcome.cpp
  src/conform/recorded_driver.cpp
  src/conform/value.cpp
)
