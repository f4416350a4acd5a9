list(APPEND LABRIG_HARNESS_SOURCES
  src/spec/lab_toml.cpp
  src/spec/model_toml.cpp
  src/spec/plan.cpp
  src/spec/toml_reader.cpp
  src/spec/validate.cpp
  src/spec/validate_words.cpp
)
