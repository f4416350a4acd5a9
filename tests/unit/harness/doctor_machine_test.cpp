// What `labrig doctor` makes of a machine's files and variables, and how it tells it: every machine here is a folder.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "doctor/answer.hpp"
#include "doctor/folders.hpp"
#include "doctor/machine.hpp"
#include "doctor/placement.hpp"
#include "doctor/surroundings.hpp"
#include "labrig/ops.hpp"

namespace labrig::doctor {
namespace {

namespace fs = std::filesystem;

// A machine that consists of the files that a test gives it.
class FakeMachine {
 public:
  FakeMachine() {
    std::string name = fs::temp_directory_path() / "labrig-doctor-test-XXXXXX";
    root_ = mkdtemp(name.data());
  }
  ~FakeMachine() { fs::remove_all(root_); }
  FakeMachine(const FakeMachine&) = delete;
  FakeMachine& operator=(const FakeMachine&) = delete;

  FakeMachine& file(const std::string& path, const std::string& text = "") {
    const fs::path place = root_ / path.substr(1);
    fs::create_directories(place.parent_path());
    std::ofstream(place) << text;
    return *this;
  }
  FakeMachine& variable(const std::string& name, const std::string& value) {
    variables_[name] = value;
    return *this;
  }
  Host host() const { return {root_, variables_}; }
  const fs::path& root() const { return root_; }

 private:
  fs::path root_;
  std::map<std::string, std::string> variables_;
};

Container container_of(const FakeMachine& machine) { return surroundings(machine.host()).container; }

TEST(DoctorSurroundings, EveryKindOfContainerIsKnownByItsSigns) {
  EXPECT_EQ(container_of(FakeMachine()), Container::none);
  EXPECT_EQ(container_of(FakeMachine().file("/.dockerenv")), Container::docker);
  EXPECT_EQ(container_of(FakeMachine().file("/proc/1/cgroup", "0::/docker/0123\n")), Container::docker);
  EXPECT_EQ(container_of(FakeMachine().file("/run/.containerenv")), Container::podman);
  EXPECT_EQ(container_of(FakeMachine().variable("container", "podman")), Container::podman);
  EXPECT_EQ(container_of(FakeMachine().file("/proc/self/cgroup", "0::/machine.slice/libpod-1.scope")),
            Container::podman);
  EXPECT_EQ(container_of(FakeMachine().file("/.dockerenv").variable("KUBERNETES_SERVICE_HOST", "10.0.0.1")),
            Container::kubernetes);
  EXPECT_EQ(container_of(FakeMachine().file("/proc/1/cgroup", "0::/kubepods.slice/pod1")), Container::kubernetes);
  EXPECT_EQ(container_of(FakeMachine().file("/.singularity.d/runscript")), Container::apptainer);
  EXPECT_EQ(container_of(FakeMachine().variable("APPTAINER_CONTAINER", "/x.sif")), Container::apptainer);
  EXPECT_EQ(container_of(FakeMachine().file("/proc/1/environ", std::string("PATH=/bin\0container=lxc\0", 24))),
            Container::lxc);
  EXPECT_EQ(container_of(FakeMachine().file("/run/systemd/container", "systemd-nspawn\n")), Container::other);
}

TEST(DoctorSurroundings, WhatTheContainerWasKnownByIsKept) {
  EXPECT_EQ(surroundings(FakeMachine().variable("container", "oci").host()).sign, "container=oci");
  EXPECT_EQ(surroundings(FakeMachine().file("/.dockerenv").host()).sign, "/.dockerenv");
}

TEST(DoctorSurroundings, SlurmsJobsAndLoginNodesAreTold) {
  FakeMachine machine;
  machine.variable("PATH", "/usr/bin").file("/usr/bin/srun");
  fs::permissions(machine.root() / "usr/bin/srun", fs::perms::owner_all);
  EXPECT_TRUE(surroundings(machine.host()).login_node);
  machine.variable("SLURM_JOB_ID", "5");
  EXPECT_FALSE(surroundings(machine.host()).login_node);
  EXPECT_FALSE(surroundings(machine.host()).slurm_cards);
  EXPECT_TRUE(surroundings(machine.variable("SLURM_JOB_GPUS", "0").host()).slurm_cards);
  EXPECT_FALSE(surroundings(FakeMachine().variable("SLURM_GPUS_ON_NODE", "0").host()).slurm_cards);
  EXPECT_TRUE(surroundings(FakeMachine().file("/proc/version", "Linux 5.15-microsoft-standard-WSL2").host()).wsl);
}

FakeMachine& with_memory(FakeMachine& machine, long mib) {
  return machine.file("/proc/meminfo", "MemTotal: 1 kB\nMemAvailable:   " + std::to_string(mib * 1024) + " kB\n");
}

TEST(DoctorMachine, TheControlGroupsLimitCountsWhereItIsTheTighterOne) {
  FakeMachine machine;
  EXPECT_EQ(memory_check(machine.host()).status, Status::skipped);
  EXPECT_EQ(memory_check(with_memory(machine, 8000).host()).status, Status::ok);
  EXPECT_EQ(memory_check(with_memory(machine, 1000).host()).status, Status::warn);
  EXPECT_EQ(memory_check(with_memory(machine, 100).host()).status, Status::fail);
  with_memory(machine, 8000).file("/proc/self/cgroup", "0::/a\n").file("/sys/fs/cgroup/a/memory.current", "104857600");
  machine.file("/sys/fs/cgroup/a/memory.max", "1153433600");
  const Check limited = memory_check(machine.host());
  EXPECT_EQ(limited.facts.at("available_mib"), 1000);
  EXPECT_EQ(limited.facts.at("limited_by"), "control group");
  EXPECT_NE(limited.fix.find("--memory"), std::string::npos);
  EXPECT_EQ(memory_check(machine.file("/sys/fs/cgroup/a/memory.max", "max").host()).status, Status::ok);
}

TEST(DoctorMachine, CoresAreThoseThatTheQuotaPaysFor) {
  FakeMachine machine;
  EXPECT_EQ(cores_check(machine.host(), 4).status, Status::ok);
  EXPECT_EQ(cores_check(machine.host(), 1).status, Status::warn);
  machine.file("/proc/self/cgroup", "3:cpu:/job\n").file("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "150000");
  machine.file("/sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000");
  const Check limited = cores_check(machine.host(), 4);
  EXPECT_EQ(limited.facts.at("usable"), 1.5);
  EXPECT_EQ(limited.status, Status::warn);
  EXPECT_EQ(
      cores_check(FakeMachine().file("/proc/self/cgroup", "0::/\n").file("/sys/fs/cgroup/cpu.max", "max 100000").host(),
                  4)
          .facts.at("usable"),
      4);
}

TEST(DoctorMachine, ALocaleThatIsMissingOrNoUtf8IsAWarning) {
  EXPECT_EQ(locale_check(locale_facts(FakeMachine().variable("LANG", "C.UTF-8").host())).status, Status::ok);
  EXPECT_FALSE(locale_facts(FakeMachine().variable("LANG", "C.UTF-8").variable("LC_ALL", "C").host()).utf8);
  EXPECT_FALSE(locale_facts(FakeMachine().variable("LANG", "xx_YY.UTF-8").host()).installed);
  EXPECT_EQ(locale_check({"xx_YY", false, true}).status, Status::warn);
  EXPECT_EQ(locale_check({"C", true, false}).status, Status::warn);
}

TEST(DoctorMachine, WhatKeepsASubmissionToItselfIsToldWhenItIsLost) {
  const auto status = [](const ConfinementFacts& facts) { return confinement_check(facts).status; };
  EXPECT_EQ(status({.seccomp = true, .root = false}), Status::ok);
  EXPECT_EQ(status({.seccomp = false, .root = false}), Status::warn);
  EXPECT_EQ(status({.root = true}), Status::warn);
  EXPECT_EQ(status({.root = true, .run_as = "nobody"}), Status::ok);
  EXPECT_EQ(status({.root = true, .run_as = "nobody", .setpriv = false}), Status::fail);
  EXPECT_EQ(status({.root = true, .run_as = "nobdoy", .user_known = false}), Status::fail);
  EXPECT_EQ(status({.root = false, .run_as = "nobody"}), Status::warn);
}

TEST(DoctorFolders, EachThingThatAFolderCanLackIsTold) {
  FolderFacts facts;
  facts.folder = "/x";
  facts.free_bytes = std::uint64_t{1} << 30;
  facts.free_files = 100000;
  const auto check = [&](bool programs = true) { return folder_check("cache", facts, "XDG_CACHE_HOME", programs); };
  EXPECT_EQ(check().status, Status::ok);
  facts.no_programs = true;
  EXPECT_EQ(check().status, Status::fail);
  EXPECT_EQ(check(false).status, Status::ok) << "nothing is run from there";
  facts.no_programs = false;
  facts.free_bytes = 100 << 20;
  EXPECT_EQ(check().status, Status::warn);
  facts.free_bytes = 1 << 20;
  EXPECT_EQ(check().status, Status::fail);
  facts.problem = "Permission denied";
  EXPECT_EQ(check().why, "Permission denied");
  EXPECT_NE(check().fix.find("export XDG_CACHE_HOME="), std::string::npos);
}

TEST(DoctorFolders, ARealFolderIsTriedAndLeftAsItWas) {
  const FakeMachine machine;
  EXPECT_EQ(folder_facts(machine.root()).problem, "");
  EXPECT_GT(folder_facts(machine.root()).free_bytes, 0u);
  EXPECT_TRUE(fs::is_empty(machine.root()));
  EXPECT_NE(folder_facts("/proc/no-such-place/labrig").problem, "");
}

TEST(DoctorFolders, AClockThatDisagreesIsAWarning) {
  EXPECT_EQ(clock_check({1'000'000, 999'000, 0}).status, Status::ok);
  EXPECT_EQ(clock_check({1'000'000, 1'000'030, 5}).status, Status::ok) << "a minute is nothing";
  EXPECT_EQ(clock_check({1'000'000, 2'000'000, 0}).facts.at("behind_build_s"), 1'000'000);
  EXPECT_EQ(clock_check({1'000'000, 2'000'000, 0}).status, Status::warn);
  EXPECT_EQ(clock_check({1'000'000, 0, -300}).status, Status::warn);
}

TEST(DoctorPlacement, WhatLiesElsewhereOrIsOtherwiseIsSeen) {
  const Tensor values = arange(6).view({2, 3}).to(kF32);
  const Placed asked = {"a tensor", Device("sim:0"), kF32, {2, 3}};
  EXPECT_EQ(misplaced(values.to(Device("sim:0")), asked, values), "");
  EXPECT_NE(misplaced(values, asked, values), "") << "it was on the CPU all along";
  EXPECT_NE(misplaced(values.to(Device("sim:0"), kF16), asked, values), "");
  EXPECT_NE(misplaced(values.t().to(Device("sim:0")), asked, values), "");
  EXPECT_NE(misplaced(zeros({2, 3}, Device("sim:0")), asked, values), "");
  EXPECT_NE(misplaced(Tensor(), asked, values), "");
}

TEST(DoctorPlacement, LooksAtEveryTypeOnEveryDevice) {
  const Check check = placement({});
  EXPECT_EQ(check.status, Status::ok) << check.what;
  ASSERT_GE(check.facts.at("devices").size(), 2u);
  for (const Facts& device : check.facts.at("devices")) {
    EXPECT_EQ(device.at("dtypes").size(), static_cast<std::size_t>(kDtypeCount));
    EXPECT_EQ(device.at("parameters").at("device"), device.at("device"));
    EXPECT_EQ(device.at("parameters").at("count"), 4 * 3 + 3 + 3 + 3);
    EXPECT_GT(device.at("tensors"), 6 * kDtypeCount);
  }
  EXPECT_EQ(placement({"sim:0"}).facts.at("devices").size(), check.facts.at("devices").size() - 1);
}

TEST(DoctorPlacement, AProblemOfACardThatIsNotNeededIsAWarning) {
  const Facts rows = {{{"device", "cpu"}}, {{"device", "cuda:0"}}};
  EXPECT_EQ(placement_verdict(rows, {}, {}).status, Status::ok);
  EXPECT_EQ(placement_verdict(rows, {}, {"cuda:0: lost"}).status, Status::warn);
  const Check check = placement_verdict(rows, {"f16 tensor lies on cpu"}, {"cuda:0: lost"});
  EXPECT_EQ(check.status, Status::fail);
  EXPECT_EQ(check.what, "f16 tensor lies on cpu");
  EXPECT_EQ(check.facts.at("problems").size(), 2u);
}

TEST(DoctorPlacement, ADeviceThatIsExpectedAndNotThereIsAFailure) {
  EXPECT_EQ(device_check("sim:0").status, Status::ok);
  EXPECT_EQ(device_check("sim:99").status, Status::fail);
  ::setenv("LABRIG_DEVICE", "sim:99", 1);
  const Check check = device_check("");
  EXPECT_EQ(device_check("cpu").status, Status::ok) << "what is asked for counts";
  ::unsetenv("LABRIG_DEVICE");
  EXPECT_EQ(check.status, Status::warn);
  EXPECT_NE(check.fix.find("unset LABRIG_DEVICE"), std::string::npos);
}

TEST(DoctorAnswer, ACommandStaysInOnePieceAndALineInEightyColumns) {
  const std::string text = "one two `three four five` six";
  EXPECT_EQ(wrapped(text, 2, 12), "one two\n  `three four five`\n  six");
  EXPECT_EQ(wrapped("", 2, 12), "");
  EXPECT_EQ(wrapped("\xC3\xA4\xC3\xA4 b", 0, 4), "\xC3\xA4\xC3\xA4 b") << "characters count, not bytes";
}

TEST(DoctorAnswer, APassingCheckIsOneLineAndAnotherSaysWhyAndFix) {
  const std::string text = to_text({passed("first", "well"), warned("second", {"so", "because", "do"})});
  EXPECT_EQ(text,
            "ok      first           well\n"
            "warn    second          so\n"
            "                   why: because\n"
            "                   fix: do\n"
            "This machine is fit for labrig: everything is graded on the simulated card.\n");
  EXPECT_NE(to_text({failed("third", {"so", "because", "do"})}).find("missing"), std::string::npos);
  EXPECT_NE(to_text({passed("card", "one", {{"usable", 1}})}).find("measured on the real one"), std::string::npos);
}

TEST(DoctorAnswer, WhatACheckThrowsIsAFailureOfThatCheck) {
  const Check check = attempt("id", []() -> Check { throw Error("code", "what", "why", "fix"); });
  EXPECT_EQ(check.status, Status::fail);
  EXPECT_EQ(check.facts.at("code"), "code");
  EXPECT_EQ(attempt("id", []() -> Check { throw std::runtime_error("boo"); }).why, "boo");
  EXPECT_FALSE(fit({check}));
}

}  // namespace
}  // namespace labrig::doctor
