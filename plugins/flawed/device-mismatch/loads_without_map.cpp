// The mistake: tensors are read to where they were saved, and moved afterwards.
#include "correct.hpp"

using namespace flawed;

class LoadsWithoutMap : public Correct {
 public:
  Loaded load(const std::string& path, Device device, const Wanted& wanted) override {
    return sorted(labrig::io::load(path).tensors, device, wanted);
  }
};

LABRIG_SUBMISSION(LoadsWithoutMap)
