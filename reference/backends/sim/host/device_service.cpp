// The card process. Its main thread listens to the supervisor and watches the worker; a second thread is the card.
#include "host/device_service.hpp"

#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <memory>
#include <thread>

#include "card/consumer.hpp"
#include "host/wire.hpp"

namespace labrig::sim {
namespace {

// No core files, no descriptors but the four that are ours and a few to come, no new privileges.
void confine() {
  close_range(kFirstOtherFd, ~0u, 0);
  const rlimit none{0, 0}, few{16, 16};
  setrlimit(RLIMIT_CORE, &none);
  setrlimit(RLIMIT_NOFILE, &few);
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
}

class Service {
 public:
  Service(const MachineOptions& options, FileDescriptor control)
      : control_(std::move(control)), changed_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    const FileDescriptor device_page(kDevicePageFd), worker_page(kWorkerPageFd), arena(kArenaFd);
    regions_ = Regions(device_page.get(), worker_page.get(), arena.get(), options.limits.pinned_bytes, true);
    seal_device_page(device_page.get());
    server_ = std::make_unique<Server>(options, regions_);
    consumer_ = std::make_unique<Consumer>(*server_, regions_);
  }

  void run() {
    std::thread card([this] {
      consumer_->run([this] { note_change(); });
      ended_.store(true);
      note_change();
    });
    if (send_message(control_.get(), MessageKind::ready)) listen();
    consumer_->client_is_gone();
    card.join();
  }

 private:
  void note_change() const {
    const std::uint64_t one = 1;
    [[maybe_unused]] const ssize_t written = write(changed_.get(), &one, sizeof one);
  }

  // Until the supervisor is gone.
  void listen() {
    while (true) {
      pollfd waiting[3] = {{control_.get(), POLLIN, 0}, {changed_.get(), POLLIN, 0}, {worker_.get(), POLLIN, 0}};
      if (poll(waiting, 3, -1) < 0) continue;
      if (waiting[1].revents != 0) {
        std::uint64_t count = 0;
        [[maybe_unused]] const ssize_t got = read(changed_.get(), &count, sizeof count);
      }
      if (waiting[2].revents != 0) {
        consumer_->client_is_gone();
        worker_.reset();
      }
      if (waiting[0].revents != 0 && !take_message()) return;
      if (ended_.load()) stop_worker();
      // Not before the client's last command: what it does between `finish` and its end belongs to the report.
      if (report_wanted_ && ended_.load()) {
        report_wanted_ = false;
        if (!send_message(control_.get(), MessageKind::report, encode(server_->report()))) return;
      }
    }
  }

  bool take_message() {
    auto message = receive_message(control_.get(), -1);
    if (!message) return false;
    if (message->kind == MessageKind::watch) worker_ = std::move(message->fd);
    if (message->kind == MessageKind::report_request) report_wanted_ = true;
    return true;
  }

  // A worker whose card has stopped could only wait for it.
  void stop_worker() {
    if (worker_.get() >= 0) syscall(SYS_pidfd_send_signal, worker_.get(), SIGKILL, nullptr, 0);
  }

  FileDescriptor control_, changed_, worker_;
  Regions regions_;
  std::unique_ptr<Server> server_;
  std::unique_ptr<Consumer> consumer_;
  std::atomic<bool> ended_{false};
  bool report_wanted_ = false;
};

}  // namespace

int serve_as_process() {
  confine();
  FileDescriptor control(kControlFd);
  const auto start = receive_message(control.get(), -1);
  if (!start || start->kind != MessageKind::start) return 2;
  const int socket = control.get();
  std::unique_ptr<Service> service;
  try {
    service = std::make_unique<Service>(decode_options(start->body), std::move(control));
  } catch (const Error& error) {
    send_message(socket, MessageKind::failed, encode(error));
    return 2;
  }
  service->run();
  return 0;
}

}  // namespace labrig::sim
