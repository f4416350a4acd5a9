// labrig-device: the simulated card as a process. Started by a supervisor, never by hand.
#include <sys/socket.h>

#include <cstdio>

#include "host/device_service.hpp"

int main() {
  int type = 0;
  socklen_t length = sizeof type;
  if (getsockopt(labrig::sim::kControlFd, SOL_SOCKET, SO_TYPE, &type, &length) != 0) {
    std::fputs(
        "error: labrig-device is not a program to start by hand\n"
        "  why: it is the simulated card, and gets its memory and its orders from the program that starts it\n"
        "  fix: run labrig check or labrig grade\n",
        stderr);
    return 2;
  }
  return labrig::sim::serve_as_process();
}
