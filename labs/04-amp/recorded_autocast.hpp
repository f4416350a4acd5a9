// What PyTorch 2.11 answers on a card, operator by operator, from tests/golden/core/autocast.json.gz (the test
// tests/labs/amp_recordings_test.cpp holds this table against it). Eight letters an operator: the type of the result in
// a region for f16, then in one for bf16, of the inputs (f32, f32), (f32, low), (low, f32), (low, low). For the judge.
#pragma once

#include <array>
#include <string_view>

namespace amp_lab {

// Operators that are decided for one reason; each family weighs the same.
enum class Family { products, range, sums, natural };
inline constexpr std::array kFamilyNames = {"products", "functions and losses that need the range or digits of f32",
                                            "sums, and what is made of them", "everything else"};

struct RecordedOp {
  std::string_view name;
  Family family;
  std::string_view results;  // f = f32, h = f16, b = bf16, x = refused
};

inline constexpr std::array kRecordedOps = {
    RecordedOp{"matmul", Family::products, "hhhhbbbb"},
    RecordedOp{"mm", Family::products, "hhhhbbbb"},
    RecordedOp{"linear", Family::products, "hhhhbbbb"},
    RecordedOp{"bmm", Family::products, "hhhhbbbb"},
    RecordedOp{"addmm", Family::products, "hhhhbbbb"},
    RecordedOp{"conv2d", Family::products, "hhhhbbbb"},
    RecordedOp{"exp", Family::range, "ffffffff"},
    RecordedOp{"log", Family::range, "ffffffff"},
    RecordedOp{"pow", Family::range, "ffffffff"},
    RecordedOp{"rsqrt", Family::range, "ffffffff"},
    RecordedOp{"reciprocal", Family::range, "ffffffff"},
    RecordedOp{"layer_norm", Family::range, "ffffffff"},
    RecordedOp{"mse_loss", Family::range, "ffffffff"},
    RecordedOp{"cross_entropy", Family::range, "ffffffff"},
    RecordedOp{"bce_with_logits", Family::range, "ffffffff"},
    RecordedOp{"bce", Family::range, "xxxxxxxx"},
    RecordedOp{"softmax", Family::sums, "ffffffff"},
    RecordedOp{"log_softmax", Family::sums, "ffffffff"},
    RecordedOp{"sum", Family::sums, "ffffffff"},
    RecordedOp{"norm", Family::sums, "ffffffff"},
    RecordedOp{"cumsum", Family::sums, "ffffffff"},
    RecordedOp{"add", Family::natural, "fffhfffb"},
    RecordedOp{"mul", Family::natural, "fffhfffb"},
    RecordedOp{"div", Family::natural, "fffhfffb"},
    RecordedOp{"where", Family::natural, "fffhfffb"},
    RecordedOp{"cat", Family::natural, "fffhfffb"},
    RecordedOp{"stack", Family::natural, "fffhfffb"},
    RecordedOp{"dot", Family::natural, "fffhfffb"},
    RecordedOp{"addcmul", Family::natural, "fffhfffb"},
    RecordedOp{"mean", Family::natural, "ffhhffbb"},
    RecordedOp{"relu", Family::natural, "ffhhffbb"},
    RecordedOp{"gelu", Family::natural, "ffhhffbb"},
    RecordedOp{"tanh", Family::natural, "ffhhffbb"},
    RecordedOp{"sigmoid", Family::natural, "ffhhffbb"},
    RecordedOp{"batch_norm", Family::natural, "ffhhffbb"},
    RecordedOp{"index_select", Family::natural, "ffhhffbb"},
    RecordedOp{"max", Family::natural, "ffhhffbb"},
    RecordedOp{"sqrt", Family::natural, "ffhhffbb"},
    RecordedOp{"clamp", Family::natural, "ffhhffbb"},
};
inline constexpr int kCasesPerOp = 8;

}  // namespace amp_lab
