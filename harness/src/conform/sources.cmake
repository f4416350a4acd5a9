list(APPEND LABRIG_HARNESS_SOURCES
  src/conform/alloc_traces.cpp
  src/conform/json_file.cpp
  src/conform/recorded_driver.cpp
)
