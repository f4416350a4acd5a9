// Every command is one call, or one call and a guard.
#include "library_run.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <sstream>

#include "labrig/error.hpp"
#include "labrig/memory.hpp"
#include "labrig/ops.hpp"
#include "labrig/stream.hpp"
#include "sequential.hpp"

namespace labrig::sim::programs {
namespace {

constexpr int kPlaces = 4;  // of a card; each holds the largest block
constexpr int kPlaceUnits = kUnits / kPlaces;

bool meet(const Range& a, const Range& b) { return a.space == b.space && (a.mask() & b.mask()) != 0; }

// False where the library has no words for it.
bool translate(Command& command, int live_on_card) {
  switch (command.kind) {
    case Kind::add_value:
      command.kind = Kind::fill;
      command.in[0] = {};
      return true;
    case Kind::add:
      command.in[0] = command.out;
      return !meet(command.out, command.in[1]);
    case Kind::copy_kernel:
    case Kind::copy_within:
      return !meet(command.out, command.in[0]);
    case Kind::alloc:
      return live_on_card < kPlaces;
    case Kind::unpin:
    case Kind::throttle:
    case Kind::driver_free:
      return false;
    default:
      return true;
  }
}

// A copy between two cards is ordered with the current stream of the destination, here the default stream, both ways.
void add_peer_copy(Program& program, const Command& copy) {
  const int source = program.streams[static_cast<std::size_t>(copy.stream)].card, destination = copy.out.space;
  const auto is_default = [&](const StreamSpec& stream) { return stream.card == destination && stream.id == 0; };
  auto found = std::find_if(program.streams.begin(), program.streams.end(), is_default);
  if (found == program.streams.end()) {
    found = program.streams.insert(program.streams.end(), {destination, 0, true});
  }
  const int other = static_cast<int>(found - program.streams.begin());
  const auto order = [&](int first, int second, int event) {
    program.commands.push_back({Kind::record, first, event, {}, {}, 0, true});
    program.commands.push_back({Kind::wait, second, event, {}, {}, 0, true});
  };
  while (event_card(program.events) != 0) ++program.events;
  const int events = program.events;
  program.events += kCards;
  order(other, copy.stream, events + destination);
  program.commands.push_back(copy);
  order(copy.stream, other, events + source);
}

class LibraryRunner {
 public:
  explicit LibraryRunner(const Program& program) : program_(program) {
    for (const StreamSpec& stream : program.streams) {
      streams_.push_back(stream.id == 0 ? Stream(card(stream.card)) : new_stream(card(stream.card)));
    }
    for (int event = 0; event < program.events; ++event) events_.emplace_back(card(event_card(event)));
    for (int piece = 0; piece < kPieces; ++piece) {
      pinned_.push_back(empty({kPieceUnits}, Options().pinned_memory()).set_name("pinned"));
      const auto values = pinned_.back().data<float>();
      for (int i = 0; i < kPieceUnits; ++i) values[static_cast<std::size_t>(i)] = arena_start(piece * kPieceUnits + i);
    }
  }

  LibraryRun run() {
    for (const Command& command : program_.commands) {
      if (!command.implied) carry_out(command);
    }
    for (int i = 0; i < kCards; ++i) synchronize(card(i));
    for (int piece = 0; piece < kPieces; ++piece) see(pinned_[static_cast<std::size_t>(piece)]);
    for (const Range& block : live_at_the_end(program_)) see(part(block).cpu());
    return run_;
  }

 private:
  static Device card(int index) { return Device(DeviceType::sim, index); }

  // The elements of a range, as a view.
  Tensor part(const Range& range) {
    if (range.space == kArena) {
      return pinned_[static_cast<std::size_t>(range.first / kPieceUnits)].narrow(0, range.first % kPieceUnits,
                                                                                 range.count);
    }
    for (auto& [first, tensor] : blocks_[range.space]) {
      if (range.first < first || range.first >= first + tensor.size(0)) continue;
      const std::int64_t start = range.first - first;
      return tensor.slice(0, start, start + (range.count - 1) * range.step + 1, range.step);
    }
    throw Error("no-block", "a program uses a block that is not there", "its commands are not legal", "look at it");
  }

  void see(const Tensor& host) {
    for (const float value : host.data<const float>()) run_.seen.push_back(value);
  }
  static Tensor counted(const Range& range, float value) {
    const Tensor host = empty({range.count});
    for (int i = 0; i < range.count; ++i)
      host.data<float>()[static_cast<std::size_t>(i)] = value + static_cast<float>(i);
    return host;
  }

  void allocate(const Range& block) {
    const Tensor made = empty({block.count}, card(block.space)).set_name("block");
    blocks_[block.space][block.first] = made;
    auto& known = addresses_[block.space];
    auto found = std::find(known.begin(), known.end(), made.data_ptr());
    if (found == known.end()) found = known.insert(known.end(), made.data_ptr());
    run_.places.push_back(static_cast<int>(found - known.begin()));
  }

  void carry_out(const Command& command) {
    const Stream stream = streams_[static_cast<std::size_t>(command.stream)];
    Event& event = events_[static_cast<std::size_t>(command.event)];
    if (is_operation(command.kind)) return operation(command, stream, event);
    switch (command.kind) {
      case Kind::sync_stream:
        return stream.synchronize();
      case Kind::sync_event:
        return event.synchronize();
      case Kind::sync_device:
        return synchronize(stream.device());
      case Kind::query_stream:
        return run_.answers.push_back(stream.query());
      case Kind::query_event:
        return run_.answers.push_back(event.query());
      case Kind::host_read:
        return see(part(command.in[0]));
      case Kind::host_write:
        part(command.out).copy_(counted(command.out, command.value));
        return;
      case Kind::alloc:
        return allocate(command.out);
      case Kind::free:
        blocks_[command.out.space].erase(command.out.first);
        return;
      default:  // noise
        mem_get_info(stream.device());
        counted({0, 0, 100}, 0).clone();
    }
  }

  void operation(const Command& command, Stream stream, Event& event) {
    const StreamGuard guard(stream);
    switch (command.kind) {
      case Kind::fill:
        part(command.out).fill_(command.value);
        return;
      case Kind::add:
        add_(part(command.out), part(command.in[1]));
        return;
      case Kind::upload:
      case Kind::upload_blocking:
        part(command.out).copy_(counted(command.out, command.value), command.kind == Kind::upload);
        return;
      case Kind::download:
        return see(part(command.in[0]).cpu());
      case Kind::record:
        return event.record(stream);
      case Kind::wait:
        return event.wait(stream);
      default:  // copies
        part(command.out).copy_(part(command.in[0]), true);
    }
  }

  const Program& program_;
  std::vector<Stream> streams_;
  std::deque<Event> events_;
  std::vector<Tensor> pinned_;
  std::map<int, Tensor> blocks_[kCards];  // by their first unit
  std::vector<void*> addresses_[kCards];
  LibraryRun run_;
};

}  // namespace

Program for_the_library(const Program& program) {
  Program said = program;
  said.element = Element::f32;
  said.unit_elements = 1;
  said.throttle_every = 0;
  said.commands.clear();
  for (StreamSpec& stream : said.streams) stream.blocking = stream.id == 0;
  for (Command command : program.commands) {
    const auto live = live_at_the_end(said);
    const auto on_card =
        std::count_if(live.begin(), live.end(), [&](const Range& block) { return block.space == command.out.space; });
    if (command.kind == Kind::copy_peer) {
      add_peer_copy(said, command);
    } else if (translate(command, static_cast<int>(on_card))) {
      said.commands.push_back(command);
    }
  }
  return legal(said);
}

LibraryRun run_with_library(const Program& program) { return LibraryRunner(program).run(); }

std::string LibraryRun::text() const {
  std::ostringstream text;
  text << "seen";
  for (const float value : seen) text << ' ' << value;
  text << "\nanswers";
  for (const bool answer : answers) text << ' ' << answer;
  text << "\nplaces";
  for (const int place : places) text << ' ' << place;
  text << '\n';
  return text.str();
}

Program placed(const Program& program, const std::vector<int>& places) {
  Program moved = program;
  std::map<int, std::pair<int, int>> shifts[kCards];  // of the live blocks: first unit -> count, shift
  std::size_t next = 0;
  const auto shift = [&](Range& range) {
    if (range.space == kArena || range.count == 0) return;
    for (const auto& [first, block] : shifts[range.space]) {
      if (range.first < first || range.first >= first + block.first) continue;
      range.first += block.second;
      return;
    }
  };
  for (Command& command : moved.commands) {
    if (command.kind == Kind::alloc) {
      shifts[command.out.space][command.out.first] = {command.out.count,
                                                      places[next++] * kPlaceUnits - command.out.first};
    }
    const Range block = command.out;
    shift(command.out);
    for (Range& range : command.in) shift(range);
    if (command.kind == Kind::free) shifts[block.space].erase(block.first);
  }
  return moved;
}

}  // namespace labrig::sim::programs
