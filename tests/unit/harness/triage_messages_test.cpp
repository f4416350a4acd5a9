// Texts that people paste, and what triage makes of them: the public cases, a table of further ones
// (tests/golden/triage/messages.txt), and what damage does to them.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "labrig/triage.hpp"

namespace labrig::triage {
namespace {

const std::string kFolder = LABRIG_TEST_GOLDEN "/../triage/";

std::string contents(const std::string& name) {
  std::ifstream file(kFolder + name, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  EXPECT_FALSE(text.str().empty()) << name;
  return text.str();
}

std::string joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

std::vector<std::string> split(const std::string& text, const std::string& separator) {
  std::vector<std::string> parts;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(separator, at), text.size());
    parts.push_back(text.substr(at, end - at));
    at = end + separator.size();
  }
  return parts;
}

struct Case {
  std::string name, text, cause;
  std::vector<std::string> evidence;
};

void check(const Case& wanted) {
  SCOPED_TRACE(wanted.name + ": " + wanted.text.substr(0, 200));
  const Result<Diagnosis> found = diagnose(wanted.text);
  ASSERT_TRUE(found.ok()) << found.error().message();
  const Diagnosis& d = found.value();
  EXPECT_EQ(d.cause, wanted.cause) << to_text(d);
  for (const std::string& words : wanted.evidence)
    EXPECT_NE(joined(d.evidence).find(words), std::string::npos) << words << "\n" << to_text(d);
  EXPECT_FALSE(d.title.empty());
  EXPECT_FALSE(d.todo.empty());
  EXPECT_FALSE(d.avoid.empty());
}

TEST(TriageMessages, ThePublicCasesComeOutRight) {
  const std::vector<Case> cases = {
      {"OOM-07.txt",
       "",
       "shared",
       {"7.93 - reserved 3.06 - free 0.02 = 4.85 GiB", "far more than a context", "1 and 10 MiB"}},
      {"OOM-08.txt",
       "",
       "fragmentation",
       {"1.66 + 4.84 = 6.50 GiB", "= 3.88 GiB of this process", "= 1.18 GiB of other"}},
      {"OOM-11.txt", "", "overflow", {"2^64 bytes are 17179869184.00 GiB", "about -51.00 MiB"}},
      {"OOM-12.txt", "", "capacity", {"tensors hold 7.20 GiB"}},
      {"OOM-16a.txt", "", "refused", {"= 1.73 GiB outside", "unallocated in the cache 0.48 GiB < requested 2.26 GiB"}},
      {"OOM-16b.txt", "", "refused", {"PyTorch holds nothing"}},
      {"MEM-3_summary_lost_newline.txt", "", "refused", {"= 3.42 GiB outside", "flushed 6 times", "no contradiction"}},
      {"MEM-4_eval_growth.csv", "", "eval_without_no_grad", {"3382.7", "6731.5", "1714.0", "3.9 times less"}},
  };
  for (Case c : cases) {
    c.text = contents(c.name);
    check(c);
  }
  EXPECT_NE(joined(diagnose(contents("OOM-12.txt")).value().todo).find("checkpoint stays on the card"),
            std::string::npos);
  EXPECT_NE(joined(diagnose(contents("OOM-07.txt")).value().avoid).find("red herring"), std::string::npos);
  const std::vector<std::int64_t> evaluation = {9, 10, 11, 12, 13, 14, 15, 16};
  EXPECT_EQ(diagnose(contents("MEM-4_eval_growth.csv")).value().rows, evaluation);
}

TEST(TriageMessages, EachLogOfScalesOfThePublicCaseIsTold) {
  const Diagnosis d = diagnose(contents("AMP-7_scale_logs.json")).value();
  ASSERT_EQ(d.parts.size(), 5u);
  std::string causes;
  for (const Diagnosis& part : d.parts) causes += part.subject.substr(0, 1) + " " + part.cause + "\n";
  EXPECT_EQ(causes, "a healthy\nb forward_not_finite\nc does_not_fit_f16\nd divergence\ne growth_probe\n");
  EXPECT_EQ(d.cause, "forward_not_finite");
  EXPECT_NE(joined(d.parts[1].evidence).find("double precision, which hides the zero"), std::string::npos);
}

TEST(TriageMessages, FurtherTextsComeOutRight) {
  int seen = 0;
  for (const std::string& entry : split("\n" + contents("messages.txt"), "\n== ")) {
    const std::size_t end = entry.find('\n');
    const std::vector<std::string> heading = split(entry.substr(0, end), " | ");
    if (heading.size() != 2) continue;  // the comment on top
    ++seen;
    check({heading[0], entry.substr(end + 1), heading[0], split(heading[1], "; ")});
  }
  EXPECT_GT(seen, 70);
}

// Remainders that make no sense are not printed, and every text is either diagnosed or refused with three sentences.
void expect_sane(const std::string& text) {
  const Result<Diagnosis> found = diagnose(text);
  if (!found.ok()) {
    EXPECT_FALSE(std::string(found.error().what()).empty() || found.error().why().empty() ||
                 found.error().fix().empty());
    return;
  }
  EXPECT_FALSE(found.value().cause.empty()) << text;
  const std::string evidence = joined(found.value().evidence);
  EXPECT_EQ(evidence.find("= -"), std::string::npos) << to_text(found.value());
}

TEST(TriageMessages, TextsCutAnywhereAreReadAsFarAsTheyGo) {
  for (const char* name :
       {"OOM-07.txt", "OOM-08.txt", "OOM-12.txt", "MEM-3_summary_lost_newline.txt", "MEM-4_eval_growth.csv"}) {
    const std::string text = contents(name);
    for (std::size_t length = 0; length < text.size(); length += 7) {
      expect_sane(text.substr(0, length));
      expect_sane(text.substr(length));
    }
  }
}

TEST(TriageMessages, BreaksWithinWordsDoNoHarm) {
  const std::string text = contents("OOM-08.txt");
  for (std::size_t width : {7u, 20u, 40u, 79u}) {
    std::string wrapped;
    for (std::size_t at = 0; at < text.size(); at += width) wrapped += "[rank0]: " + text.substr(at, width) + "\r\n";
    EXPECT_EQ(diagnose(wrapped).value().cause, "fragmentation") << wrapped;
  }
}

TEST(TriageMessages, DamagedBytesDoNotCrashIt) {
  std::uint32_t state = 1;
  const auto random = [&state] { return (state = state * 1664525u + 1013904223u) >> 8; };
  for (const char* name : {"OOM-07.txt", "OOM-08.txt", "MEM-3_summary_lost_newline.txt", "AMP-7_scale_logs.json"}) {
    const std::string text = contents(name);
    for (int i = 0; i < 40; ++i) {
      std::string damaged = text;
      for (int k = 0; k < 8; ++k) damaged[random() % damaged.size()] = static_cast<char>(random() & 255);
      expect_sane(damaged);
    }
  }
}

TEST(TriageMessages, TextsAboutSomethingElseAreRefusedWithAReason) {
  for (const char* text : {"", "   \n", "Hello, world", "ImportError: No module named torch", "{\"a\": 1}", "[1, 2",
                           "[\"x\"]", "a,b\n1,2\n", "1 2 x", "Expected all tensors to be on the same device",
                           "\x80\x04\x95", "\x1f\x8b\x08", "The training finished in 3.2 s with 12 MiB free"}) {
    const Result<Diagnosis> found = diagnose(text);
    ASSERT_FALSE(found.ok()) << text << "\n" << to_text(found.value());
    EXPECT_FALSE(found.error().why().empty() || found.error().fix().empty()) << text;
  }
  EXPECT_FALSE(diagnose(std::string(100000, '[')).ok());
  EXPECT_FALSE(diagnose(std::string(50000, '{') + "\"a\":" + std::string(50000, '[')).ok());
  EXPECT_FALSE(diagnose(std::string(1000, '[') + std::string(1000, ']')).ok());
}

TEST(TriageMessages, SeveralDifferentMessagesAreToldOneByOne) {
  const std::string text = contents("OOM-07.txt") + "\n" + contents("OOM-07.txt") + "\n" + contents("OOM-16a.txt");
  const Diagnosis d = diagnose(text).value();
  ASSERT_EQ(d.parts.size(), 2u);
  EXPECT_EQ(d.cause, "shared");
  EXPECT_EQ(d.parts[1].cause, "refused");
}

}  // namespace
}  // namespace labrig::triage
