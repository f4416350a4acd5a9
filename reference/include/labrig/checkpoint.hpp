// One file for a whole run: model, optimizer, scaler and whatever else is needed to go on as if nothing had happened.
// Tensors are kept as "model.fc1.weight" or "optimizer.state.0.exp_avg", numbers as texts in the file's metadata.
//
//   Checkpoint saved;                                   Checkpoint loaded = Checkpoint::load(path, device);
//   saved.add("model", net.state_dict());               net.load_state_dict(loaded.tensors("model"));
//   saved.add("optimizer", optimizer.state_dict());     optimizer.load_state_dict(loaded.optimizer("optimizer"));
//   saved.add("scaler", {{"scale", 65536.0}});          double scale = loaded.numbers("scaler").at("scale");
//   saved.save(path);
#pragma once

#include <map>
#include <string>

#include "labrig/export.hpp"
#include "labrig/io.hpp"
#include "labrig/optim.hpp"

namespace labrig::io {

class LABRIG_API Checkpoint {
 public:
  using Numbers = std::map<std::string, double>;

  // Under a name without '.'; each name is used once.
  void add(const std::string& name, const NamedTensors& tensors);
  void add(const std::string& name, const optim::State& optimizer);
  void add(const std::string& name, const Numbers& numbers);

  // What was added under that name. Throws `bad-checkpoint` when there is nothing, or it is of another kind.
  NamedTensors tensors(const std::string& name) const;
  optim::State optimizer(const std::string& name) const;
  Numbers numbers(const std::string& name) const;

  // As io::save and io::load.
  void save(const std::string& path) const;
  static Checkpoint load(const std::string& path, const MapLocation& map_location = {});

 private:
  Loaded content_;
};

}  // namespace labrig::io
