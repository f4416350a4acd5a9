// The mistake: nothing runs in 16 bits.
#include "correct.hpp"

using namespace flawed;

class AllF32 : public Correct {
 public:
  std::optional<Dtype> precision_of(std::string_view, Dtype, Dtype, Dtype) override { return kF32; }

 protected:
  Dtype low_type(Device) const override { return kF32; }
};

LABRIG_SUBMISSION(AllF32)
