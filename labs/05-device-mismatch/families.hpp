// For the judge alone: the programs of task 3. Eight families, each one way in which a value ends up on another device
// than the model, in four forms; sizes, cards and the length of chains are drawn. A family knows its culprits because
// it plants them.
#pragma once

#include <set>

#include "labrig/cost_card.hpp"
#include "labrig/lab.hpp"
#include "recorder.hpp"

namespace device_mismatch {

struct Puzzle {
  Program program;
  std::set<std::string> culprits;
};

class Families {
 public:
  static constexpr int kFamilies = 8, kForms = 4;

  explicit Families(std::uint64_t seed) : random_(seed) {}

  std::vector<Puzzle> puzzles() {
    std::vector<Puzzle> all;
    for (int form = 0; form < kForms; ++form)
      for (int family = 0; family < kFamilies; ++family) all.push_back(puzzle(family, form));
    return all;
  }

 private:
  using Culprits = std::set<std::string>;
  static constexpr labrig::Device kHost{};

  Puzzle puzzle(int family, int form) {
    p_ = Recorder();
    const int card = static_cast<int>(random_.integer(0, 1));
    home_ = labrig::Device(labrig::DeviceType::sim, card);
    other_ = labrig::Device(labrig::DeviceType::sim, 1 - card);
    rows_ = 2 * random_.integer(4, 12), width_ = random_.integer(6, 20);
    hidden_ = random_.integer(6, 20), classes_ = random_.integer(3, 6);
    constexpr Culprits (Families::* families[kFamilies])(int) = {
        &Families::data,    &Families::loss,   &Families::created, &Families::checkpoint,
        &Families::modules, &Families::buffer, &Families::numbers, &Families::fetched};
    const Culprits culprits = (this->*families[family])(form);
    return {p_.failed(), culprits};
  }

  bool coin() { return random_.integer(0, 1) == 1; }
  labrig::Options number(labrig::Device device = kHost) { return {labrig::kF32, device}; }

  // --- what all programs have --------------------------------------------------------------------------------
  void model() {
    p_.make("hidden.weight", "parameter", {hidden_, width_}, home_);
    p_.make("hidden.bias", "parameter", {hidden_}, home_);
    p_.make("out.weight", "parameter", {classes_, hidden_}, home_);
    p_.make("out.bias", "parameter", {classes_}, home_);
    p_.make("batch", "load", {rows_, width_});
    p_.make("labels", "load", {rows_}, labrig::kI64);
  }
  // Further operations on `value`; the name of the last one.
  std::string chain(std::string value) {
    for (std::int64_t left = random_.integer(0, 2), i = 1; i <= left; ++i) {
      const std::string next = value.substr(0, value.find('_')) + "_" + std::to_string(i);
      p_.run(next, coin() ? "relu" : "tanh", {value});
      value = next;
    }
    return value;
  }
  std::string hidden_layer() {
    p_.to("x", "batch", home_);
    p_.run("h", "linear", {"x", "hidden.weight", "hidden.bias"});
    return chain("h");
  }
  void scores() {
    p_.run("scores", "linear", {hidden_layer(), "out.weight", "out.bias"});
    p_.to("targets", "labels", home_);
  }
  // `value` times a number that stays on the CPU.
  std::string scaled(const std::string& value, const std::string& by) {
    p_.make(by, "tensor", {}, number());
    p_.run(value + "_" + by, "mul", {value, by});
    return value + "_" + by;
  }

  // --- the families ------------------------------------------------------------------------------------------

  // The model was moved, the data was not; or the result of to() was dropped.
  Culprits data(int form) {
    model();
    if (coin()) p_.to("moved", "batch", home_);
    const std::string x = chain(form % 2 == 0 ? scaled("batch", "gain") : "batch");
    if (form < 2) {
      p_.run("h", "linear", {x, "hidden.weight", "hidden.bias"});
    } else {
      p_.make("center", "buffer", {width_}, home_);
      p_.run("centered", "sub", {"center", x});
    }
    return {"batch"};
  }

  // A tensor of the host in the loss: class weights, targets, a mask.
  Culprits loss(int form) {
    model();
    scores();
    if (form == 0) {
      p_.make("counts", "load", {classes_});
      p_.run("loss", "cross_entropy", {"scores", "targets", scaled("counts", "share")});
      return {"counts"};
    }
    if (form == 1) {
      p_.make("class_weights", "tensor", {classes_});
      p_.run("loss", "cross_entropy", {"scores", "targets", "class_weights"});
      return {"class_weights"};
    }
    if (form == 2) {
      p_.run("score_half", "first_half", {"scores"});
      p_.run("label_half", "first_half", {"labels"});
      p_.run("loss", "cross_entropy", {"score_half", "label_half"});
      return {"labels"};
    }
    p_.make("mask", "load", {rows_, classes_}, labrig::kBool);
    p_.make("fill", "tensor", {}, number());
    p_.run("masked", "where", {"mask", "scores", "fill"});
    return {"mask"};
  }

  // A tensor that was created in passing, without a device.
  Culprits created(int form) {
    model();
    const std::string h = hidden_layer();
    if (form == 3) {
      p_.make("table", "parameter", {rows_, hidden_}, home_);
      p_.make("places", "arange", {rows_}, labrig::kI64);
      p_.run("picked", "index_select", {"table", "places"});
      return {"places"};
    }
    p_.make("steps", form == 2 ? "ones" : "arange", {hidden_}, labrig::kF32);
    p_.run("shifted", form == 1 ? "mul" : "add", {h, form == 2 ? chain("steps") : scaled("steps", "rate")});
    return {"steps"};
  }

  // A checkpoint that was read without saying where to: on the host, or where it was saved.
  Culprits checkpoint(int form) {
    model();
    const std::string h = hidden_layer();
    const labrig::Device where = form % 2 == 0 ? kHost : other_;
    if (form < 2) {
      p_.make("state.prototypes", "load", {classes_, hidden_}, where);
      p_.run("columns", "transpose", {"state.prototypes"});
      p_.run("likeness", "matmul", {h, "columns"});
      return {"state.prototypes"};
    }
    p_.make("state.scale", "load", {hidden_}, where);
    p_.run("stretched", "mul", {chain("state.scale"), h});
    return {"state.scale"};
  }

  // Two parts of a model on two cards, and nothing that moves what goes from one to the other.
  Culprits modules(int form) {
    model();
    const std::string h = hidden_layer();
    const labrig::Device where = form == 3 ? kHost : other_;
    p_.make("decoder.weight", "parameter", {width_, hidden_}, where);
    p_.make("decoder.bias", "parameter", {width_}, where);
    p_.make("decoder.scale", "parameter", {hidden_}, where);
    if (form == 1) {
      p_.run("stretched", "mul", {h, "decoder.scale"});
      return {"decoder.scale"};
    }
    p_.run("decoded", "linear", {h, "decoder.weight", "decoder.bias"});
    return {"decoder.weight", "decoder.bias"};
  }

  // A tensor that belongs to the model and was not registered, or an alias from before the move.
  Culprits buffer(int form) {
    model();
    p_.to("x", "batch", home_);
    if (form == 0) {
      p_.make("center", "buffer", {width_});
      p_.run("centered", "sub", {"x", "center"});
      return {"center"};
    }
    if (form == 1) {
      p_.make("variance", "buffer", {width_});
      p_.run("deviation", "sqrt", {"variance"});
      p_.run("normalized", "div", {"x", "deviation"});
      return {"variance"};
    }
    p_.make("levels", "buffer", {2 * width_});
    p_.run("level", "first_half", {"levels"});
    p_.run("leveled", form == 2 ? "add" : "mul", {chain("level"), "x"});
    return {"levels"};
  }

  // Numbers on the CPU that are innocent, and one that is not: index_select takes no numbers.
  Culprits numbers(int form) {
    model();
    const std::string h = scaled(hidden_layer(), "gain");
    p_.make("temperature", "tensor", {}, number());
    p_.run("cooled", "div", {h, "temperature"});
    if (form == 3) {
      p_.make("pick", "tensor", {}, labrig::kI64);
      p_.run("row", "index_select", {"cooled", "pick"});
      return {"pick"};
    }
    p_.make("offsets", "tensor", {hidden_});
    p_.run("offsets_cooled", "div", {"offsets", "temperature"});
    p_.run("result", form == 0 ? "sub" : form == 1 ? "add" : "mul", {"cooled", "offsets_cooled"});
    return {"offsets"};
  }

  // A result that was fetched to the host, where the next operand is not.
  Culprits fetched(int form) {
    model();
    const std::string h = hidden_layer();
    p_.to("seen", h, kHost);
    const std::string seen = form % 2 == 0 ? chain("seen") : "seen";
    if (form < 2)
      p_.run("again", "linear", {seen, "out.weight", "out.bias"});
    else
      p_.run("again", "add", {h, seen});
    return {"seen"};
  }

  labrig::lab::Random random_;
  Recorder p_;
  labrig::Device home_, other_;
  std::int64_t rows_ = 0, width_ = 0, hidden_ = 0, classes_ = 0;
};

// Needs two cards, sim:0 and sim:1, in this process.
inline std::vector<Puzzle> draw_puzzles(const std::string& profile, std::uint64_t seed) {
  const labrig::lab::CostCard cards(profile, {.cards = 2});
  return Families(seed).puzzles();
}

}  // namespace device_mismatch
