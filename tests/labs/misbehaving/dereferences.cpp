// Misbehaves on purpose: reads a device tensor through its address.
#include "correct.hpp"

using namespace flawed;

class Misbehaving : public Correct {
 public:
  Tensor score(std::span<const Batch> batches, const Model& model, Device device) override {
    const Tensor moved = model.expand.to(device);
    volatile float first = static_cast<const float*>(moved.data_ptr())[3];
    (void)first;
    return Correct::score(batches, model, device);
  }
};

LABRIG_SUBMISSION(Misbehaving)
