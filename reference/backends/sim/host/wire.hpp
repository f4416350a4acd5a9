// What supervisor and card process say to each other, over one stream socket:
//
//   supervisor                          labrig-device
//     start {cards, limits, …} ─────────►
//                            ◄───────── ready {}, or failed {what, why, fix}
//     watch + pidfd of the worker ─────►
//     report_request ───────────────────►      answered when the client is gone and its commands are done
//                            ◄───────── report {…}
//
// A message is a kind, a length and JSON. Read next: card_process.cpp, device_service.cpp.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "machine.hpp"
#include "protocol/regions.hpp"

namespace labrig::sim {

enum class MessageKind : std::uint32_t { start = 1, ready, failed, watch, report_request, report };

struct Message {
  MessageKind kind{};
  std::string body;
  FileDescriptor fd;  // that came with it
};

// False when the other side is gone. `fd` is passed along unless it is -1.
bool send_message(int socket, MessageKind kind, const std::string& body = {}, int fd = -1);
// Nothing when the other side is gone, the time is over (`timeout_ms` < 0: no limit), or what came is no message.
std::optional<Message> receive_message(int socket, int timeout_ms);

std::string encode(const MachineOptions& options);
std::string encode(const Report& report);
std::string encode(const Error& error);
// Each throws Error `bad-message`.
MachineOptions decode_options(const std::string& body);
Report decode_report(const std::string& body);
Error decode_error(const std::string& body);

}  // namespace labrig::sim
