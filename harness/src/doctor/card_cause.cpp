#include "doctor/card_cause.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "doctor/visible.hpp"

namespace labrig::doctor {
namespace {

constexpr int kLost = 15, kNeedsReset = 16, kVersionsDiffer = 18;  // of NVML
constexpr int kProhibited = 2, kExclusive = 3;

std::vector<std::string> uuids_of(const CardFacts& facts) {
  std::vector<std::string> uuids;
  for (const NvmlCard& card : facts.nvml.cards) uuids.push_back(card.uuid);
  return uuids;
}

int cards_of_the_machine(const CardFacts& facts) {
  return facts.nvml.answers() ? static_cast<int>(facts.nvml.cards.size()) : facts.numbered_nodes();
}

CardCause hidden(const CardFacts& facts) {
  const Visible left = visible(facts.visible, cards_of_the_machine(facts), uuids_of(facts));
  if (left.id.empty() || left.shown > 0) return {};
  return {
      left.id,
      {left.what, "CUDA shows a program the cards that this variable names, and stops at the first that is not there",
       "`unset CUDA_VISIBLE_DEVICES`, or name cards that `nvidia-smi -L` lists: `export CUDA_VISIBLE_DEVICES=0`"}};
}

CardCause not_asked_for(const CardFacts& facts) {
  if (facts.around.slurm_job.empty() || facts.around.slurm_cards) return {};
  return {"slurm-without-card",
          {"this Slurm job was given no card", "a job gets the cards that it asks for; this node has some",
           "ask for one: `srun --gres=gpu:1 labrig doctor`, or `#SBATCH --gres=gpu:1`"}};
}

CardCause without_device_file(const CardFacts& facts) {
  if (facts.numbered_nodes() > 0 || facts.windows_card) return {};
  if (facts.around.container != Container::none)
    return {"container-without-card",
            {fmt::format("this container ({}) was given no card", name_of(facts.around.container)),
             "the machine has one, and /dev/nvidia0 is not in the container", how_to_get_a_card(facts.around)}};
  if (!facts.versions.module.empty())
    return {
        "no-device-file",
        {"the driver is loaded, but there is no /dev/nvidia0", "the device files were not made, or the card is gone",
         "`sudo nvidia-modprobe -c 0 -u`; if it makes none, see `sudo dmesg | grep -i nvrm`"}};
  if (facts.physical == 0) return {};
  if (facts.nouveau)
    return {"no-driver",
            {"there is an NVIDIA card, run by nouveau", "the free driver has no CUDA",
             "install NVIDIA's, then restart: `sudo apt-get install nvidia-driver` (Debian, non-free), "
             "`sudo ubuntu-drivers install` (Ubuntu)"}};
  return {"no-driver",
          {"there is an NVIDIA card and no driver", "NVIDIA's driver is not installed, or was not loaded",
           "`sudo modprobe nvidia`; if there is none, `sudo apt-get install nvidia-driver` (Debian, non-free) or "
           "`sudo ubuntu-drivers install` (Ubuntu), then restart"}};
}

CardCause forbidden(const CardFacts& facts) {
  for (const CardNode& node : facts.nodes) {
    if (node.problem == EACCES) {
      const bool of_root = node.group.empty() || node.group == "root";
      return {"device-file-permission",
              {fmt::format("{} may not be opened by this user", node.path),
               of_root ? "it is root's alone" : fmt::format("only the group {} may", node.group),
               of_root ? "`sudo chmod a+rw /dev/nvidia*`, which lasts until the next start"
                       : fmt::format("`sudo usermod -aG {} $USER`, then log in again", node.group)}};
    }
    if (node.problem == EPERM) {
      const std::string how = how_to_get_a_card(facts.around);
      return {"device-file-forbidden",
              {fmt::format("{} is there, and this process is kept from it", node.path),
               "a job or a container may use only the devices that its control group names",
               how.empty() ? "ask whoever runs this machine for the card, as with `srun --gres=gpu:1 labrig doctor`"
                           : how}};
    }
  }
  return {};
}

CardCause driver_not_there(const CardFacts& facts) {
  const bool answers = facts.nvml.answers() || !facts.driver.cards.empty();
  if (facts.versions.module.empty() && !answers && facts.numbered_nodes() > 0 &&
      facts.around.container == Container::none)
    return {"driver-not-loaded",
            {"there are device files of a card, but no driver is loaded", "the kernel's part of the driver is missing",
             "`sudo modprobe nvidia`; if there is none for this kernel, install the driver again"}};
  if (facts.driver.problem.empty()) return {};
  if (facts.around.wsl)
    return {"no-driver-library",
            {"Windows lends a card, and its CUDA library is not found", facts.driver.problem,
             "install NVIDIA's driver in Windows (none in Linux), then `wsl --update` there"}};
  if (facts.around.container != Container::none)
    return {"no-driver-library",
            {"the card is in the container, the driver's library is not", facts.driver.problem,
             how_to_get_a_card(facts.around) + "; with NVIDIA_DRIVER_CAPABILITIES=compute,utility"}};
  return {
      "no-driver-library",
      {"there is a card, and libcuda.so.1 is not found", facts.driver.problem,
       "`sudo apt-get install libcuda1` (Debian), `sudo ubuntu-drivers install` (Ubuntu): the version of the driver"}};
}

std::string holders_of(const NvmlCard& card) {
  std::string text;
  for (const CardProcess& process : card.processes)
    text += fmt::format("{}{} ({})", text.empty() ? "" : ", ", process.name.empty() ? "a process" : process.name,
                        process.pid);
  return text;
}

CardCause unwell(const NvmlCard& card) {
  if (card.code == kLost)
    return {"card-lost",
            {"a card has fallen off the bus", "the driver no longer reaches it: power, heat, or a fault of the card",
             "`sudo dmesg | grep -i xid` shows when; restart the machine: `sudo reboot`"}};
  if (card.code == kNeedsReset)
    return {"card-needs-reset",
            {"a card waits to be reset", "an error stopped it (`sudo dmesg | grep -i xid`)",
             "`sudo nvidia-smi --gpu-reset`"}};
  if (card.mig && card.mig_parts == 0)
    return {"mig-without-parts",
            {"the card is set to be divided (MIG), and no part was made", "CUDA then has nothing to run on",
             "make one: `sudo nvidia-smi mig -cgi 0 -C`, or end the division: `sudo nvidia-smi -mig 0`"}};
  return {};
}

CardCause unwell(const CardFacts& facts) {
  for (const NvmlCard& card : facts.nvml.cards)
    if (CardCause cause = unwell(card); !cause.id.empty()) return cause;
  return {};
}

// Says who holds the card, where that is known, and whether its mode lets nobody in.
CardCause with_holder(CardCause cause, const NvmlCard* card) {
  if (card == nullptr || cause.id != "card-in-use") return cause;
  if (card->compute_mode == kProhibited)
    cause.advice = {"the card's compute mode lets no process in", "an administrator set it to `Prohibited`",
                    "`sudo nvidia-smi --compute-mode=0`"};
  else if (card->compute_mode == kExclusive && !card->processes.empty())
    cause.advice.why = "its compute mode lets one process in at a time, and that is " + holders_of(*card);
  return cause;
}

CardCause by_code(const CardFacts& facts) {
  CardCause cause = cause_of_code(facts.driver.code);
  if (cause.id.empty()) cause = cause_of_code(code_named_in(facts.why_none));
  return with_holder(cause, facts.nvml.cards.size() == 1 ? facts.nvml.cards.data() : nullptr);
}

CardCause by_version(const CardFacts& facts) {
  if (facts.nvml.code == kVersionsDiffer) return cause_of_code(803);
  const Check compared = compare(facts.versions);
  if (compared.status != Status::warn) return {};
  return {compared.facts.at("relation") == "mismatch" ? "driver-mismatch" : "driver-too-old",
          {compared.what, compared.why, compared.fix}};
}

CardCause without_backend(const CardFacts& facts) {
  if (facts.backend) return {};
  return {"built-without-cuda",
          {"there is a card, and this labrig was built without CUDA",
           "no CUDA toolkit was found when it was configured, or "
           "CUDA was switched off",
           "install the toolkit and build again: `make build CUDA=ON`"}};
}

CardCause other(const CardFacts& facts) {
  return {"other", {"there is a card, and labrig cannot use it", facts.why_none, facts.fix_none}};
}

}  // namespace

CardCause cause_of_no_card(const CardFacts& facts) {
  if (facts.cards > 0 || !facts.sign_of_a_card()) return {};
  using Rule = CardCause (*)(const CardFacts&);
  constexpr Rule kRules[] = {not_asked_for, without_device_file, hidden,          forbidden, driver_not_there, unwell,
                             by_code,       by_version,          without_backend, other};
  for (const Rule rule : kRules)
    if (CardCause cause = rule(facts); !cause.id.empty()) return cause;
  return {};
}

CardCause cause_of_unusable(const CardFacts& facts, const UnusableCard& card) {
  const NvmlCard* seen = nullptr;
  const std::size_t index = card.device.find(':') == std::string::npos
                                ? facts.driver.cards.size()
                                : static_cast<std::size_t>(std::stoi(card.device.substr(card.device.find(':') + 1)));
  if (index < facts.driver.cards.size()) seen = facts.nvml.by_uuid(facts.driver.cards[index].uuid);
  CardCause cause = seen == nullptr ? CardCause{} : unwell(*seen);
  if (cause.id.empty()) cause = with_holder(cause_of_code(code_named_in(card.why)), seen);
  if (cause.id.empty()) cause = {"other", {"it cannot be used", card.why, card.fix}};
  cause.advice.what = card.device + ": " + cause.advice.what;
  return cause;
}

}  // namespace labrig::doctor
