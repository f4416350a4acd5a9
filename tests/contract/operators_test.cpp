// Every operator, forward and backward, on every device: the values are those of float64 on the host, to the rounding
// of the element type, for inputs that lie contiguous, transposed, with gaps or in the middle of a larger block, for
// empty and for 0-dim ones. What lies around an input or between its elements stays as it was.
//
// Operators are a table; a test runs all entries of one group. The float64 kernels of the host are checked against
// definitions and finite differences in tests/unit/core.
#include <cmath>
#include <cstdlib>
#include <functional>

#include "contract.hpp"
#include "labrig/autograd.hpp"

namespace labrig::contract {
namespace {

using Inputs = std::vector<Tensor>;
struct Entry {
  const char* name;
  std::vector<Dims> shapes;  // of the floating point inputs
  std::function<Tensor(const Inputs&)> run;
  bool positive = false;  // inputs above 0
  bool has_gradient = true;
};

// --- inputs
// ------------------------------------------------------------------------------------------------------------

enum class Lie { contiguous, transposed, gaps, inside };
constexpr Lie kLies[] = {Lie::contiguous, Lie::transposed, Lie::gaps, Lie::inside};
constexpr double kSentinel = 77;

// A leaf with the values of `host`, in another layout, and the whole block that it lies in.
struct Placed {
  Tensor whole, part;
};

Placed place(const Tensor& host, Device device, Lie lie) {
  const Options options{host.dtype(), device};
  Placed placed;
  const int last = host.dim() - 1;
  if (lie == Lie::contiguous || last < 0) {
    placed.whole = placed.part = full(host.sizes(), kSentinel, options);
  } else if (lie == Lie::transposed) {
    Dims sizes = host.sizes();
    std::swap(sizes[0], sizes[last]);
    placed.whole = full(sizes, kSentinel, options);
    placed.part = placed.whole.transpose(0, last);
  } else {
    Dims sizes = host.sizes();
    const std::int64_t size = sizes[last];
    sizes[last] = 2 * size + 3;
    placed.whole = full(sizes, kSentinel, options);
    placed.part = lie == Lie::gaps ? placed.whole.slice(last, 1, 2 * size + 1, 2) : placed.whole.narrow(last, 2, size);
  }
  placed.part.copy_(host);
  return placed;
}

// Everything but the part is a sentinel still.
void expect_untouched(const Placed& placed, const std::string& what) {
  const Tensor whole = placed.whole.clone();
  NoGradGuard no_grad;
  std::int64_t others = whole.numel() - placed.part.numel();
  for (const double value : values(whole)) others -= value == kSentinel ? 1 : 0;
  EXPECT_EQ(others, 0) << what << ": something around an input was written";
}

// Spread over (-2, 2) or (0.1, 2); none is a sentinel, and no two are equal, so that a maximum is one.
Tensor some_values(const Dims& sizes, Dtype dtype, std::uint32_t seed, bool positive) {
  std::vector<double> all(static_cast<std::size_t>(sizes.product()));
  for (std::size_t i = 0; i < all.size(); ++i) {
    seed = seed * 1664525 + 1013904223;
    const double unit = (static_cast<double>(seed >> 8) + 0.5) * 0x1p-24;
    all[i] = positive ? 0.1 + 1.9 * unit : 4 * unit - 2;
  }
  return tensor<double>(std::span<const double>(all), sizes).to(dtype);
}

// --- one entry
// ---------------------------------------------------------------------------------------------------------

struct Outcome {
  Tensor result;
  std::vector<Tensor> gradients;
};

Outcome outcome_of(const Entry& entry, const Inputs& inputs) {
  for (const Tensor& input : inputs) input.requires_grad_(entry.has_gradient);
  Outcome outcome;
  outcome.result = entry.run(inputs);
  if (!entry.has_gradient) return outcome;
  const Dtype dtype = outcome.result.dtype();
  outcome.result.backward(some_values(outcome.result.sizes(), kF32, 99, false).to(dtype).to(outcome.result.device()));
  for (const Tensor& input : inputs) outcome.gradients.push_back(input.grad());
  return outcome;
}

double tolerance_of(Dtype dtype) { return dtype == kF64 ? 1e-11 : dtype == kF32 ? 1e-5 : dtype == kF16 ? 6e-3 : 5e-2; }

void expect_close(const Tensor& actual, const Tensor& expected, Dtype dtype, const std::string& what) {
  NoGradGuard no_grad;
  ASSERT_EQ(actual.defined(), expected.defined()) << what;
  if (!actual.defined()) return;
  ASSERT_EQ(actual.sizes(), expected.sizes()) << what;
  const auto a = values(actual.detach()), b = values(expected.detach());
  double largest = 1;
  for (const double value : b) largest = std::isfinite(value) ? std::max(largest, std::abs(value)) : largest;
  for (std::size_t i = 0; i < b.size(); ++i) {
    if (std::isnan(b[i]) && std::isnan(a[i])) continue;
    ASSERT_NEAR(a[i], b[i], tolerance_of(dtype) * largest) << what << " at " << i;
  }
}

void check(const Entry& entry, Device device, Dtype dtype, Lie lie) {
  static constexpr const char* kLieNames[] = {"contiguous", "transposed", "with gaps", "inside a block"};
  const std::string what = std::string(entry.name) + " of " + name_of(dtype) + ", " + kLieNames[static_cast<int>(lie)];
  std::vector<Placed> placed;
  Inputs inputs, wide;
  for (std::size_t i = 0; i < entry.shapes.size(); ++i) {
    const Tensor host = some_values(entry.shapes[i], dtype, static_cast<std::uint32_t>(i + 1), entry.positive);
    placed.push_back(place(host, device, lie));
    inputs.push_back(placed.back().part);
    wide.push_back(host.to(kF64, true));
  }
  const Outcome expected = outcome_of(entry, wide), actual = outcome_of(entry, inputs);
  EXPECT_EQ(actual.result.device(), device) << what;
  ASSERT_NO_FATAL_FAILURE(expect_close(actual.result, expected.result, dtype, what));
  for (std::size_t i = 0; i < expected.gradients.size(); ++i) {
    ASSERT_NO_FATAL_FAILURE(expect_close(actual.gradients[i], expected.gradients[i], dtype,
                                         what + ", gradient of input " + std::to_string(i)));
  }
  for (const Placed& one : placed) expect_untouched(one, what);
}

class Operators : public DeviceContract {
 protected:
  void check_all(const std::vector<Entry>& entries) {
    // compute-sanitizer is slow and asks for less (tools/device.sh): it looks at addresses, not at values.
    const bool few = std::getenv("LABRIG_TEST_CALLS") != nullptr;
    for (const Entry& entry : entries) {
      for (const Dtype dtype : few ? std::vector<Dtype>{kF32} : std::vector<Dtype>{kF32, kF16, kBF16, kF64}) {
        for (const Lie lie : few ? std::vector<Lie>{Lie::gaps} : std::vector<Lie>(std::begin(kLies), std::end(kLies))) {
          try {
            ASSERT_NO_FATAL_FAILURE(check(entry, device, dtype, lie));
          } catch (const Error& error) {
            FAIL() << entry.name << " of " << name_of(dtype) << ": " << error.message();
          }
        }
      }
    }
  }
};

// --- the table
// ---------------------------------------------------------------------------------------------------------

Tensor ids(const Tensor& like, std::vector<std::int64_t> numbers, const Dims& sizes) {
  return tensor<std::int64_t>(std::span<const std::int64_t>(numbers), sizes).to(like.device());
}

// The same function of a matrix, a number, nothing, and a line that is long enough for the fast path.
std::vector<Entry> of_one(std::initializer_list<Entry> functions) {
  std::vector<Entry> entries;
  for (const Entry& function : functions) {
    for (const Dims& sizes : {Dims{3, 5, 4}, Dims{}, Dims{0, 3}, Dims{1030}}) {
      entries.push_back(function);
      entries.back().shapes = {sizes};
    }
  }
  return entries;
}

TEST_P(Operators, OfOneTensor) {
  check_all(of_one({
      {"neg", {}, [](const Inputs& in) { return neg(in[0]); }},
      {"exp", {}, [](const Inputs& in) { return exp(in[0]); }},
      {"log", {}, [](const Inputs& in) { return log(in[0]); }, true},
      {"sqrt", {}, [](const Inputs& in) { return sqrt(in[0]); }, true},
      {"tanh", {}, [](const Inputs& in) { return tanh(in[0]); }},
      {"sigmoid", {}, [](const Inputs& in) { return sigmoid(in[0]); }},
      {"relu", {}, [](const Inputs& in) { return relu(in[0]); }},
      {"gelu", {}, [](const Inputs& in) { return gelu(in[0]); }},
      {"gelu by tanh", {}, [](const Inputs& in) { return gelu(in[0], Gelu::tanh); }},
      {"clamp", {}, [](const Inputs& in) { return clamp(in[0], -0.75, 1.25); }},
      {"arithmetic with numbers", {}, [](const Inputs& in) { return (in[0] * 3 + 0.5 - 1) / 2; }},
      {"copy", {}, [](const Inputs& in) { return in[0].clone(); }},
      {"in place",
       {},
       [](const Inputs& in) {
         const Tensor x = in[0].clone();
         mul_(x, 2);
         add_(x, in[0]);
         return x;
       }},
  }));
}

TEST_P(Operators, OfTwoTensorsThatBroadcast) {
  std::vector<Entry> entries;
  const std::pair<Dims, Dims> shapes[] = {
      {{3, 5, 4}, {3, 5, 4}}, {{3, 5, 4}, {5, 1}}, {{4}, {3, 1, 4}}, {{3, 4}, {}}, {{}, {}},
      {{0, 4}, {4}},          {{3, 1, 2}, {5, 2}}};
  for (const auto& [a, b] : shapes) {
    const std::vector<Entry> with_these = {
        {"add", {a, b}, [](const Inputs& in) { return in[0] + in[1]; }},
        {"sub", {a, b}, [](const Inputs& in) { return in[0] - in[1]; }},
        {"mul", {a, b}, [](const Inputs& in) { return in[0] * in[1]; }},
        {"div", {a, b}, [](const Inputs& in) { return in[0] / in[1]; }, true},
        {"where", {a, b}, [](const Inputs& in) { return where(gt(in[0], in[1]), in[0], in[1]); }},
        {"le", {a, b}, [](const Inputs& in) { return le(in[0], in[1]); }, false, false},
        {"eq", {a, b}, [](const Inputs& in) { return eq(in[0], in[1]); }, false, false},
        {"masked_fill", {a, b}, [](const Inputs& in) { return masked_fill(in[0] + in[1], lt(in[1], 0), 3); }},
    };
    entries.insert(entries.end(), with_these.begin(), with_these.end());
  }
  check_all(entries);
}

TEST_P(Operators, Products) {
  check_all({
      {"mm", {{5, 7}, {7, 3}}, [](const Inputs& in) { return mm(in[0], in[1]); }},
      {"mm of large", {{70, 40}, {40, 66}}, [](const Inputs& in) { return mm(in[0], in[1]); }},
      {"matmul of vectors", {{7}, {7}}, [](const Inputs& in) { return matmul(in[0], in[1]); }},
      {"matmul of a batch", {{2, 1, 3, 4}, {5, 4, 2}}, [](const Inputs& in) { return matmul(in[0], in[1]); }},
      {"matmul folded", {{2, 3, 4}, {4, 5}}, [](const Inputs& in) { return matmul(in[0], in[1]); }},
      {"bmm", {{3, 4, 5}, {3, 5, 2}}, [](const Inputs& in) { return bmm(in[0], in[1]); }},
      {"bmm of nothing", {{3, 4, 0}, {3, 0, 2}}, [](const Inputs& in) { return bmm(in[0], in[1]); }},
      {"linear", {{6, 5}, {3, 5}, {3}}, [](const Inputs& in) { return linear(in[0], in[1], in[2]); }},
      {"linear of a batch", {{2, 4, 16}, {8, 16}, {8}}, [](const Inputs& in) { return linear(in[0], in[1], in[2]); }},
      {"linear without bias", {{6, 5}, {3, 5}}, [](const Inputs& in) { return linear(in[0], in[1]); }},
      {"conv2d", {{2, 3, 7, 6}, {4, 3, 3, 2}, {4}}, [](const Inputs& in) { return conv2d(in[0], in[1], in[2]); }},
      {"conv2d with strides",
       {{2, 2, 9, 8}, {3, 2, 3, 3}, {3}},
       [](const Inputs& in) { return conv2d(in[0], in[1], in[2], {2, 3}, {1, 2}); }},
      {"conv2d of large",
       {{2, 8, 12, 12}, {70, 8, 3, 3}},
       [](const Inputs& in) { return conv2d(in[0], in[1], {}, {1, 1}, {1, 1}); }},
  });
}

TEST_P(Operators, Reductions) {
  check_all({
      {"sum", {{3, 5, 4}}, [](const Inputs& in) { return sum(in[0]); }},
      {"sum of a number", {{}}, [](const Inputs& in) { return sum(in[0]); }},
      {"sum of nothing", {{0, 3}}, [](const Inputs& in) { return sum(in[0], 0); }},
      {"sum over two", {{3, 5, 4, 2}}, [](const Inputs& in) { return sum(in[0], Dims{0, 2}); }},
      {"sum of long lines", {{3, 3000}}, [](const Inputs& in) { return sum(in[0], 1, true); }},
      {"mean", {{3, 5, 4}}, [](const Inputs& in) { return mean(in[0]); }},
      {"mean over the middle", {{3, 5, 4}}, [](const Inputs& in) { return mean(in[0], 1); }},
      {"mean over two", {{3, 5, 4}}, [](const Inputs& in) { return mean(in[0], Dims{-1, 0}, true); }},
      {"max over one", {{6, 5}}, [](const Inputs& in) { return max(in[0], 0); }, false, false},
      {"argmax", {{6, 5, 4}}, [](const Inputs& in) { return argmax(in[0], 1); }, false, false},
      {"norm", {{6, 50}}, [](const Inputs& in) { return norm(in[0]); }},
      {"sum_to_size", {{2, 6, 5}}, [](const Inputs& in) { return sum_to_size(in[0], {6, 1}); }},
  });
}

TEST_P(Operators, RowsAndNormalisations) {
  const auto norm_of = [](const Inputs& in, bool training) {
    const Tensor mean = full({in[0].size(1)}, 0.25, {in[0].dtype(), in[0].device()});
    const Tensor variance = full({in[0].size(1)}, 1.5, {in[0].dtype(), in[0].device()});
    const Tensor out = batch_norm(in[0], mean, variance, in[1], in[2], training);
    return training ? out + sum(mean + variance).detach() : out;
  };
  check_all({
      {"softmax", {{4, 6, 5}}, [](const Inputs& in) { return softmax(in[0], 2); }},
      {"softmax along the first", {{4, 6, 5}}, [](const Inputs& in) { return softmax(in[0], 0); }},
      {"softmax of long lines", {{2, 700}}, [](const Inputs& in) { return softmax(in[0], 1); }},
      {"softmax of a number", {{}}, [](const Inputs& in) { return softmax(in[0], 0); }},
      {"log_softmax", {{4, 6, 5}}, [](const Inputs& in) { return log_softmax(in[0], 1); }},
      {"layer_norm", {{7, 20}, {20}, {20}}, [](const Inputs& in) { return layer_norm(in[0], {20}, in[1], in[2]); }},
      {"layer_norm of many rows",
       {{600, 4}, {4}, {4}},
       [](const Inputs& in) { return layer_norm(in[0], {4}, in[1], in[2]); }},
      {"layer_norm without parameters", {{2, 3, 8}}, [](const Inputs& in) { return layer_norm(in[0], {3, 8}); }},
      {"batch_norm in training", {{4, 3, 5, 2}, {3}, {3}}, [norm_of](const Inputs& in) { return norm_of(in, true); }},
      {"batch_norm of large", {{16, 2, 300}, {2}, {2}}, [norm_of](const Inputs& in) { return norm_of(in, true); }},
      {"batch_norm in evaluation", {{4, 3}, {3}, {3}}, [norm_of](const Inputs& in) { return norm_of(in, false); }},
  });
}

TEST_P(Operators, Losses) {
  std::vector<Entry> entries;
  for (const Reduction reduction : {Reduction::none, Reduction::mean, Reduction::sum}) {
    const std::vector<Entry> with_this = {
        {"mse_loss", {{6, 5}, {6, 5}}, [=](const Inputs& in) { return mse_loss(in[0], in[1], reduction); }},
        {"binary_cross_entropy_with_logits",
         {{6, 5}, {6, 5}},
         [=](const Inputs& in) { return binary_cross_entropy_with_logits(in[0], in[1].detach(), reduction); }},
        {"cross_entropy",
         {{4, 7}},
         [=](const Inputs& in) { return cross_entropy(in[0], ids(in[0], {1, 6, -100, 1}, {4}), {}, reduction); }},
        {"cross_entropy of pictures, weighted",
         {{2, 5, 3}, {5}},
         [=](const Inputs& in) {
           return cross_entropy(in[0], ids(in[0], {1, 4, 0, 1, 2, 3}, {2, 3}), in[1].detach(), reduction, 3);
         },
         true},
    };
    entries.insert(entries.end(), with_this.begin(), with_this.end());
  }
  check_all(entries);
}

TEST_P(Operators, IndexingAndJoining) {
  check_all({
      {"index", {{5, 4, 3}}, [](const Inputs& in) { return index(in[0], {ids(in[0], {4, 0, -1, 4}, {4})}); }},
      {"index with two",
       {{5, 4, 3}},
       [](const Inputs& in) { return index(in[0], {ids(in[0], {4, 0, 2, 4}, {2, 2}), ids(in[0], {1, 3}, {2})}); }},
      {"index_select",
       {{5, 4, 3}},
       [](const Inputs& in) { return index_select(in[0], 1, ids(in[0], {3, 3, 0}, {3})); }},
      {"embedding",
       {{9, 6}},
       [](const Inputs& in) { return embedding(ids(in[0], {8, 0, 3, 3, 3, 8}, {2, 3}), in[0], 0); }},
      {"cat", {{2, 3}, {2, 1}}, [](const Inputs& in) { return cat({in[0], in[1]}, 1); }},
      {"stack", {{2, 3}, {2, 3}}, [](const Inputs& in) { return stack({in[0], in[1]}, 1); }},
      {"views",
       {{4, 6}},
       [](const Inputs& in) { return in[0].t().narrow(0, 1, 4).reshape({8, 2}).unsqueeze(1).expand({8, 3, 2}); }},
  });
}

// Embedding gradients add up in the order of the ids, so that they are the same bits every time.
TEST_P(Operators, AddWhatMeetsInOneOrder) {
  std::vector<std::int64_t> numbers(5000);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<std::int64_t>(i * i % 7);
  const Tensor weight = some_values({7, 300}, kF32, 1, false).to(device);
  const Tensor dy = some_values({5000, 300}, kF32, 2, false).to(device);
  std::vector<double> first;
  for (int i = 0; i < 3; ++i) {
    const Tensor leaf = weight.clone().requires_grad_();
    embedding(ids(weight, numbers, {5000}), leaf).backward(dy);
    const auto gradient = values(leaf.grad());
    if (first.empty()) first = gradient;
    EXPECT_EQ(gradient, first);
  }
}

const auto kDevices = testing::Values("cpu", "sim:0", "cuda:0");
const auto kNames = [](const auto& parameter) { return std::string(name_of(Device(parameter.param).type())); };
INSTANTIATE_TEST_SUITE_P(Every, Operators, kDevices, kNames);

}  // namespace
}  // namespace labrig::contract
