// Do tensors, a model and an optimizer's memory lie where they were asked for, of the type that was asked for, with
// their values? What a program should assert at its start (F31): it catches "it was on the CPU all along".
#pragma once

#include <string>
#include <vector>

#include "doctor/check.hpp"
#include "labrig/tensor.hpp"

namespace labrig::doctor {

// What was asked for, beside what is there.
struct Placed {
  std::string name;  // "a f16 tensor, every second column"
  Device device;
  Dtype dtype = kF32;
  Dims sizes;
};
// Empty when `tensor` is that, and its values are those of `values` (a tensor of the host); else what is wrong.
std::string misplaced(const Tensor& tensor, const Placed& asked, const Tensor& values);

// The check `placement`, on every device of this process but the unusable ones.
Check placement(const std::vector<std::string>& unusable);
// What follows from the facts of the devices: on the host or the simulated card a problem is a failure, on a real card,
// which is not needed, a warning.
Check placement_verdict(const Facts& rows, const std::vector<std::string>& needed,
                        const std::vector<std::string>& cards);
// One device: the rows of its facts, and in `problems` what is wrong there.
Facts place_on(Device device, std::vector<std::string>& problems);

// The check `device`: where programs start that leave the choice to pick_device(), or (`expected`, of --device) whether
// the device that they are meant for is there.
Check device_check(const std::string& expected);

}  // namespace labrig::doctor
