// The mistake: the center is a plain member of the model. No one moves it, and the state is loaded without strictness
// because its name is unknown to the model.
#include "correct.hpp"

using namespace flawed;

class BufferLeftBehind : public Correct {
 protected:
  Net built(const Recipe& recipe, const NamedTensors& state, Device device) override {
    return Net(recipe, state, device, false);
  }
};

LABRIG_SUBMISSION(BufferLeftBehind)
