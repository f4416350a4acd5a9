// InProcessMachine, and the machine that a program gets when it asks for `sim` without having attached one.
#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "driver/backend.hpp"
#include "host/card_thread.hpp"

namespace labrig::sim {

struct InProcessMachine::State {
  std::shared_ptr<CardThread> card;
};

InProcessMachine::InProcessMachine(const MachineOptions& options) : state_(std::make_unique<State>()) {
  state_->card = std::make_shared<CardThread>(options);
  attach_sim_backends(make_backends(std::make_shared<Client>(state_->card->take_handles(), state_->card)));
}

InProcessMachine::~InProcessMachine() { detach_sim_backends(); }

Report InProcessMachine::report() {
  // What is still in the ring belongs to the report.
  if (Client* client = attached_client()) {
    try {
      client->call(Opcode::clock, {}, {});
    } catch (const Error&) {  // the card has stopped: the report says why
    }
  }
  return state_->card->report();
}

}  // namespace labrig::sim

namespace labrig {
namespace {

// The profiles of LABRIG_SIM_PROFILE, in the order of the cards: "desktop,t4" makes sim:0 and sim:1.
std::vector<sim::Profile> profiles_of(const std::string& list) {
  std::vector<sim::Profile> cards;
  for (std::size_t start = 0; start <= list.size();) {
    const std::size_t comma = std::min(list.find(',', start), list.size());
    cards.push_back(sim::load_profile(list.substr(start, comma - start)).value());
    start = comma + 1;
  }
  return cards;
}

}  // namespace

std::vector<std::unique_ptr<Backend>> make_default_sim_backends() {
  const char* set = std::getenv("LABRIG_SIM_PROFILE");
  sim::MachineOptions options;
  options.cards = profiles_of(set != nullptr && *set != '\0' ? set : "desktop");
  const auto card = std::make_shared<sim::CardThread>(options);
  return sim::make_backends(std::make_shared<sim::Client>(card->take_handles(), card));
}

}  // namespace labrig
