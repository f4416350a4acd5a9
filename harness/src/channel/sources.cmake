# The private channel between supervisor and worker.
list(APPEND LABRIG_HARNESS_SOURCES
  src/channel/frame.cpp
  src/channel/values.cpp
)
