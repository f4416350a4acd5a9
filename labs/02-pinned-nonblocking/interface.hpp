// Lab 02, pinned-nonblocking: what a submission must offer. You write the three functions below; the handout explains
// them, and `labrig check` says what each is judged by.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "labrig/ops.hpp"
#include "labrig/stream.hpp"
#include "labrig/submission.hpp"
#include "labrig/tensor.hpp"

namespace pinned_nonblocking {

// Where the data come from: a file, a decoder, a socket. It hands them out in chunks, one after another.
class Source {
 public:
  virtual ~Source() = default;
  virtual std::int64_t chunks() const = 0;       // how many there are
  virtual labrig::Dims chunk_sizes() const = 0;  // of each: [rows, columns], f32
  // Writes the next chunk into `host`, a contiguous f32 tensor of these sizes in host memory, pinned or not. The host
  // is busy meanwhile. The first call begins the loop that is judged, the last one ends it.
  virtual void read_into(const labrig::Tensor& host) = 0;
};

// What the card does with a chunk.
class Work {
 public:
  virtual ~Work() = default;
  // The result of a chunk on the card: [columns] f32, on the card. Queues kernels in the current stream and waits for
  // nothing.
  virtual labrig::Tensor operator()(const labrig::Tensor& chunk) const = 0;
};

// A buffer on the host that is copied to the card `uploads` times.
struct Transfer {
  std::size_t bytes = 0;
  std::int64_t uploads = 0;
};

// What it takes to copy to a card, and to pin memory, on one machine. Copy n bytes: fixed + n * per_byte seconds.
struct Rates {
  double pageable_fixed_s = 0, pageable_s_per_byte = 0;  // from ordinary memory, each time
  double pinned_fixed_s = 0, pinned_s_per_byte = 0;      // from pinned memory, each time
  double pin_fixed_s = 0, pin_s_per_byte = 0;            // to pin the buffer, once
};

class Submission : public labrig::SubmissionBase<Submission> {
 public:
  static constexpr std::string_view lab_id = "pinned-nonblocking";

  // Reads every chunk, moves it to `device`, and does the work on it. Returns the results of all chunks in their order,
  // one a row: a CPU tensor [chunks, columns], f32. Reading, copying and computing should go on at the same time, with
  // at most `pinned_budget_bytes` of pinned memory at any moment, counted as you asked for it.
  virtual labrig::Tensor pipeline(Source& source, const Work& work, labrig::Device device,
                                  std::size_t pinned_budget_bytes) = 0;

  // Copies results[i], a tensor on the card, into buffers[i], a pinned host tensor of the same sizes and type. The
  // results are being computed in the stream that is current now. When fetch() returns, the caller reads the buffers.
  virtual void fetch(std::span<const labrig::Tensor> results, std::span<const labrig::Tensor> buffers) = 0;

  // Which of the buffers to pin, one answer each, so that all uploads together (and the pinning) take as little time as
  // possible. The bytes of those that are pinned must not be more than `budget_bytes`.
  virtual std::vector<bool> staging_plan(std::span<const Transfer> transfers, const Rates& rates,
                                         std::size_t budget_bytes) = 0;
};

}  // namespace pinned_nonblocking
