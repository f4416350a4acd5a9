// What `labrig doctor` concludes from what a machine says of its cards: each cause is handed in as facts, none needs a
// card.
#include <gtest/gtest.h>

#include <cerrno>

#include "doctor/card_cause.hpp"
#include "doctor/visible.hpp"

namespace labrig::doctor {
namespace {

// A machine with one card that labrig, for whatever reason, does not see.
CardFacts machine() {
  CardFacts facts;
  facts.backend = true;
  facts.versions = {13000, 13000, "580.95.05", "/usr/lib/x86_64-linux-gnu/libcuda.so.580.95.05"};
  facts.nodes = {{"/dev/nvidia0", 0, "root"}, {"/dev/nvidiactl", 0, "root"}};
  facts.physical = 1;
  facts.driver.version = 13000;
  facts.nvml.driver_version = "580.95.05";
  facts.nvml.cards = {NvmlCard{}};
  facts.nvml.cards[0].uuid = "GPU-11111111-2222";
  facts.why_none = "cannot use a cuda device: the driver refuses: something new (cudaErrorOfTomorrow)";
  facts.fix_none = "do what tomorrow's manual says";
  return facts;
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

void expect_cause(const CardFacts& facts, const std::string& id, const std::string& in_the_fix) {
  const CardCause cause = cause_of_no_card(facts);
  EXPECT_EQ(cause.id, id);
  EXPECT_TRUE(has(cause.advice.fix, in_the_fix)) << cause.advice.fix;
  EXPECT_TRUE(has(cause.advice.fix, "`") || id == "other") << "no command: " << cause.advice.fix;
  const Check check = card_check(facts);
  EXPECT_EQ(check.status, Status::warn);
  EXPECT_EQ(check.facts.at("cause"), id);
  EXPECT_EQ(check.facts.at("usable"), 0);
}

TEST(DoctorCard, AnUnknownReasonKeepsTheCoresTextAndFix) {
  const CardFacts facts = machine();
  expect_cause(facts, "other", "tomorrow's manual");
  EXPECT_EQ(cause_of_no_card(facts).advice.why, facts.why_none);
}

TEST(DoctorCard, AMachineWithoutASignOfACardNeedsNothing) {
  const Check check = card_check(CardFacts{});
  EXPECT_EQ(check.status, Status::ok);
  EXPECT_EQ(check.what, "none here, and none is needed");
  EXPECT_TRUE(check.why.empty() && check.fix.empty());
  EXPECT_TRUE(check.facts.at("cause").is_null());
}

TEST(DoctorCard, WithoutASignOfACardTheWayToOneIsNamedWhereThereIsAny) {
  CardFacts facts;
  facts.around.login_node = true;
  EXPECT_TRUE(has(card_check(facts).what, "login node"));
  facts.around.slurm_job = "17";
  EXPECT_TRUE(has(card_check(facts).what, "srun --gres=gpu:1"));
  facts = {};
  facts.around.container = Container::docker;
  EXPECT_TRUE(has(card_check(facts).what, "container (docker)"));
}

TEST(DoctorCard, AContainerWithoutItsCardIsToldHowItsKindIsGivenOne) {
  const std::pair<Container, const char*> kinds[] = {
      {Container::docker, "docker run --gpus all"}, {Container::podman, "--device nvidia.com/gpu=all"},
      {Container::kubernetes, "nvidia.com/gpu: 1"}, {Container::apptainer, "--nv"},
      {Container::lxc, "lxc config device add"},    {Container::other, "nvidia-ctk cdi generate"}};
  for (const auto& [kind, fix] : kinds) {
    CardFacts facts = machine();
    facts.nodes.clear();
    facts.around.container = kind;
    expect_cause(facts, "container-without-card", fix);
  }
}

TEST(DoctorCard, ADriverWithoutDeviceFilesIsNotACaseForAnUpdate) {
  CardFacts facts = machine();
  facts.nodes.clear();
  expect_cause(facts, "no-device-file", "nvidia-modprobe");
}

TEST(DoctorCard, ACardOnTheBusWithoutADriverIsSeen) {
  CardFacts facts;
  facts.physical = 1;
  expect_cause(facts, "no-driver", "modprobe nvidia");
  facts.nouveau = true;
  expect_cause(facts, "no-driver", "nvidia-driver");
  EXPECT_TRUE(has(cause_of_no_card(facts).advice.what, "nouveau"));
}

TEST(DoctorCard, DeviceFilesWithoutADriverAskForTheModule) {
  CardFacts facts = machine();
  facts.versions.module.clear();
  facts.nvml = {};
  facts.nvml.code = 9;
  expect_cause(facts, "driver-not-loaded", "modprobe nvidia");
}

TEST(DoctorCard, AMissingLibraryIsToldFromAMissingDriver) {
  CardFacts facts = machine();
  facts.driver.problem = "libcuda.so.1: cannot open shared object file";
  expect_cause(facts, "no-driver-library", "libcuda1");
  facts.around.container = Container::docker;
  expect_cause(facts, "no-driver-library", "NVIDIA_DRIVER_CAPABILITIES");
  facts.around = {};
  facts.around.wsl = true;
  expect_cause(facts, "no-driver-library", "wsl --update");
}

TEST(DoctorCard, ADeviceFileThatMayNotBeOpenedNamesTheGroup) {
  CardFacts facts = machine();
  facts.nodes[0] = {"/dev/nvidia0", EACCES, "video"};
  expect_cause(facts, "device-file-permission", "usermod -aG video");
  facts.nodes[0].group = "root";
  expect_cause(facts, "device-file-permission", "chmod a+rw");
  facts.nodes[0].problem = EPERM;
  expect_cause(facts, "device-file-forbidden", "srun --gres=gpu:1");
}

TEST(DoctorCard, ASlurmJobWithoutGresIsToldToAsk) {
  CardFacts facts = machine();
  facts.around.slurm_job = "4711";
  facts.visible = "NoDevFiles";
  expect_cause(facts, "slurm-without-card", "#SBATCH --gres=gpu:1");
  facts.around.slurm_cards = true;
  EXPECT_NE(cause_of_no_card(facts).id, "slurm-without-card");
}

TEST(DoctorCard, AVariableThatHidesEveryCardIsNamed) {
  for (const char* value : {"", "-1", "none"}) {
    CardFacts facts = machine();
    facts.visible = value;
    expect_cause(facts, "hides-all", "unset CUDA_VISIBLE_DEVICES");
  }
  CardFacts facts = machine();
  facts.visible = "3";
  expect_cause(facts, "unknown-number", "nvidia-smi -L");
  facts.visible = "0,0";
  expect_cause(facts, "named-twice", "nvidia-smi -L");
  facts.visible = "GPU-99999999";
  expect_cause(facts, "unknown-name", "nvidia-smi -L");
  facts.visible = "GPU-1111";
  expect_cause(facts, "other", "");
}

TEST(DoctorCard, ABuildWithoutCudaIsSaidOnlyOnceTheDriverIsWell) {
  CardFacts facts = machine();
  facts.backend = false;
  facts.versions.runtime = 0;
  expect_cause(facts, "built-without-cuda", "make build CUDA=ON");
  facts.driver.code = 803;
  expect_cause(facts, "driver-mismatch", "reboot");
}

TEST(DoctorCard, AnOldDriverIsFoundByItsVersion) {
  CardFacts facts = machine();
  facts.versions.driver = 12040;
  facts.driver.code = 0;
  expect_cause(facts, "driver-too-old", "cuda-compat-13-0");
}

TEST(DoctorCard, TheDriversErrorsHaveEachTheirCause) {
  const std::pair<int, const char*> codes[] = {{2, "card-full"},
                                               {34, "stub-library"},
                                               {46, "card-in-use"},
                                               {54, "card-in-use"},
                                               {214, "memory-error"},
                                               {802, "fabric-manager"},
                                               {803, "driver-mismatch"},
                                               {804, "no-forward-compatibility"},
                                               {805, "mps"},
                                               {807, "mps"},
                                               {999, "driver-unwell"}};
  for (const auto& [code, id] : codes) {
    CardFacts facts = machine();
    facts.driver.code = code;
    expect_cause(facts, id, "");
  }
  EXPECT_EQ(cause_of_code(1).id, "");
  EXPECT_EQ(code_named_in("sum returned cudaErrorECCUncorrectable: …"), 214);
  EXPECT_EQ(code_named_in("sum returned cudaErrorOfTomorrow"), 0);
}

TEST(DoctorCard, ALostCardAndOneWithoutPartsAreToldByNvml) {
  CardFacts facts = machine();
  facts.nvml.cards[0].code = 15;
  expect_cause(facts, "card-lost", "reboot");
  facts.nvml.cards[0].code = 16;
  expect_cause(facts, "card-needs-reset", "--gpu-reset");
  facts.nvml.cards[0].code = 0;
  facts.nvml.cards[0].mig = true;
  expect_cause(facts, "mig-without-parts", "nvidia-smi mig -cgi");
  facts.nvml.cards[0].mig_parts = 2;
  expect_cause(facts, "other", "");
}

// Two cards, of which the second does not open.
CardFacts two_cards() {
  CardFacts facts = machine();
  facts.cards = 2;
  facts.driver.cards = {{"H200", "GPU-11111111-2222", 1ULL << 37, 90, 132}, {"H200", "GPU-3", 1ULL << 37, 90, 132}};
  facts.nvml.cards.push_back(NvmlCard{});
  facts.nvml.cards[1].uuid = "GPU-3";
  facts.unusable = {{"cuda:1", "cudaMalloc returned cudaErrorDevicesUnavailable: another process", "wait"}};
  return facts;
}

TEST(DoctorCard, ACardThatAnotherProcessHoldsNamesIt) {
  CardFacts facts = two_cards();
  facts.nvml.cards[1].compute_mode = 3;
  facts.nvml.cards[1].processes = {{4321, 1ULL << 30, "python3"}};
  const Check check = card_check(facts);
  EXPECT_EQ(check.status, Status::warn);
  EXPECT_EQ(check.facts.at("cause"), "card-in-use");
  EXPECT_EQ(check.facts.at("usable"), 1);
  EXPECT_EQ(check.facts.at("cards").at(0).at("usable"), true);
  EXPECT_EQ(check.facts.at("cards").at(1).at("usable"), false);
  EXPECT_TRUE(check.what.starts_with("cuda:1: ")) << check.what;
  EXPECT_TRUE(has(check.why, "python3 (4321)")) << check.why;
  facts.nvml.cards[1].compute_mode = 2;
  EXPECT_TRUE(has(card_check(facts).what, "lets no process in"));
}

TEST(DoctorCard, ACardThatFailsForAnUnknownReasonKeepsItsOwnWords) {
  CardFacts facts = two_cards();
  facts.unusable[0].why = "strange";
  facts.unusable[0].fix = "as strange";
  const Check check = card_check(facts);
  EXPECT_EQ(check.facts.at("cause"), "other");
  EXPECT_EQ(check.why, "strange");
  EXPECT_EQ(check.fix, "as strange");
}

TEST(DoctorCard, CardsThatWorkAreTypedFacts) {
  CardFacts facts = two_cards();
  facts.unusable.clear();
  const Check check = card_check(facts);
  EXPECT_EQ(check.status, Status::ok);
  EXPECT_EQ(check.facts.at("count"), 2);
  const Facts& card = check.facts.at("cards").at(0);
  EXPECT_EQ(card.at("name"), "H200");
  EXPECT_EQ(card.at("compute_capability"), "9.0");
  EXPECT_EQ(card.at("total_mib"), 1 << 17);
  facts.visible = "0,7,1";
  EXPECT_EQ(card_check(facts).facts.at("cause"), "unknown-number");
}

TEST(DoctorVisible, ReadsTheListAsCudaDoes) {
  const std::vector<std::string> uuids = {"GPU-aaaa-1", "GPU-bbbb-2"};
  EXPECT_EQ(visible({}, 2, uuids).id, "");
  EXPECT_EQ(visible("0, 1", 2, uuids).shown, 2);
  EXPECT_EQ(visible("1,GPU-aaaa", 2, uuids).shown, 2);
  EXPECT_EQ(visible("0, 0", 2, uuids).id, "named-twice");
  EXPECT_EQ(visible("MIG-1234", 2, uuids).id, "");
  EXPECT_EQ(visible("0,2,1", 2, uuids).shown, 1);
  EXPECT_EQ(visible("0,2,1", 2, uuids).id, "unknown-number");
  EXPECT_EQ(visible("GPU-cccc", 2, uuids).id, "unknown-name");
  EXPECT_EQ(visible("GPU-cccc", 2, {}).id, "") << "without NVML nobody knows the names";
  EXPECT_EQ(visible("5", 0, {}).id, "") << "and nobody the number";
}

TEST(DoctorVersions, EveryPairHasARelation) {
  const auto relation = [](int driver, int runtime, const char* file = "/usr/lib/libcuda.so.580.1") {
    return compare({driver, runtime, "580.1", file}).facts.at("relation").get<std::string>();
  };
  EXPECT_EQ(relation(13000, 13000), "same");
  EXPECT_EQ(relation(13010, 12040), "newer-driver");
  EXPECT_EQ(relation(12020, 12080), "same-major");
  EXPECT_EQ(relation(11080, 12000), "older-driver");
  EXPECT_EQ(relation(13000, 13000, "/usr/local/cuda/compat/libcuda.so.590.2"), "forward-compatible");
  EXPECT_EQ(relation(13000, 13000, "/usr/lib/libcuda.so.575.9"), "mismatch");
  EXPECT_EQ(relation(13000, 13000, "/usr/lib/wsl/lib/libcuda.so.1"), "same");
  EXPECT_EQ(relation(0, 13000), "unknown");
  EXPECT_EQ(relation(13000, 0), "unknown");
}

TEST(DoctorVersions, OnlyWhatDoesNotRunIsAWarning) {
  EXPECT_EQ(compare({12020, 12080, "", ""}).status, Status::ok);
  EXPECT_EQ(compare({13000, 12080, "", ""}).status, Status::ok);
  EXPECT_EQ(compare({0, 0, "", ""}).status, Status::skipped);
  const Check old = compare({11080, 12040, "520.1", ""});
  EXPECT_EQ(old.status, Status::warn);
  EXPECT_TRUE(has(old.fix, "cuda-compat-12-4") && has(old.fix, "build labrig with CUDA 11.8")) << old.fix;
  EXPECT_EQ(module_version("NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.95.05  Release\nGCC 12.3"),
            "580.95.05");
  EXPECT_EQ(module_version(""), "");
}

constexpr std::uint64_t kMib = 1 << 20;

MemoryFacts held(std::vector<CardProcess> processes) {
  NvmlCard before, after;
  before.used_bytes = 300 * kMib;
  after.used_bytes = 800 * kMib;
  after.reserved_bytes = 600 * kMib;
  after.lists_processes = true;
  after.processes = std::move(processes);
  return {"cuda:0", 20000 * kMib, 24000 * kMib, 77, before, after};
}

TEST(DoctorMemory, TheDriversListTellsThisProcessFromOthers) {
  const HeldMemory memory = held_memory(held({{77, 520 * kMib, "labrig"}, {9, 280 * kMib, "Xorg"}}));
  EXPECT_EQ(memory.method, "process-list");
  EXPECT_EQ(memory.this_bytes, 520 * kMib);
  EXPECT_EQ(memory.other_bytes, 280 * kMib);
  EXPECT_EQ(memory.driver_bytes, 600 * kMib);
  ASSERT_EQ(memory.others.size(), 1u);
  EXPECT_EQ(memory.others[0].name, "Xorg");
  EXPECT_TRUE(memory.others_are_complete);
}

TEST(DoctorMemory, WhereTheListLeavesUsOutTheDifferenceTells) {
  const MemoryFacts facts = held({});
  const HeldMemory memory = held_memory(facts);
  EXPECT_EQ(memory.method, "before-and-after");
  EXPECT_EQ(memory.this_bytes, 500 * kMib);
  EXPECT_EQ(memory.other_bytes, 300 * kMib);
  EXPECT_FALSE(memory.others_are_complete);
  EXPECT_TRUE(has(card_memory({facts}).what, "not all can be seen"));
}

TEST(DoctorMemory, WithoutNvmlItSaysThatItDoesNotKnow) {
  const Check check = card_memory({{"cuda:0", 1000 * kMib, 2000 * kMib, 77, {}, {}}});
  EXPECT_EQ(check.status, Status::ok);
  EXPECT_TRUE(has(check.what, "not known"));
  const Facts& card = check.facts.at("cards").at(0);
  EXPECT_TRUE(card.at("this_process_mib").is_null() && card.at("others_mib").is_null());
  EXPECT_EQ(card.at("method"), "unknown");
  EXPECT_EQ(card_memory({}).status, Status::skipped);
}

TEST(DoctorMemory, ACardThatIsNearlyFullIsAWarning) {
  MemoryFacts facts = held({{77, 520 * kMib, "labrig"}, {9, 280 * kMib, "train.py"}});
  facts.free_bytes = 100 * kMib;
  const Check check = card_memory({facts});
  EXPECT_EQ(check.status, Status::warn);
  EXPECT_TRUE(has(check.what, "train.py (9) 280 MiB")) << check.what;
}

}  // namespace
}  // namespace labrig::doctor
