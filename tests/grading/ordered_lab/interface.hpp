// The interface of the lab that the tests of ordering use: x, moved and added to itself, on two streams.
#pragma once

#include <string_view>

#include "labrig/ops.hpp"
#include "labrig/stream.hpp"
#include "labrig/submission.hpp"
#include "labrig/tensor.hpp"

namespace two_streams {

class Submission : public labrig::SubmissionBase<Submission> {
 public:
  static constexpr std::string_view lab_id = "two-streams";
  // x + x, computed on `device` in a stream of its own.
  virtual labrig::Tensor twice(const labrig::Tensor& x, labrig::Device device) = 0;
};

}  // namespace two_streams
