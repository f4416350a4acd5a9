// The chunks of task 1 and what is computed on them. A chunk is cut out of one short pattern, row by row, so that a
// source of many MiB travels as a few KiB and both sides know every value.
#pragma once

#include <algorithm>
#include <map>
#include <span>
#include <string>
#include <utility>

#include "interface.hpp"
#include "labrig/error.hpp"
#include "labrig/lab.hpp"

namespace pinned_nonblocking {

// Where row `row` of chunk `chunk` starts in the pattern.
inline std::int64_t row_start(std::int64_t chunk, std::int64_t row, std::int64_t pattern) {
  return (chunk * 389 + row * 53) % pattern;
}

struct Job {
  std::int64_t chunks, rows, columns;
  labrig::Tensor pattern;       // [p], p >= columns
  labrig::Tensor scale, shift;  // [columns]

  explicit Job(const labrig::lab::Values& in)
      : chunks(in.integer("chunks")),
        rows(in.integer("rows")),
        columns(in.integer("columns")),
        pattern(in.tensor("pattern")),
        scale(in.tensor("scale")),
        shift(in.tensor("shift")) {}

  // In float64: the mean over the rows of relu(x scale + shift), as CardWork has it.
  labrig::Tensor expected() const {
    const float *x = pattern.data<const float>().data(), *a = scale.data<const float>().data(),
                *b = shift.data<const float>().data();
    const std::int64_t period = pattern.numel();
    const labrig::Tensor results = labrig::zeros({chunks, columns}, labrig::kF64);
    double* const mean = results.data<double>().data();
    for (std::int64_t chunk = 0; chunk < chunks; ++chunk)
      for (std::int64_t row = 0; row < rows; ++row) {
        const std::int64_t start = row_start(chunk, row, period);
        for (std::int64_t j = 0; j < columns; ++j) {
          const std::int64_t at = start + j < period ? start + j : start + j - period;
          const double y = static_cast<double>(x[at]) * a[j] + b[j];
          mean[chunk * columns + j] += std::max(0.0, y) / static_cast<double>(rows);
        }
      }
    return results;
  }
};

// The source that a submission gets. It names the buffers that it is given, so that messages can.
class PatternSource final : public Source {
 public:
  PatternSource(const Job& job, labrig::lab::Call& call) : job_(job), call_(call) {
    const auto once = job.pattern.data<const float>();
    twice_.assign(once.begin(), once.end());
    twice_.insert(twice_.end(), once.begin(), once.end());
  }

  std::int64_t chunks() const override { return job_.chunks; }
  labrig::Dims chunk_sizes() const override { return {job_.rows, job_.columns}; }

  void read_into(const labrig::Tensor& host) override {
    check(host);
    call_.mark_loop();
    name(host);
    // The data come packed, to a third of their bytes.
    call_.host_work(0, host.nbytes() / 3, "read " + host.name());
    const auto period = static_cast<std::int64_t>(twice_.size() / 2);
    float* out = host.data<float>().data();
    for (std::int64_t row = 0; row < job_.rows; ++row, out += job_.columns)
      std::copy_n(twice_.data() + row_start(next_, row, period), job_.columns, out);
    ++next_;
  }

 private:
  void check(const labrig::Tensor& host) const {
    if (next_ == job_.chunks)
      throw labrig::Error("source-is-empty", "read_into() was called more often than there are chunks",
                          "all " + std::to_string(job_.chunks) + " chunks have been read",
                          "read as many chunks as source.chunks() says");
    const bool fits = host.defined() && host.sizes() == chunk_sizes() && host.dtype() == labrig::kF32;
    if (fits && host.device().is_cpu() && host.is_contiguous()) return;
    throw labrig::Error("wrong-buffer", "read_into() cannot write a chunk into this tensor",
                        "a chunk is a contiguous f32 tensor of sizes " + chunk_sizes().str() + " in host memory",
                        "make the buffer with empty(source.chunk_sizes(), Options().pinned_memory())");
  }

  void name(const labrig::Tensor& host) {
    const auto [found, is_new] = numbers_.try_emplace(host.data_ptr(), numbers_.size());
    if (host.name().empty()) labrig::Tensor(host).set_name("buffer " + std::to_string(found->second));
  }

  const Job& job_;
  labrig::lab::Call& call_;
  std::vector<float> twice_;
  std::map<const void*, std::size_t> numbers_;  // of the buffers, in the order in which they came
  std::int64_t next_ = 0;
};

class CardWork final : public Work {
 public:
  CardWork(const Job& job, labrig::Device device) : scale_(job.scale.to(device)), shift_(job.shift.to(device)) {}

  labrig::Tensor operator()(const labrig::Tensor& chunk) const override {
    // A buffer's name came along with its copy.
    if (chunk.name().empty() || chunk.name().starts_with("buffer ")) labrig::Tensor(chunk).set_name("chunk");
    labrig::Tensor x = labrig::mul(chunk, scale_);
    x.set_name("scaled chunk");
    labrig::add_(x, shift_);
    labrig::relu_(x);
    return labrig::mean(x, 0);
  }

 private:
  labrig::Tensor scale_, shift_;
};

}  // namespace pinned_nonblocking
