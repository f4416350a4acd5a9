// The constructor of the submission throws something that is not an exception.
#include "broken.hpp"

class Throws : public broken::Scale {
 public:
  Throws() { throw 42; }
};

LABRIG_SUBMISSION(Throws)
