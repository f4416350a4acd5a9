// Profiles from TOML: the shipped ones read, and every mistake is answered with file, line and column.
#include "profile.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>

namespace labrig::sim {
namespace {

std::string desktop() {
  std::ifstream file(LABRIG_TEST_PROFILES "/desktop.toml");
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// desktop.toml with one text replaced.
std::string changed(const std::string& from, const std::string& to) {
  std::string text = desktop();
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

Error error_of(const std::string& text) {
  const Result<Profile> profile = parse_profile(text, "mine.toml");
  EXPECT_FALSE(profile.ok());
  return profile.ok() ? Error("none", "", "", "") : profile.error();
}

std::size_t line_of(const std::string& text, const std::string& part) {
  return static_cast<std::size_t>(
             std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(text.find(part)), '\n')) +
         1;
}

TEST(Profile, TheShippedOnesReadAndDiffer) {
  for (const char* name : {"desktop", "h200", "tiny-256mib"}) {
    const Result<Profile> profile = load_profile(LABRIG_TEST_PROFILES "/" + std::string(name) + ".toml");
    ASSERT_TRUE(profile.ok()) << profile.error().message();
    EXPECT_EQ(profile.value().name, name);
  }
  const Profile desktop = load_profile(LABRIG_TEST_PROFILES "/desktop.toml").value();
  Profile tiny = load_profile(LABRIG_TEST_PROFILES "/tiny-256mib.toml").value();
  EXPECT_EQ(tiny.capacity_bytes, std::uint64_t{256} << 20);
  EXPECT_EQ(tiny.matrix_flops_per_s, desktop.matrix_flops_per_s);
  EXPECT_EQ(tiny.up.staged_bytes_per_s, desktop.up.staged_bytes_per_s);
  EXPECT_EQ(tiny.launch_host_ps, desktop.launch_host_ps);
}

TEST(Profile, AnUnknownKeyIsAnErrorWithItsPlace) {
  const std::string text = changed("[order]", "[order]\nsinc_ps = 3");
  const Error error = error_of(text);
  EXPECT_EQ(error.code(), "bad-profile");
  EXPECT_EQ(error.what(), "mine.toml:" + std::to_string(line_of(text, "sinc_ps")) + ":1: unknown key 'order.sinc_ps'");
  EXPECT_EQ(error.fix(), "keys of [order]: event_ps, query_ps, queue_depth, sync_ps");
}

TEST(Profile, AnUnknownSectionIsAnError) {
  EXPECT_NE(std::string(error_of(desktop() + "\n[extra]\na = 1\n").what()).find("unknown key 'extra'"),
            std::string::npos);
}

TEST(Profile, AMissingKeyNamesTheSectionWhereItBelongs) {
  const std::string text = changed("sync_ps = 2_000_000\n", "");
  EXPECT_EQ(error_of(text).what(),
            "mine.toml:" + std::to_string(line_of(text, "[order]")) + ":1: key 'order.sync_ps' is missing");
  EXPECT_NE(std::string(error_of("name = \"x\"\nversion = 1\n").what()).find("section [capability] is missing"),
            std::string::npos);
}

TEST(Profile, AMistypedKeyIsAnErrorWithItsPlace) {
  const std::string text = changed("sync_ps = 2_000_000", "sync_ps = 2.5");
  const Error error = error_of(text);
  EXPECT_EQ(error.what(),
            "mine.toml:" + std::to_string(line_of(text, "sync_ps")) + ":11: 'order.sync_ps' must be an integer");
  EXPECT_NE(std::string(error_of(changed("bf16 = true", "bf16 = 1")).what()).find("must be true or false"),
            std::string::npos);
  EXPECT_NE(std::string(error_of(changed("name = \"desktop\"", "name = 5")).what()).find("'name' must be a string"),
            std::string::npos);
}

TEST(Profile, ValuesOutOfRangeAreErrors) {
  for (const auto& [from, to] :
       {std::pair{"bytes_per_s = 330_000_000_000", "bytes_per_s = 0"}, std::pair{"sync_ps = 2_000_000", "sync_ps = -1"},
        std::pair{"query_ps = 500_000", "query_ps = 0"}, std::pair{"queue_depth = 1024", "queue_depth = 0"},
        std::pair{"capacity_bytes = 12_884_901_888", "capacity_bytes = 900_000_000_000"},
        std::pair{"both_ways_numerator = 71", "both_ways_numerator = 101"},
        std::pair{"other_processes_bytes = 0", "other_processes_bytes = 99_000_000_000"}}) {
    EXPECT_NE(std::string(error_of(changed(from, to)).what()).find("is out of range"), std::string::npos) << to;
  }
}

TEST(Profile, BrokenTomlIsAnErrorWithItsPlace) {
  const Error error = error_of("name = \"x\"\nversion = = 1\n");
  EXPECT_EQ(std::string(error.what()).find("mine.toml:2:"), 0u);
}

TEST(Profile, NamesAreLookedUpInTheFolderOfTheEnvironment) {
  setenv("LABRIG_PROFILES", LABRIG_TEST_PROFILES, 1);
  EXPECT_TRUE(load_profile("h200").ok());
  const auto names = profile_names();
  EXPECT_NE(std::find(names.begin(), names.end(), "tiny-256mib"), names.end());
  const Result<Profile> none = load_profile("h100");
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.error().code(), "unknown-profile");
  EXPECT_NE(none.error().why().find("desktop"), std::string::npos);
  EXPECT_EQ(load_profile("/nowhere/x.toml").error().code(), "unknown-profile");
  unsetenv("LABRIG_PROFILES");
}

}  // namespace
}  // namespace labrig::sim
