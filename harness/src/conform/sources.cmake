list(APPEND LABRIG_CONFORM_SOURCES
  src/conform/alloc_traces.cpp
  src/conform/autocast.cpp
  src/conform/error_table.cpp
  src/conform/errors.cpp
  src/conform/grad_scaler.cpp
  src/conform/json_file.cpp
  src/conform/kinds.cpp
  src/conform/operator_table.cpp
  src/conform/operators.cpp
  src/conform/optimizers.cpp
  src/conform/outcome.cpp
  src/conform/recorded_driver.cpp
  src/conform/recorded_tensor.cpp
  src/conform/target.cpp
  src/conform/training_peaks.cpp
  src/conform/value.cpp
)
