// An answer to another lab.
#include "broken.hpp"

class Other : public labrig::SubmissionBase<Other> {
 public:
  static constexpr std::string_view lab_id = "another-lab";
};

LABRIG_SUBMISSION(Other)
