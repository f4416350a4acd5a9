// What a student implements in the lab `scale`: one function that does its arithmetic on a card.
#pragma once

#include <string_view>

#include "labrig/ops.hpp"
#include "labrig/submission.hpp"
#include "labrig/tensor.hpp"

namespace scale {

class Submission : public labrig::SubmissionBase<Submission> {
 public:
  static constexpr std::string_view lab_id = "scale";

  // Returns `factor` times `x`, as a tensor on the CPU. `x` lies on the CPU; the multiplication must happen on
  // `device`.
  virtual labrig::Tensor scale(const labrig::Tensor& x, double factor, labrig::Device device) = 0;
};

}  // namespace scale
