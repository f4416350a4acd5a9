// Takes a description apart, and says what does not fit together.
#include "plan/units.hpp"

#include <utility>

#include "labrig/error.hpp"

namespace labrig::plan {
namespace {

Error bad_model(const std::string& place, const std::string& what, std::string why, std::string fix) {
  return {"bad-model", place + what, std::move(why), std::move(fix)};
}

Dims dims_of(const std::vector<std::int64_t>& sizes) { return Dims(std::span(sizes.data(), sizes.size())); }

class Taker {
 public:
  explicit Taker(Units& result) : result_(result) {}

  // Appends the units of `layers`; `at` is the size of what reaches them, and then of what leaves them.
  void take(const std::vector<Layer>& layers, const std::string& prefix, std::size_t first_row, std::vector<Unit>& to,
            Dims& at) {
    std::size_t row = first_row;
    for (std::size_t i = 0; i < layers.size(); ++i) {
      const std::string name = prefix + std::to_string(i + 1);
      row = one(layers[i], name, row, to, at);
    }
  }

 private:
  // Takes the rows from `row` on; returns the first that it leaves. A second time round a repetition finds them there.
  std::size_t one(const Layer& layer, const std::string& name, std::size_t row, std::vector<Unit>& to, Dims& at) {
    if (layer.kind == Kind::repeat) {
      for (std::int64_t time = 0; time < layer.times; ++time) take(layer.layers, name + ".", row, to, at);
      return row + rows_of(layer);
    }
    if (layer.kind == Kind::residual) {
      residual(layer, name, row, to, at);
      return row + rows_of(layer);
    }
    note(row, name + " " + name_of(layer.kind));
    if (layer.kind == Kind::transformer_block) {
      for (const Layer& half : halves_of(layer, at)) half_block(half, row, to, at);
    } else {
      to.push_back(unit(layer, row, at));
    }
    result_.rows[row].out.assign(at.begin(), at.end());
    return row + 1;
  }

  void residual(const Layer& layer, const std::string& name, std::size_t row, std::vector<Unit>& to, Dims& at) {
    Unit unit{layer, row, at, at, {}};
    note(row, name + " residual");
    take(layer.layers, name + ".", row + 1, unit.inside, unit.out);
    check_residual(layer, at, unit.out);
    result_.rows[row].out.assign(at.begin(), at.end());
    to.push_back(std::move(unit));
  }

  // One of the two residuals of a transformer block; all that is in it counts for the block's row.
  void half_block(const Layer& half, std::size_t row, std::vector<Unit>& to, Dims& at) {
    Unit whole{half, row, at, at, {}};
    for (const Layer& layer : half.layers) whole.inside.push_back(unit(layer, row, whole.out));
    to.push_back(std::move(whole));
  }

  std::vector<Layer> halves_of(const Layer& block, const Dims& at) const {
    if (at.count() != 2) throw no_sequence(block, at);
    const auto layer = [&](Kind kind, std::int64_t out = 0) {
      Layer made;
      made.kind = kind, made.out = out, made.heads = block.heads, made.p = block.p, made.place = block.place;
      return made;
    };
    const std::int64_t width = at[1], hidden = block.hidden > 0 ? block.hidden : 4 * width;
    Layer first = layer(Kind::residual), second = layer(Kind::residual);
    first.layers = {layer(Kind::layer_norm), layer(Kind::attention)};
    second.layers = {layer(Kind::layer_norm), layer(Kind::linear, hidden), layer(Kind::gelu),
                     layer(Kind::linear, width)};
    if (block.p > 0) {
      first.layers.push_back(layer(Kind::dropout));
      second.layers.push_back(layer(Kind::dropout));
    }
    return {first, second};
  }

  static std::size_t rows_of(const Layer& layer) {
    const bool holds = layer.kind == Kind::repeat || layer.kind == Kind::residual;
    std::size_t rows = layer.kind == Kind::repeat ? 0 : 1;
    if (holds)
      for (const Layer& inner : layer.layers) rows += rows_of(inner);
    return rows;
  }

  void note(std::size_t row, const std::string& name) {
    if (row == result_.rows.size()) {
      result_.rows.emplace_back().name = name;
      return;
    }
    ++result_.rows[row].times;
  }

  // `at` becomes what leaves the unit.
  Unit unit(const Layer& layer, std::size_t row, Dims& at) {
    Unit made{layer, row, at, {}, {}};
    made.out = at = out_of(layer, at);
    return made;
  }

  Dims out_of(const Layer& layer, const Dims& in) {
    switch (layer.kind) {
      case Kind::linear:
        check_positive(layer, "out", layer.out);
        return with_last(layer, in, layer.out);
      case Kind::conv2d:
        return map_of(layer, in);
      case Kind::embedding:
        return embedded(layer, in);
      case Kind::attention:
        check_attention(layer, in);
        return in;
      case Kind::flatten:
        return {in.product()};
      case Kind::mean_pool:
        if (in.count() == 3) return {in[0]};
        if (in.count() == 2) return {in[1]};
        throw misfit(layer, in, "[channels, height, width] or [length, width]");
      case Kind::batch_norm:
        if (in.count() == 1 || in.count() == 3) return in;
        throw misfit(layer, in, "[channels] or [channels, height, width]");
      case Kind::layer_norm:
      case Kind::softmax:
        if (in.count() == 0) throw misfit(layer, in, "a dimension to work along");
        return in;
      default:
        return in;
    }
  }

  static Dims with_last(const Layer& layer, Dims sizes, std::int64_t last) {
    if (sizes.count() == 0) throw misfit(layer, sizes, "[*, features]");
    sizes[sizes.count() - 1] = last;
    return sizes;
  }

  static Dims map_of(const Layer& layer, const Dims& in) {
    if (in.count() != 3) throw misfit(layer, in, "[channels, height, width]");
    check_positive(layer, "out", layer.out);
    check_positive(layer, "kernel", layer.kernel);
    check_positive(layer, "stride", layer.stride);
    const auto side = [&](std::int64_t size) {
      const std::int64_t padded = size + 2 * layer.padding;
      if (padded >= layer.kernel) return (padded - layer.kernel) / layer.stride + 1;
      throw bad_model(layer.place, "a kernel of " + std::to_string(layer.kernel) + " is larger than the image",
                      "the image that reaches it is " + in.str() + ", with a padding of " +
                          std::to_string(layer.padding) + " on each side",
                      "use a smaller kernel, more padding, or smaller strides before it");
    };
    return {layer.out, side(in[1]), side(in[2])};
  }

  Dims embedded(const Layer& layer, Dims in) {
    check_positive(layer, "out", layer.out);
    check_positive(layer, "entries", layer.entries);
    if (result_.takes_ids || result_.rows.size() != 1)
      throw bad_model(layer.place, "an embedding can only be the first layer",
                      "it takes whole numbers, and every other layer makes fractions", "put it first");
    result_.takes_ids = true;
    in.push_back(layer.out);
    return in;
  }

  static void check_attention(const Layer& layer, const Dims& in) {
    if (in.count() != 2) throw no_sequence(layer, in);
    check_positive(layer, "heads", layer.heads);
    if (in[1] % layer.heads == 0) return;
    throw bad_model(
        layer.place,
        "a width of " + std::to_string(in[1]) + " cannot be split into " + std::to_string(layer.heads) + " heads",
        "every head takes the same part of the width", "use a number of heads that divides the width");
  }

  static void check_residual(const Layer& layer, const Dims& in, const Dims& out) {
    if (in == out) return;
    throw bad_model(layer.place, "what is inside a residual must keep the size of its input",
                    "x + layers(x): x is " + in.str() + " a sample, and layers(x) is " + out.str(),
                    "make its last layer as wide as its input");
  }

  static void check_positive(const Layer& layer, const std::string& key, std::int64_t value) {
    if (value > 0) return;
    throw bad_model(layer.place, std::string(name_of(layer.kind)) + " needs a positive '" + key + "'",
                    "it is " + std::to_string(value), "give the layer its " + key);
  }

  static Error misfit(const Layer& layer, const Dims& in, const std::string& wanted) {
    return bad_model(layer.place, std::string(name_of(layer.kind)) + " cannot take what reaches it",
                     "a sample is " + in.str() + " there, and it wants " + wanted,
                     "check the layers before it; flatten and mean_pool take dimensions away");
  }
  static Error no_sequence(const Layer& layer, const Dims& in) { return misfit(layer, in, "[length, width]"); }

  Units& result_;
};

}  // namespace

Units units_of(const Model& model) {
  Units result;
  if (model.layers.empty())
    throw bad_model("", "the model has no layers", "nothing is trained without parameters", "describe its layers");
  if (model.input.empty() || model.input.size() > 4)
    throw bad_model("", "the input has " + std::to_string(model.input.size()) + " dimensions",
                    "a sample has one to four: [features], [length, width], [channels, height, width]",
                    "give the sizes of one sample, without the batch");
  result.input = result.output = dims_of(model.input);
  for (const std::int64_t size : result.input)
    if (size <= 0)
      throw bad_model("", "the input has a size of " + std::to_string(size), "sizes are positive",
                      "give the sizes of one sample, without the batch");
  Taker(result).take(model.layers, "", 0, result.units, result.output);
  return result;
}

}  // namespace labrig::plan
