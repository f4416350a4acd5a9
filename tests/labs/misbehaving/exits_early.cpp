// Misbehaves on purpose: ends the process from a static constructor, before any check could run.
#include "correct.hpp"

#include <unistd.h>

using namespace flawed;

namespace {
struct Leaver {
  Leaver() { _exit(0); }
} leaver;
}  // namespace

class Misbehaving : public Correct {
 public:
  Tensor score(std::span<const Batch> batches, const Model& model, Device device) override {
    return Correct::score(batches, model, device);
  }
};

LABRIG_SUBMISSION(Misbehaving)
