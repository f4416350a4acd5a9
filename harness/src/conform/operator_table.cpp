// From the name in a recording to a call of labrig/ops.hpp: one small function where the arguments differ, then the
// table.
#include "conform/operator_table.hpp"

#include <array>
#include <limits>
#include <map>

#include "labrig/module.hpp"
#include "labrig/random.hpp"

namespace labrig::conform {

// --- attributes ------------------------------------------------------------------------------------------------------

std::optional<Value> Attributes::find(std::initializer_list<const char*> names) const {
  std::optional<Value> found;
  for (const char* name : names) {
    known_.insert(name);
    if (object_ && !found) found = object_->find(name);
  }
  return found;
}

double Attributes::number(std::initializer_list<const char*> names, double otherwise) const {
  const auto value = find(names);
  return value ? value->number() : otherwise;
}

std::int64_t Attributes::whole(std::initializer_list<const char*> names, std::int64_t otherwise) const {
  const auto value = find(names);
  return value ? value->whole() : otherwise;
}

bool Attributes::flag(std::initializer_list<const char*> names, bool otherwise) const {
  const auto value = find(names);
  return value ? value->flag() : otherwise;
}

std::string Attributes::text(std::initializer_list<const char*> names, const std::string& otherwise) const {
  const auto value = find(names);
  return value ? value->text() : otherwise;
}

std::optional<Dims> Attributes::dims(std::initializer_list<const char*> names) const {
  const auto value = find(names);
  if (!value) return std::nullopt;
  Dims result;
  for (const Value& item : value->items_or_one()) {
    if (result.count() == kMaxDims) value->fail("has more than " + std::to_string(kMaxDims) + " entries");
    result.push_back(item.whole());
  }
  return result;
}

std::set<std::string> Attributes::unknown() const {
  std::set<std::string> result;
  if (!object_) return result;
  for (const auto& [name, value] : object_->members()) {
    if (!known_.contains(name)) result.insert(name);
  }
  return result;
}

// --- operators -------------------------------------------------------------------------------------------------------

namespace {

using Inputs = std::vector<Tensor>;

int dim_of(const Attributes& a, int otherwise) { return static_cast<int>(a.whole({"dim", "axis"}, otherwise)); }

Tensor input_or_none(const Inputs& x, std::size_t i) { return i < x.size() ? x[i] : Tensor(); }

// Height and width, of one number or two.
Dims pair_of(const Attributes& a, const char* name, std::int64_t otherwise) {
  const std::optional<Dims> given = a.dims({name});
  if (!given) return {otherwise, otherwise};
  return given->count() == 1 ? Dims{(*given)[0], (*given)[0]} : *given;
}

Reduction reduction_of(const Attributes& a) {
  const std::string word = a.text({"reduction"}, "mean");
  return word == "none" ? Reduction::none : word == "sum" ? Reduction::sum : Reduction::mean;
}

// The same values, of which every two columns lie as rows do.
Tensor as_transposed_view(const Tensor& x) { return x.transpose(-2, -1).contiguous().transpose(-2, -1); }

using Product = Tensor (*)(const Tensor&, const Tensor&);
template <Product product>
Tensor matrix_product(const Inputs& x, const Attributes& a) {
  const bool left = a.flag({"lhs_transposed_view"}, false), right = a.flag({"rhs_transposed_view"}, false);
  return product(left ? as_transposed_view(x[0]) : x[0], right ? as_transposed_view(x[1]) : x[1]);
}

// sum, mean: over everything, one dimension or several.
template <Tensor (*all)(const Tensor&), Tensor (*some)(const Tensor&, const Dims&, bool)>
Tensor reduced(const Inputs& x, const Attributes& a) {
  const std::optional<Dims> dims = a.dims({"dim", "axis", "dims"});
  const bool keepdim = a.flag({"keepdim", "keepdims"}, false);
  return dims ? some(x[0], *dims, keepdim) : all(x[0]);
}

Tensor largest(const Inputs& x, const Attributes& a) {
  const bool keepdim = a.flag({"keepdim", "keepdims"}, false);
  return a.find({"dim", "axis"}) ? max(x[0], dim_of(a, 0), keepdim) : max(x[0]);
}

Tensor layer_normalised(const Inputs& x, const Attributes& a) {
  std::optional<Dims> shape = a.dims({"normalized_shape"});
  if (!shape) shape = x.size() > 1 && x[1].defined() ? x[1].sizes() : Dims{x[0].size(-1)};
  return layer_norm(x[0], *shape, input_or_none(x, 1), input_or_none(x, 2), a.number({"eps"}, 1e-5));
}

// [x, weight, bias], or with the running statistics [x, running_mean, running_var, weight, bias]; these alone are meant
// by three tensors where the statistics of the batch are not used.
Tensor batch_normalised(const Inputs& x, const Attributes& a) {
  const bool statistics = x.size() > 3 || (x.size() == 3 && !a.flag({"training"}, true));
  const std::size_t first = statistics ? 3 : 1;
  const Tensor mean = first == 3 ? x[1] : Tensor(), variance = first == 3 ? x[2] : Tensor();
  return batch_norm(x[0], mean, variance, input_or_none(x, first), input_or_none(x, first + 1),
                    a.flag({"training"}, first == 1), a.number({"momentum"}, 0.1), a.number({"eps"}, 1e-5));
}

template <Tensor (*loss)(const Tensor&, const Tensor&, const Tensor&, Reduction, std::int64_t)>
Tensor class_loss(const Inputs& x, const Attributes& a) {
  Tensor weight = input_or_none(x, 2);
  if (const auto listed = a.find({"weight"})) weight = tensor(listed->numbers()).to(x[0].device(), x[0].dtype());
  return loss(x[0], x[1], weight, reduction_of(a), a.whole({"ignore_index"}, -100));
}

template <Tensor (*loss)(const Tensor&, const Tensor&, Reduction)>
Tensor element_loss(const Inputs& x, const Attributes& a) {
  return loss(x[0], x[1], reduction_of(a));
}

// Weight and ids, in whatever order.
Tensor embedded(const Inputs& x, const Attributes& a) {
  const bool ids_first = !is_floating_point(x[0].dtype());
  return embedding(x[ids_first ? 0 : 1], x[ids_first ? 1 : 0], a.whole({"padding_idx"}, -1));
}

// The inputs are gradients; all are scaled to a common norm.
Tensor clipped(const Inputs& x, const Attributes& a) {
  Inputs parameters;
  for (const Tensor& gradient : x) {
    parameters.push_back(zeros(gradient.sizes(), Options(gradient.dtype(), gradient.device())));
    parameters.back().requires_grad_();
    parameters.back().set_grad(gradient);
  }
  nn::utils::clip_grad_norm_(parameters, a.number({"max_norm"}, 1));
  return parameters[0].grad();
}

// Element by element, where a call is all that there is to it.
template <Tensor (*f)(const Tensor&)>
Tensor of_one(const Inputs& x, const Attributes&) {
  return f(x[0]);
}
template <Tensor (*f)(const Tensor&, const Tensor&)>
Tensor of_two(const Inputs& x, const Attributes&) {
  return f(x[0], x[1]);
}

const std::vector<RecordedOperator>& table() {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  static const std::vector<RecordedOperator> kTable = {
      {"add", of_two<add>, 2, 2},
      {"sub", of_two<sub>, 2, 2},
      {"mul", of_two<mul>, 2, 2},
      {"div", of_two<div>, 2, 2},
      {"neg", of_one<neg>},
      {"exp", of_one<exp>},
      {"log", of_one<log>},
      {"sqrt", of_one<sqrt>},
      {"tanh", of_one<tanh>},
      {"sigmoid", of_one<sigmoid>},
      {"relu", of_one<relu>},
      {"gelu",
       [](const Inputs& x, const Attributes& a) {
         return gelu(x[0], a.text({"approximate"}, "none") == "tanh" ? Gelu::tanh : Gelu::none);
       }},
      {"gelu_tanh", [](const Inputs& x, const Attributes&) { return gelu(x[0], Gelu::tanh); }},
      {"clamp",
       [](const Inputs& x, const Attributes& a) {
         return clamp(x[0], a.number({"min", "low"}, -kInfinity), a.number({"max", "high"}, kInfinity));
       }},
      {"clone", [](const Inputs& x, const Attributes&) { return x[0].clone(); }},
      {"masked_fill",
       [](const Inputs& x, const Attributes& a) { return masked_fill(x[0], x[1], a.number({"value"}, 0)); }, 2, 2, 2,
       2},
      {"where", [](const Inputs& x, const Attributes&) { return where(x[0], x[1], x[2]); }, 3, 3, 1, 1},
      {"dropout", [](const Inputs& x,
                     const Attributes& a) { return dropout(x[0], a.number({"p"}, 0.5), a.flag({"training"}, true)); }},

      {"matmul", matrix_product<matmul>, 2, 2},
      {"mm", matrix_product<mm>, 2, 2},
      {"bmm", matrix_product<bmm>, 2, 2},
      {"linear", [](const Inputs& x, const Attributes&) { return linear(x[0], x[1], input_or_none(x, 2)); }, 2, 3},
      {"conv2d",
       [](const Inputs& x, const Attributes& a) {
         return conv2d(x[0], x[1], input_or_none(x, 2), pair_of(a, "stride", 1), pair_of(a, "padding", 0));
       },
       2, 3},

      {"sum", reduced<sum, sum>},
      {"sum_all", reduced<sum, sum>},
      {"mean", reduced<mean, mean>},
      {"mean_all", reduced<mean, mean>},
      {"max", largest},
      {"max_all", largest},
      {"amax", largest},
      {"argmax",
       [](const Inputs& x, const Attributes& a) {
         return argmax(x[0], dim_of(a, -1), a.flag({"keepdim", "keepdims"}, false));
       }},
      {"norm", of_one<norm>},
      {"softmax", [](const Inputs& x, const Attributes& a) { return softmax(x[0], dim_of(a, -1)); }},
      {"log_softmax", [](const Inputs& x, const Attributes& a) { return log_softmax(x[0], dim_of(a, -1)); }},
      {"layer_norm", layer_normalised, 1, 3},
      {"batch_norm", batch_normalised, 1, 5},

      {"cross_entropy", class_loss<cross_entropy>, 2, 3, 2},
      {"nll_loss", class_loss<nll_loss>, 2, 3, 2},
      {"mse_loss", element_loss<mse_loss>, 2, 2},
      {"bce_with_logits", element_loss<binary_cross_entropy_with_logits>, 2, 2},
      {"binary_cross_entropy_with_logits", element_loss<binary_cross_entropy_with_logits>, 2, 2},

      {"index_select", [](const Inputs& x, const Attributes& a) { return index_select(x[0], dim_of(a, 0), x[1]); }, 2,
       2, 2},
      {"index", [](const Inputs& x, const Attributes&) { return index(x[0], Inputs(x.begin() + 1, x.end())); }, 2, 5,
       30},
      {"embedding", embedded, 2, 2, 2},
      {"cat", [](const Inputs& x, const Attributes& a) { return cat(x, dim_of(a, 0)); }, 1, kAnyNumber},
      {"stack", [](const Inputs& x, const Attributes& a) { return stack(x, dim_of(a, 0)); }, 1, kAnyNumber},
      {"clip_grad_norm", clipped, 1, kAnyNumber},
  };
  return kTable;
}

}  // namespace

const RecordedOperator* operator_named(std::string_view name) {
  for (const RecordedOperator& candidate : table()) {
    if (candidate.name == name) return &candidate;
  }
  return nullptr;
}

}  // namespace labrig::conform
