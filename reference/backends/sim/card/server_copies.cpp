// Copies. Pinned memory is reached by the engine itself; pageable bytes come and go through staging, in chunks:
//
//   up    host    ▐copy 0▌▐copy 1▌▐copy 2▌ …        down   host              ▐copy 0▌        ▐copy 1▌
//         engine         ▐ DMA 0 ▌▐ DMA 1 ▌ …              engine   ▐ DMA 0 ▌         ▐ DMA 1 ▌
//
// A copy up of at most 64 KiB travels with its command and waits for nothing.
#include "card/server.hpp"

namespace labrig::sim {
namespace {

CommandCause cause_of(std::uint64_t flags) { return static_cast<CommandCause>(flags & kCopyCauseMask); }
bool non_blocking(std::uint64_t flags) { return (flags & kCopyNonBlocking) != 0; }

std::uint64_t chunk_bytes(std::uint64_t bytes, std::uint64_t done) {
  return std::min<std::uint64_t>(kChunkBytes, bytes - done);
}

}  // namespace

void Server::count_hidden(std::uint64_t flags, std::uint64_t bytes) {
  if (cause_of(flags) != CommandCause::hidden) return;
  ++account_.count().hidden_copies;
  account_.count().hidden_copy_bytes += bytes;
}

void Server::copy_pinned(const Command& command, bool up) {
  const auto [destination, source, bytes, flags] =
      std::tie(command.arg[0], command.arg[1], command.arg[2], command.arg[3]);
  if (!cause_ok(flags & kCopyCauseMask)) return;
  if (!stream_ok(command) || bytes == 0) return;
  const std::string who = copy_name(command);
  const std::uint64_t on_card = up ? destination : source;
  const std::uint64_t in_arena = up ? source : destination;
  if (!pinned_ok(who + (up ? " reads" : " writes"), in_arena, bytes)) return;
  if (!block_ok(command, on_card, bytes, [&] { return who + (up ? " writes" : " reads"); })) return;
  if (!spend_bytes(bytes)) return;

  const Card& card = card_of(command);
  scheduler_.charge(card.prices.profile().copy_host_ps);
  const CopyRates& rates = up ? card.prices.profile().up : card.prices.profile().down;
  scheduler_.submit(command.header.device, command.header.stream, up ? Engine::up : Engine::down,
                    card.prices.copy_ps(rates, Route::pinned, bytes), {"copy", command.header.name, bytes});
  Metrics& count = account_.count();
  (up ? count.h2d_bytes : count.d2h_bytes) += bytes;
  ++(up ? count.h2d_copies : count.d2h_copies);
  count_hidden(flags, bytes);
  if (up) {
    memory_.write(destination, regions_.arena() + source, bytes);
  } else {
    memory_.read(regions_.arena() + destination, source, bytes);
  }
}

void Server::copy_within(const Command& command) {
  const auto [destination, source, bytes, flags] =
      std::tie(command.arg[0], command.arg[1], command.arg[2], command.arg[3]);
  if (!cause_ok(flags & kCopyCauseMask)) return;
  if (!stream_ok(command) || bytes == 0) return;
  const std::string who = copy_name(command);
  if (!block_ok(command, source, bytes, [&] { return who + " reads"; })) return;
  if (!block_ok(command, destination, bytes, [&] { return who + " writes"; })) return;
  if (!spend_bytes(bytes)) return;
  const Card& card = card_of(command);
  scheduler_.charge(card.prices.profile().copy_host_ps);
  scheduler_.submit(command.header.device, command.header.stream, Engine::compute, card.prices.copy_within_ps(bytes),
                    {"copy", command.header.name, bytes});
  count_hidden(flags, bytes);
  memory_.copy(destination, source, bytes);
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
  upload_.refused =
      !stream_ok(command) || !block_ok(command, destination, bytes, [&] { return copy_name(command) + " writes"; });
  if (upload_.refused) return;

  const Profile& profile = card_of(command).prices.profile();
  upload_.begin_ps = scheduler_.host_ps();
  scheduler_.charge(profile.copy_host_ps);
  if (bytes > kInlineBytes) {
    scheduler_.charge(profile.up.staged_fixed_ps);
    scheduler_.wait_for_stream(command.header.device, command.header.stream);
    count_sync(CommandCause::copy);
  }
  account_.count().h2d_bytes += bytes;
  ++account_.count().h2d_copies;
  count_hidden(flags, bytes);
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
    memory_.write(upload_.address + offset, regions_.staging() + position % kStagingPieces * kStagingPieceBytes, bytes);
    if (staged) {
      if (static_cast<std::int64_t>(upload_.in_flight.size()) == kChunksInFlight) {
        scheduler_.wait_for(*upload_.in_flight.front());
        upload_.in_flight.pop_front();
      }
      scheduler_.charge(prices.staging_ps(prices.profile().up, bytes));
    }
    upload_.in_flight.push_back(
        scheduler_.submit(begin.header.device, begin.header.stream, Engine::up,
                          prices.copy_ps(prices.profile().up, staged ? Route::staged : Route::small, bytes),
                          {"copy", begin.header.name, bytes}));
  }
  staged_ = staging_end(position, bytes);
  regions_.device_page().staged.store(staged_, std::memory_order_release);
  upload_.done += bytes;
  if (upload_.done < upload_.bytes) return;

  upload_.active = false;
  upload_.in_flight.clear();
  if (upload_.refused || upload_.bytes <= kInlineBytes) return;
  if (!non_blocking(upload_.flags)) {
    scheduler_.wait_for_stream(begin.header.device, begin.header.stream);
    scheduler_.charge(card_of(begin).prices.profile().sync_ps);
  }
  const std::string& name = names_.text(begin.header.name);
  account_.add_host_span(name.empty() ? "copy" : "copy " + name, upload_.begin_ps, scheduler_.host_ps(),
                         begin.header.device, begin.header.stream, upload_.bytes);
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
  if (!block_ok(command, source, bytes, [&] { return copy_name(command) + " reads"; })) return;
  if (!memory_.has_data() && *cause == CommandCause::value) {
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
    account_.count().d2h_bytes += bytes;
    ++account_.count().d2h_copies;
    count_hidden(flags, bytes);
    count_sync(*cause == CommandCause::value ? CommandCause::value : CommandCause::copy);
  }
  const MarkRef done = scheduler_.submit(command.header.device, command.header.stream, Engine::down,
                                         prices.copy_ps(rates, staged ? Route::staged : Route::small, piece),
                                         {"copy", command.header.name, piece});
  scheduler_.wait_for(*done);
  if (staged) scheduler_.charge(prices.staging_ps(rates, piece));
  // The data of a program that broke a rule are not worth reading.
  if (!violation_) memory_.read(regions_.staging(), source + offset, piece);
  if (!last) return;
  scheduler_.charge(prices.profile().sync_ps);
  const std::string& name = names_.text(command.header.name);
  account_.add_host_span(name.empty() ? "copy" : "copy " + name, download_.begin_ps, scheduler_.host_ps(),
                         command.header.device, command.header.stream, bytes);
}

}  // namespace labrig::sim
