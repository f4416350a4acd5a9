// The constructor of the submission throws.
#include <stdexcept>

#include "broken.hpp"

class Throws : public broken::Scale {
 public:
  Throws() { throw std::runtime_error("no table in /tmp/factors.txt"); }
};

LABRIG_SUBMISSION(Throws)
