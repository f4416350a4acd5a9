// The card's other kernels against the host's: functions, losses, random numbers, products, reductions, rows,
// normalisations, indexing, steps of training. Values are small whole numbers where an order of additions would show,
// so that equality is exact, or spread values and a tolerance where a function is calculated.
#include "card_kernels.hpp"

namespace labrig {
namespace {

constexpr auto bits = scalar_bits;

class CardFamilies : public CardKernels {
 protected:
  // Values spread over (-2, 2), or (0.1, 2), for the elements of an operand and what lies around them.
  void spread(Placed& placed, bool positive = false) {
    kernels::dispatch(placed.operand.dtype, [&]<class T>() {
      for (std::size_t at = placed.start % sizeof(T); at + sizeof(T) <= placed.bytes.size(); at += sizeof(T)) {
        const double unit = static_cast<double>(random_() >> 11) * 0x1p-53;
        const T value = kernels::convert<T>(positive ? 0.1 + 1.9 * unit : 4 * unit - 2);
        std::memcpy(placed.bytes.data() + at, &value, sizeof(T));
      }
    });
  }
  // Indices below `size`, from -size on where `negative`.
  void set_indices(Placed& placed, std::int64_t size, bool negative) {
    for (std::size_t at = placed.start % 8; at + 8 <= placed.bytes.size(); at += 8) {
      const std::int64_t value = pick(negative ? -size : 0, size - 1);
      std::memcpy(placed.bytes.data() + at, &value, 8);
    }
  }
  Kernel any_of(Kernel first, Kernel last) {
    return static_cast<Kernel>(pick(static_cast<int>(first), static_cast<int>(last)));
  }
  Placed absent(Access access = Access::read) {
    Placed placed = place({0}, Dtype::f32, access);
    placed.operand.strides = {1};
    return placed;
  }
  Placed spread_in(const Dims& sizes, Dtype dtype, bool positive = false) {
    Placed placed = place(sizes, dtype, Access::read);
    spread(placed, positive);
    return placed;
  }
  // The same, never expanded: of equal values a normalisation makes noise, 1 / sqrt(eps) times what was rounded.
  Placed uneven_in(const Dims& sizes, Dtype dtype) {
    Placed placed = place(sizes, dtype, Access::write);
    placed.operand.access = Access::read;
    spread(placed);
    return placed;
  }
  Placed out(const Dims& sizes, Dtype dtype, Access access = Access::write) {
    Placed placed = place(sizes, dtype, access);
    spread(placed);
    return placed;
  }
  std::int64_t some_size() { return chance(10) ? 1 : chance(15) ? pick(60, 300) : pick(2, 20); }
  static Dtype statistics_of(Dtype dtype) { return dtype == Dtype::f64 ? Dtype::f64 : Dtype::f32; }

  // Host sums are kept in double and rounded once; the card's are kept in the type of the arithmetic.
  static Tolerance sums() { return {16, 32}; }
};

TEST_F(CardFamilies, ComparisonsAndChoicesEqualTheHosts) {
  for (int i = 0; i < calls(); ++i) {
    const Dims sizes = any_sizes();
    std::vector<Placed> compared{place(sizes, Dtype::boolean, Access::write),
                                 place(broadcastable(sizes), any_dtype(), Access::read),
                                 place(broadcastable(sizes), any_dtype(), Access::read)};
    for (Placed& placed : compared) set_values(placed, false);
    ASSERT_NO_FATAL_FAILURE(compare(any_of(Kernel::eq, Kernel::ge), compared, {}));
    const Dtype dtype = any_dtype();
    std::vector<Placed> chosen{place(sizes, dtype, Access::write),
                               place(broadcastable(sizes), Dtype::boolean, Access::read),
                               place(broadcastable(sizes), input_for(dtype), Access::read),
                               place(broadcastable(sizes), input_for(dtype), Access::read)};
    for (Placed& placed : chosen) set_values(placed, false);
    ASSERT_NO_FATAL_FAILURE(compare(Kernel::where, chosen, {}));
    const Dtype clamped = dtype == Dtype::boolean ? Dtype::i32 : dtype;
    std::vector<Placed> cut{place(sizes, clamped, Access::write),
                            place(broadcastable(sizes), input_for(clamped), Access::read)};
    for (Placed& placed : cut) set_values(placed, false);
    ASSERT_NO_FATAL_FAILURE(compare(Kernel::clamp, cut, {bits(special()), bits(special())}));
  }
}

TEST_F(CardFamilies, FunctionsAndTheirGradientsAreWithinRounding) {
  for (int i = 0; i < 2 * calls(); ++i) {
    const Dims sizes = any_sizes();
    const Dtype dtype = any_float();
    const Kernel kernel = any_of(Kernel::exp, Kernel::gelu);
    const std::uint64_t form = kernel == Kernel::gelu && chance(50) ? 1 : 0;
    const bool positive = kernel == Kernel::log || kernel == Kernel::sqrt;
    std::vector<Placed> all{out(sizes, dtype), spread_in(broadcastable(sizes), dtype, positive)};
    ASSERT_NO_FATAL_FAILURE(compare(kernel, all, {form}, {4, 4}));
    const Kernel gradient = any_of(Kernel::relu_backward, Kernel::clamp_backward);
    Scalars scalars;
    if (gradient == Kernel::gelu_backward) scalars = {form};
    if (gradient == Kernel::clamp_backward) scalars = {bits(-0.5), bits(1)};
    std::vector<Placed> back{out(sizes, dtype), spread_in(broadcastable(sizes), dtype),
                             spread_in(broadcastable(sizes), dtype, gradient == Kernel::sqrt_backward)};
    ASSERT_NO_FATAL_FAILURE(compare(gradient, back, scalars, {4, 4}));
  }
}

TEST_F(CardFamilies, LossesOfElementsAreWithinRounding) {
  for (int i = 0; i < calls(); ++i) {
    const Dims sizes = any_sizes();
    const Dtype dtype = any_float();
    std::vector<Placed> all{out(sizes, dtype), spread_in(sizes, dtype), spread_in(sizes, dtype)};
    ASSERT_NO_FATAL_FAILURE(compare(any_of(Kernel::mse_loss, Kernel::bce_with_logits), all, {}, {4, 4}));
    std::vector<Placed> back{out(sizes, dtype), spread_in(broadcastable(sizes), dtype), spread_in(sizes, dtype),
                             spread_in(sizes, dtype)};
    ASSERT_NO_FATAL_FAILURE(
        compare(any_of(Kernel::mse_loss_backward, Kernel::bce_with_logits_backward), back, {bits(0.25)}, {4, 4}));
  }
}

TEST_F(CardFamilies, RandomNumbersHaveTheHostsBits) {
  for (int i = 0; i < calls(); ++i) {
    const Dims sizes = any_sizes();
    const std::uint64_t seed = random_(), offset = random_();
    const Kernel kernel = any_of(Kernel::uniform, Kernel::random_integers);
    Dtype dtype = kernel == Kernel::random_integers ? any_dtype() : any_float();
    if (dtype == Dtype::boolean) dtype = Dtype::u8;
    Scalars scalars{bits(-1), bits(2.5), seed, offset};
    if (kernel == Kernel::random_integers) scalars = {static_cast<std::uint64_t>(-5), 1000, seed, offset};
    std::vector<Placed> drawn{place(sizes, dtype, Access::write)};
    set_values(drawn[0], true);
    ASSERT_NO_FATAL_FAILURE(compare(kernel, drawn, scalars));
    const Dtype kept = any_float();
    std::vector<Placed> all{out(sizes, kept), spread_in(broadcastable(sizes), kept)};
    ASSERT_NO_FATAL_FAILURE(compare(Kernel::dropout, all, {bits(0.3), seed, offset}));
  }
}

TEST_F(CardFamilies, ReductionsEqualTheHosts) {
  for (int i = 0; i < 3 * calls(); ++i) {
    Dims sizes = any_sizes();
    if (sizes.count() == 0 && chance(80)) sizes = {chance(50) ? 70'000 : 1'000'003};
    const Kernel kernel = any_of(Kernel::sum, Kernel::argmax);
    const bool of_floats = kernel == Kernel::mean || kernel == Kernel::norm;
    const Dtype in = of_floats ? any_float() : any_dtype();
    const Dtype result = kernel == Kernel::argmax                          ? Dtype::i64
                         : kernel == Kernel::sum && !is_floating_point(in) ? Dtype::i64
                                                                           : in;
    Dims reduced = sizes;
    std::uint64_t dim = 0;
    if (kernel == Kernel::argmax) {
      if (sizes.count() == 0) continue;
      dim = static_cast<std::uint64_t>(pick(0, sizes.count() - 1));
      reduced[static_cast<int>(dim)] = 1;
    } else {
      for (int d = 0; d < sizes.count(); ++d) reduced[d] = chance(50) ? 1 : sizes[d];
    }
    const bool of_order = kernel == Kernel::max || kernel == Kernel::argmax;
    if (of_order && sizes.product() == 0) continue;
    std::vector<Placed> all{place(reduced, result, Access::write), place(sizes, in, Access::read)};
    for (Placed& placed : all) set_values(placed, !of_order);
    // Whole numbers add up exactly; a mean divides, a norm takes a root, in float where the host has double.
    ASSERT_NO_FATAL_FAILURE(compare(kernel, all, {dim}, {of_floats ? 2.0 : 0.0, 0}));
  }
}

TEST_F(CardFamilies, ProductsAreExactForSmallWholeNumbersInEveryLayout) {
  for (int i = 0; i < calls(); ++i) {
    const auto size = [&] { return chance(5) ? 0 : chance(20) ? 1 : chance(10) ? pick(60, 130) : pick(2, 40); };
    const std::int64_t m = size(), n = size(), k = size(), b = chance(5) ? 0 : pick(1, 5);
    const Dtype dtype = any_float();
    const Kernel kernel = any_of(Kernel::matmul, Kernel::linear);
    std::vector<Placed> all;
    if (kernel == Kernel::matmul)
      all = {place({m, n}, dtype, Access::write), place({m, k}, dtype, Access::read),
             place({k, n}, dtype, Access::read)};
    else if (kernel == Kernel::bmm)
      all = {place({b, m, n}, dtype, Access::write), place({b, m, k}, dtype, Access::read),
             place({b, k, n}, dtype, Access::read)};
    else
      all = {place({m, n}, dtype, Access::write), place({m, k}, dtype, Access::read),
             place({n, k}, dtype, Access::read), chance(30) || n == 0 ? absent() : place({n}, dtype, Access::read)};
    for (Placed& placed : all) set_values(placed, true);
    ASSERT_NO_FATAL_FAILURE(compare(kernel, all, {}));
  }
}

TEST_F(CardFamilies, ConvolutionsAreExactForSmallWholeNumbers) {
  for (int i = 0; i < calls() / 4; ++i) {
    const std::int64_t n = pick(1, 4), c = pick(1, 6), o = chance(10) ? pick(60, 70) : pick(1, 8);
    const std::int64_t kh = pick(1, 4), kw = pick(1, 4), h = pick(kh, 20), w = pick(kw, 20);
    const std::int64_t sh = pick(1, 3), sw = pick(1, 3), ph = pick(0, 3), pw = pick(0, 3);
    const Dims image{n, c, h, w}, weight{o, c, kh, kw};
    const Dims map{n, o, (h + 2 * ph - kh) / sh + 1, (w + 2 * pw - kw) / sw + 1};
    const Dtype dtype = any_float();
    const Kernel kernel = any_of(Kernel::conv2d, Kernel::conv2d_weight_backward);
    std::vector<Placed> all;
    if (kernel == Kernel::conv2d)
      all = {place(map, dtype, Access::write), place(image, dtype, Access::read), place(weight, dtype, Access::read),
             chance(30) ? absent() : place({o}, dtype, Access::read)};
    else if (kernel == Kernel::conv2d_input_backward)
      all = {place(image, dtype, Access::write), place(map, dtype, Access::read), place(weight, dtype, Access::read)};
    else
      all = {place(weight, dtype, Access::write), place(map, dtype, Access::read), place(image, dtype, Access::read)};
    for (Placed& placed : all) set_values(placed, true);
    const auto scalar = [](std::int64_t value) { return static_cast<std::uint64_t>(value); };
    ASSERT_NO_FATAL_FAILURE(compare(kernel, all, {scalar(sh), scalar(sw), scalar(ph), scalar(pw)}));
  }
}

TEST_F(CardFamilies, RowsAreWithinRounding) {
  for (int i = 0; i < calls(); ++i) {
    Dims sizes = any_sizes();
    if (sizes.count() == 0) sizes = {pick(1, 3000)};
    const auto dim = static_cast<std::uint64_t>(pick(0, sizes.count() - 1));
    const Dtype dtype = any_float();
    std::vector<Placed> all{out(sizes, dtype), spread_in(sizes, dtype)};
    const Kernel kernel = any_of(Kernel::softmax, Kernel::log_softmax);
    ASSERT_NO_FATAL_FAILURE(compare(kernel, all, {dim}, sums()));
    std::vector<Placed> back{out(sizes, dtype), spread_in(sizes, dtype), spread_in(sizes, dtype)};
    ASSERT_NO_FATAL_FAILURE(
        compare(any_of(Kernel::softmax_backward, Kernel::log_softmax_backward), back, {dim}, {64, 64}));
  }
}

TEST_F(CardFamilies, NormalisationsAreWithinRounding) {
  for (int i = 0; i < calls(); ++i) {
    const Dtype dtype = any_float(), statistics = statistics_of(dtype);
    const std::int64_t rows = chance(10) ? pick(1000, 5000) : some_size(), columns = some_size() + 1;
    const auto parameters = [&](std::int64_t count) {
      return chance(30) ? absent() : spread_in({count}, chance(50) ? dtype : statistics);
    };
    std::vector<Placed> all{out({rows, columns}, dtype),       out({rows}, statistics), out({rows}, statistics),
                            uneven_in({rows, columns}, dtype), parameters(columns),     parameters(columns)};
    ASSERT_NO_FATAL_FAILURE(compare(Kernel::layer_norm, all, {bits(1e-5)}, {64, 256}));
    std::vector<Placed> back{out({rows, columns}, dtype),       spread_in({rows, columns}, dtype),
                             spread_in({rows, columns}, dtype), parameters(columns),
                             spread_in({rows}, statistics),     spread_in({rows}, statistics, true)};
    ASSERT_NO_FATAL_FAILURE(compare(Kernel::layer_norm_backward, back, {}, {64, 256}));
    std::vector<Placed> weights{out({columns}, dtype),
                                out({columns}, dtype),
                                spread_in({rows, columns}, dtype),
                                spread_in({rows, columns}, dtype),
                                spread_in({rows}, statistics),
                                spread_in({rows}, statistics, true)};
    ASSERT_NO_FATAL_FAILURE(compare(Kernel::layer_norm_weight_backward, weights, {}, {64, 256}));
  }
}

TEST_F(CardFamilies, NormalisationsOfChannelsAreWithinRounding) {
  for (int i = 0; i < calls() / 2; ++i) {
    const Dtype dtype = any_float(), statistics = statistics_of(dtype);
    const std::int64_t c = pick(1, 9);
    const Dims sizes{pick(2, 8), c, chance(20) ? pick(1000, 4000) : pick(1, 30)};
    const auto parameters = [&] { return chance(30) ? absent() : spread_in({c}, statistics); };
    const bool tracks = chance(60);
    const auto running = [&] { return tracks ? out({c}, statistics, Access::read_write) : absent(Access::read_write); };
    std::vector<Placed> all{out(sizes, dtype), out({c}, statistics),    out({c}, statistics), running(),
                            running(),         uneven_in(sizes, dtype), parameters(),         parameters()};
    ASSERT_NO_FATAL_FAILURE(compare(Kernel::batch_norm, all, {bits(1e-5), bits(0.1)}, {64, 256}));
    std::vector<Placed> eval{out(sizes, dtype),
                             spread_in(sizes, dtype),
                             spread_in({c}, statistics),
                             spread_in({c}, statistics, true),
                             parameters(),
                             parameters()};
    ASSERT_NO_FATAL_FAILURE(compare(Kernel::batch_norm_eval, eval, {bits(1e-5)}, {64, 64}));
    std::vector<Placed> back{
        out(sizes, dtype),       out({c}, statistics), out({c}, statistics),       spread_in(sizes, dtype),
        spread_in(sizes, dtype), parameters(),         spread_in({c}, statistics), spread_in({c}, statistics, true)};
    const std::uint64_t of_batch = chance(50) ? 1 : 0;
    ASSERT_NO_FATAL_FAILURE(compare(Kernel::batch_norm_backward, back, {of_batch, bits(1e-5)}, {64, 2048}));
  }
}

TEST_F(CardFamilies, LossesOfClassesAreWithinRounding) {
  for (int i = 0; i < calls(); ++i) {
    const Dtype dtype = any_float();
    const std::int64_t n = some_size(), c = some_size(), s = chance(50) ? 1 : pick(1, 30);
    const auto reduction = static_cast<std::uint64_t>(pick(1, 2));
    Placed target = place({n, s}, Dtype::i64, Access::read);
    set_indices(target, c, false);
    const std::uint64_t ignored = chance(50) ? 0 : static_cast<std::uint64_t>(-100);
    const Placed weight = chance(50) ? absent() : spread_in({c}, dtype, true);
    std::vector<Placed> all{out({}, dtype), out({}, dtype), spread_in({n, c, s}, dtype), target, weight};
    ASSERT_NO_FATAL_FAILURE(compare(Kernel::nll_loss, all, {reduction, ignored}, {64, 64}));
    std::vector<Placed> back{out({n, c, s}, dtype), spread_in({}, dtype), target, weight, spread_in({}, dtype, true)};
    ASSERT_NO_FATAL_FAILURE(compare(Kernel::nll_loss_backward, back, {reduction, ignored}, {8, 8}));
    std::vector<Placed> each{out({n, c, s}, dtype), spread_in({n, s}, dtype), target, weight, spread_in({}, dtype)};
    ASSERT_NO_FATAL_FAILURE(compare(Kernel::nll_loss_backward, each, {0, ignored}, {8, 8}));
  }
}

TEST_F(CardFamilies, IndexingEqualsTheHostsAndAddsInItsOrder) {
  for (int i = 0; i < calls(); ++i) {
    const int dims = static_cast<int>(pick(1, 4)), indices = static_cast<int>(pick(1, std::min(dims, 3)));
    Dims whole, shape, picked;
    for (int d = 0; d < dims; ++d) whole.push_back(chance(10) ? pick(50, 600) / (d + 1) : pick(1, 7));
    while (whole.product() > 200'000) {
      for (int d = 0; d < dims; ++d) whole[d] = (whole[d] + 1) / 2;
    }
    for (int d = 0; d < static_cast<int>(pick(0, 2)); ++d) shape.push_back(chance(5) ? 0 : some_size());
    // Indices of shape [0] look like ones that are absent.
    if (shape.count() + dims - indices > kMaxDims || (indices > 1 && shape == Dims{0})) continue;
    for (const std::int64_t size : shape) picked.push_back(size);
    for (int d = indices; d < dims; ++d) picked.push_back(whole[d]);
    const bool adds = chance(50), negative = chance(50);
    const Dtype dtype = adds ? any_float() : any_dtype();
    std::vector<Placed> all;
    if (adds)
      all = {place(whole, dtype, Access::read_write), place(picked, dtype, Access::read)};
    else
      all = {place(picked, dtype, Access::write), place(whole, dtype, Access::read)};
    for (Placed& placed : all) set_values(placed, !adds || chance(50));
    if (adds && chance(50)) spread(all[1]);
    for (int k = 0; k < 4; ++k) {
      if (k >= indices) {
        all.push_back(absent());
        continue;
      }
      Placed index = place(shape, Dtype::i64, Access::read);
      set_indices(index, whole[k], negative);
      all.push_back(index);
    }
    // To the bit, in the host's order: also where several values meet.
    ASSERT_NO_FATAL_FAILURE(compare(adds ? Kernel::index_add : Kernel::index, all, {negative ? 0U : 1U}));
  }
}

TEST_F(CardFamilies, StepsOfTrainingAreWithinRounding) {
  for (int i = 0; i < calls(); ++i) {
    const Dims sizes = any_sizes();
    if (sizes.product() == 0) continue;
    const Dtype dtype = any_float();
    const bool with_momentum = chance(60);
    std::vector<Placed> sgd{out(sizes, dtype, Access::read_write),
                            with_momentum ? out(sizes, dtype, Access::read_write) : absent(Access::read_write),
                            spread_in(sizes, dtype)};
    const std::uint64_t nesterov = with_momentum && chance(50) ? 1 : 0, first = chance(30) ? 1 : 0;
    ASSERT_NO_FATAL_FAILURE(compare(
        Kernel::sgd_step, sgd, {bits(0.1), bits(0.9), bits(nesterov ? 0 : 0.1), bits(0.01), nesterov, first}, {4, 4}));
    std::vector<Placed> adam{out(sizes, dtype, Access::read_write), out(sizes, dtype, Access::read_write),
                             out(sizes, dtype, Access::read_write), spread_in(sizes, dtype)};
    spread(adam[2], true);
    ASSERT_NO_FATAL_FAILURE(compare(Kernel::adam_step, adam,
                                    {bits(1e-2), bits(0.9), bits(0.999), bits(1e-8), bits(0.1), chance(50) ? 1U : 0U,
                                     static_cast<std::uint64_t>(pick(1, 50))},
                                    {8, 8}));
    std::vector<Placed> unscaled{out(sizes, dtype, Access::read_write), out({}, Dtype::f32, Access::read_write),
                                 spread_in({}, Dtype::f32, true)};
    if (chance(50)) set_values(unscaled[0], false);
    ASSERT_NO_FATAL_FAILURE(compare(Kernel::amp_unscale, unscaled, {}, {1, 0}));
    std::vector<Placed> scale{out({}, Dtype::f32, Access::read_write), out({}, Dtype::i32, Access::read_write),
                              place({}, Dtype::f32, Access::read)};
    set_values(scale[1], true);
    set_values(scale[2], true);
    ASSERT_NO_FATAL_FAILURE(compare(Kernel::amp_update_scale, scale, {bits(2), bits(0.5), 3}));
  }
}

}  // namespace
}  // namespace labrig
