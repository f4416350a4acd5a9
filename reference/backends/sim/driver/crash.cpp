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

constexpr std::size_t kRemembered = 16384;
constexpr std::size_t kAlternateStackBytes = 64 * 1024;
constexpr int kMaxFrames = 32;

// What happened to a block. Writing it down is all that a program pays; the handler puts the story together.
struct Remark {
  enum class Kind : std::uint8_t { announced, renamed, freed } kind{};
  std::uint64_t start = 0, bytes = 0;  // bytes: of `announced`
  char name[kNameBytes] = {};          // of `announced` and `renamed`
};

}  // namespace

struct CrashTable::Content {
  const AddressMap* map = nullptr;
  std::uint64_t range = 0;
  WorkerPage* page = nullptr;
  std::array<Remark, kRemembered> remarks;
  std::uint64_t count = 0;
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

std::string_view name_in(const Remark& remark) { return {remark.name, strnlen(remark.name, kNameBytes)}; }

// The newest announced block around the offset, with what was said about it since.
FaultTarget target_at(const CrashTable::Content& content, std::uint64_t offset) {
  const std::uint64_t known = std::min<std::uint64_t>(content.count, kRemembered);
  const auto newest = [&](std::uint64_t i) -> const Remark& {
    return content.remarks[(content.count - i) % kRemembered];
  };
  for (std::uint64_t i = 1; i <= known; ++i) {
    const Remark& block = newest(i);
    if (block.kind != Remark::Kind::announced || offset < block.start || offset - block.start >= block.bytes) continue;
    FaultTarget target{FaultTarget::Kind::live, name_in(block), offset - block.start, block.bytes};
    for (std::uint64_t later = i - 1; later > 0; --later) {
      if (newest(later).start != block.start) continue;
      if (newest(later).kind == Remark::Kind::renamed) target.name = name_in(newest(later));
      if (newest(later).kind == Remark::Kind::freed) target.kind = FaultTarget::Kind::freed;
    }
    return target;
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

namespace {

Remark& next_remark(CrashTable::Content& content, Remark::Kind kind, std::uint64_t start) {
  Remark& remark = content.remarks[content.count++ % kRemembered];
  remark.kind = kind;
  remark.start = start;
  return remark;
}

void set_name(Remark& remark, std::string_view name) { remark.name[name.copy(remark.name, kNameBytes - 1)] = '\0'; }

}  // namespace

void CrashTable::announce(std::uint64_t start, std::uint64_t bytes, std::string_view name) {
  Remark& remark = next_remark(*content_, Remark::Kind::announced, start);
  remark.bytes = bytes;
  set_name(remark, name);
}

void CrashTable::free(std::uint64_t start) { next_remark(*content_, Remark::Kind::freed, start); }

void CrashTable::rename(std::uint64_t start, std::string_view name) {
  set_name(next_remark(*content_, Remark::Kind::renamed, start), name);
}

}  // namespace labrig::sim
