// How a worker comes to its machine: attach(), and the frame of the graded region.
#include "driver/backend.hpp"

namespace labrig::sim {
namespace {

Client& client_or_throw() {
  if (Client* client = attached_client()) return *client;
  throw Error("no-machine", "no simulated machine is attached to this process",
              "the measured region belongs to a machine", "attach one first, with attach() or an InProcessMachine");
}

}  // namespace

void attach(const Handles& handles) { attach_sim_backends(make_backends(std::make_shared<Client>(handles, nullptr))); }

bool driven_from_threads() { return client_or_throw().used_by_several_threads(); }

void begin_region() { client_or_throw().call(Opcode::begin, {}, {}); }
void finish_region() { client_or_throw().call(Opcode::finish, {}, {}); }

}  // namespace labrig::sim
