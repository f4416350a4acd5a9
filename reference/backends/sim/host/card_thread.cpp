// CardThread, and what both homes of the card have in common: checks of the options, and the handles.
#include "host/card_thread.hpp"

#include <pthread.h>
#include <signal.h>

namespace labrig::sim {

void check_options(const MachineOptions& options) {
  if (options.cards.empty()) {
    throw Error("bad-machine", "a simulated machine needs a card", "its list of profiles is empty",
                "give it at least one profile");
  }
  const Limits& limits = options.limits;
  if (limits.pinned_bytes % kPageBytes != 0) {
    throw Error("bad-machine", "the pinned arena cannot have " + std::to_string(limits.pinned_bytes) + " bytes",
                "it is mapped in pages of 4,096 bytes", "use a multiple of 4,096");
  }
}

Handles make_handles(const MachineOptions& options, RegionFiles files) {
  Handles handles;
  handles.device_page_fd = files.device_page.release();
  handles.worker_page_fd = files.worker_page.release();
  handles.arena_fd = files.arena.release();
  handles.base = kRangeBases[0];
  handles.arena_bytes = options.limits.pinned_bytes;
  handles.data = options.data;
  handles.mode = options.mode;
  for (const Profile& card : options.cards) {
    handles.capacity_bytes.push_back(card.capacity_bytes);
    handles.card_names.push_back(card.name);
    handles.without_bf16.push_back(card.bf16 ? ""
                                             : "compute capability " + std::to_string(card.compute_capability_major) +
                                                   "." + std::to_string(card.compute_capability_minor));
  }
  return handles;
}

CardThread::CardThread(const MachineOptions& options) {
  check_options(options);
  RegionFiles files = RegionFiles::create(options.limits.pinned_bytes);
  regions_ =
      Regions(files.device_page.get(), files.worker_page.get(), files.arena.get(), options.limits.pinned_bytes, true);
  seal_device_page(files.device_page.get());
  server_ = std::make_unique<Server>(options, regions_);
  consumer_ = std::make_unique<Consumer>(*server_, regions_);
  handles_ = make_handles(options, std::move(files));

  // Signals are for the program's own threads.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  thread_ = std::thread([this] { consumer_->run([] {}); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

CardThread::~CardThread() {
  consumer_->client_is_gone();
  thread_.join();
  const FileDescriptor device_page(handles_.device_page_fd), worker_page(handles_.worker_page_fd),
      arena(handles_.arena_fd);
}

}  // namespace labrig::sim
