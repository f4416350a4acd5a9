#include "supervisor/worker_run.hpp"

#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <ctime>
#include <exception>

#include "channel/frame.hpp"
#include "channel/reason.hpp"
#include "channel/values.hpp"
#include "supervisor/limits.hpp"

namespace labrig::supervisor {

using channel::Kind;
using Clock = std::chrono::steady_clock;

namespace {

constexpr int kTickMs = 20;        // how often the CPU clock is looked at
constexpr int kCardGraceMs = 500;  // for a worker whose card has ended to say why

double milliseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

class Session {
 public:
  Session(SpawnedWorker worker, const WorkerOrders& orders)
      : worker_(std::move(worker)),
        orders_(orders),
        reader_(static_cast<std::size_t>(orders.limits.memory_mib) << 20),
        outgoing_(orders.start) {
    if (::clock_getcpuclockid(worker_.pid, &cpu_clock_) != 0) cpu_clock_ = -1;
  }

  WorkerRun run() {
    std::exception_ptr trouble;
    try {
      write_some();  // so that the worker loads while the inputs are made
      inputs_ = orders_.inputs();
      while (run_.stop == Stop::none && !ended_) step();
    } catch (...) {
      trouble = std::current_exception();
    }
    finish();
    if (trouble) std::rethrow_exception(trouble);
    return std::move(run_);
  }

 private:
  // Waits for one event, at most a tick, and handles it.
  void step() {
    std::array<pollfd, 5> polled = {pollfd{worker_.channel.get(), POLLIN, 0},
                                    {worker_.output.get(), POLLIN, 0},
                                    {worker_.ended.get(), POLLIN, 0},
                                    {card_seen_ended_ ? -1 : orders_.card_ended, POLLIN, 0},
                                    {orders_.cancelled, POLLIN, 0}};
    if (!outgoing_.empty()) polled[0].events |= POLLOUT;
    if (::poll(polled.data(), polled.size(), kTickMs) < 0 && errno != EINTR) return stop(Stop::cancelled);
    if (polled[4].revents != 0) return stop(Stop::cancelled);
    if ((polled[0].revents & POLLOUT) != 0) write_some();
    if ((polled[1].revents & (POLLIN | POLLHUP)) != 0) read_output();
    if ((polled[0].revents & (POLLIN | POLLHUP)) != 0) read_channel();
    if (polled[2].revents != 0) ended_ = true;
    if (polled[3].revents != 0) {
      card_seen_ended_ = true;
      card_ended_at_ = Clock::now();
    }
    check_limits();
  }

  void stop(Stop reason) {
    if (run_.stop == Stop::none) run_.stop = reason;
  }

  void check_limits() {
    if (card_seen_ended_ && milliseconds_since(card_ended_at_) > kCardGraceMs) stop(Stop::card_ended);
    if (milliseconds_since(started_) > static_cast<double>(wall_limit_ms(orders_.limits))) stop(Stop::wall_limit);
    timespec used{};
    if (cpu_clock_ != -1 && ::clock_gettime(cpu_clock_, &used) == 0) {
      const std::int64_t used_ms = used.tv_sec * 1000 + used.tv_nsec / 1'000'000;
      if (used_ms > cpu_limit_ms(orders_.limits)) stop(Stop::cpu_limit);
    }
  }

  void write_some() {
    const ssize_t sent = ::send(worker_.channel.get(), outgoing_.data(), outgoing_.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent > 0) outgoing_.erase(0, static_cast<std::size_t>(sent));
    // A worker that closed its end will end, or run into a limit.
    if (sent < 0 && errno != EAGAIN && errno != EINTR) outgoing_.clear();
  }

  void read_output() {
    const std::size_t keep = static_cast<std::size_t>(orders_.limits.output_kib) << 10;
    std::array<char, 65536> chunk;
    const ssize_t count = ::read(worker_.output.get(), chunk.data(), chunk.size());
    if (count == 0 || (count < 0 && errno != EAGAIN && errno != EINTR)) return worker_.output.reset();
    if (count < 0) return;
    const auto got = static_cast<std::size_t>(count);
    const std::size_t room = keep - std::min(keep, run_.output.size());
    run_.output.append(chunk.data(), std::min(room, got));
    run_.output_cut = run_.output_cut || got > room;
    printed_ += got;
    if (printed_ > kFlood) stop(Stop::flood);
  }

  // True when there may be more.
  bool read_channel() {
    if (!worker_.channel.open()) return false;
    std::array<char, 65536> chunk;
    const ssize_t count = ::read(worker_.channel.get(), chunk.data(), chunk.size());
    if (count == 0 || (count < 0 && errno != EAGAIN && errno != EINTR)) {
      worker_.channel.reset();
      outgoing_.clear();
      return false;
    }
    if (count < 0) return false;
    reader_.feed({chunk.data(), static_cast<std::size_t>(count)});
    while (run_.stop == Stop::none) {
      const std::optional<channel::Frame> frame = reader_.next();
      if (!frame) break;
      handle(*frame);
    }
    if (!reader_.damage().empty()) damaged(reader_.damage());
    return run_.stop == Stop::none;
  }

  void damaged(const std::string& why) {
    run_.damage = why;
    stop(reader_.too_large() ? Stop::too_large : Stop::damage);
  }

  // Everything in a frame is a claim by the submission's process; what does not fit is damage.
  void handle(const channel::Frame& frame) {
    const auto text = [&](const char* key) {
      const auto found = frame.json.find(key);
      return found != frame.json.end() && found->is_string() ? found->get<std::string>() : std::string();
    };
    switch (frame.kind) {
      case Kind::phase:
        return take_phase(text("phase"));
      case Kind::ready:
        if (inputs_sent_) return damaged("it was ready twice");
        inputs_sent_ = true;
        outgoing_ += inputs_;
        inputs_.clear();
        return;
      case Kind::outputs: {
        if (!inputs_sent_ || run_.outputs) return damaged("outputs came out of order");
        Result<lab::Values> values = channel::decode_values(frame.json.value("values", nlohmann::json()), frame.bytes);
        if (!values) return damaged(values.error().why());
        run_.outputs = std::move(values).value();
        run_.from_threads = frame.json.value("from_threads", nlohmann::json()) == true;
        return;
      }
      case Kind::failed:
        take_phase(text("phase"));
        run_.exception = grade::Reason{channel::plain_code(text("code")), channel::shortened(text("text")),
                                       channel::shortened(text("why")), channel::shortened(text("fix"))};
        return stop(Stop::failed);
      case Kind::done:
        if (!run_.outputs || text("token") != orders_.token) return damaged("the end came out of order");
        run_.done = true;
        return stop(Stop::finished);
      default:
        return damaged("a message came that only the supervisor sends");
    }
  }

  // Phases follow each other. The lab's own module comes first, before any code of the submission is mapped: from then
  // on a failure is the submission's, whatever it says.
  void take_phase(const std::string& name) {
    if (name == "module" && (!phase_seen_ || run_.ours)) {
      phase_seen_ = run_.ours = true;
      return;
    }
    try {
      const grade::Phase phase = grade::phase_from(name);
      if (phase_seen_ && !run_.ours && phase < run_.phase) return damaged("a phase came out of order");
      run_.phase = phase;
      phase_seen_ = true;
      run_.ours = false;
    } catch (const Error&) {
      damaged("a phase came that is none");
    }
  }

  // Kills what is left of the group, reads what is still in the pipes, reaps.
  void finish() {
    ::kill(-worker_.pid, SIGKILL);
    ::kill(worker_.pid, SIGKILL);
    rusage usage{};
    while (::wait4(worker_.pid, &run_.wait_status, 0, &usage) < 0 && errno == EINTR) {
    }
    const auto milliseconds = [](const timeval& time) {
      return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_usec) / 1e3;
    };
    run_.cpu_ms = milliseconds(usage.ru_utime) + milliseconds(usage.ru_stime);
    run_.wall_ms = milliseconds_since(started_);
    while (run_.stop == Stop::none && read_channel()) {
    }
    // A process that fled from the group may hold the pipe open: read what is there, do not wait for its end.
    for (std::size_t before = printed_ + 1; worker_.output.open() && before != printed_ && printed_ <= kFlood;) {
      before = printed_;
      read_output();
    }
  }

  SpawnedWorker worker_;
  const WorkerOrders& orders_;
  channel::FrameReader reader_;
  std::string outgoing_, inputs_;
  bool inputs_sent_ = false, phase_seen_ = false, ended_ = false, card_seen_ended_ = false;
  Clock::time_point started_ = Clock::now(), card_ended_at_;
  clockid_t cpu_clock_ = -1;
  std::size_t printed_ = 0;
  WorkerRun run_;
};

}  // namespace

WorkerRun run_worker(SpawnedWorker worker, const WorkerOrders& orders) {
  return Session(std::move(worker), orders).run();
}

}  // namespace labrig::supervisor
