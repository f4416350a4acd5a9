// Each mistake as a function of the scene (device, a second device, sizes), and the table that names them all.
#include "conform/error_table.hpp"

#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <span>
#include <vector>

#include "labrig/amp.hpp"
#include "labrig/io.hpp"
#include "labrig/memory.hpp"
#include "labrig/nn.hpp"
#include "labrig/optim.hpp"

namespace labrig::conform {
namespace {

// --- what the mistakes are made of ---------------------------------------------------------------------------------

// The whole numbers in a text, from `after` on.
std::vector<std::int64_t> numbers_in(const std::string& text, const std::string& after = "") {
  std::vector<std::int64_t> numbers;
  std::size_t at = text.find(after);
  for (at = at == std::string::npos ? text.size() : at + after.size(); at < text.size(); ++at) {
    if (!std::isdigit(static_cast<unsigned char>(text[at]))) continue;
    char* end = nullptr;
    numbers.push_back(std::strtoll(text.c_str() + at, &end, 10));
    at = static_cast<std::size_t>(end - text.c_str());
  }
  return numbers;
}

// The same, where there must be `count` of them between 1 and 64; else `otherwise`.
std::vector<std::int64_t> small_numbers_in(const std::string& text, std::vector<std::int64_t> otherwise) {
  std::vector<std::int64_t> numbers = numbers_in(text);
  if (numbers.size() < otherwise.size()) return otherwise;
  numbers.resize(otherwise.size());
  for (const std::int64_t number : numbers) {
    if (number < 1 || number > 64) return otherwise;
  }
  return numbers;
}

Tensor ids(const Dims& sizes, Device device) { return zeros(sizes, Options(kI64, device)); }
Tensor halves(const Dims& sizes, Device device) { return ones(sizes, Options(kF16, device)); }
Tensor leaf(const Dims& sizes, Options options = {}) {
  const Tensor tensor = ones(sizes, options);
  return tensor.requires_grad_();
}

// --- operands on two devices, of two types, of two shapes ----------------------------------------------------------

void add_mismatch(const Scene& s) { add(ones({4, 4}, s.card()), ones({4, 4})); }
void mm_mismatch(const Scene& s) { mm(ones({4, 4}, s.card()), ones({4, 4})); }
void linear_mismatch(const Scene& s) { linear(ones({4, 4}), ones({4, 4}, s.card()), ones({4}, s.card())); }
void linear_mismatch_rev(const Scene& s) { linear(ones({4, 4}, s.card()), ones({4, 4}), ones({4})); }
void ce_mismatch(const Scene& s) { cross_entropy(ones({4, 4}, s.card()), ids({4}, Device())); }
void ce_weight_mismatch(const Scene& s) { cross_entropy(ones({4, 4}, s.card()), ids({4}, s.card()), ones({4})); }
void conv_mismatch(const Scene& s) { conv2d(ones({1, 2, 4, 4}, s.card()), ones({2, 2, 3, 3})); }
void embedding_mismatch(const Scene& s) { embedding(ids({4}, Device()), ones({4, 4}, s.card())); }
void index_select_mismatch(const Scene& s) { index_select(ones({4, 4}, s.card()), 0, ids({4}, Device())); }
void index_cpu_on_card(const Scene& s) { index(ones({4, 4}, s.card()), {ids({2}, Device())}); }
void index_card_on_cpu(const Scene& s) { index(ones({4, 4}), {ids({2}, s.card())}); }

void float_index(const Scene&) { index(ones({4, 4}), {ones({2})}); }
void float_index_on_card(const Scene& s) { index(ones({4, 4}, s.card()), {ones({2}, s.card())}); }
void embedding_float(const Scene& s) { embedding(ones({4}, s.card()), ones({4, 4}, s.card())); }
void mm_dtype(const Scene& s) { mm(ones({4, 4}, s.card()), halves({4, 4}, s.card())); }
void linear_dtype(const Scene& s) { linear(halves({4, 4}, s.card()), ones({4, 4}, s.card()), ones({4}, s.card())); }
void result_type_cast(const Scene&) { add_(ids({2}, Device()), ones({2})); }

void view_stride(const Scene&) { ones({4, 3}).t().view({12}); }
void reshape_numel(const Scene&) { ones({2, 3}).reshape({4, 2}); }
void expand_size(const Scene&) { ones({2, 3}).expand({2, 4}); }
void mm_shape(const Scene& s) {
  const auto n = small_numbers_in(s.recorded.substr(std::min(s.recorded.find('('), s.recorded.size())), {4, 4, 3, 4});
  mm(ones({n[0], n[1]}, s.card()), ones({n[2], n[3]}, s.card()));
}
void add_shape(const Scene& s) {
  const auto n = small_numbers_in(s.recorded, {4, 3});
  add(ones({4, n[0]}, s.card()), ones({4, n[1]}, s.card()));
}
// "The size of tensor a (4) must match the size of tensor b (5) at non-singleton dimension 1"
void copy_shape(const Scene& s) {
  const auto numbers = numbers_in(s.recorded);
  const auto n = small_numbers_in(s.recorded, {4, 5});
  const bool of_one_dimension = numbers.size() > 2 && numbers[2] == 0;
  const Dims to = of_one_dimension ? Dims{n[0]} : Dims{4, n[0]}, from = of_one_dimension ? Dims{n[1]} : Dims{4, n[1]};
  ones(to, s.card()).copy_(ones(from));
}
void stack_shape(const Scene&) { stack({ones({3}), ones({2})}); }
void index_range(const Scene&) { index(ones({2, 3}), {tensor(std::vector<std::int64_t>{5})}); }
void embedding_range(const Scene&) { embedding(tensor(std::vector<std::int64_t>{5}), ones({2, 3})); }
void item_many(const Scene& s) { ones({small_numbers_in(s.recorded, {16})[0]}).item(); }
void bool_many(const Scene&) { static_cast<void>(static_cast<bool>(ones({2}))); }

// --- gradients -----------------------------------------------------------------------------------------------------

void leaf_inplace(const Scene&) { add_(leaf({2}), 1); }
void int_grad(const Scene&) { ids({2}, Device()).requires_grad_(); }
void backward_twice(const Scene&) {
  const Tensor loss = sum(exp(leaf({2})));
  loss.backward();
  loss.backward();
}
void backward_nonscalar(const Scene&) { exp(leaf({2})).backward(); }
void backward_nograd(const Scene&) { sum(ones({2})).backward(); }
void inplace_saved(const Scene& s) {
  const bool on_card = s.recorded.find("cuda") != std::string::npos;
  const Tensor y = exp(leaf({2}, on_card ? s.card() : Device()));
  add_(y, 1);
  sum(y).backward();
}

// --- devices and memory --------------------------------------------------------------------------------------------

void numpy_card(const Scene& s) { ones({2}, s.card()).data<float>(); }
void numpy_grad(const Scene&) { leaf({2}).data<float>(); }
void pin_card(const Scene& s) { ones({2}, s.card()).pin_memory(); }
void invalid_ordinal(const Scene& s) { zeros({1}, Device(s.card().type(), 99)); }
void bad_device(const Scene& s) { Device{s.recorded.substr(s.recorded.rfind(' ') + 1)}; }
void cuda_without_card(const Scene&) { zeros({1}, Device("cuda")); }

// A file that says that it was saved on a card of CUDA.
void load_without_card(const Scene&) {
  std::string name = (std::filesystem::temp_directory_path() / "labrig-conform-XXXXXX").string();
  const struct Folder {
    std::filesystem::path path;
    ~Folder() { std::filesystem::remove_all(path); }
  } folder{mkdtemp(name.data())};
  std::string header = R"({"__metadata__":{"device:w":"cuda:0"},"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})";
  header.resize((header.size() + 7) / 8 * 8, ' ');
  const std::uint64_t length = header.size();
  const std::string file = folder.path / "w.safetensors";
  std::ofstream(file, std::ios::binary).write(reinterpret_cast<const char*>(&length), 8)
      << header << std::string(4, '\0');
  io::load(file);
}

// "4.00 GiB" at the beginning of a text, in bytes.
double bytes_at(const std::string& text) {
  char* end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  const std::string unit = end;
  return number * (unit.starts_with(" GiB")   ? 0x1p30
                   : unit.starts_with(" MiB") ? 0x1p20
                   : unit.starts_with(" KiB") ? 0x1p10
                                              : 1);
}

// What was asked for, under the limit that was in force.
void out_of_memory(const Scene& s) {
  const std::string tried = "Tried to allocate ", in_use = "memory in use. ";
  const std::size_t asked = s.recorded.find(tried), limit = s.recorded.find(in_use);
  const auto total = static_cast<double>(mem_get_info(s.card()).total_bytes);
  if (limit != std::string::npos && s.recorded.find("allowed") != std::string::npos) {
    set_per_process_memory_fraction(bytes_at(s.recorded.substr(limit + in_use.size())) / total, s.card());
  }
  const double bytes = asked == std::string::npos ? total : bytes_at(s.recorded.substr(asked + tried.size()));
  empty({static_cast<std::int64_t>(bytes)}, Options(Dtype::u8, s.card()));
}

// --- training ------------------------------------------------------------------------------------------------------

// A parameter of ones on the card, its optimizer, and a scaler.
struct Training {
  Tensor parameter;
  optim::SGD optimizer;
  amp::GradScaler scaler;
  explicit Training(const Scene& s, Dtype dtype = kF32)
      : parameter(leaf({4}, Options(dtype, s.card()))), optimizer(std::vector<Tensor>{parameter}) {}
  void backward() { scaler.scale(sum(parameter)).backward(); }
};

void unscale_twice(const Scene& s) {
  Training t(s);
  t.backward();
  t.scaler.unscale_(t.optimizer);
  t.scaler.unscale_(t.optimizer);
}
void step_twice(const Scene& s) {
  Training t(s);
  t.backward();
  t.scaler.step(t.optimizer);
  t.scaler.step(t.optimizer);
}
void update_without_scale(const Scene& s) { Training(s).scaler.update(); }
void step_without_scale(const Scene& s) {
  Training t(s);
  t.scaler.step(t.optimizer);
}
void step_without_gradients(const Scene& s) {
  Training t(s);
  t.scaler.scale(sum(t.parameter));
  t.scaler.step(t.optimizer);
}
void unscale_halves(const Scene& s) {
  Training t(s, kF16);
  t.backward();
  t.scaler.unscale_(t.optimizer);
}
void scaler_load_empty(const Scene&) { amp::GradScaler().load_state_dict({}); }
void optimizer_empty(const Scene&) { optim::SGD(std::vector<Tensor>{}); }
void optimizer_nonleaf(const Scene&) { optim::SGD({exp(leaf({2}))}); }
void state_missing(const Scene&) { nn::Linear(2, 2).load_state_dict({{"weight", ones({2, 2})}}); }
void state_shape(const Scene& s) {
  const auto n = small_numbers_in(s.recorded, {3, 2, 2, 2});
  nn::Linear(n[3], n[2]).load_state_dict({{"weight", ones({n[0], n[1]})}, {"bias", ones({n[2]})}});
}
void state_all(const Scene&) { nn::Linear(3, 2).load_state_dict({{"weight", ones({2, 4})}, {"extra", ones({1})}}); }

// --- the table -----------------------------------------------------------------------------------------------------

constexpr auto kCard = Mistake::Needs::card;
constexpr auto kNoCard = Mistake::Needs::no_cuda_card;

// clang-format off
constexpr Mistake kMistakes[] = {
    {"add_mismatch", add_mismatch, kCard},
    {"mm_mismatch", mm_mismatch, kCard},
    {"linear_mismatch", linear_mismatch, kCard},
    {"linear_mismatch_rev", linear_mismatch_rev, kCard},
    {"ce_mismatch", ce_mismatch, kCard},
    {"ce_weight_mismatch", ce_weight_mismatch, kCard},
    {"conv_mismatch", conv_mismatch, kCard},
    {"embedding_mismatch", embedding_mismatch, kCard},
    {"index_cpu_on_cuda_ok", index_cpu_on_card, kCard},
    {"index_cuda_on_cpu", index_card_on_cpu, kCard},
    {"index_select_mismatch", index_select_mismatch, kCard},
    {"float_index", float_index},
    {"float_index_cuda", float_index_on_card, kCard},
    {"embedding_float", embedding_float, kCard},
    {"mm_dtype", mm_dtype, kCard},
    {"linear_dtype", linear_dtype, kCard},
    {"result_type_cast", result_type_cast},
    {"view_stride", view_stride},
    {"reshape_numel", reshape_numel},
    {"expand_size", expand_size},
    {"mm_shape", mm_shape},
    {"add_shape", add_shape},
    {"copy_shape", copy_shape},
    {"stack_shape", stack_shape},
    {"index_range", index_range},
    {"embedding_range", embedding_range},
    {"item_many", item_many},
    {"bool_many", bool_many},
    {"leaf_inplace", leaf_inplace},
    {"int_grad", int_grad},
    {"backward_twice", backward_twice},
    {"backward_nonscalar", backward_nonscalar},
    {"backward_nograd", backward_nograd},
    {"inplace_saved", inplace_saved},
    {"numpy_cuda", numpy_card, kCard},
    {"numpy_grad", numpy_grad},
    {"pin_cuda", pin_card, kCard},
    {"invalid_ordinal", invalid_ordinal, kCard},
    {"bad_device", bad_device},
    {"oom", out_of_memory, kCard},
    {"cpu_only_cuda_call", cuda_without_card, kNoCard},
    {"cpu_only_device", cuda_without_card, kNoCard},
    {"cpu_only_load", load_without_card, kNoCard},
    {"scaler_unscale_twice", unscale_twice},
    {"scaler_step_twice", step_twice},
    {"scaler_update_nostep", update_without_scale},
    {"scaler_step_noscale", step_without_scale},
    {"scaler_step_nograd", step_without_gradients},
    {"scaler_half_grads", unscale_halves},
    {"scaler_load_empty", scaler_load_empty},
    {"optim_empty", optimizer_empty},
    {"optim_nonleaf", optimizer_nonleaf},
    {"state_dict_missing", state_missing},
    {"state_dict_shape", state_shape},
    {"state_dict_all", state_all},
};
// clang-format on

}  // namespace

const Mistake* mistake_named(std::string_view key) {
  for (const Mistake& mistake : kMistakes) {
    if (mistake.key == key) return &mistake;
  }
  return nullptr;
}

std::string_view why_not_here(std::string_view key) {
  if (key == "bf16_numpy") return "NumPy has no bf16; data<bf16>() reads it";
  return "";
}

}  // namespace labrig::conform
