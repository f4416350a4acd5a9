// Calls labrig::amp, a library of its own that a lab may forbid; nothing is wrong with it where that is allowed.
#include "broken.hpp"
#include "labrig/amp.hpp"

class Scales : public broken::Scale {
 public:
  Scales() { scaler_.get_scale(); }

 private:
  labrig::amp::GradScaler scaler_;
};

LABRIG_SUBMISSION(Scales)
