// Odd answers: of another shape, or (LABRIG_ODD_TYPE) of another type, than the lab asks for. A judge calls them wrong.
#include "interface.hpp"

using labrig::Tensor;
using namespace device_mismatch;

class Odd : public Submission {
 public:
  Trained train(const Recipe& recipe, labrig::Device) override {
    Trained trained;
    for (const auto& [name, tensor] : recipe.state) trained.state.emplace_back(name, odd(tensor.sizes()));
    trained.losses = odd({static_cast<std::int64_t>(recipe.batches.size())});
    return trained;
  }
  Loaded load(const std::string&, labrig::Device, const Wanted& wanted) override {
    Loaded loaded;
    for (const std::string& name : wanted.names) loaded.tensors.emplace_back(name, odd({16, 8}));
    loaded.missing = {"", "a\nb", std::string("\0\xff", 2)};
    return loaded;
  }
  std::vector<std::string> culprit(const Program& program) override {
    return {"", "no such value", "a\nb", program.operation};
  }

 private:
  static Tensor odd(const labrig::Dims& sizes) {
    return LABRIG_ODD_TYPE ? labrig::zeros(sizes, labrig::kI64) : labrig::zeros({0, 3});
  }
};

LABRIG_SUBMISSION(Odd)
