// What this process runs in: a container and of which kind, a job of Slurm, the login node of a cluster, Linux under
// Windows. Each hides cards in its own way and is asked for one in its own way.
#pragma once

#include <string>

#include "doctor/host.hpp"

namespace labrig::doctor {

enum class Container { none, docker, podman, kubernetes, apptainer, lxc, other };
const char* name_of(Container container);

struct Surroundings {
  Container container = Container::none;
  std::string sign;          // by what the container was recognised
  bool wsl = false;          // Linux under Windows
  std::string slurm_job;     // its number; empty: not in a job
  bool slurm_cards = false;  // the job was given cards
  bool login_node = false;   // jobs can be sent from here, and this is none
};

Surroundings surroundings(const Host& host);

// How a card is asked for there; empty where nothing hides one.
std::string how_to_get_a_card(const Surroundings& around);

}  // namespace labrig::doctor
