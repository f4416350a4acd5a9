// InProcessMachine, and the machine that a program gets when it asks for `sim` without having attached one.
#include <cstdlib>

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

std::vector<std::unique_ptr<Backend>> make_default_sim_backends() {
  const char* set = std::getenv("LABRIG_SIM_PROFILE");
  sim::MachineOptions options;
  options.cards.push_back(sim::load_profile(set != nullptr && *set != '\0' ? set : "desktop").value());
  const auto card = std::make_shared<sim::CardThread>(options);
  return sim::make_backends(std::make_shared<sim::Client>(card->take_handles(), card));
}

}  // namespace labrig
