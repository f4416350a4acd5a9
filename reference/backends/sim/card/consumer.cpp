// Consumer: ring bounds, private copies, sleeping and waking.
#include "card/consumer.hpp"

#include <algorithm>
#include <cstring>

#include "protocol/futex.hpp"

namespace labrig::sim {
namespace {

constexpr int kSleepMs = 200;

template <std::size_t N>
void copy_text(char (&to)[N], const std::string& text) {
  const std::size_t length = std::min(text.size(), N - 1);
  std::memcpy(to, text.data(), length);
  to[length] = '\0';
}

}  // namespace

void Consumer::run(const std::function<void()>& on_end) {
  while (!server_.stopped()) {
    const bool gone = client_gone_.load(std::memory_order_acquire);
    const std::uint64_t tail = regions_.worker_page().tail.load(std::memory_order_acquire);
    if (tail == head_) {
      if (gone) break;
      wait_for_work();
      continue;
    }
    if (tail < head_ || tail - head_ > kRingGranules) {
      server_.stop_for_damage("the ring's end is out of bounds");
      break;
    }
    while (head_ != tail && serve_one(tail)) {
    }
    publish_head();
  }
  end_service();
  on_end();
}

// A client that waits for room or for staging is told; every command for itself would cost more than most commands do.
void Consumer::publish_head() {
  published_ = head_;
  regions_.device_page().head.store(head_, std::memory_order_release);
  wake_worker();
}

// One record of those before `tail`. False when the service ends.
bool Consumer::serve_one(std::uint64_t tail) {
  const std::uint64_t place = head_ % kRingGranules;
  const std::byte* shared = regions_.ring() + place * kGranuleBytes;
  Record record;
  std::memcpy(record.bytes, shared, sizeof(CommandHeader));
  CommandHeader header;
  std::memcpy(&header, record.bytes, sizeof header);
  const std::uint64_t granules = header.granules;
  if (granules < 1 || granules > kMaxRecordGranules || granules > tail - head_ || granules > kRingGranules - place) {
    server_.stop_for_damage("a command's length is out of bounds");
    return false;
  }
  // The client may change the ring at any time: what was checked is the copy, and it keeps its length.
  std::memcpy(record.bytes, shared, granules * kGranuleBytes);
  std::memcpy(&header, record.bytes, sizeof header);
  header.granules = static_cast<std::uint16_t>(granules);
  std::memcpy(record.bytes, &header, sizeof header);

  const auto answer = server_.process(record, granules);
  head_ += granules;
  if (answer) publish(*answer, header.ticket);
  const bool freed_staging = header.opcode == static_cast<std::uint16_t>(Opcode::pageable_chunk);
  if (answer || freed_staging || head_ - published_ >= kBellGranules) publish_head();
  return !server_.stopped();
}

void Consumer::publish(const Answer& answer, std::uint32_t ticket) {
  Reply& reply = regions_.device_page().reply;
  reply.status = static_cast<std::uint32_t>(answer.status);
  std::copy(std::begin(answer.value), std::end(answer.value), reply.value);
  if (answer.violation != nullptr) {
    copy_text(reply.code, answer.violation->code);
    copy_text(reply.text, answer.violation->what + "\n" + answer.violation->why + "\n" + answer.violation->fix);
  }
  const Clock& frontier = server_.frontier();
  std::uint64_t* published = regions_.device_page().frontier;
  for (std::size_t i = 0; i < std::min(frontier.size(), kPublishedStreams); ++i) {
    published[i] = frontier.of(static_cast<StreamIndex>(i));
  }
  reply.ticket.store(ticket, std::memory_order_release);
}

void Consumer::wake_worker() {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  if (regions_.worker_page().worker_asleep.load(std::memory_order_relaxed) == 0) return;
  regions_.device_page().progress.fetch_add(1, std::memory_order_release);
  futex_wake(regions_.device_page().progress);
}

void Consumer::wait_for_work() {
  const std::atomic<std::uint64_t>& tail = regions_.worker_page().tail;
  const auto idle = [&] {
    return tail.load(std::memory_order_acquire) == head_ && !client_gone_.load(std::memory_order_acquire);
  };
  for (int i = 0; i < spin_budget(); ++i) {
    if (!idle()) return;
    cpu_pause();
  }
  std::atomic<std::uint32_t>& asleep = regions_.device_page().device_asleep;
  std::atomic<std::uint32_t>& bell = regions_.worker_page().bell;
  const std::uint32_t heard = bell.load(std::memory_order_acquire);
  asleep.store(1, std::memory_order_seq_cst);
  std::atomic_thread_fence(std::memory_order_seq_cst);
  if (idle()) futex_wait(bell, heard, kSleepMs);
  asleep.store(0, std::memory_order_relaxed);
}

void Consumer::client_is_gone() {
  server_.drop_effects();
  client_gone_.store(true, std::memory_order_release);
  regions_.worker_page().bell.fetch_add(1, std::memory_order_release);
  futex_wake(regions_.worker_page().bell);
}

void Consumer::end_service() {
  regions_.device_page().stopped.store(1, std::memory_order_release);
  regions_.device_page().progress.fetch_add(1, std::memory_order_release);
  futex_wake(regions_.device_page().progress);
}

}  // namespace labrig::sim
