// The card's elementwise kernels against the host's, to the bit: all element types and mixtures of them, broadcast,
// permuted, expanded and gapped layouts, empty tensors, and sizes on both sides of the fast paths. Read next:
// families_test.cpp.
#include "card_kernels.hpp"

namespace labrig {
namespace {

TEST_F(CardKernels, FillAndArangeWriteWhatTheHostWrites) {
  for (int i = 0; i < calls(); ++i) {
    std::vector<Placed> all{place(any_sizes(), any_dtype(), Access::write)};
    set_values(all[0], false);
    ASSERT_NO_FATAL_FAILURE(compare(Kernel::fill, all, {scalar_bits(special())}));
    Dtype dtype = any_dtype();
    if (dtype == Dtype::boolean) dtype = Dtype::i64;
    std::vector<Placed> line{place({pick(0, 3000)}, dtype, Access::write)};
    set_values(line[0], false);
    ASSERT_NO_FATAL_FAILURE(compare(Kernel::arange, line, {}));
  }
}

TEST_F(CardKernels, CopyConvertsAndBroadcastsAsTheHostDoes) {
  for (int i = 0; i < 2 * calls(); ++i) {
    const Dims sizes = any_sizes();
    const Dtype out = any_dtype();
    std::vector<Placed> all{place(sizes, out, Access::write),
                            place(broadcastable(sizes), chance(30) ? out : any_dtype(), Access::read)};
    for (Placed& placed : all) set_values(placed, false);
    ASSERT_NO_FATAL_FAILURE(compare(Kernel::copy, all, {}));
  }
}

TEST_F(CardKernels, ArithmeticOfTwoTensorsHasTheHostsBits) {
  for (int i = 0; i < 2 * calls(); ++i) {
    const Dims sizes = any_sizes();
    auto kernel = static_cast<Kernel>(pick(static_cast<int>(Kernel::add), static_cast<int>(Kernel::div)));
    const Dtype out = kernel == Kernel::div ? any_float() : any_dtype();
    if (kernel == Kernel::sub && out == Dtype::boolean) kernel = Kernel::mul;
    std::vector<Placed> all{place(sizes, out, Access::write), place(broadcastable(sizes), input_for(out), Access::read),
                            place(broadcastable(sizes), input_for(out), Access::read)};
    for (Placed& placed : all) set_values(placed, false);
    ASSERT_NO_FATAL_FAILURE(compare(kernel, all, {}));
  }
}

TEST_F(CardKernels, ArithmeticWithANumberReluAndNegHaveTheHostsBits) {
  for (int i = 0; i < 2 * calls(); ++i) {
    const Dims sizes = any_sizes();
    constexpr Kernel kKernels[] = {Kernel::add_scalar, Kernel::sub_scalar, Kernel::mul_scalar,
                                   Kernel::div_scalar, Kernel::relu,       Kernel::neg};
    Kernel kernel = kKernels[pick(0, 5)];
    const Dtype out = kernel == Kernel::div_scalar ? any_float() : any_dtype();
    if (out == Dtype::boolean) kernel = chance(50) ? Kernel::add_scalar : Kernel::mul_scalar;
    std::vector<Placed> all{place(sizes, out, Access::write),
                            place(broadcastable(sizes), input_for(out), Access::read)};
    for (Placed& placed : all) set_values(placed, false);
    ASSERT_NO_FATAL_FAILURE(compare(kernel, all, {scalar_bits(special())}));
  }
}

TEST_F(CardKernels, MaskedFillChoosesAsTheHostDoes) {
  for (int i = 0; i < calls(); ++i) {
    const Dims sizes = any_sizes();
    const Dtype out = any_dtype();
    std::vector<Placed> all{place(sizes, out, Access::write), place(broadcastable(sizes), input_for(out), Access::read),
                            place(broadcastable(sizes), Dtype::boolean, Access::read)};
    for (Placed& placed : all) set_values(placed, false);
    ASSERT_NO_FATAL_FAILURE(compare(Kernel::masked_fill, all, {scalar_bits(special())}));
  }
}

// In place, as add_ is: the output is also the first input.
TEST_F(CardKernels, AnOutputMayBeAnInput) {
  for (const std::int64_t count : {1, 3, 16, 1000, 100'000}) {
    std::vector<float> values(static_cast<std::size_t>(count));
    for (float& value : values) value = static_cast<float>(pick(-100, 100));
    const std::size_t bytes = values.size() * sizeof(float);
    void* const block = card_->driver_malloc(bytes);
    move(CopyDirection::up, block, values.data(), bytes, 0);
    Operand out{block, Dtype::f32, Access::write, {count}, {1}, {}}, in = out;
    in.access = Access::read;
    KernelCall call;
    call.kernel = Kernel::add;
    call.push(out);
    call.push(in);
    call.push(in);
    card_->launch(call, 0);
    std::vector<float> after(values.size());
    move(CopyDirection::down, after.data(), block, bytes, 0);
    card_->driver_free(block);
    for (std::size_t i = 0; i < values.size(); ++i) ASSERT_EQ(after[i], 2 * values[i]);
  }
}

}  // namespace
}  // namespace labrig
