// The body of the program labrig-device: the card as a process of its own. Read next: wire.hpp, ../card/consumer.hpp.
#pragma once

namespace labrig::sim {

// Where the descriptors that a card process inherits are.
inline constexpr int kControlFd = 3, kDevicePageFd = 4, kWorkerPageFd = 5, kArenaFd = 6, kFirstOtherFd = 7;

// Serves one client until the supervisor closes the control socket. Returns the exit status of the program.
int serve_as_process();

}  // namespace labrig::sim
