// Fuzzes profile files: any text is a profile with every value in its range, or an error of three sentences with its
// place. A text that starts with '@' replaces one line of the desktop profile, so that most of the file is right.
#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>

#include "choices.hpp"
#include "host/profile_fields.hpp"
#include "host/wire.hpp"

namespace labrig::sim {
namespace {

using fuzz::require;

const std::string& desktop() {
  static const std::string text = [] {
    std::ifstream file(LABRIG_TEST_PROFILES "/desktop.toml");
    std::ostringstream read;
    read << file.rdbuf();
    require(read.str().size() > 1000, "the desktop profile is there");
    return read.str();
  }();
  return text;
}

std::string patched(const std::string& patch) {
  std::istringstream lines(desktop());
  const auto replaced = static_cast<unsigned char>(patch[0]) % 90;
  std::string text, line;
  for (int i = 0; std::getline(lines, line); ++i) text += (i == replaced ? patch.substr(1) : line) + "\n";
  return text;
}

void check(const Profile& profile) {
  require(!profile.name.empty(), "a profile has a name");
  visit_fields(profile, [](const char*, const char*, const auto& member, std::int64_t least, std::int64_t most) {
    const auto value = static_cast<std::int64_t>(member);
    require(value >= least && value <= most, "every value is in its range");
  });
  require(profile.other_processes_bytes <= profile.capacity_bytes, "others hold no more than there is");
  std::int64_t time_ps = 0;
  for (const OtherProcesses& entry : profile.other_processes_schedule) {
    require(entry.at_ps > time_ps && entry.bytes <= profile.capacity_bytes, "the schedule is in order");
    require(profile.other_processes_bytes_at(entry.at_ps) == entry.bytes, "the schedule is followed");
    time_ps = entry.at_ps;
  }
  MachineOptions options;
  options.cards = {profile};
  require(encode(decode_options(encode(options))) == encode(options), "a profile reaches the card as it is");
}

}  // namespace
}  // namespace labrig::sim

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
  using namespace labrig;
  std::string text(reinterpret_cast<const char*>(data), bytes);
  if (bytes > 1 && text[0] == '@') text = sim::patched(text.substr(1));
  const Result<sim::Profile> profile = sim::parse_profile(text, "fuzz.toml");
  if (profile.ok()) {
    sim::check(profile.value());
  } else {
    const Error& error = profile.error();
    fuzz::require(std::string(error.code()) == "bad-profile", "a profile that is none is a bad-profile");
    fuzz::require(*error.what() != '\0' && !error.why().empty() && !error.fix().empty(), "errors have three sentences");
    fuzz::require(std::string(error.what()).rfind("fuzz.toml", 0) == 0, "errors name their place");
  }
  return 0;
}
