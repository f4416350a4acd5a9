// Copies. Pinned memory is reached by the engine itself; pageable bytes come and go through staging, in chunks:
//
//   up    host    ▐copy 0▌▐copy 1▌▐copy 2▌ …        down   host              ▐copy 0▌        ▐copy 1▌
//         engine         ▐ DMA 0 ▌▐ DMA 1 ▌ …              engine   ▐ DMA 0 ▌         ▐ DMA 1 ▌
//
// A copy up of at most 64 KiB travels with its command and waits for nothing.
#include "card/server.hpp"

#include <cstring>

namespace labrig::sim {
namespace {

CommandCause cause_of(std::uint64_t flags) { return static_cast<CommandCause>(flags & kCopyCauseMask); }
bool non_blocking(std::uint64_t flags) { return (flags & kCopyNonBlocking) != 0; }

Effect copy_effect(Effect::Kind kind, std::uint64_t destination, std::uint64_t source, std::uint64_t bytes) {
  Effect effect;
  effect.kind = kind;
  effect.destination = destination;
  effect.source = source;
  effect.bytes = bytes;
  return effect;
}

// A download waits because a value is wanted, or because it is a copy.
CommandCause download_cause(CommandCause cause) {
  return cause == CommandCause::value ? CommandCause::value : CommandCause::copy;
}

std::uint64_t chunk_bytes(std::uint64_t bytes, std::uint64_t done) {
  return std::min<std::uint64_t>(kChunkBytes, bytes - done);
}

}  // namespace

void Server::count_hidden(std::uint64_t flags, std::uint64_t bytes) {
  if (cause_of(flags) != CommandCause::hidden) return;
  ++account_.count().hidden_copies;
  account_.count().hidden_copy_bytes += bytes;
}

void Server::count_upload(std::uint64_t flags, std::uint64_t bytes, bool pinned) {
  Metrics& count = account_.count();
  count.h2d_bytes += bytes;
  ++count.h2d_copies;
  if (!non_blocking(flags)) return;
  count.h2d_non_blocking_bytes += bytes;
  if (pinned) count.h2d_async_bytes += bytes;
}

void Server::count_download(std::uint64_t bytes) {
  account_.count().d2h_bytes += bytes;
  ++account_.count().d2h_copies;
}

Who Server::copy_who(const Command& command, Who::Kind kind, const Block& from, const Block& to) const {
  Who who;
  who.kind = kind;
  who.names[0] = command.header.name != 0 ? command.header.name : from.name;
  who.names[1] = to.name;
  return who;
}

void Server::copy_pinned(const Command& command, bool up) {
  const auto [destination, source, bytes, flags] =
      std::tie(command.arg[0], command.arg[1], command.arg[2], command.arg[3]);
  if (!cause_ok(flags & kCopyCauseMask)) return;
  if (!stream_ok(command) || bytes == 0) return;
  const std::string subject = copy_name(command);
  const std::uint64_t on_card = up ? destination : source;
  const std::uint64_t in_arena = up ? source : destination;
  Block* host = pinned_block_ok(subject + (up ? " reads" : " writes"), in_arena, bytes);
  if (host == nullptr) return;
  Block* block = block_ok(command.header.device, on_card, bytes, [&] { return subject + (up ? " writes" : " reads"); });
  if (block == nullptr || !spend_bytes(bytes)) return;

  const Card& card = card_of(command);
  scheduler_.charge(card.prices.profile().copy_host_ps);
  const CopyRates& rates = up ? card.prices.profile().up : card.prices.profile().down;
  scheduler_.submit(command.header.device, command.header.stream, up ? Engine::up : Engine::down,
                    card.prices.copy_ps(rates, Route::pinned, bytes), {"copy", command.header.name, bytes});
  if (up) {
    count_upload(flags, bytes, true);
  } else {
    count_download(bytes);
  }
  count_hidden(flags, bytes);

  const std::size_t card_space = command.header.device;
  const Who who =
      copy_who(command, up ? Who::Kind::upload : Who::Kind::download, up ? *host : *block, up ? *block : *host);
  Effect effect = copy_effect(up ? Effect::Kind::up : Effect::Kind::down, destination, source, bytes);
  touch(effect, who, up ? arena_space() : card_space, up ? *host : *block, {source, bytes}, false, command.header.name);
  touch(effect, who, up ? card_space : arena_space(), up ? *block : *host, {destination, bytes}, true);
  const Operation operation = enter(command, who, effect);
  carry_out(operation, std::move(effect));
}

void Server::copy_within(const Command& command) {
  const auto [destination, source, bytes, flags] =
      std::tie(command.arg[0], command.arg[1], command.arg[2], command.arg[3]);
  if (!cause_ok(flags & kCopyCauseMask)) return;
  if (!stream_ok(command) || bytes == 0) return;
  const std::uint16_t device = command.header.device;
  const std::string subject = copy_name(command);
  Block* from = block_ok(device, source, bytes, [&] { return subject + " reads"; });
  if (from == nullptr) return;
  Block* to = block_ok(device, destination, bytes, [&] { return subject + " writes"; });
  if (to == nullptr || !spend_bytes(bytes)) return;
  const Card& card = card_of(command);
  scheduler_.charge(card.prices.profile().copy_host_ps);
  scheduler_.submit(device, command.header.stream, Engine::compute, card.prices.copy_within_ps(bytes),
                    {"copy", command.header.name, bytes});
  count_hidden(flags, bytes);
  copy_on_cards(command, Who::Kind::within, *from, *to, device);
}

// From one card to another: the source's engine down and the destination's engine up work together, at the pace of the
// slower one.
void Server::copy_peer(const Command& command) {
  const auto [destination, source, bytes, flags] =
      std::tie(command.arg[0], command.arg[1], command.arg[2], command.arg[3]);
  if (!cause_ok(flags & kCopyCauseMask)) return;
  if (!stream_ok(command) || bytes == 0) return;
  const std::uint16_t device = command.header.device;
  const std::string subject = copy_name(command);
  Block* from = block_ok(device, source, bytes, [&] { return subject + " reads"; });
  if (from == nullptr) return;
  const auto peer = map_.card_of(destination);
  if (!peer || *peer == device) {
    refuse({"bad-address", subject + " between cards writes at " + map_.text(destination),
            "that is no memory of another card", "use the device addresses of tensors on two cards"});
    return;
  }
  const auto other = static_cast<std::uint16_t>(*peer);
  Block* to = block_ok(other, destination, bytes, [&] { return subject + " writes"; });
  if (to == nullptr || !spend_bytes(bytes)) return;
  const Prices& prices = card_of(command).prices;
  const Prices& other_prices = cards_[other].prices;
  scheduler_.charge(prices.profile().copy_host_ps);
  const std::int64_t duration = std::max(prices.copy_ps(prices.profile().down, Route::pinned, bytes),
                                         other_prices.copy_ps(other_prices.profile().up, Route::pinned, bytes));
  scheduler_.submit_peer(device, command.header.stream, other, duration, {"peer copy", command.header.name, bytes});
  count_hidden(flags, bytes);
  copy_on_cards(command, Who::Kind::peer, *from, *to, other);
}

void Server::copy_on_cards(const Command& command, Who::Kind kind, Block& from, Block& to, std::uint16_t destination) {
  const std::uint64_t bytes = command.arg[2];
  const Who who = copy_who(command, kind, from, to);
  Effect effect = copy_effect(Effect::Kind::within, command.arg[0], command.arg[1], bytes);
  touch(effect, who, command.header.device, from, {command.arg[1], bytes}, false, command.header.name);
  touch(effect, who, destination, to, {command.arg[0], bytes}, true);
  const Operation operation = enter(command, who, effect);
  carry_out(operation, std::move(effect));
}

void Server::pageable_begin(const Command& command) {
  const auto [destination, bytes, flags] = std::tie(command.arg[0], command.arg[1], command.arg[2]);
  if (!cause_ok(flags & kCopyCauseMask)) return;
  if (bytes == 0) return;
  // Chunks follow also when the copy is refused: the client does not know yet.
  upload_ = {};
  upload_.active = true;
  upload_.command = command;
  upload_.address = destination;
  upload_.bytes = bytes;
  upload_.flags = flags;
  upload_.refused = true;
  if (!stream_ok(command)) return;
  Block* block = block_ok(command.header.device, destination, bytes, [&] { return copy_name(command) + " writes"; });
  if (block == nullptr) return;
  if (effects_.captured_bytes() > kThrottleCapturedBytes) {
    refuse({"over-limit", "more than " + std::to_string(kThrottleCapturedBytes) + " bytes of copies wait on the card",
            "the card keeps their bytes until the program waits for them",
            "use the card through the library's own functions, which wait in time"});
    return;
  }
  upload_.refused = false;

  const Profile& profile = card_of(command).prices.profile();
  upload_.begin_ps = scheduler_.host_ps();
  scheduler_.charge(profile.copy_host_ps);
  if (bytes > kInlineBytes) {
    scheduler_.charge(profile.up.staged_fixed_ps);
    scheduler_.wait_for_stream(command.header.device, command.header.stream);
    count_sync(CommandCause::copy);
  }
  count_upload(flags, bytes, false);
  count_hidden(flags, bytes);

  Who who;
  who.kind = Who::Kind::upload;
  who.names[0] = command.header.name;
  who.names[1] = block->name;
  upload_.effect = copy_effect(Effect::Kind::captured, destination, 0, bytes);
  touch(upload_.effect, who, command.header.device, *block, {destination, bytes}, true);
  upload_.operation = enter(command, who, upload_.effect);
}

void Server::pageable_chunk(const Command& command) {
  const auto [position, offset, bytes] = std::tie(command.arg[0], command.arg[1], command.arg[2]);
  if (!upload_.active || offset != upload_.done || bytes != chunk_bytes(upload_.bytes, upload_.done) ||
      position != staging_start(staged_, bytes)) {
    stop({"protocol-error", "the device got a damaged command", "a piece of a copy came out of order",
          "use the card through the library's own functions"});
    return;
  }
  const Command& begin = upload_.command;
  if (!upload_.refused) {
    const Prices& prices = card_of(begin).prices;
    const bool staged = upload_.bytes > kInlineBytes;
    const std::byte* staged_bytes = regions_.staging() + position % kStagingPieces * kStagingPieceBytes;
    if (late()) {
      upload_.effect.captured.insert(upload_.effect.captured.end(), staged_bytes, staged_bytes + bytes);
    } else {
      memory_.write(upload_.address + offset, staged_bytes, bytes);
    }
    if (staged) {
      if (static_cast<std::int64_t>(upload_.in_flight.size()) == kChunksInFlight) {
        scheduler_.wait_for(*upload_.in_flight.front());
        upload_.in_flight.pop_front();
      }
      scheduler_.charge(prices.staging_ps(prices.profile().up, bytes));
    }
    scheduler_.submit(begin.header.device, begin.header.stream, Engine::up,
                      prices.copy_ps(prices.profile().up, staged ? Route::staged : Route::small, bytes),
                      {"copy", begin.header.name, bytes});
    if (staged) upload_.in_flight.push_back(scheduler_.last(begin.header.device, begin.header.stream));
  }
  staged_ = staging_end(position, bytes);
  regions_.device_page().staged.store(staged_, std::memory_order_release);
  upload_.done += bytes;
  if (upload_.done == upload_.bytes) finish_upload();
}

void Server::finish_upload() {
  const Command& begin = upload_.command;
  upload_.active = false;
  upload_.in_flight.clear();
  if (upload_.refused) return;
  if (late()) carry_out(upload_.operation, std::move(upload_.effect));
  if (!non_blocking(upload_.flags)) {
    ledger_.order().reach(ledger_.order().clock(upload_.operation.stream));
    frontier_moved();
  }
  if (upload_.bytes <= kInlineBytes) return;
  if (!non_blocking(upload_.flags)) {
    scheduler_.wait_for_stream(begin.header.device, begin.header.stream);
    scheduler_.charge(card_of(begin).prices.profile().sync_ps);
  }
  const std::string& name = names_.text(begin.header.name);
  account_.add_host_span(name.empty() ? "copy" : "copy " + name, upload_.begin_ps, scheduler_.host_ps(),
                         begin.header.device, begin.header.stream, upload_.bytes, Span::Wait::copy);
}

// One piece of a copy to pageable memory, without the bytes that it must not show.
void Server::read_to_staging(std::uint64_t source, std::uint64_t bytes) {
  memory_.read(regions_.staging(), source, bytes);
  if (download_.effect.poisoned.empty() || !memory_.has_data()) return;
  parts_.clear();
  download_.effect.poisoned.set().common({source, bytes}, parts_);
  for (const ByteRange& part : parts_) std::memset(regions_.staging() + (part.start - source), 0xFF, part.bytes);
}

void Server::copy_to_pageable(const Command& command) {
  const auto [source, bytes, offset, flags] = std::tie(command.arg[0], command.arg[1], command.arg[2], command.arg[3]);
  const auto cause = cause_ok(flags & kCopyCauseMask);
  if (!cause) return;
  const bool first = offset == 0;
  const bool goes_on = download_.active && offset == download_.done && bytes == download_.bytes;
  if (offset >= bytes || (!first && !goes_on)) {
    stop({"protocol-error", "the device got a damaged command", "a piece of a copy came out of order",
          "use the card through the library's own functions"});
    return;
  }
  if (first) {
    download_ = {};
    download_.active = true;
    download_.bytes = bytes;
    download_.begin_ps = scheduler_.host_ps();
  }
  const std::uint64_t piece = chunk_bytes(bytes, offset);
  download_.done = offset + piece;
  const bool last = download_.done == bytes;
  if (last) download_.active = false;

  if (!stream_ok(command)) return;
  Block* block = block_ok(command.header.device, source, bytes, [&] { return copy_name(command) + " reads"; });
  if (block == nullptr) return;
  if (!memory_.has_data() && !options_.reads_zeros && *cause == CommandCause::value) {
    refuse({"no-data", "a value was read from the card in a run that has none",
            "this case only counts costs: kernels and copies move nothing",
            "decide from sizes and costs here, not from values"});
    return;
  }
  const Prices& prices = card_of(command).prices;
  const CopyRates& rates = prices.profile().down;
  const bool staged = bytes > kInlineBytes;
  if (first) {
    scheduler_.charge(prices.profile().copy_host_ps);
    if (staged) scheduler_.charge(rates.staged_fixed_ps);
    count_download(bytes);
    count_hidden(flags, bytes);
    count_sync(download_cause(*cause));
    // The whole copy is one operation, and the host is ordered after it.
    Who who;
    who.kind = Who::Kind::download;
    who.names[0] = command.header.name != 0 ? command.header.name : block->name;
    touch(download_.effect, who, command.header.device, *block, {source, bytes}, false, command.header.name);
    download_.operation = enter(command, who, download_.effect);
    ledger_.order().reach(ledger_.order().clock(download_.operation.stream));
    frontier_moved();
  }
  scheduler_.submit(command.header.device, command.header.stream, Engine::down,
                    prices.copy_ps(rates, staged ? Route::staged : Route::small, piece),
                    {"copy", command.header.name, piece});
  scheduler_.wait_for(*scheduler_.last(command.header.device, command.header.stream));
  if (staged) scheduler_.charge(prices.staging_ps(rates, piece));
  // The data of a program that broke a rule are not worth reading.
  if (!violation_) read_to_staging(source + offset, piece);
  if (!last) return;
  scheduler_.charge(prices.profile().sync_ps);
  const std::string& name = names_.text(command.header.name);
  account_.add_host_span(name.empty() ? "copy" : "copy " + name, download_.begin_ps, scheduler_.host_ps(),
                         command.header.device, command.header.stream, bytes, wait_of(download_cause(*cause)));
}

}  // namespace labrig::sim
