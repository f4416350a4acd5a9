// Calls the controls of the simulated card, which belong to the harness.
#include "broken.hpp"

namespace labrig::sim {
LABRIG_API void finish_region();
}

class Stops : public broken::Scale {
 public:
  Stops() { labrig::sim::finish_region(); }
};

LABRIG_SUBMISSION(Stops)
