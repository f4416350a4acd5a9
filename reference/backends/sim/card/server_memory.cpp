// Names, blocks, and the memory that the driver and the pinned arena hand out.
#include "card/server.hpp"

namespace labrig::sim {
namespace {

constexpr std::uint64_t kDriverAlignment = 512;
constexpr std::size_t kMaxBlocks = std::size_t{1} << 20;  // as kMaxRanges

std::uint64_t round_up(std::uint64_t bytes, std::uint64_t unit) { return (bytes + unit - 1) / unit * unit; }
std::int64_t less(std::uint64_t bytes) { return -static_cast<std::int64_t>(bytes); }
std::int64_t more(std::uint64_t bytes) { return static_cast<std::int64_t>(bytes); }

}  // namespace

Violation Server::too_many(const std::string& what, std::size_t limit) {
  return {"over-limit", "there are more than " + std::to_string(limit) + " " + what + " at once",
          "the card keeps a table of them, of a limited size",
          "free what is not used any more, or allocate larger pieces"};
}

void Server::define_name(const Record& record) {
  if (names_.define(current_.header.name, name_command_of(record).text)) return;
  stop({"protocol-error", "the device got a damaged command", "a name's number is 0, taken or too large",
        "use the card through the library's own functions"});
}

void Server::alloc_note(const Command& command) {
  const auto [address, requested, bytes] = std::tie(command.arg[0], command.arg[1], command.arg[2]);
  const auto wrong = [&](const std::string& why) {
    refuse({"bad-address", "a tensor was announced at " + map_.text(address) + ", which is not possible", why,
            "allocate tensors through the library's own functions"});
  };
  if (requested == 0 || requested > bytes) return wrong("it asks for no bytes, or for more than its block has");
  const Card& card = card_of(command);
  const auto piece = card.addresses.holding(address, bytes);
  if (!piece || (card.pages.is_range(piece->start) && !card.pages.is_mapped(address, bytes))) {
    return wrong("its block does not lie in one segment of the card, or in mapped pages of one range");
  }
  if (blocks_.live_count() >= kMaxBlocks) return refuse(too_many("tensors", kMaxBlocks));
  if (!blocks_.announce(address, requested, bytes, command.header.name)) return wrong("its block overlaps a live one");
  if (account_.hold_allocated(command.header.device, more(bytes), scheduler_.host_ps())) blocks_.mark_peak();
}

void Server::free_note(const Command& command) {
  if (const auto block = blocks_.free(command.arg[0])) {
    // Where a block starts there is a card, whatever the command says.
    const auto card = static_cast<std::size_t>(map_.card_of(block->start).value());
    account_.hold_allocated(card, less(block->block_bytes), scheduler_.host_ps());
    return;
  }
  refuse({"bad-address", "a tensor was freed at " + map_.text(command.arg[0]) + ", where none starts",
          "it was freed twice, or never allocated", "allocate and free tensors through the library's own functions"});
}

void Server::name_note(const Command& command) {
  const std::uint64_t address = command.arg[0];
  const bool pinned = command.arg[1] != 0;
  if (Block* block = (pinned ? pinned_blocks_ : blocks_).starting(address)) {
    block->name = command.header.name;
    findings_.name_block(block->id, block->name);
    return;
  }
  refuse({"bad-address",
          "a tensor was named at " + (pinned ? "a place in pinned memory" : map_.text(address)) + ", where none starts",
          "it was freed, or never allocated", "name tensors through the library's own functions"});
}

void Server::pinned_note(const Command& command) {
  const auto [address, requested, bytes] = std::tie(command.arg[0], command.arg[1], command.arg[2]);
  const auto wrong = [&](const std::string& why) {
    refuse({"bad-address", "a pinned tensor was announced where that is not possible", why,
            "allocate tensors through the library's own functions"});
  };
  if (requested == 0 || requested > bytes) return wrong("it asks for no bytes, or for more than its block has");
  if (!arena_.holding(address, bytes)) return wrong("its block does not lie in one piece of pinned memory");
  if (pinned_blocks_.live_count() >= kMaxBlocks) return refuse(too_many("pinned tensors", kMaxBlocks));
  if (!pinned_blocks_.announce(address, requested, bytes, command.header.name)) {
    return wrong("its block overlaps a live one");
  }
  ++account_.count().loop_pinned_tensors;
  account_.hold_pinned(more(requested), scheduler_.host_ps());
}

void Server::pinned_free_note(const Command& command) {
  if (const auto block = pinned_blocks_.free(command.arg[0])) {
    account_.hold_pinned(less(block->requested_bytes), scheduler_.host_ps());
    return;
  }
  refuse({"bad-address", "a pinned tensor was freed where none starts", "it was freed twice, or never allocated",
          "allocate and free tensors through the library's own functions"});
}

void Server::driver_malloc(const Command& command) {
  Card& card = card_of(command);
  const std::uint64_t asked = command.arg[0];
  scheduler_.charge(card.prices.malloc_ps(asked));
  if (asked == 0 || asked > card.prices.profile().capacity_bytes) return;
  const std::uint64_t bytes = round_up(asked, kDriverAlignment);
  if (!has_room(card, bytes)) return;
  if (card.addresses.count() >= kMaxRanges) return refuse(too_many("pieces of driver memory", kMaxRanges));
  const auto address = card.addresses.take(bytes, kDriverAlignment);
  if (!address) return;
  hold_driver_memory(bytes);
  answer_.value[0] = 1;
  answer_.value[1] = *address;
}

bool Server::has_room(const Card& card, std::uint64_t bytes) {
  const Profile& profile = card.prices.profile();
  const std::uint64_t others = profile.other_processes_bytes_at(scheduler_.host_ps());
  const std::uint64_t room = profile.capacity_bytes - std::min(profile.capacity_bytes, others);
  if (bytes > room - std::min(room, card.taken_bytes())) return false;
  if (memory_.has_data() && bytes > options_.limits.real_bytes - std::min(options_.limits.real_bytes, real_bytes_)) {
    refuse({"over-limit",
            "more than " + std::to_string(options_.limits.real_bytes) + " bytes of device memory are in use",
            "a case has a limited amount of real memory behind the card", "use smaller tensors, or free them earlier"});
    return false;
  }
  return true;
}

void Server::hold_driver_memory(std::uint64_t bytes) {
  real_bytes_ += bytes;
  account_.hold_reserved(more(bytes), scheduler_.host_ps());
}

void Server::let_driver_memory_go(std::uint64_t address, std::uint64_t bytes) {
  account_.hold_reserved(less(bytes), scheduler_.host_ps());
  real_bytes_ -= bytes;
  // What is still on its way here, as copies of other cards may be, must not bring the pages back.
  effects_.carry_out_all();
  memory_.release(address, bytes);
}

// As cudaFree: the whole device first finishes its work.
void Server::driver_free(const Command& command) {
  Card& card = card_of(command);
  const std::uint64_t address = command.arg[0];
  const std::int64_t start = scheduler_.host_ps();
  scheduler_.wait_for_device(command.header.device);
  ledger_.order().reach_device(command.header.device);
  frontier_moved();
  scheduler_.charge(card.prices.profile().free_ps);
  count_sync(CommandCause::implicit);
  count_full_stop();
  account_.add_host_span("driver free", start, scheduler_.host_ps(), command.header.device, 0, 0, Span::Wait::implicit);
  const auto bytes = card.pages.is_range(address) ? std::nullopt : card.addresses.give_back(address);
  if (!bytes) {
    refuse({"bad-address", "memory was given back at " + map_.text(address) + ", where none starts",
            "it was given back twice, or never taken",
            "allocate and free tensors through the library's own functions"});
    return;
  }
  account_.hold_allocated(command.header.device, less(blocks_.free_all_in(address, *bytes).block_bytes),
                          scheduler_.host_ps());
  let_driver_memory_go(address, *bytes);
}

void Server::pinned_malloc(const Command& command) {
  const std::uint64_t bytes = command.arg[0];
  const std::int64_t start = scheduler_.host_ps();
  scheduler_.charge(card_of(command).prices.pin_ps(bytes));
  account_.add_host_span("pin", start, scheduler_.host_ps(), command.header.device, 0, bytes);
  if (arena_.count() >= kMaxRanges) return refuse(too_many("pieces of pinned memory", kMaxRanges));
  const auto address = arena_.take(bytes, kDriverAlignment);
  if (!address) return;
  account_.hold_pinned_taken(more(bytes));
  answer_.value[0] = 1;
  answer_.value[1] = *address;
}

// The host does not wait before it gives the memory away: what is in flight then is a hazard. The call itself stops the
// whole machine, as the card's page tables change.
void Server::pinned_free(const Command& command) {
  const std::uint64_t address = command.arg[0];
  const auto piece = arena_.starting(address);
  if (piece) {
    const MemoryAccess whole{arena_space(), address, *piece, true, false, 0, 0, address};
    ledger_.host_frees(whole.space, whole.start, whole.bytes);
    Later host;
    host.frees = true;
    count_hazards(host, {&whole, 1});
  }
  const std::int64_t start = scheduler_.host_ps();
  scheduler_.wait_for_all();
  ledger_.order().reach_all();
  frontier_moved();
  scheduler_.charge(card_of(command).prices.profile().free_ps);
  count_sync(CommandCause::implicit);
  count_full_stop();
  account_.add_host_span("unpin", start, scheduler_.host_ps(), command.header.device, 0, 0, Span::Wait::implicit);
  if (!piece) {
    refuse({"bad-address", "pinned memory was given back that nobody has", "it was given back twice, or never taken",
            "allocate and free tensors through the library's own functions"});
    return;
  }
  arena_.give_back(address);
  account_.hold_pinned_taken(less(*piece));
  account_.hold_pinned(less(pinned_blocks_.free_all_in(address, *piece).requested_bytes), scheduler_.host_ps());
}

void Server::statistics(const Command& command) {
  const Card& card = card_of(command);
  const Profile& profile = card.prices.profile();
  const std::uint64_t used = card.taken_bytes() + profile.other_processes_bytes_at(scheduler_.host_ps());
  answer_.value[0] = profile.capacity_bytes - std::min(profile.capacity_bytes, used);
  answer_.value[1] = profile.capacity_bytes;
}

}  // namespace labrig::sim
