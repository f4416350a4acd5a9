#include "worker/call_submission.hpp"

#include <fmt/format.h>

#include <cstring>
#include <vector>

#include "backends/sim/machine.hpp"
#include "device/backend.hpp"
#include "labrig/error.hpp"
#include "labrig/stream.hpp"

namespace labrig::worker {

namespace {

// A copy that no later effect can reach. Whoever returns a tensor says that it can be read now: a download that is
// still on its way to it is a hazard of the submission's. Undefined tensors are left out: the judge then misses them by
// name.
Tensor copy_of(const Tensor& value) {
  const Tensor plain = value.contiguous();
  const Tensor copy = empty(plain.sizes(), plain.dtype());
  if (Backend* const clock = attached_sim_clock())
    clock->host_access(plain.data_ptr(), plain.nbytes(), false, plain.name());
  if (plain.nbytes() > 0) std::memcpy(copy.data_ptr(), plain.data_ptr(), plain.nbytes());
  return copy;
}

// The same for a result on the card: it is fetched in the stream that is current now. A view with gaps is left out: its
// bytes are not known one by one.
void announce_fetch(const Tensor& value) {
  if (!value.is_contiguous()) return;
  backend_of(value.device())
      .note_fetch(value.data_ptr(), value.nbytes(), current_stream(value.device()).id(), value.name());
}

}  // namespace

lab::Values call_submission(lab::CallModule& module, void* submission, const lab::Values& inputs, Device device) {
  lab::Call call(inputs, device);
  module.call(call, submission);
  lab::Values outputs = call.outputs().values;
  const auto& tensors = call.outputs().tensors;
  for (const auto& [name, value] : tensors)
    if (value.defined() && value.device().is_cpu()) outputs.set(name, copy_of(value));
  for (const auto& [name, value] : tensors)
    if (value.defined() && !value.device().is_cpu()) announce_fetch(value);
  if (device.type() == DeviceType::sim) sim::finish_region();
  for (const auto& [name, value] : tensors)
    if (value.defined() && !value.device().is_cpu()) outputs.set(name, value.cpu());
  return outputs;
}

}  // namespace labrig::worker
