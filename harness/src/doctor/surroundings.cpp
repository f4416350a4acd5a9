#include "doctor/surroundings.hpp"

#include <algorithm>
#include <array>

namespace labrig::doctor {
namespace {

struct Sign {
  Container container;
  enum Kind { file, variable, manager, group } kind;  // `manager`: the value of `container`; `group`: a cgroup's path
  const char* text;
};

// The first that fits. A pod and a user's container are made by runtimes that leave their own signs too.
constexpr Sign kSigns[] = {
    {Container::kubernetes, Sign::variable, "KUBERNETES_SERVICE_HOST"},
    {Container::kubernetes, Sign::file, "/var/run/secrets/kubernetes.io"},
    {Container::kubernetes, Sign::group, "kubepods"},
    {Container::apptainer, Sign::variable, "APPTAINER_CONTAINER"},
    {Container::apptainer, Sign::variable, "SINGULARITY_CONTAINER"},
    {Container::apptainer, Sign::file, "/.singularity.d"},
    {Container::podman, Sign::file, "/run/.containerenv"},
    {Container::podman, Sign::manager, "podman"},
    {Container::podman, Sign::group, "libpod"},
    {Container::docker, Sign::file, "/.dockerenv"},
    {Container::docker, Sign::manager, "docker"},
    {Container::docker, Sign::group, "docker"},
    {Container::lxc, Sign::manager, "lxc"},
    {Container::lxc, Sign::file, "/dev/lxd"},
    {Container::lxc, Sign::file, "/dev/incus"},
    {Container::lxc, Sign::group, "/lxc"},
    {Container::other, Sign::group, "containerd"},
    {Container::other, Sign::group, "crio"},
};

// systemd's convention: who makes a container names itself in the variable `container` of its first process.
std::string manager_of(const Host& host) {
  if (const auto own = host.variable("container")) return *own;
  const std::string first = host.read("/proc/1/environ"), key = "container=";
  for (std::size_t at = 0; at < first.size();) {
    const std::string entry = first.substr(at, first.find('\0', at) - at);
    if (entry.starts_with(key)) return entry.substr(key.size());
    at += entry.size() + 1;
  }
  std::string told = host.read("/run/systemd/container");
  std::erase(told, '\n');
  return told;
}

bool shows(const Host& host, const Sign& sign, const std::string& manager, const std::string& groups) {
  switch (sign.kind) {
    case Sign::file:
      return host.exists(sign.text);
    case Sign::variable:
      return !host.value(sign.text).empty();
    case Sign::manager:
      return manager.starts_with(sign.text);
    case Sign::group:
      return groups.find(sign.text) != std::string::npos;
  }
  return false;
}

void find_container(const Host& host, Surroundings& around) {
  const std::string manager = manager_of(host), groups = host.read("/proc/1/cgroup") + host.read("/proc/self/cgroup");
  for (const Sign& sign : kSigns)
    if (shows(host, sign, manager, groups)) {
      around.container = sign.container;
      around.sign = sign.kind == Sign::manager ? "container=" + manager : sign.text;
      return;
    }
  if (manager.empty() || manager == "wsl") return;
  around.container = Container::other;
  around.sign = "container=" + manager;
}

}  // namespace

const char* name_of(Container container) {
  static constexpr const char* kNames[] = {"none", "docker", "podman", "kubernetes", "apptainer", "lxc", "other"};
  return kNames[static_cast<int>(container)];
}

Surroundings surroundings(const Host& host) {
  Surroundings around;
  find_container(host, around);
  std::string kernel = host.read("/proc/version");
  std::ranges::transform(kernel, kernel.begin(), [](unsigned char c) { return std::tolower(c); });
  around.wsl = kernel.find("microsoft") != std::string::npos;
  around.slurm_job = host.value("SLURM_JOB_ID");
  const std::string count = host.value("SLURM_GPUS_ON_NODE");
  around.slurm_cards = !host.value("SLURM_JOB_GPUS").empty() || !host.value("SLURM_STEP_GPUS").empty() ||  // numbers
                       (!count.empty() && count != "0");
  around.login_node = around.slurm_job.empty() && host.has_program("srun");
  return around;
}

std::string how_to_get_a_card(const Surroundings& around) {
  switch (around.container) {
    case Container::docker:
      return "start it with its cards: `docker run --gpus all IMAGE`; the host needs the NVIDIA Container Toolkit: "
             "`sudo nvidia-ctk runtime configure --runtime=docker`";
    case Container::podman:
      return "start it with its cards: `podman run --device nvidia.com/gpu=all IMAGE`, after "
             "`sudo nvidia-ctk cdi generate --output=/etc/cdi/nvidia.yaml` on the host";
    case Container::kubernetes:
      return "ask for a card in the container's part of the pod: `resources: {limits: {nvidia.com/gpu: 1}}`";
    case Container::apptainer:
      return "start it with its cards: `apptainer exec --nv IMAGE labrig doctor`";
    case Container::lxc:
      return "give it the card, on the host: `lxc config device add NAME gpu gpu`, then "
             "`lxc config set NAME nvidia.runtime true`";
    case Container::other:
      return "start the container with the host's /dev/nvidia* and the driver's libraries in it; "
             "`nvidia-ctk cdi generate` lists both";
    case Container::none:
      break;
  }
  if (!around.slurm_job.empty()) return "ask for a card: `srun --gres=gpu:1 labrig doctor`";
  if (around.login_node) return "look on a node with a card: `srun --gres=gpu:1 labrig doctor`";
  return "";
}

}  // namespace labrig::doctor
