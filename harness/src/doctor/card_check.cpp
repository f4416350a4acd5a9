// The check `card`: is a card there, how many, which; and if not, why (F31, F32).
#include <fmt/format.h>

#include <algorithm>

#include "doctor/card_cause.hpp"
#include "doctor/visible.hpp"

namespace labrig::doctor {
namespace {

constexpr char kId[] = "card";

std::string capability_text(int capability) { return fmt::format("{}.{}", capability / 10, capability % 10); }

Facts described(const CardFacts& facts) {
  Facts cards = Facts::array();
  for (std::size_t i = 0; i < facts.driver.cards.size(); ++i) {
    const DriverCard& card = facts.driver.cards[i];
    const std::string device = "cuda:" + std::to_string(i);
    const bool usable = static_cast<int>(i) < facts.cards &&
                        std::ranges::find(facts.unusable, device, &UnusableCard::device) == facts.unusable.end();
    cards.push_back({{"device", device},
                     {"name", card.name},
                     {"uuid", card.uuid},
                     {"total_mib", card.total_bytes >> 20},
                     {"compute_capability", capability_text(card.capability)},
                     {"multiprocessors", card.multiprocessors},
                     {"usable", usable}});
  }
  return cards;
}

Facts to_facts(const CardFacts& facts, const std::string& cause) {
  const Surroundings& around = facts.around;
  const int usable = facts.cards - static_cast<int>(facts.unusable.size());
  return {{"count", facts.cards},
          {"usable", usable},
          {"cause", cause.empty() ? Facts() : Facts(cause)},
          {"cards", described(facts)},
          {"built_with_cuda", facts.backend},
          {"device_files", facts.numbered_nodes()},
          {"cards_on_the_bus", facts.physical},
          {"cuda_visible_devices", facts.visible ? Facts(*facts.visible) : Facts()},
          {"container", name_of(around.container)},
          {"container_sign", around.sign.empty() ? Facts() : Facts(around.sign)},
          {"wsl", around.wsl},
          {"slurm_job", around.slurm_job.empty() ? Facts() : Facts(around.slurm_job)}};
}

std::string no_sign(const CardFacts& facts) {
  const Surroundings& around = facts.around;
  if (!around.slurm_job.empty() && !around.slurm_cards)
    return "none in this job, and none is needed; `srun --gres=gpu:1` asks for one";
  if (around.login_node) return "none on this login node, and none is needed; `srun --gres=gpu:1` finds one";
  if (around.container != Container::none)
    return fmt::format("none in this container ({}), and none is needed", name_of(around.container));
  return "none here, and none is needed";
}

std::string names(const CardFacts& facts) {
  std::string text;
  for (std::size_t i = 0; i < facts.driver.cards.size(); ++i) {
    const DriverCard& card = facts.driver.cards[i];
    text += fmt::format("{}cuda:{} {}, {} MiB, capability {}", text.empty() ? "" : "; ", i, card.name,
                        card.total_bytes >> 20, capability_text(card.capability));
  }
  return text.empty() ? fmt::format("{} usable", facts.cards) : text;
}

Check unusable(const CardFacts& facts) {
  std::string id;
  Advice all;
  for (const UnusableCard& card : facts.unusable) {
    const CardCause cause = cause_of_unusable(facts, card);
    if (id.empty()) {
      id = cause.id;
      all = cause.advice;
    } else {
      all.what += "; " + cause.advice.what;
    }
  }
  return warned(kId, all, to_facts(facts, id));
}

}  // namespace

Check card_check(const CardFacts& facts) {
  if (!facts.unusable.empty()) return unusable(facts);
  if (facts.cards == 0) {
    const CardCause cause = cause_of_no_card(facts);
    if (cause.id.empty()) return passed(kId, no_sign(facts), to_facts(facts, ""));
    return warned(kId, cause.advice, to_facts(facts, cause.id));
  }
  std::vector<std::string> uuids;
  for (const NvmlCard& card : facts.nvml.cards) uuids.push_back(card.uuid);
  const Visible left = visible(facts.visible, static_cast<int>(uuids.size()), uuids);
  if (left.id.empty()) return passed(kId, names(facts), to_facts(facts, ""));
  return warned(kId,
                {names(facts), left.what, "name cards that `nvidia-smi -L` lists: `export CUDA_VISIBLE_DEVICES=0`"},
                to_facts(facts, left.id));
}

}  // namespace labrig::doctor
