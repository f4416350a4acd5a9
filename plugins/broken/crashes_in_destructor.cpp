// Everything works until the object is destroyed.
#include <cstdlib>

#include "broken.hpp"

class Aborts : public broken::Scale {
 public:
  ~Aborts() override { std::abort(); }
};

LABRIG_SUBMISSION(Aborts)
