list(APPEND LABRIG_HARNESS_SOURCES
  src/store/atomic_file.cpp
  src/store/digest.cpp
  src/store/environment.cpp
  src/store/run_folder.cpp
)
