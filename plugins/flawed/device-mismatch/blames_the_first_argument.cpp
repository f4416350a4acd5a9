// The mistake: the first operand of the line that failed is blamed.
#include "correct.hpp"

using namespace flawed;

class BlamesTheFirstArgument : public Correct {
 public:
  std::vector<std::string> culprit(const Program& program) override { return {program.operands.front()}; }
};

LABRIG_SUBMISSION(BlamesTheFirstArgument)
