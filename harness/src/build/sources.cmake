# Compiling a student's folder, and where this labrig's own parts lie.
list(APPEND LABRIG_HARNESS_SOURCES
  src/build/build_submission.cpp
  src/build/compiler_messages.cpp
  src/build/installation.cpp
  src/build/lesser_user.cpp
  src/build/run_program.cpp
)
