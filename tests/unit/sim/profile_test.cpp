// Profiles from TOML: the shipped ones read, and every mistake is answered with file, line and column.
#include "profile.hpp"

#include <gtest/gtest.h>

#include "host/profile_fields.hpp"

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
  for (const char* name : {"a100", "desktop", "h200", "rtx3060", "t4", "tiny-256mib", "tiny-t4"}) {
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

TEST(Profile, AMisspeltKeyIsToldRatherThanTheOneThatIsMissing) {
  const std::string key = changed("sync_ps", "sinc_ps"), section = changed("[order]", "[orders]");
  EXPECT_EQ(error_of(key).what(),
            "mine.toml:" + std::to_string(line_of(key, "sinc_ps")) + ":1: unknown key 'order.sinc_ps'");
  EXPECT_EQ(error_of(section).what(),
            "mine.toml:" + std::to_string(line_of(section, "[orders]")) + ":2: unknown key 'orders'");
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

// The schedule goes behind the keys of [memory].
std::string with_schedule(const std::string& entries) { return changed("[flops_per_s]", entries + "\n[flops_per_s]"); }

TEST(Profile, OtherProcessesComeAndGoByTheirSchedule) {
  const Result<Profile> read = parse_profile(with_schedule("[[memory.other_processes]]\nat_ps = 100\nbytes = 4096\n"
                                                           "[[memory.other_processes]]\nat_ps = 200\nbytes = 7\n"),
                                             "mine.toml");
  ASSERT_TRUE(read.ok()) << read.error().message();
  const Profile& profile = read.value();
  EXPECT_EQ(profile.other_processes_bytes_at(0), 0u);
  EXPECT_EQ(profile.other_processes_bytes_at(99), 0u);
  EXPECT_EQ(profile.other_processes_bytes_at(100), 4096u);
  EXPECT_EQ(profile.other_processes_bytes_at(199), 4096u);
  EXPECT_EQ(profile.other_processes_bytes_at(200), 7u);
  EXPECT_EQ(profile.other_processes_bytes_at(std::int64_t{1} << 60), 7u);
}

TEST(Profile, AScheduleIsCheckedWithItsPlace) {
  const std::string head = "[[memory.other_processes]]\n";
  const std::string text = with_schedule(head + "at_ps = 100\nbytes = 1\n" + head + "at_ps = 100\nbytes = 2");
  EXPECT_EQ(error_of(text).what(), "mine.toml:" + std::to_string(line_of(text, "at_ps = 100\nbytes = 2")) +
                                       ":9: 'memory.other_processes.at_ps' is out of range");
  EXPECT_EQ(error_of(text).fix(), "use a value from 101 to 86400000000000000");
  for (const auto& [entries, what] :
       {std::pair{head + "at_ps = 0\nbytes = 1", "is out of range"},
        std::pair{head + "at_ps = 1\nbytes = 12_884_901_889", "is out of range"},
        std::pair{head + "at_ps = 1\nbytes = -1", "is out of range"},
        std::pair{head + "at_ps = 1", "key 'memory.other_processes.bytes' is missing"},
        std::pair{head + "at_ps = 1\nbytes = 0\nwho = 3", "unknown key 'memory.other_processes.who'"},
        std::pair{head + "at_ps = nan\nbytes = 0", "must be an integer"}}) {
    EXPECT_NE(std::string(error_of(with_schedule(entries)).what()).find(what), std::string::npos) << entries;
  }
  const std::string number = changed("other_processes_bytes = 0", "other_processes_bytes = 0\nother_processes = 3");
  EXPECT_NE(std::string(error_of(number).what()).find("must be a list of tables"), std::string::npos);
  std::string many;
  for (int i = 1; i <= 1001; ++i) many += head + "at_ps = " + std::to_string(i) + "\nbytes = 0\n";
  EXPECT_EQ(error_of(with_schedule(many)).why(), "it has 1001 entries");
}

TEST(Profile, AVersionThatIsNotKnownIsSaidBeforeAnythingElse) {
  const Error error = error_of("name = \"new\"\nversion = 3\n[magic]\npower = 9\n");
  EXPECT_EQ(std::string(error.what()), "mine.toml:2:11: the profile is of version 3");
  EXPECT_NE(error.why().find("versions 1 to 2"), std::string::npos);
}

TEST(Profile, VersionOneIsReadAsItWasMeant) {
  std::string text = changed("version = 2", "version = 1");
  EXPECT_NE(std::string(error_of(text).what()).find("unknown key 'host.spread_ps'"), std::string::npos);
  const std::size_t at = text.find("spread_ps");
  text.erase(at, text.find('\n', at) - at);
  const Result<Profile> old = parse_profile(text, "mine.toml");
  ASSERT_TRUE(old.ok()) << old.error().message();
  EXPECT_EQ(old.value().host_spread_ps, 0);
  const std::size_t memory = text.find("[flops_per_s]");
  text.insert(memory, "[[memory.other_processes]]\nat_ps = 1\nbytes = 0\n");
  EXPECT_NE(std::string(error_of(text).what()).find("unknown key 'memory.other_processes'"), std::string::npos);
}

TEST(Profile, HostileFilesAreAnErrorToo) {
  EXPECT_NE(std::string(error_of(std::string(1 << 20, ' ')).what()).find("too long"), std::string::npos);
  EXPECT_EQ(error_of("a = " + std::string(100'000, '[')).code(), "bad-profile");
  EXPECT_EQ(error_of("version = 99999999999999999999999\n").code(), "bad-profile");
  EXPECT_EQ(error_of("").code(), "bad-profile");
  EXPECT_EQ(load_profile("/dev/zero/x.toml").error().code(), "unknown-profile");
}

TEST(Profile, EveryKeyIsDocumented) {
  std::ifstream file(LABRIG_TEST_DOCS "/profiles.md");
  std::ostringstream buffer;
  buffer << file.rdbuf();
  const std::string document = buffer.str();
  std::size_t fields = 1;  // `name`
  Profile profile;
  visit_fields(profile, [&](const std::string& section, const std::string& key, auto&, std::int64_t, std::int64_t) {
    const std::string name = section.empty() ? key : section + "." + key;
    EXPECT_NE(document.find("| `" + name + "` |"), std::string::npos) << name << " is not in docs/profiles.md";
    ++fields;
  });
  std::size_t rows = 0;
  const std::size_t end = document.find("## Other processes");
  for (std::size_t at = document.find("## Keys"); (at = document.find(" | `", at + 1)) < end;) ++rows;
  EXPECT_EQ(rows, fields) << "docs/profiles.md has a key that does not exist";
}

// What the cards of the course are known for (measuring.md, "Cards"): rates within a quarter.
TEST(Profile, TheCardsAreWhatTheirTableSays) {
  struct Card {
    const char* name;
    int capability;
    bool bf16, tf32;
    double memory_gb_per_s, pinned_gb_per_s, kernel_gap_us, small_copy_us, malloc_free_us;
  };
  for (const Card& card :
       {Card{"t4", 75, false, false, 239, 12.35, 3.0, 27, 54}, Card{"rtx3060", 86, true, true, 330, 26, 2.2, 15, 80},
        Card{"a100", 80, true, true, 1750, 26, 2.63, 12, 80}, Card{"h200", 90, true, true, 4200, 54, 2.48, 12, 87}}) {
    SCOPED_TRACE(card.name);
    const Profile p = load_profile(LABRIG_TEST_PROFILES "/" + std::string(card.name) + ".toml").value();
    const auto near = [](double value, double expected) { EXPECT_NEAR(value, expected, expected / 4); };
    EXPECT_EQ(p.compute_capability_major * 10 + p.compute_capability_minor, card.capability);
    EXPECT_EQ(p.bf16, card.bf16);
    EXPECT_EQ(p.tf32, card.tf32);
    near(static_cast<double>(p.memory_bytes_per_s) / 1e9, card.memory_gb_per_s);
    near(static_cast<double>(p.up.pinned_bytes_per_s) / 1e9, card.pinned_gb_per_s);
    near(static_cast<double>(p.down.pinned_bytes_per_s) / 1e9, card.pinned_gb_per_s);
    near(static_cast<double>(p.kernel_fixed_ps + p.kernel_gap_ps) / 1e6, card.kernel_gap_us);
    near(static_cast<double>(p.copy_host_ps + p.up.latency_ps + p.sync_ps) / 1e6, card.small_copy_us);
    near(static_cast<double>(p.malloc_ps + p.free_ps) / 1e6, card.malloc_free_us);
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
