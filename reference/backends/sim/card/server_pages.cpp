// Memory page by page: a program reserves a range of addresses, larger than the card if it likes, and puts memory
// behind parts of it (the driver's cuMemAddressReserve, cuMemMap, cuMemUnmap). Addresses cost nothing. A map costs what
// a `driver malloc` of its bytes costs, an unmap the fixed price of a `driver free`; and an unmap does not wait for the
// card, as that one does: work that is still on its way to the pages is a hazard.
#include "card/server.hpp"

namespace labrig::sim {

void Server::refuse_pages(const Command& command, const std::string& why) {
  refuse({"bad-address",
          "the card cannot carry out a '" + std::string(name_of(command.opcode)) + "' at " + map_.text(command.arg[0]),
          why, "allocate and free tensors through the library's own functions"});
}

void Server::driver_reserve(const Command& command) {
  Card& card = card_of(command);
  const std::uint64_t bytes = command.arg[0];
  const std::uint64_t left = map_.part(command.header.device).bytes - card.addresses.taken_bytes();
  const std::uint64_t kept = map_.kept_for_segments(command.header.device);
  if (bytes == 0 || left < kept || bytes > left - kept) return;
  if (card.addresses.count() >= kMaxRanges) return refuse(too_many("pieces of driver memory", kMaxRanges));
  const auto address = card.addresses.take(bytes, kDevicePageBytes);
  if (!address) return;
  card.pages.add_range(*address, bytes);
  answer_.value[0] = 1;
  answer_.value[1] = *address;
}

void Server::driver_release(const Command& command) {
  Card& card = card_of(command);
  const std::uint64_t address = command.arg[0];
  if (!card.pages.is_range(address)) return refuse_pages(command, "no range of addresses starts there");
  const std::uint64_t bytes = *card.addresses.starting(address);
  if (card.pages.is_partly_mapped(address, bytes)) return refuse_pages(command, "the range still has pages");
  card.addresses.give_back(address);
  card.pages.remove_range(address, bytes);
}

// Whether the command names whole pages of one range. Refuses otherwise.
bool Server::pages_ok(const Command& command) {
  const std::uint64_t address = command.arg[0], bytes = command.arg[1];
  const Card& card = card_of(command);
  if (bytes == 0 || address % kDevicePageBytes != 0 || bytes % kDevicePageBytes != 0) {
    refuse_pages(command, "the address or the bytes are no whole pages of 2 MiB");
    return false;
  }
  const auto range = card.addresses.holding(address, bytes);
  if (range && card.pages.is_range(range->start)) return true;
  refuse_pages(command, "the pages do not lie in one reserved range");
  return false;
}

void Server::driver_map(const Command& command) {
  Card& card = card_of(command);
  const std::uint64_t address = command.arg[0], bytes = command.arg[1];
  scheduler_.charge(card.prices.malloc_ps(bytes));
  if (!pages_ok(command)) return;
  if (card.pages.is_partly_mapped(address, bytes)) return refuse_pages(command, "memory is mapped there already");
  if (!has_room(card, bytes)) return;
  if (card.pages.mapped_pieces() >= kMaxRanges) return refuse(too_many("pieces of mapped memory", kMaxRanges));
  card.pages.map(address, bytes);
  hold_driver_memory(bytes);
  answer_.value[0] = 1;
}

void Server::driver_unmap(const Command& command) {
  Card& card = card_of(command);
  const std::uint64_t address = command.arg[0], bytes = command.arg[1];
  scheduler_.charge(card.prices.profile().free_ps);
  if (!pages_ok(command)) return;
  if (!card.pages.is_mapped(address, bytes)) return refuse_pages(command, "not all of these pages are mapped");
  if (const Block* block = blocks_.first_in(address, bytes)) {
    return refuse_pages(command, quoted(names_.text(block->name)) + " lies in these pages and is not freed");
  }
  if (card.pages.mapped_pieces() >= kMaxRanges) return refuse(too_many("pieces of mapped memory", kMaxRanges));
  const MemoryAccess whole{command.header.device, address, bytes, true, false, 0, 0, address};
  ledger_.host_frees(whole.space, whole.start, whole.bytes);
  Later host;
  host.frees = true;
  count_hazards(host, {&whole, 1});
  card.pages.unmap(address, bytes);
  let_driver_memory_go(address, bytes);
}

}  // namespace labrig::sim
