// `labrig explain`: messages, codes and symptoms find their entry, however they were pasted; other texts find none. The
// texts lie in tests/golden/explain.
#include <gtest/gtest.h>

#include <fstream>
#include <regex>
#include <set>

#include "conform/error_table.hpp"
#include "conform/json_file.hpp"
#include "explain/match.hpp"

namespace labrig::explain {
namespace {

namespace fs = std::filesystem;

const Catalogue& catalogue() {
  static const Catalogue read = read_catalogue(LABRIG_BUILD "/share/labrig/explain").value();
  return read;
}

std::string first(const std::string& text) {
  const std::vector<Match> found = find_entries(catalogue(), text);
  return found.empty() ? "no entry" : found.front().entry->id;
}

struct Row {
  std::string entry, text;
};

// "entry<tab>text" a line, or the text alone; \n in a text is a line break, lines with # are comments.
std::vector<Row> rows_of(const std::string& file) {
  std::ifstream stream(LABRIG_TEST_GOLDEN "/../explain/" + file);
  std::vector<Row> rows;
  for (std::string line; std::getline(stream, line);) {
    if (line.empty() || line.front() == '#') continue;
    const std::size_t tab = line.find('\t');
    const std::string text = tab == std::string::npos ? line : line.substr(tab + 1);
    rows.push_back({tab == std::string::npos ? "no entry" : line.substr(0, tab),
                    std::regex_replace(text, std::regex(R"(\\n)"), "\n")});
  }
  EXPECT_GE(rows.size(), 30u) << file;
  return rows;
}

// What PyTorch prints to a mistake; empty where nothing was recorded under that name.
std::string recorded(const std::string& mistake) {
  static const nlohmann::json texts = conform::JsonFile::read(LABRIG_TEST_GOLDEN "/errors.json.gz").value().json();
  return texts.value(mistake, "");
}

// --- a text as people paste it
// -----------------------------------------------------------------------------------------

std::string before_each_line(const std::string& mark, const std::string& text) {
  return mark + std::regex_replace(text, std::regex("\n"), "\n" + mark);
}

std::string wrapped(const std::string& text, std::size_t columns) {
  std::string result;
  for (std::size_t at = 0; at < text.size(); at += columns) result += text.substr(at, columns) + "\n";
  return result;
}

std::string with_other_numbers(std::string text) {
  text = std::regex_replace(text, std::regex("cuda:0"), "sim:7");
  text = std::regex_replace(text, std::regex("\\bcpu\\b(?=[!, ]| and)"), "cuda:1");
  text = std::regex_replace(text, std::regex("\\[[0-9, ]+\\]"), "[64, 3, 224, 224]");
  text = std::regex_replace(text, std::regex("\\([0-9]+x[0-9]+ and [0-9]+x[0-9]+\\)"), "(1x64 and 1x2048)");
  return std::regex_replace(text, std::regex("\\b[0-9]{1,3}(\\.[0-9]+)? ?(?=GiB|MiB|elements|\\)|$)"), "517 ");
}

std::vector<std::string> pasted_forms(const std::string& text) {
  return {
      text,
      "\x1b[1;31m" + wrapped(text, 41) + "\x1b[0m",
      before_each_line("[rank3]: ", text),
      before_each_line("2026-05-01 12:00:01,123 | ERROR | ", text),
      before_each_line("E       ", text),
      before_each_line("> ", text),
      "Traceback (most recent call last):\n  File \"train.py\", line 12, in <module>\n    step(batch)\n" + text +
          "\n\nDuring handling of the above exception, another exception occurred:\n\nsubprocess.CalledProcessError: "
          "Command returned non-zero exit status 1.",
      with_other_numbers(text)};
}

TEST(Explain, PutsTheRightEntryFirstForWhatPyTorchSaysToEachMistake) {
  int texts = 0;
  for (const Row& row : rows_of("errors.tsv")) {
    const std::string text = recorded(row.text);
    if (text.empty()) continue;
    ++texts;
    for (const std::string& form : pasted_forms(text)) EXPECT_EQ(first(form), row.entry) << form;
  }
  EXPECT_GE(texts, 40);
}

TEST(Explain, PutsTheSameEntryFirstForWhatTheCoreSays) {
  conform::Target target(Device("sim"));
  for (const Row& row : rows_of("errors.tsv")) {
    const conform::Mistake* mistake = conform::mistake_named(row.text);
    if (mistake == nullptr || mistake->needs == conform::Mistake::Needs::no_cuda_card) continue;
    const std::string text = recorded(row.text);
    try {
      mistake->make({target, text});
      ADD_FAILURE() << row.text << " throws nothing";
    } catch (const Error& error) {
      EXPECT_EQ(first(error.what()), row.entry);
      EXPECT_EQ(first(error.message()), row.entry) << error.message();
      EXPECT_NE(first(error.code()), "no entry") << error.code();
    }
    target.restart();
  }
}

TEST(Explain, PutsTheRightEntryFirstForMessagesOfPublicReports) {
  for (const Row& row : rows_of("reports.tsv"))
    for (const std::string& form : pasted_forms(row.text)) EXPECT_EQ(first(form), row.entry) << form;
}

TEST(Explain, FindsSymptomsByTheirWords) {
  for (const Row& row : rows_of("symptoms.tsv")) EXPECT_EQ(first(row.text), row.entry) << row.text;
}

TEST(Explain, HasNoEntryForUnrelatedTexts) {
  for (const Row& row : rows_of("unrelated.txt")) EXPECT_EQ(first(row.text), "no entry") << row.text;
  EXPECT_EQ(first(""), "no entry");
  EXPECT_EQ(first("\x1b[31m \x1b"), "no entry");
}

// --- numbers
// -----------------------------------------------------------------------------------------------------------

TEST(Explain, CountsVisibleCards) {
  const auto note = [](const std::string& text) { return find_entries(catalogue(), text).at(0).note; };
  EXPECT_EQ(
      note("CUDA_VISIBLE_DEVICES=0,1,2,3,4,6 and the program asks for index 6: invalid device ordinal"),
      "CUDA_VISIBLE_DEVICES=0,1,2,3,4,6 shows 6 cards, and here they are numbered 0 to 5; there is no number 6. The "
      "card that nvidia-smi calls 6 is cuda:5.");
  EXPECT_EQ(
      note("CUDA_VISIBLE_DEVICES: '4, 5, 6, 7', torch.device('cuda:6')"),
      "CUDA_VISIBLE_DEVICES=4,5,6,7 shows 4 cards, and here they are numbered 0 to 3; there is no number 6. The card "
      "that nvidia-smi calls 6 is cuda:2.");
  EXPECT_EQ(
      note("CUDA_VISIBLE_DEVICES=0, local rank 3: CUDA error: invalid device ordinal"),
      "CUDA_VISIBLE_DEVICES=0 shows one card, and here it is number 0; there is no number 3, and nvidia-smi's 3 is "
      "not among them.");
  EXPECT_EQ(note("CUDA_VISIBLE_DEVICES= CUDA error: invalid device ordinal"), "");
}

TEST(Explain, KnowsALogOfLossScales) {
  EXPECT_EQ(first("[65536, 65536, 131072, 65536]"), "scale-falls");
  EXPECT_EQ(first("step 10 scale 65536.0\nstep 11 scale 32768.0\nstep 12 scale 32768.0"), "scale-falls");
  EXPECT_EQ(first("0.01, 0.02, 0.03, 0.04, 0.08, 0.12"), "no entry");
  EXPECT_EQ(first("[0.5, 0.25, 0.5, 0.25, 0.125, 0.0625]"), "scale-falls");
}

// --- the entries
// -------------------------------------------------------------------------------------------------------

TEST(Explain, HasAnEntryForEveryCodeOfTheErrorPages) {
  const std::regex code("`([a-z0-9-]+)`");
  int codes = 0;
  for (const auto& page : fs::directory_iterator(LABRIG_SOURCE "/docs/errors")) {
    std::ifstream stream(page.path());
    for (std::string line; std::getline(stream, line);) {
      if (!line.starts_with("| `")) continue;
      const std::string cell = line.substr(0, line.find('|', 1));
      for (std::sregex_iterator at(cell.begin(), cell.end(), code), end; at != end; ++at, ++codes)
        EXPECT_NE(first((*at)[1]), "no entry") << page.path() << ": " << (*at)[1];
    }
  }
  EXPECT_GE(codes, 100);
}

TEST(Explain, HasEntriesThatAreComplete) {
  static const std::set<std::string> kLabs = {"",
                                              "transfer-cost",
                                              "pinned-nonblocking",
                                              "oom-triage",
                                              "amp",
                                              "device-mismatch",
                                              "honest-timer",
                                              "small-tensors",
                                              "sync-points",
                                              "caching-allocator",
                                              "hidden-copies",
                                              "data-pipeline",
                                              "precision-switch"};
  EXPECT_GE(catalogue().entries.size(), 60u);
  for (const Entry& entry : catalogue().entries) {
    EXPECT_TRUE(kLabs.contains(entry.lab)) << entry.id << ": " << entry.lab;
    for (const std::string& fact : entry.facts)
      EXPECT_TRUE(std::regex_match(fact, std::regex("F([1-9]|[1-4][0-9]|5[0-6])"))) << entry.id << ": " << fact;
    EXPECT_EQ(first(entry.id), entry.id);
  }
}

// Remedies that are widely repeated, and wrong or harmful, stand under `avoid` where they are popular, and nowhere
// else.
TEST(Explain, RecommendsNothingThatIsOftenRepeatedAndWrong) {
  for (const Entry& entry : catalogue().entries)
    for (const char* remedy :
         {"retain_graph=True", "requires_grad_(True)", "strict=False", "weights_only=False", "nan_to_num", "'spawn'",
          "gc.collect", "with .cpu() to meet", "CUDA_LAUNCH_BLOCKING=1 on"})
      EXPECT_EQ(entry.fix.find(remedy), std::string::npos) << entry.id << ": " << remedy;
}

TEST(Explain, NamesTheLineOfAnEntryThatIsNotRight) {
  const fs::path folder = fs::temp_directory_path() / ("labrig-explain-" + std::to_string(::getpid()));
  fs::create_directory(folder);
  const auto why_not = [&](const std::string& text) {
    std::ofstream(folder / "entries.toml") << text;
    const Result<Catalogue> read = read_catalogue(folder);
    return read ? "" : std::string(read.error().what()).substr((folder / "entries.toml").string().size());
  };
  const std::string entry = "[[entry]]\nid = \"a\"\ntitle = \"t\"\ncauses = [\"c\"]\ncheck = \"c\"\nfix = \"f\"\n";
  EXPECT_EQ(why_not(entry + "codes = [\"a-code\"]\n"), "");
  EXPECT_EQ(why_not(entry + "code = [\"a-code\"]\n"), ":7:8: unknown key 'code'");
  EXPECT_EQ(why_not(entry + "codes = \"a-code\"\n"), ":7:9: 'codes' is not a list of texts");
  EXPECT_EQ(why_not(entry), ":1:1: nothing leads to this entry");
  EXPECT_EQ(why_not("[[entry]]\nid = \"a\"\n"), ":1:1: 'title' is missing in this [[entry]]");
  EXPECT_EQ(why_not(entry + "codes = [\"x\"]\n" + entry + "codes = [\"y\"]\n"), ":8:1: there is an entry 'a' already");
  EXPECT_EQ(why_not("[[entry]\n").substr(0, 5), ":1:9:");
  fs::remove_all(folder);
  EXPECT_EQ(read_catalogue(folder).error().code(), "no-installation");
}

// --- checks of labs
// ----------------------------------------------------------------------------------------------------

// The catalogue with the checks of all labs, as the command has it.
Catalogue with_checks() {
  Catalogue all = catalogue();
  for (const auto& folder : fs::directory_iterator(LABRIG_SOURCE "/labs"))
    if (const Result<spec::LabSpec> lab = spec::load_lab(folder.path()))
      for (Entry& entry : entries_of_checks(lab.value())) all.entries.push_back(std::move(entry));
  return all;
}

TEST(Explain, HasAnEntryForTheReasonCodeOfEachFlawedVariant) {
  const Catalogue all = with_checks();
  const std::regex code("^code = \"(.*)\"");
  int codes = 0;
  for (const auto& lab : fs::directory_iterator(LABRIG_SOURCE "/plugins/flawed")) {
    std::ifstream stream(lab.path() / "expected.toml");
    std::smatch found;
    for (std::string line; std::getline(stream, line);)
      if (std::regex_search(line, found, code)) {
        ++codes;
        EXPECT_FALSE(find_entries(all, found[1].str()).empty()) << lab.path() << ": " << found[1];
      }
  }
  EXPECT_GE(codes, 10);
}

TEST(Explain, MakesAnEntryOfEachCodeThatALabHasWordsFor) {
  const Catalogue all = with_checks();
  const std::vector<Match> found = find_entries(all, "too-timid");
  ASSERT_FALSE(found.empty());
  EXPECT_EQ(found.front().entry->id, "transfer-cost/worth-it/too-timid");
  EXPECT_NE(found.front().entry->causes.at(0).find("stays on the host"), std::string::npos);
}

TEST(Explain, MakesAnEntryOfEachCheckOfALab) {
  const Catalogue all = with_checks();
  for (const char* text :
       {"too-many-copies", "copies-up", "transfer-cost/copies-up",
        "28 uploads in score on desktop; the reference makes 3", "FAIL  The data goes up in too many copies"}) {
    const std::vector<Match> found = find_entries(all, text);
    ASSERT_FALSE(found.empty()) << text;
    EXPECT_EQ(found.front().entry->id, "transfer-cost/copies-up") << text;
    EXPECT_EQ(found.front().entry->lab, "transfer-cost");
    EXPECT_EQ(found.front().entry->causes.at(0).find('{'), std::string::npos);
  }
}

}  // namespace
}  // namespace labrig::explain
