// Messages on the socket: framing, and one descriptor that may travel along.
#include "host/wire.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>

namespace labrig::sim {
namespace {

constexpr std::uint32_t kMaxBodyBytes = 64u << 20;

struct Frame {
  std::uint32_t kind, bytes;
};

using SteadyClock = std::chrono::steady_clock;

bool readable(int socket, std::optional<SteadyClock::time_point> deadline) {
  while (true) {
    int wait_ms = -1;
    if (deadline) {
      const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(*deadline - SteadyClock::now()).count();
      wait_ms = left < 0 ? 0 : static_cast<int>(left);
    }
    pollfd waiting{socket, POLLIN, 0};
    const int ready = poll(&waiting, 1, wait_ms);
    if (ready >= 0 || errno != EINTR) return ready > 0;
  }
}

bool receive_all(int socket, char* data, std::size_t bytes, std::optional<SteadyClock::time_point> deadline) {
  while (bytes > 0) {
    if (!readable(socket, deadline)) return false;
    const ssize_t got = recv(socket, data, bytes, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    data += got;
    bytes -= static_cast<std::size_t>(got);
  }
  return true;
}

// The frame, and a descriptor if one comes with it.
bool receive_frame(int socket, Frame& frame, FileDescriptor& fd, std::optional<SteadyClock::time_point> deadline) {
  if (!readable(socket, deadline)) return false;
  iovec part{&frame, sizeof frame};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))];
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  ssize_t got;
  do got = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
  while (got < 0 && errno == EINTR);
  if (got <= 0) return false;
  for (cmsghdr* header = CMSG_FIRSTHDR(&message); header != nullptr; header = CMSG_NXTHDR(&message, header)) {
    if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
    int passed = -1;
    std::memcpy(&passed, CMSG_DATA(header), sizeof passed);
    fd = FileDescriptor(passed);
  }
  const auto already = static_cast<std::size_t>(got);
  return receive_all(socket, reinterpret_cast<char*>(&frame) + already, sizeof frame - already, deadline);
}

bool send_all(int socket, const char* data, std::size_t bytes) {
  while (bytes > 0) {
    const ssize_t sent = send(socket, data, bytes, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return false;
    data += sent;
    bytes -= static_cast<std::size_t>(sent);
  }
  return true;
}

}  // namespace

bool send_message(int socket, MessageKind kind, const std::string& body, int fd) {
  const Frame frame{static_cast<std::uint32_t>(kind), static_cast<std::uint32_t>(body.size())};
  if (fd < 0) {
    if (!send_all(socket, reinterpret_cast<const char*>(&frame), sizeof frame)) return false;
    return send_all(socket, body.data(), body.size());
  }
  iovec part{const_cast<Frame*>(&frame), sizeof frame};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  cmsghdr* header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof fd);
  std::memcpy(CMSG_DATA(header), &fd, sizeof fd);
  ssize_t sent;
  do sent = sendmsg(socket, &message, MSG_NOSIGNAL);
  while (sent < 0 && errno == EINTR);
  return sent == static_cast<ssize_t>(sizeof frame) && send_all(socket, body.data(), body.size());
}

std::optional<Message> receive_message(int socket, int timeout_ms) {
  std::optional<SteadyClock::time_point> deadline;
  if (timeout_ms >= 0) deadline = SteadyClock::now() + std::chrono::milliseconds(timeout_ms);
  Frame frame{};
  Message message;
  if (!receive_frame(socket, frame, message.fd, deadline) || frame.bytes > kMaxBodyBytes) return std::nullopt;
  message.kind = static_cast<MessageKind>(frame.kind);
  message.body.resize(frame.bytes);
  if (!receive_all(socket, message.body.data(), frame.bytes, deadline)) return std::nullopt;
  return message;
}

}  // namespace labrig::sim
