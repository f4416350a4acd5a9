// What this machine says of real cards. Gathered in one place and judged in another (card_cause.hpp), so that tests can
// hand in any machine.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "doctor/card_memory.hpp"
#include "doctor/cuda_versions.hpp"
#include "doctor/driver.hpp"
#include "doctor/host.hpp"
#include "doctor/nvml.hpp"
#include "doctor/surroundings.hpp"

namespace labrig::doctor {

struct CardNode {  // a device file
  std::string path;
  int problem = 0;    // errno of opening it
  std::string group;  // that it belongs to
};

struct UnusableCard {
  std::string device, why, fix;  // in the core's words
};

struct CardFacts {
  // labrig: what its core says
  bool backend = false;                // this labrig has its cuda part
  int cards = 0;                       // that the runtime sees
  std::string why_none, fix_none;      // where it sees none
  std::vector<UnusableCard> unusable;  // of the cards it sees: those that do not open
  // the machine
  CudaVersions versions;
  std::vector<CardNode> nodes;  // /dev/nvidia0, …, /dev/nvidiactl, /dev/nvidia-uvm: those that are there
  int physical = 0;             // NVIDIA's cards on the bus
  bool nouveau = false;         // the free driver, which has no CUDA, is loaded
  bool windows_card = false;    // /dev/dxg: a card that Windows lends
  Surroundings around;
  std::optional<std::string> visible;  // CUDA_VISIBLE_DEVICES
  // the driver's libraries
  Driver driver;
  Nvml nvml;
  std::vector<MemoryFacts> memory;  // of the cards that open

  int numbered_nodes() const;  // of nodes, those of cards
  bool sign_of_a_card() const;
};

// Opens every card that there is. `backend`: liblabrig-cuda.so is there.
CardFacts card_facts(const Host& host, bool backend);

}  // namespace labrig::doctor
