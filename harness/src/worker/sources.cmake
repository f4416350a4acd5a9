# What runs beside a submission. main.cpp is the program labrig-worker (harness/app/CMakeLists.txt).
list(APPEND LABRIG_HARNESS_SOURCES
  src/worker/call_submission.cpp
  src/worker/debug.cpp
  src/worker/failure.cpp
  src/worker/on_device.cpp
  src/worker/one_process.cpp
  src/worker/serve.cpp
  src/worker/signals.cpp
)
