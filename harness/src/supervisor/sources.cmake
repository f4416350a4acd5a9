# One run of a submission. main.cpp is the program labrig-supervisor (harness/app/CMakeLists.txt).
list(APPEND LABRIG_HARNESS_SOURCES
  src/supervisor/attempt.cpp
  src/supervisor/card_facts.cpp
  src/supervisor/classify.cpp
  src/supervisor/client.cpp
  src/supervisor/job.cpp
  src/supervisor/judging.cpp
  src/supervisor/orphans.cpp
  src/supervisor/ordering.cpp
  src/supervisor/reference_store.cpp
  src/supervisor/run_job.cpp
  src/supervisor/spawn.cpp
  src/supervisor/thin_trace.cpp
  src/supervisor/verdict_json.cpp
  src/supervisor/worker_run.cpp
)
# It walks the fields of a profile, which the card keeps to itself.
set_source_files_properties(src/supervisor/card_facts.cpp PROPERTIES
  INCLUDE_DIRECTORIES ${PROJECT_SOURCE_DIR}/reference/backends/sim)
