#include "worker/serve.hpp"

#include <fcntl.h>
#include <sys/resource.h>

#include <cstdio>
#include <limits>
#include <memory>
#include <string>

#include "backends/sim/machine.hpp"
#include "channel/frame.hpp"
#include "channel/values.hpp"
#include "labrig/lab.hpp"
#include "loader/loaded_plugin.hpp"
#include "worker/call_submission.hpp"
#include "worker/failure.hpp"
#include "worker/signals.hpp"

namespace labrig::worker {

using channel::Kind;

namespace {

void limit(__rlimit_resource resource, rlim_t value) {
  const rlimit both{value, value};
  ::setrlimit(resource, &both);
}

// Back-stops only: the supervisor's clock decides. Address space is not limited (a simulated card reserves a lot of
// it).
void limit_this_process(const nlohmann::json& limits) {
  limit(RLIMIT_CORE, 0);
  limit(RLIMIT_CPU, limits.at("cpu_s").get<rlim_t>());
  if (const auto bytes = limits.at("data_bytes").get<rlim_t>(); bytes > 0) limit(RLIMIT_DATA, bytes);
}

sim::Handles handles_from(const nlohmann::json& json) {
  sim::Handles handles;
  handles.device_page_fd = json.at("device_page_fd");
  handles.worker_page_fd = json.at("worker_page_fd");
  handles.arena_fd = json.at("arena_fd");
  handles.base = json.at("base");
  json.at("capacity_bytes").get_to(handles.capacity_bytes);
  handles.arena_bytes = json.at("arena_bytes");
  json.at("card_names").get_to(handles.card_names);
  json.at("without_bf16").get_to(handles.without_bf16);
  handles.data = json.at("data");
  handles.mode = static_cast<sim::Mode>(json.at("mode").get<int>());
  return handles;
}

class Case {
 public:
  int run() {
    const nlohmann::json start = receive();
    if (!start.at("card").is_null()) {
      sim::attach(handles_from(start.at("card")));
      if (start.at("start_counting") == true) sim::begin_region();
      device_ = Device(start.at("device").get<std::string>());
    }
    const std::string lab = start.at("lab");
    // The lab's own module first: what fails there is not the submission's doing.
    phase("module");
    if (!guarded([&] {
          module_ = std::make_unique<loader::LoadedPlugin>(start.at("call").get<std::string>(),
                                                           loader::Expectation{LABRIG_LAB_CALL_KIND, lab, {}});
        }))
      return 0;
    limit_this_process(start.at("limits"));
    keep_signals_to_itself();
    if (!guarded([&] { load(start.at("submission"), lab); })) return 0;
    send(Kind::ready, nlohmann::json::object());
    const lab::Values inputs = receive_values();
    phase("call");
    channel::EncodedValues outputs;
    if (!guarded([&] {
          outputs = channel::encode_values(call_submission(*static_cast<lab::CallModule*>(module_->object()),
                                                           submission_->object(), inputs, device_));
        }))
      return 0;
    const bool from_threads = device_.type() == DeviceType::sim && sim::driven_from_threads();
    send(Kind::outputs, {{"values", std::move(outputs.json)}, {"from_threads", from_threads}}, outputs.bytes);
    phase("teardown");
    if (!guarded([&] { submission_->destroy(); })) return 0;
    std::fflush(nullptr);
    send(Kind::done, {{"token", start.at("token")}});
    return 0;
  }

 private:
  void load(const std::string& plugin, const std::string& lab) {
    loader::LadderObserver observer;
    observer.begun = [&](const char* rung) { phase(std::string_view(rung) == "load" ? "load" : "init"); };
    submission_ =
        std::make_unique<loader::LoadedPlugin>(plugin, loader::Expectation{LABRIG_SUBMISSION_KIND, lab, {}}, observer);
  }

  // False when the step threw: what it threw is reported, and the case is over.
  template <class Step>
  bool guarded(Step&& step) {
    try {
      step();
      return true;
    } catch (...) {
      const Failure failure = describe_current_exception();
      std::fflush(nullptr);
      send(Kind::failed, {{"phase", phase_},
                          {"code", failure.code},
                          {"text", failure.text},
                          {"why", failure.why},
                          {"fix", failure.fix}});
      return false;
    }
  }

  void phase(const std::string& name) {
    if (name == phase_) return;
    phase_ = name;
    send(Kind::phase, {{"phase", name}});
  }

  static void send(Kind kind, const nlohmann::json& json, std::string_view bytes = {}) {
    channel::send_all(channel::kDescriptor, channel::encode(kind, json, bytes));
  }
  nlohmann::json receive() { return channel::receive(channel::kDescriptor, reader_).json; }
  lab::Values receive_values() {
    const channel::Frame frame = channel::receive(channel::kDescriptor, reader_);
    return channel::decode_values(frame.json.at("values"), frame.bytes).value();
  }

  channel::FrameReader reader_{std::numeric_limits<std::size_t>::max()};
  Device device_;
  std::string phase_;
  std::unique_ptr<loader::LoadedPlugin> module_, submission_;
};

}  // namespace

int serve() {
  ::fcntl(channel::kDescriptor, F_SETFD, FD_CLOEXEC);
  // A pipe would make stdout keep lines back, and a crash would lose them.
  std::setvbuf(stdout, nullptr, _IOLBF, BUFSIZ);
  Case one;
  return one.run();
}

}  // namespace labrig::worker
