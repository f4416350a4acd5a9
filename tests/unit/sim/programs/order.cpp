// The relation, its closure, the pairs; and a program with its missing waits.
#include "order.hpp"

#include <algorithm>
#include <bitset>
#include <random>
#include <set>
#include <stdexcept>

namespace labrig::sim::programs {
namespace {

constexpr std::size_t kMaxNodes = 256;

// A command in the order, or one of its two halves: a piece of the arena that is given back is first touched by the
// host, and then everything has been waited for.
struct Node {
  std::size_t command = 0;
  Kind kind{};
  bool operation = false;
  bool host = false;  // the host does not go on before it: all that comes later is behind it
  bool waits_for_all = false;
  bool done = false;                 // of a query: its answer
  std::size_t recorded = kMaxNodes;  // of a wait, sync or query of an event: the node of the newest record
  StreamSpec stream;
  Masks reads{}, writes{}, freed{};
};

bool host_waits(Kind kind) { return !is_operation(kind) || kind == Kind::upload_blocking || kind == Kind::download; }

std::vector<Node> nodes_of(const Program& program, const std::vector<bool>& answers) {
  std::vector<Node> nodes;
  std::vector<std::size_t> newest(static_cast<std::size_t>(program.events), kMaxNodes);
  std::size_t queries = 0;
  for (std::size_t i = 0; i < program.commands.size(); ++i) {
    const Command& command = program.commands[i];
    Node node;
    node.command = i;
    node.kind = command.kind;
    node.operation = is_operation(command.kind);
    node.host = host_waits(command.kind);
    node.stream = program.streams[static_cast<std::size_t>(command.stream)];
    node.reads = reads_of(command);
    node.writes = writes_of(command);
    if (command.kind == Kind::wait || command.kind == Kind::sync_event || command.kind == Kind::query_event) {
      node.recorded = newest[static_cast<std::size_t>(command.event)];
    }
    if (command.kind == Kind::query_stream || command.kind == Kind::query_event) {
      node.done = queries < answers.size() && answers[queries];
      ++queries;
    }
    if (command.kind == Kind::wait && node.recorded == kMaxNodes) continue;  // no effect, no barrier either
    if (command.kind == Kind::record) newest[static_cast<std::size_t>(command.event)] = nodes.size();
    if (command.kind == Kind::unpin) node.freed[kArena] = command.out.mask();
    nodes.push_back(node);
    if (command.kind == Kind::unpin) {
      node.freed = {};
      node.waits_for_all = true;
      nodes.push_back(node);
    }
  }
  if (nodes.size() > kMaxNodes) throw std::runtime_error("a program is too long for the model");
  return nodes;
}

bool same_stream(const Node& a, const Node& b) { return a.stream.card == b.stream.card && a.stream.id == b.stream.id; }

bool awaited(const Node& target, std::size_t index, const Node& host) {
  const bool on_card = target.operation && target.stream.card == host.stream.card;
  switch (host.kind) {
    case Kind::sync_stream:
      return target.operation && same_stream(target, host);
    case Kind::query_stream:
      return host.done && target.operation && same_stream(target, host);
    case Kind::sync_event:
      return host.recorded == index;
    case Kind::query_event:
      return host.done && host.recorded == index;
    case Kind::sync_device:
    case Kind::driver_free:
      return on_card;
    default:
      return host.waits_for_all && target.operation;
  }
}

// Node i, earlier than j, is ordered before j by one of the rules (not by way of others).
bool ordered_directly(const std::vector<Node>& nodes, std::size_t i, std::size_t j) {
  const Node& a = nodes[i];
  const Node& b = nodes[j];
  if (a.host) return true;
  if (b.operation && a.operation) {
    if (same_stream(a, b)) return true;
    if (a.stream.card == b.stream.card && a.stream.blocking && b.stream.blocking &&
        (a.stream.id == 0 || b.stream.id == 0)) {
      return true;
    }
    return b.kind == Kind::wait && b.recorded == i;
  }
  return awaited(a, i, b);
}

using Row = std::bitset<kMaxNodes>;

std::vector<Row> closure(const std::vector<Node>& nodes) {
  std::vector<Row> behind(nodes.size());
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    for (std::size_t j = i + 1; j < nodes.size(); ++j) behind[i][j] = ordered_directly(nodes, i, j);
  }
  for (std::size_t k = 0; k < nodes.size(); ++k) {
    for (std::size_t i = 0; i < k; ++i) {
      if (behind[i][k]) behind[i] |= behind[k];
    }
  }
  return behind;
}

void add(std::vector<Pair>& pairs, const Node& a, const Node& b, Conflict conflict, const Masks& left,
         const Masks& right) {
  Pair pair{a.command, b.command, conflict, {}};
  for (std::size_t space = 0; space < kSpaces; ++space) pair.units[space] = left[space] & right[space];
  if (pair.units != Masks{}) pairs.push_back(pair);
}

// A way for the host to be behind the operation of `command`, in one stream.
Command host_wait(const Program& program, std::size_t command, std::mt19937_64& random) {
  Command wait;
  wait.stream = program.commands[command].stream;
  wait.kind = random() % 4 == 0 ? Kind::sync_device : Kind::sync_stream;
  return wait;
}

}  // namespace

std::vector<Pair> unordered_pairs(const Program& program, const std::vector<bool>& answers) {
  const std::vector<Node> nodes = nodes_of(program, answers);
  const std::vector<Row> behind = closure(nodes);
  std::vector<Pair> pairs;
  for (std::size_t j = 0; j < nodes.size(); ++j) {
    for (std::size_t i = 0; i < j; ++i) {
      const Node &a = nodes[i], &b = nodes[j];
      if (!a.operation || behind[i][j]) continue;
      add(pairs, a, b, Conflict::read_after_write, a.writes, b.reads);
      add(pairs, a, b, Conflict::write_after_write, a.writes, b.writes);
      add(pairs, a, b, Conflict::write_after_read, a.reads, b.writes);
      add(pairs, a, b, Conflict::freed_in_flight, a.writes, b.freed);
      add(pairs, a, b, Conflict::freed_in_flight, a.reads, b.freed);
    }
  }
  return pairs;
}

std::vector<std::size_t> carried_out_at(const Program& program, const std::vector<bool>& answers) {
  const std::vector<Node> nodes = nodes_of(program, answers);
  const std::vector<Row> behind = closure(nodes);
  std::vector<std::size_t> at(program.commands.size(), 2 * program.commands.size());
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    std::size_t& when = at[nodes[i].command];
    if (nodes[i].host) when = std::min(when, 2 * nodes[i].command);
    for (std::size_t j = i + 1; j < nodes.size(); ++j) {
      if (nodes[j].host && behind[i][j]) when = std::min(when, 2 * nodes[j].command);
    }
    for (std::size_t k = nodes[i].command; k < program.commands.size(); ++k) {
      const Kind kind = program.commands[k].kind;
      if (kind == Kind::throttle || kind == Kind::driver_free) when = std::min(when, 2 * k);
      if (throttled_after(program, k)) when = std::min(when, 2 * k + 1);
    }
  }
  return at;
}

std::size_t count_of(const std::vector<Pair>& pairs) {
  std::set<std::pair<std::size_t, std::size_t>> commands;
  for (const Pair& pair : pairs) commands.insert({pair.earlier, pair.later});
  return commands.size();
}

Program with_missing_waits(const Program& program, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  Program mended = program;
  for (;;) {
    const std::vector<Pair> pairs = unordered_pairs(mended);
    if (pairs.empty()) return mended;
    const Pair& pair = pairs[random() % pairs.size()];
    const Command earlier = mended.commands[pair.earlier];
    const Command later = mended.commands[pair.later];
    const auto at = [&](std::size_t index) { return mended.commands.begin() + static_cast<std::ptrdiff_t>(index); };
    if (!is_operation(later.kind) && random() % 2 == 0) {
      mended.commands.insert(at(pair.later), host_wait(mended, pair.earlier, random));
      continue;
    }
    // An event of the earlier operation's card, recorded somewhere between the two.
    Command record = earlier, wait = later;
    while (event_card(mended.events) != mended.streams[static_cast<std::size_t>(earlier.stream)].card) ++mended.events;
    record = {Kind::record, earlier.stream, mended.events, {}, {}, 0};
    wait = {is_operation(later.kind) ? Kind::wait : Kind::sync_event, later.stream, mended.events, {}, {}, 0};
    ++mended.events;
    mended.commands.insert(at(pair.later), wait);
    mended.commands.insert(at(pair.earlier + 1 + random() % (pair.later - pair.earlier)), record);
  }
}

}  // namespace labrig::sim::programs
