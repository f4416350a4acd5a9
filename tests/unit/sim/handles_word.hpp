// The handles of a card as a word of a test worker's command line.
#pragma once

#include <array>
#include <sstream>
#include <string>

#include "backends/sim/machine.hpp"

namespace labrig::sim {

inline std::string packed(const Handles& handles, const std::array<int, 3>& fds) {
  std::ostringstream text;
  for (const int fd : fds) text << fd << ' ';
  text << handles.base << ' ' << handles.arena_bytes << ' ' << handles.data << ' ' << static_cast<int>(handles.mode);
  for (const std::uint64_t capacity : handles.capacity_bytes) text << ' ' << capacity;
  return text.str();
}

inline Handles unpacked(const std::string& word) {
  std::istringstream text(word);
  Handles handles;
  int mode = 0;
  text >> handles.device_page_fd >> handles.worker_page_fd >> handles.arena_fd >> handles.base >> handles.arena_bytes >>
      handles.data >> mode;
  handles.mode = static_cast<Mode>(mode);
  for (std::uint64_t capacity; text >> capacity;) {
    handles.capacity_bytes.push_back(capacity);
    handles.card_names.push_back("desktop");
  }
  return handles;
}

}  // namespace labrig::sim
