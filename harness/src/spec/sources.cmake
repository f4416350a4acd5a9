list(APPEND LABRIG_HARNESS_SOURCES
  src/spec/lab_toml.cpp
  src/spec/plan.cpp
  src/spec/validate.cpp
  src/spec/validate_words.cpp
)
