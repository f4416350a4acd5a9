// The program only uses what a submission may use.
#include "random_program.hpp"

#include <chrono>
#include <random>
#include <thread>
#include <vector>

#include "labrig/ops.hpp"
#include "labrig/stream.hpp"

namespace labrig::sim {

double run_random_program(std::uint32_t seed, bool jitter) {
  std::mt19937 random(seed), pauses(seed ^ 0x5555u);
  const auto below = [&](std::uint32_t bound) { return static_cast<std::uint32_t>(random() % bound); };
  const Device card("sim");
  const std::int64_t rows[] = {4, 64, 256, 700};
  std::vector<Tensor> tensors;
  const auto any = [&]() -> Tensor& { return tensors[below(static_cast<std::uint32_t>(tensors.size()))]; };
  for (int i = 0; i < 3; ++i) tensors.push_back(full({rows[i], 16}, i + 1, card).set_name("start"));

  double read = 0;
  const Stream side = new_stream(card);
  Event event(card);
  for (int step = 0; step < 120; ++step) {
    if (jitter && pauses() % 8 == 0) std::this_thread::sleep_for(std::chrono::microseconds(pauses() % 300));
    const std::int64_t n = rows[below(4)];
    switch (below(12)) {
      case 0:
        tensors.push_back(full({n, 16}, below(7)).set_name("input").to(card));
        break;
      case 1:
        tensors.push_back(full({n, 16}, below(7)).pin_memory().to(card, true));
        break;
      case 2: {
        const Tensor& x = any();
        tensors.push_back(relu(x * 0.5 - 1.0));
        break;
      }
      case 3: {
        const Tensor& x = any();
        tensors.push_back(matmul(x, x.t()).narrow(1, 0, 4).contiguous());
        if (tensors.back().size(1) != 16)
          tensors.back() = cat({tensors.back(), tensors.back(), tensors.back(), tensors.back()}, 1);
        break;
      }
      case 4:
        read += mean(any()).item();
        break;
      case 5:
        read += sum(any().cpu()).item();
        break;
      case 6: {
        event.record(current_stream(card));
        event.wait(side);
        const StreamGuard guard(side);
        tensors.push_back(any() + 1.0);
        side.synchronize();
        break;
      }
      case 7:
        synchronize(card);
        break;
      case 8:
        read += current_stream(card).query() ? 1 : 0;
        break;
      case 9:
        read += max(any().to(kF16)).item();
        break;
      default:
        if (tensors.size() > 2) tensors.erase(tensors.begin() + below(static_cast<std::uint32_t>(tensors.size())));
    }
  }
  return read;
}

}  // namespace labrig::sim
