list(APPEND LABRIG_HARNESS_SOURCES
  src/grade/grade.cpp
  src/grade/outcome.cpp
  src/grade/points.cpp
  src/grade/words.cpp
)
