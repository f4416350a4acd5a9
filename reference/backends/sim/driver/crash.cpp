// The fault handler. Between entry and exit: fixed memory, write(2), and backtrace(3), which was called once beforehand
// so that it has nothing left to load.
#include "driver/crash.hpp"

#include <execinfo.h>
#include <signal.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <vector>

#include "protocol/fault_text.hpp"

namespace labrig::sim {
namespace {

constexpr std::size_t kRemembered = 8192;
constexpr std::size_t kAlternateStackBytes = 64 * 1024;
constexpr int kMaxFrames = 32;

struct RememberedBlock {
  std::uint64_t start = 0, bytes = 0;
  bool live = false;
  char name[kNameBytes] = {};
};

}  // namespace

struct CrashTable::Content {
  const AddressMap* map = nullptr;
  std::uint64_t range = 0;
  WorkerPage* page = nullptr;
  std::array<RememberedBlock, kRemembered> blocks;
  std::uint64_t announced = 0;
  struct sigaction previous_segv{}, previous_bus{};
  std::vector<std::byte> stack = std::vector<std::byte>(kAlternateStackBytes);
  stack_t previous_stack{};
};

namespace {

std::atomic<CrashTable::Content*> g_content{nullptr};

CrashAccess access_of([[maybe_unused]] const void* context) {
#if defined(__x86_64__)
  const auto error = static_cast<const ucontext_t*>(context)->uc_mcontext.gregs[REG_ERR];
  return (error & 2) != 0 ? CrashAccess::write : CrashAccess::read;
#else
  return CrashAccess::unknown;
#endif
}

void print(std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(STDERR_FILENO, text.data(), text.size());
    if (written <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

// The newest announced block around the offset.
FaultTarget target_at(const CrashTable::Content& content, std::uint64_t offset) {
  const std::uint64_t known = std::min<std::uint64_t>(content.announced, kRemembered);
  for (std::uint64_t i = 1; i <= known; ++i) {
    const RememberedBlock& block = content.blocks[(content.announced - i) % kRemembered];
    if (offset < block.start || offset - block.start >= block.bytes) continue;
    return {block.live ? FaultTarget::Kind::live : FaultTarget::Kind::freed,
            {block.name, strnlen(block.name, kNameBytes)},
            offset - block.start,
            block.bytes};
  }
  return {};
}

void report(CrashTable::Content& content, int signal, std::uint64_t address, CrashAccess access) {
  const std::uint64_t offset = address - content.range;
  const bool on_device = address >= content.range && offset < content.map->total_bytes();
  CrashRecord& record = content.page->crash;
  record.signal = static_cast<std::uint32_t>(signal);
  record.address = on_device ? offset : address;
  record.in_device_range = on_device ? 1 : 0;
  record.access = static_cast<std::uint32_t>(access);
  record.valid.store(1, std::memory_order_release);

  FixedText text;
  const auto card = on_device ? content.map->card_of(offset) : std::nullopt;
  if (card) {
    append_device_fault(text, *card, offset - content.map->part(*card).start, target_at(content, offset));
  } else {
    append_host_fault(text, on_device ? ~std::uint64_t{0} : address, access);
  }
  print(text.view());
  void* frames[kMaxFrames];
  const int count = backtrace(frames, kMaxFrames);
  if (count > 0) print("  at:\n");
  backtrace_symbols_fd(frames, count, STDERR_FILENO);
}

void on_fault(int signal, siginfo_t* info, void* context) {
  CrashTable::Content* content = g_content.exchange(nullptr);
  struct sigaction next{};
  next.sa_handler = SIG_DFL;
  if (content != nullptr) {
    const auto address = reinterpret_cast<std::uint64_t>(info->si_addr);
    report(*content, signal, address, access_of(context));
    const bool on_device = content->page->crash.in_device_range == 1;
    // A sanitizer's own report is worth having for everything but device pointers.
    if (!on_device) next = signal == SIGBUS ? content->previous_bus : content->previous_segv;
  }
  sigaction(signal, &next, nullptr);
  // A fault happens again on return, now with that action; a signal that somebody sent is sent again.
  if (info->si_code <= 0) raise(signal);
}

}  // namespace

CrashTable::CrashTable(const AddressMap& map, const std::byte* range, WorkerPage& page)
    : content_(std::make_unique<Content>()) {
  content_->map = &map;
  content_->range = reinterpret_cast<std::uint64_t>(range);
  content_->page = &page;

  void* frames[1];
  backtrace(frames, 1);
  stack_t stack{};
  stack.ss_sp = content_->stack.data();
  stack.ss_size = content_->stack.size();
  sigaltstack(&stack, &content_->previous_stack);
  g_content.store(content_.get());
  struct sigaction action{};
  action.sa_sigaction = on_fault;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigemptyset(&action.sa_mask);
  sigaction(SIGSEGV, &action, &content_->previous_segv);
  sigaction(SIGBUS, &action, &content_->previous_bus);
}

CrashTable::~CrashTable() {
  Content* own = content_.get();
  if (!g_content.compare_exchange_strong(own, nullptr)) return;
  sigaction(SIGSEGV, &content_->previous_segv, nullptr);
  sigaction(SIGBUS, &content_->previous_bus, nullptr);
  // The stack belongs to the thread that made the table; leave another thread's alone.
  stack_t current{};
  if (sigaltstack(nullptr, &current) == 0 && current.ss_sp == content_->stack.data()) {
    sigaltstack(&content_->previous_stack, nullptr);
  }
}

void CrashTable::announce(std::uint64_t start, std::uint64_t bytes, std::string_view name) {
  const std::size_t slot = content_->announced % kRemembered;
  RememberedBlock& block = content_->blocks[slot];
  if (block.live) {
    const auto old = slots_.find(block.start);
    if (old != slots_.end() && old->second == slot) slots_.erase(old);
  }
  block.start = start;
  block.bytes = bytes;
  block.live = true;
  block.name[name.copy(block.name, kNameBytes - 1)] = '\0';
  slots_[start] = slot;
  ++content_->announced;
}

void CrashTable::free(std::uint64_t start) {
  const auto found = slots_.find(start);
  if (found == slots_.end()) return;
  content_->blocks[found->second].live = false;
  slots_.erase(found);
}

void CrashTable::rename(std::uint64_t start, std::string_view name) {
  const auto found = slots_.find(start);
  if (found == slots_.end()) return;
  RememberedBlock& block = content_->blocks[found->second];
  block.name[name.copy(block.name, kNameBytes - 1)] = '\0';
}

}  // namespace labrig::sim
