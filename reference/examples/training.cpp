// A whole training program: a model learns which of four corners a point lies nearest to, in mixed precision, from
// batches that are made ahead of time; then it is saved, and loaded on the host. The memory line says what a step
// costs.
//
//   build/bin/example-training               on the simulated card
//   LABRIG_DEVICE=cpu build/bin/example-training
#include <cstdio>
#include <cstdlib>

#include "labrig/amp.hpp"
#include "labrig/autograd.hpp"
#include "labrig/data.hpp"
#include "labrig/io.hpp"
#include "labrig/memory.hpp"
#include "labrig/nn.hpp"
#include "labrig/optim.hpp"
#include "labrig/random.hpp"

namespace {

using namespace labrig;

nn::Sequential make_model(Options options) {
  return nn::Sequential(nn::Linear(2, 32, true, options), nn::ReLU(), nn::Linear(32, 4, true, options));
}

// The share of points that get the right corner.
double accuracy(nn::Sequential& model, const Tensor& points, const Tensor& corners) {
  const NoGradGuard no_grad;
  return mean(eq(argmax(model(points), 1), corners).to(kF32)).item();
}

}  // namespace

int main() {
  const Device device = std::getenv("LABRIG_DEVICE") ? pick_device() : Device("sim:0");
  manual_seed(7);
  const Tensor points = rand({1024, 2});
  const Tensor right = gt(points, 0.5).to(kI64);  // 0 or 1 in each direction
  const Tensor corners = add(mul(right.select(1, 0), 2), right.select(1, 1));
  const data::TensorDataset dataset({points, corners});
  data::DataLoader loader(dataset, {.batch_size = 64, .shuffle = true, .num_workers = 2, .pin_memory = true});

  nn::Sequential model = make_model(device);
  optim::Adam optimizer(model.parameters(), {.lr = 0.01});
  amp::GradScaler scaler({.enabled = !device.is_cpu()});
  for (int epoch = 0; epoch < 5; ++epoch) {
    Tensor total = zeros({}, device);
    for (const auto& batch : loader) {
      optimizer.zero_grad();
      Tensor loss;
      {
        const amp::AutocastGuard low_precision(device.type());
        loss = cross_entropy(model(batch[0].to(device, true)), batch[1].to(device, true));
      }
      scaler.scale(loss).backward();
      scaler.step(optimizer);
      scaler.update();
      add_(total, loss.detach());  // without detach() the total would keep every graph; item() would wait
    }
    std::printf("epoch %d: loss %.3f\n", epoch + 1, total.item() / static_cast<double>(loader.size()));
  }
  if (!device.is_cpu()) {
    std::printf("at most %zu bytes of %s were in use\n", max_memory_allocated(device), device.str().c_str());
  }

  const char* file = "example-training.safetensors";
  io::save(file, model.state_dict());
  nn::Sequential loaded = make_model(Device("cpu"));
  loaded.load_state_dict(io::load(file, "cpu").tensors);
  std::remove(file);
  std::printf("right on the host after loading: %.0f %%\n", 100 * accuracy(loaded, points, corners));
}
