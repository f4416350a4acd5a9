# The sources of labrig-core outside the simulated card.
set(LABRIG_CORE_SOURCES
  src/error.cpp
)
