// What the flawed variants of lab 02 have in common: a right pipeline, cut into its steps. Each variant derives from
// Correct and gets one step wrong, so that a file here reads as the mistake alone.
#pragma once

#include <algorithm>
#include <optional>

#include "interface.hpp"

namespace flawed {

using labrig::Device;
using labrig::Event;
using labrig::Stream;
using labrig::Tensor;
using namespace pinned_nonblocking;

class Correct : public Submission {
 public:
  Tensor pipeline(Source& source, const Work& work, Device device, std::size_t) override {
    const Stream compute = labrig::current_stream(device), copies = copy_stream(device);
    std::vector<Tensor> buffers;
    for (std::int64_t i = 0; i < buffer_count(source); ++i) buffers.push_back(make_buffer(source));
    std::vector<std::optional<Event>> copied(buffers.size());
    std::vector<Tensor> results;
    for (std::int64_t i = 0; i < source.chunks(); ++i) {
      const std::size_t turn = static_cast<std::size_t>(i) % buffers.size();
      if (copied[turn]) wait_for_buffer(*copied[turn]);
      source.read_into(buffers[turn]);
      Tensor chunk;
      {
        const labrig::StreamGuard guard(copies);
        chunk = upload(buffers[turn], device);
        copied[turn] = copies.record_event();
      }
      hand_over(chunk, *copied[turn], compute);
      results.push_back(work(chunk));
      after_work(device);
    }
    return labrig::stack(results).cpu();
  }

  void fetch(std::span<const Tensor> results, std::span<const Tensor> buffers) override {
    for (std::size_t i = 0; i < results.size(); ++i) buffers[i].copy_(results[i], true);
    if (!results.empty()) labrig::current_stream(results[0].device()).synchronize();
  }

  std::vector<bool> staging_plan(std::span<const Transfer> transfers, const Rates& r, std::size_t budget) override {
    std::vector<std::pair<double, std::size_t>> worth;  // seconds saved a byte, and where
    for (std::size_t i = 0; i < transfers.size(); ++i) {
      const double bytes = static_cast<double>(transfers[i].bytes), times = static_cast<double>(transfers[i].uploads);
      const double each = r.pageable_fixed_s - r.pinned_fixed_s + bytes * (r.pageable_s_per_byte - r.pinned_s_per_byte);
      worth.emplace_back((times * each - r.pin_fixed_s - bytes * r.pin_s_per_byte) / bytes, i);
    }
    std::sort(worth.rbegin(), worth.rend());
    std::vector<bool> pin(transfers.size());
    for (const auto& [saved, i] : worth) {
      if (saved <= 0 || transfers[i].bytes > budget) continue;
      pin[i] = true;
      budget -= transfers[i].bytes;
    }
    return pin;
  }

 protected:
  virtual std::int64_t buffer_count(const Source&) const { return 2; }
  virtual Tensor make_buffer(const Source& source) const {
    return labrig::empty(source.chunk_sizes(), labrig::Options().pinned_memory());
  }
  virtual Stream copy_stream(Device device) const { return labrig::new_stream(device); }
  virtual void wait_for_buffer(const Event& copied) const { copied.synchronize(); }
  virtual Tensor upload(const Tensor& buffer, Device device) const { return buffer.to(device, true); }
  virtual void hand_over(const Tensor& chunk, const Event& copied, Stream compute) const {
    copied.wait(compute);
    chunk.record_stream(compute);
  }
  virtual void after_work(Device) const {}
};

}  // namespace flawed
