// Climbs the loading ladder with every plugin of plugins/broken and compares what a user reads with the approved text
// in plugins/broken/expected. LABRIG_APPROVE=1 writes the files anew; read the difference before committing it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>

#include "loader/climb.hpp"
#include "loader/inspection.hpp"

namespace {

namespace fs = std::filesystem;
using namespace labrig;

struct Broken {
  const char* name;
  const char* rung;  // at which it fails
};

constexpr Broken kBroken[] = {
    {"missing", "find"},
    {"plain_text", "file"},
    {"half_a_file", "file"},
    {"no_manifest", "manifest"},
    {"torn_manifest", "manifest"},
    {"other_processor", "class"},
    {"no_entry", "entry"},
    {"calls_dlopen", "imports"},
    {"calls_the_card", "imports"},
    {"wrong_kind", "kind"},
    {"wrong_lab", "lab"},
    {"newer_abi", "abi"},
    {"wrong_build", "build"},
    {"undefined_symbol", "load"},
    {"exits_while_loading", "load"},
    {"crashes_while_loading", "load"},
    {"wrong_magic", "magic"},
    {"lying_entry", "magic"},
    {"init_fails", "init"},
    {"describe_gives_nothing", "describe"},
    {"create_gives_nothing", "create"},
    {"create_throws", "create"},
    {"create_throws_an_int", "create"},
    {"crashes_in_destructor", "destroy"},
};

fs::path plugin_named(const std::string& name) {
  if (name == "wrong_kind") return fs::path(LABRIG_TEMPLATE_DIR) / "labs/scale/call.so";
  return fs::path(LABRIG_BROKEN_DIR) / (name + ".labrig.so");
}

std::vector<loader::Rung> climb(const fs::path& plugin) {
  const loader::Inspection inspection = loader::inspect(plugin, {LABRIG_SUBMISSION_KIND, "scale", {}});
  std::vector<loader::Rung> rungs = inspection.rungs;
  if (!inspection.ok()) return rungs;
  // This program stands in for labrig-worker: main() below knows --climb.
  const loader::ClimbResult climbed = loader::climb_in_child("/proc/self/exe", plugin);
  rungs.insert(rungs.end(), climbed.rungs.begin(), climbed.rungs.end());
  return rungs;
}

// Paths, hashes and what differs between builds of labrig itself become placeholders; the hash of wrong_build.cpp
// stays.
std::string with_placeholders(std::string text) {
  text = std::regex_replace(text, std::regex("headers-(?!0123456789abcdef)[0-9a-f]{16}"), "headers-<hash>");
  text = std::regex_replace(text, std::regex("sanitizer-[a-z]+"), "sanitizer-<which>");
  text = std::regex_replace(text, std::regex("([ `])/[^ `:]*/"), "$1<folder>/");
  return std::regex_replace(text, std::regex("\\b(x86_64|aarch64) libstdc"), "<processor> libstdc");
}

std::string page(const loader::Rung& rung) {
  const bool refused = rung.name != "load" && rung.name != "magic" && rung.name != "init" && rung.name != "describe" &&
                       rung.name != "create" && rung.name != "destroy";
  return with_placeholders(std::string("rung ") + rung.name +
                           (refused ? ": refused before any of its code ran\n" : ": failed while its code ran\n") +
                           rung.error->message() + "\n");
}

std::string read(const fs::path& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

class LoadingLadder : public testing::TestWithParam<Broken> {};

TEST_P(LoadingLadder, SaysWhatIsWrongAndHowToFixIt) {
  const std::vector<loader::Rung> rungs = climb(plugin_named(GetParam().name));
  ASSERT_FALSE(rungs.empty());
  ASSERT_FALSE(rungs.back().ok) << "it reached the top";
  EXPECT_EQ(rungs.back().name, GetParam().rung);
  EXPECT_EQ(rungs.back().error->code(), std::string("plugin-") + GetParam().rung);
  const fs::path expected = fs::path(LABRIG_EXPECTED_DIR) / (std::string(GetParam().name) + ".txt");
  const std::string seen = page(rungs.back());
  if (const char* approve = std::getenv("LABRIG_APPROVE"); approve && std::string(approve) == "1")
    std::ofstream(expected) << seen;
  EXPECT_EQ(seen, read(expected)) << "approved text: " << expected;
}

INSTANTIATE_TEST_SUITE_P(Broken, LoadingLadder, testing::ValuesIn(kBroken),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(Ladder, IsClimbedToTheTopByAPluginThatIsFine) {
  const std::vector<loader::Rung> rungs = climb(plugin_named("fine"));
  std::string names;
  for (const loader::Rung& rung : rungs) {
    EXPECT_TRUE(rung.ok) << rung.name << ": " << rung.detail;
    names += rung.name + " ";
  }
  EXPECT_EQ(names,
            "find file manifest class entry imports kind lab abi build load magic init describe create destroy ");
}

TEST(Ladder, HasABrokenPluginAndAnExplanationForEveryRung) {
  std::set<std::string> broken;
  for (const Broken& row : kBroken) broken.insert(row.rung);
  const std::string explained = read(LABRIG_LOADING_DOCUMENT);
  for (const loader::Rung& rung : climb(plugin_named("fine"))) {
    EXPECT_TRUE(broken.contains(rung.name)) << "nothing breaks " << rung.name;
    EXPECT_NE(explained.find("`plugin-" + rung.name + "`"), std::string::npos) << "not explained: plugin-" << rung.name;
  }
}

TEST(Ladder, RefusesWhatTheLabForbids) {
  const loader::Inspection inspection =
      loader::inspect(plugin_named("fine"), {LABRIG_SUBMISSION_KIND, "scale", {"labrig::mul"}});
  ASSERT_NE(inspection.error(), nullptr);
  EXPECT_EQ(inspection.error()->code(), "plugin-imports");
  EXPECT_NE(std::string(inspection.error()->what()).find("labrig::mul("), std::string::npos);
}

TEST(Ladder, MapsALibraryOfLabrigOnlyWithAPluginThatUsesIt) {
  const auto needs_amp = [](const char* name) {
    return std::ranges::count(loader::read_elf(plugin_named(name)).value().needed, "liblabrig-amp.so") == 1;
  };
  EXPECT_FALSE(needs_amp("fine"));
  EXPECT_TRUE(needs_amp("uses_amp"));
  for (const loader::Rung& rung : climb(plugin_named("uses_amp"))) EXPECT_TRUE(rung.ok) << rung.name << rung.detail;
}

TEST(Ladder, RefusesALibraryOfLabrigThatTheLabForbids) {
  for (const auto& [name, what] : {std::pair("uses_amp", "this plugin uses `labrig::amp::GradScaler::"),
                                   std::pair("needs_amp", "this plugin uses `labrig::amp::*`")}) {
    const loader::Inspection inspection =
        loader::inspect(plugin_named(name), {LABRIG_SUBMISSION_KIND, "scale", {"labrig::amp::*"}});
    ASSERT_NE(inspection.error(), nullptr) << name;
    EXPECT_EQ(inspection.error()->code(), "plugin-imports");
    EXPECT_TRUE(std::string(inspection.error()->what()).starts_with(what)) << inspection.error()->what();
  }
}

// What a lab forbids must not come with the worker itself.
TEST(Worker, MapsNoLibraryThatALabMayForbid) {
  const fs::path root = LABRIG_ROOT;
  for (const char* file : {"bin/labrig-worker", "lib/liblabrig-sdk.so", "lib/liblabrig-core.so"}) {
    const loader::ElfFile elf = loader::read_elf(root / file).value();
    for (const std::string& name : elf.needed)
      EXPECT_TRUE(name != "liblabrig-amp.so" && name != "liblabrig-data.so") << file << " needs " << name;
  }
}

TEST(Ladder, RefusesAFolder) {
  const loader::Inspection inspection = loader::inspect(LABRIG_BROKEN_DIR, {});
  ASSERT_NE(inspection.error(), nullptr);
  EXPECT_EQ(inspection.error()->code(), "plugin-find");
}

// What the judge expects must not be where a submission runs.
TEST(LabModules, KeepTheJudgeOutOfTheCallModule) {
  const auto judges_own = [](const char* module) {
    const loader::ElfFile file = loader::read_elf(fs::path(LABRIG_TEMPLATE_DIR) / "labs/scale" / module).value();
    std::set<std::string> found;
    for (const std::string& symbol : file.imported)
      for (const char* part :
           {"labrig::lab::compare(", "labrig::lab::Verdict::", "labrig::lab::Random::", "labrig::lab::Scenario::"})
        if (loader::demangled(symbol).starts_with(part)) found.insert(part);
    return found;
  };
  EXPECT_EQ(judges_own("judge.so").size(), 4u) << "the template's judge no longer uses what this test looks for";
  EXPECT_EQ(judges_own("call.so"), std::set<std::string>{});
}

TEST(LabModules, ExportNothingButTheEntry) {
  for (const char* module : {"judge.so", "call.so"}) {
    const loader::ElfFile file = loader::read_elf(fs::path(LABRIG_TEMPLATE_DIR) / "labs/scale" / module).value();
    EXPECT_EQ(file.exported, std::vector<std::string>{LABRIG_ENTRY_SYMBOL}) << module;
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 3 && std::string(argv[1]) == "--climb") return loader::climb_main(argv[2], loader::kClimbDescriptor);
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
