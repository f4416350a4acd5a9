// The interface of the lab that the tests of grading use: add one to every element, on the device that is given.
#pragma once

#include <string_view>

#include "labrig/ops.hpp"
#include "labrig/submission.hpp"
#include "labrig/tensor.hpp"

namespace plus_one {

class Submission : public labrig::SubmissionBase<Submission> {
 public:
  static constexpr std::string_view lab_id = "plus-one";
  virtual labrig::Tensor plus_one(const labrig::Tensor& x, labrig::Device device) = 0;
};

}  // namespace plus_one
