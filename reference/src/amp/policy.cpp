// PyTorch 2.11's autocast lists (aten/src/ATen/autocast_mode.h and .cpp), in one table for cards and the host. What is
// not here runs in the types of its inputs; a few such operators are listed all the same, because they have two inputs
// that promote. Read next: autocast.cpp (who asks).
#include "amp/policy.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "labrig/error.hpp"

namespace labrig::amp {
namespace {

// How the type of the result follows from the types that an operator gets.
enum class Result : std::uint8_t {
  first,    // that of the first input
  widest,   // inputs promote
  equal,    // the inputs must be of one type
  boolean,  // bool, of whatever
};

struct Row {
  std::string_view names;  // with blanks around each
  Policy card, host;
  Result result;
};

constexpr Policy lower = Policy::lower, f32 = Policy::f32, f32_output = Policy::f32_output, widest = Policy::widest,
                 unlisted = Policy::unlisted, banned = Policy::banned;

// clang-format off
constexpr std::array kTable = {
    // products
    Row{" conv1d conv2d conv3d conv_tbc conv_transpose1d conv_transpose2d conv_transpose3d linalg_vecdot "
        "addmm matmul mm linear addbmm baddbmm bmm scaled_dot_product_attention ", lower, lower, Result::equal},
    Row{" addmv addr einsum mv chain_matmul linalg_multi_dot lstm_cell gru_cell rnn_tanh_cell rnn_relu_cell ",
        lower, unlisted, Result::equal},
    Row{" prelu ", lower, lower, Result::first},
    // functions that leave the range or the precision of 16 bits
    Row{" acos asin cosh erfinv exp expm1 log log10 log2 log1p reciprocal rsqrt sinh tan softplus layer_norm "
        "native_layer_norm group_norm frobenius_norm nuclear_norm pdist renorm logsumexp upsample_nearest1d "
        "upsample_nearest2d upsample_nearest3d upsample_linear1d upsample_bilinear2d upsample_trilinear3d "
        "upsample_bicubic2d ", f32, unlisted, Result::first},
    Row{" pow cosine_similarity dist ", f32, unlisted, Result::widest},
    Row{" cdist ", f32, f32, Result::widest},
    // losses
    Row{" nll_loss nll_loss2d cross_entropy cross_entropy_loss multilabel_margin_loss multi_margin_loss ",
        f32, f32, Result::first},
    Row{" poisson_nll_loss cosine_embedding_loss hinge_embedding_loss kl_div l1_loss smooth_l1_loss huber_loss mse_loss "
        "margin_ranking_loss soft_margin_loss triplet_margin_loss binary_cross_entropy_with_logits bce_with_logits ",
        f32, f32, Result::widest},
    Row{" binary_cross_entropy bce ", banned, f32, Result::widest},
    // sums
    Row{" softmax log_softmax cumprod cumsum linalg_vector_norm linalg_matrix_norm sum norm ",
        f32_output, unlisted, Result::first},
    Row{" prod ", f32_output, f32, Result::first},
    // several inputs that must agree
    Row{" addcdiv addcmul atan2 bilinear cross dot vdot index_put tensordot scatter_add ",
        widest, unlisted, Result::widest},
    Row{" grid_sampler ", widest, f32, Result::widest},
    Row{" cat stack index_copy ", unlisted, widest, Result::widest},
    // only the host's list
    Row{" avg_pool3d adaptive_avg_pool3d max_pool3d adaptive_max_pool3d max_unpool2d max_unpool3d fractional_max_pool2d "
        "fractional_max_pool3d polar quantile nanquantile stft trace reflection_pad1d reflection_pad2d "
        "replication_pad1d replication_pad2d replication_pad3d ctc_loss cholesky cholesky_inverse cholesky_solve "
        "inverse pinverse qr svd ", unlisted, f32, Result::first},
    // on no list, with two inputs
    Row{" add sub mul div where maximum minimum remainder fmod floor_divide hypot lerp ",
        unlisted, unlisted, Result::widest},
    Row{" eq ne lt le gt ge isnan isinf isfinite ", unlisted, unlisted, Result::boolean},
};
// clang-format on

const Row kOther{"", unlisted, unlisted, Result::first};

const Row& row_of(std::string_view op) {
  const std::string name = " " + std::string(op) + " ";
  for (const Row& row : kTable)
    if (row.names.find(name) != std::string_view::npos) return row;
  return kOther;
}

Policy policy_of(const Row& row, DeviceType type) { return type == DeviceType::cpu ? row.host : row.card; }

[[noreturn]] void throw_banned(std::string_view op) {
  throw Error("banned-under-autocast",
              "torch.nn.functional.binary_cross_entropy and torch.nn.BCELoss are unsafe to autocast.",
              "the input of " + std::string(op) +
                  " comes from a sigmoid, which in 16 bits gives exactly 0 or 1 for "
                  "scores beyond about 17, and their logarithm is not finite",
              "leave the sigmoid out and use binary_cross_entropy_with_logits, which does both in f32");
}

[[noreturn]] void throw_unexpected(std::string_view op, Dtype input, Dtype low) {
  throw Error("dtype-mismatch", "Unexpected floating ScalarType in at::autocast::prioritize",
              "an input of " + std::string(op) + " is " + name_of(input) + ", while the autocast region is for " +
                  name_of(low) + ": neither of the two holds all values of the other",
              std::string("cast that input to ") + name_of(low) + " or f32, or open the region for " + name_of(input));
}

// The type in which an operator of this row sees an input of type `dtype`.
Dtype seen(Dtype dtype, const std::optional<Dtype>& cast) { return cast && is_eligible(dtype) ? *cast : dtype; }

}  // namespace

const char* name_of(Policy policy) {
  constexpr std::array names = {"lower", "f32", "f32_output", "widest", "unlisted", "banned"};
  return names[static_cast<std::size_t>(policy)];
}

Policy policy(std::string_view op, DeviceType type) { return policy_of(row_of(op), type); }

std::optional<Dtype> cast_type(std::string_view op, Policy policy, Dtype low, std::span<const Dtype> inputs) {
  switch (policy) {
    case Policy::lower:
      return low;
    case Policy::f32:
    case Policy::f32_output:
      return kF32;
    case Policy::widest: {
      const auto is = [](Dtype dtype) { return [dtype](Dtype input) { return input == dtype; }; };
      const auto odd = std::ranges::find_if(
          inputs, [&](Dtype input) { return is_eligible(input) && input != kF32 && input != low; });
      if (std::ranges::any_of(inputs, is(kF32))) return kF32;
      if (odd != inputs.end()) throw_unexpected(op, *odd, low);
      return low;
    }
    case Policy::banned:
      throw_banned(op);
    case Policy::unlisted:
      break;
  }
  return std::nullopt;
}

Dtype result_dtype(std::string_view op, Dtype autocast_dtype, Dtype a, Dtype b, DeviceType type) {
  const Row& row = row_of(op);
  if (row.result == Result::first) b = a;
  const std::array inputs = {a, b};
  const std::optional<Dtype> cast = cast_type(op, policy_of(row, type), autocast_dtype, inputs);
  a = seen(a, cast), b = seen(b, cast);
  switch (row.result) {
    case Result::boolean:
      return kBool;
    case Result::equal:
      if (a != b)
        throw Error("dtype-mismatch",
                    std::string("expected mat1 and mat2 to have the same dtype, but got: ") + torch_name_of(a) +
                        " != " + torch_name_of(b),
                    "autocast leaves f64 and integers alone, and products do not promote",
                    "cast both inputs of " + std::string(op) + " to one type");
      return a;
    case Result::first:
    case Result::widest:
      break;
  }
  return promote_types(a, b);
}

}  // namespace labrig::amp
