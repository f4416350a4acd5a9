// Frames on the private channel between supervisor and worker: a header, a JSON text, and bytes. The supervisor's end
// trusts nothing it reads: lengths are checked before anything is kept, and a frame that does not parse is damage,
// which is an outcome of the case and not an error of ours.
//
//   supervisor                             worker
//     start   {plugins, card, token}  -->
//                                     <--  phase  {phase}            when a new one begins
//                                     <--  ready  {}                 loaded and set up
//     inputs  {values} + bytes        -->
//                                     <--  outputs {values, from_threads} + bytes   the call came back
//                                     <--  failed {phase, code, …}   or an exception did
//                                     <--  done   {token}            the end
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace labrig::channel {

inline constexpr int kDescriptor = 3;  // of the channel in the worker

enum class Kind : std::uint32_t { start = 1, phase, ready, inputs, outputs, failed, done };

struct Frame {
  Kind kind{};
  nlohmann::json json;
  std::string bytes;
};

// The frame as it goes over the channel. Invalid UTF-8 in the JSON is replaced.
std::string encode(Kind kind, const nlohmann::json& json, std::string_view bytes = {});

// Takes what was read and gives whole frames. After damage it gives nothing more.
class FrameReader {
 public:
  // `limit` bounds the bytes of one frame, header included.
  explicit FrameReader(std::size_t limit) : limit_(limit) {}

  void feed(std::string_view bytes) { buffer_.append(bytes); }
  std::optional<Frame> next();
  // Why the data makes no sense; empty while it does.
  const std::string& damage() const { return damage_; }
  // A frame was announced that is larger than the limit.
  bool too_large() const { return too_large_; }

 private:
  std::size_t limit_;
  std::string buffer_, damage_;
  bool too_large_ = false;
};

// The worker's end: blocking, and trusting the supervisor. Both throw Error `channel-closed` when it is gone.
void send_all(int descriptor, std::string_view bytes);
Frame receive(int descriptor, FrameReader& reader);

}  // namespace labrig::channel
