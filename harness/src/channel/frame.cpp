#include "channel/frame.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "labrig/error.hpp"

namespace labrig::channel {

namespace {

constexpr std::uint32_t kMagic = 0x4c52'4348;  // LRCH
constexpr std::uint64_t kLongestJson = std::uint64_t{4} << 20;

struct Header {
  std::uint32_t magic, kind;
  std::uint64_t json_bytes, bytes;
};

// Whether brackets nest deeper than any message of ours. A copy of such a text's tree would use up the stack.
bool is_too_deep(std::string_view json) {
  constexpr int kDeepest = 8;
  int depth = 0;
  bool in_text = false;
  for (std::size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (in_text) {
      if (c == '\\') ++i;
      in_text = c != '"';
    } else if (c == '"') {
      in_text = true;
    } else if (c == '[' || c == '{') {
      if (++depth > kDeepest) return true;
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
  return false;
}

[[noreturn]] void closed() {
  throw Error("channel-closed", "the supervisor has closed the channel", "it ended, or it gave this case up",
              "run the case again");
}

}  // namespace

std::string encode(Kind kind, const nlohmann::json& json, std::string_view bytes) {
  const std::string text = json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  const Header header{kMagic, static_cast<std::uint32_t>(kind), text.size(), bytes.size()};
  std::string frame;
  frame.reserve(sizeof header + text.size() + bytes.size());
  frame.append(reinterpret_cast<const char*>(&header), sizeof header);
  frame.append(text);
  frame.append(bytes);
  return frame;
}

std::optional<Frame> FrameReader::next() {
  if (!damage_.empty() || buffer_.size() < sizeof(Header)) return std::nullopt;
  Header header;
  std::memcpy(&header, buffer_.data(), sizeof header);
  if (header.magic != kMagic) {
    damage_ = "a frame does not begin as frames do";
    return std::nullopt;
  }
  if (header.json_bytes > kLongestJson || header.bytes > limit_ - sizeof header ||
      header.json_bytes > limit_ - sizeof header - header.bytes) {
    damage_ = "a frame is larger than the limit";
    too_large_ = true;
    return std::nullopt;
  }
  const std::size_t whole = sizeof header + header.json_bytes + header.bytes;
  if (buffer_.size() < whole) return std::nullopt;
  Frame frame;
  frame.kind = static_cast<Kind>(header.kind);
  const std::string_view text(buffer_.data() + sizeof header, header.json_bytes);
  if (!is_too_deep(text)) frame.json = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!frame.json.is_object() || header.kind < static_cast<std::uint32_t>(Kind::start) ||
      header.kind > static_cast<std::uint32_t>(Kind::done)) {
    damage_ = "a frame holds no message";
    return std::nullopt;
  }
  frame.bytes.assign(text.data() + text.size(), header.bytes);
  buffer_.erase(0, whole);
  return frame;
}

void send_all(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(descriptor, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0) closed();
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
}

Frame receive(int descriptor, FrameReader& reader) {
  static constexpr std::size_t kChunk = std::size_t{1} << 20;
  std::string chunk;
  for (;;) {
    if (std::optional<Frame> frame = reader.next()) return *std::move(frame);
    chunk.resize(kChunk);
    const ssize_t count = ::read(descriptor, chunk.data(), chunk.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0 || !reader.damage().empty()) closed();
    reader.feed({chunk.data(), static_cast<std::size_t>(count)});
  }
}

}  // namespace labrig::channel
