// lab.toml: what is read, and that each kind of mistake is an error with its place.
#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>

#include "spec/lab_spec.hpp"
#include "spec_lab_text.hpp"

namespace labrig::spec {
namespace {

using test::kLabText;
using test::replaced;

TEST(LabToml, IsReadWithItsDefaults) {
  const LabSpec lab = parse_lab(kLabText, "lab.toml").value();
  EXPECT_EQ(lab.id, "toy");
  EXPECT_EQ(lab.pass_mark, 60);
  EXPECT_EQ(lab.limits.cpu_ms, 4000);
  ASSERT_EQ(lab.scenarios.size(), 3u);
  EXPECT_EQ(lab.scenarios[0].device, DeviceType::sim);
  EXPECT_EQ(lab.scenarios[0].parameters[1].from, 1000);
  EXPECT_EQ(lab.scenarios[1].visibility, Visibility::hidden);
  EXPECT_EQ(lab.scenarios[1].parameters[1].to, 20);
  EXPECT_TRUE(lab.scenarios[2].profiles.empty());
  ASSERT_EQ(lab.checks.size(), 4u);
  EXPECT_EQ(lab.checks[0].combine, Combine::worst);
  EXPECT_EQ(lab.checks[1].combine, Combine::mean);
  EXPECT_EQ(lab.checks[1].reference_times, 1.1);
  EXPECT_FALSE(lab.checks[1].needs.has_value());
  EXPECT_EQ(lab.check("time")->title_failed, "Slow");
  EXPECT_EQ(lab.check("none"), nullptr);
}

// `at`: the text that the error must point at, in the file with the mistake.
struct Mistake {
  const char *name, *old, *with, *at, *what;
};
void PrintTo(const Mistake& mistake, std::ostream* out) { *out << mistake.name; }

std::string position_of(const std::string& text, const std::string& part) {
  const std::size_t at = text.find(part);
  if (at == std::string::npos) throw std::logic_error("the text has no '" + part + "'");
  const auto line = std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n') + 1;
  const std::size_t start = at == 0 ? std::string::npos : text.rfind('\n', at - 1);
  return std::to_string(line) + ":" + std::to_string(at - (start == std::string::npos ? 0 : start + 1) + 1);
}

class LabTomlMistake : public testing::TestWithParam<Mistake> {};

TEST_P(LabTomlMistake, IsAnErrorWithItsPlace) {
  const Mistake& mistake = GetParam();
  const std::string text = replaced(kLabText, mistake.old, mistake.with);
  const Result<LabSpec> lab = parse_lab(text, "lab.toml");
  ASSERT_FALSE(lab.ok());
  const std::string what = lab.error().what();
  EXPECT_EQ(what.substr(0, what.find(": ")), "lab.toml:" + position_of(text, mistake.at)) << lab.error().message();
  EXPECT_NE(lab.error().message().find(mistake.what), std::string::npos) << lab.error().message();
  EXPECT_FALSE(lab.error().why().empty());
  EXPECT_FALSE(lab.error().fix().empty());
}

INSTANTIATE_TEST_SUITE_P(
    All, LabTomlMistake,
    testing::Values(
        Mistake{"NotToml", "[lab]", "[lab", "\nid = \"toy\"", "this is not TOML"},
        Mistake{"MissingKeyOfATable", "version = \"1.0.0\"", "versoin = \"1.0.0\"", "[lab]",
                "'version' is missing in [lab]"},
        Mistake{"UnknownKey", "title = \"A toy\"", "title = \"A toy\"\npasmark = 3", "3\n\n[submission]",
                "unknown key 'pasmark' in [lab]"},
        Mistake{"MissingKeyOfAListedTable", "kind = \"decide\"\n", "", "[[scenario]]\nid = \"advice\"",
                "'kind' is missing in [[scenario]]"},
        Mistake{"WrongType", "version = \"1.0.0\"", "version = 1", "1\ntitle", "expected a text, seen an integer"},
        Mistake{"WrongWord", "combine = \"worst\"", "combine = \"best\"", "\"best\"",
                "expected one of \"mean\", \"worst\", seen \"best\""},
        Mistake{"SchemaOfTheFuture", "schema = 1", "schema = 2", "2\n", "expected 1, seen 2"},
        Mistake{"RangeInAVisibleScenario", "rows = 1_000", "rows = { from = 1, to = 2 }", "{ from = 1,",
                "only hidden scenarios have ranges"},
        Mistake{"RangeTheWrongWayRound", "to = 20", "to = 5", "5, step", "expected at least 10, seen 5"},
        Mistake{"NoCards", "kind = \"score\"\nprofiles", "kind = \"score\"\ncards = 0\nprofiles", "0\nprofiles",
                "expected an integer from 1 to 8, seen 0"},
        Mistake{"CardThatIsNotThere", "kind = \"score\"\nprofiles", "kind = \"score\"\ncards = 2\ncard = 2\nprofiles",
                "2\nprofiles", "expected an integer from 0 to 1, seen 2"},
        Mistake{"CardsOfTheHost", "device = \"cpu\"", "device = \"cpu\"\ncards = 2", "2\n\n[[check]]",
                "unknown key 'cards'"},
        Mistake{"OddCapacity", "kind = \"score\"\nprofiles", "kind = \"score\"\ncapacity_mib = 3\nprofiles",
                "3\nprofiles", "expected an even number of MiB, seen 3"},
        Mistake{"CapacityOfTheHost", "device = \"cpu\"", "device = \"cpu\"\ncapacity_mib = 4", "4\n\n[[check]]",
                "expected a scenario on a card"},
        Mistake{"ZerosForValues", "kind = \"score\"\nprofiles", "kind = \"score\"\nreads = \"zeros\"\nprofiles",
                "\"zeros\"", "expected data = false beside it"},
        Mistake{"StepOfNothing", "step = 5", "step = 0", "0 }, budget", "expected a positive number, seen 0"},
        Mistake{"NoProfile", "profiles = [\"desktop\", \"h200\"]", "profiles = []", "[]\n",
                "expected at least one profile"},
        Mistake{"ScenarioTwice", "id = \"unseen\"", "id = \"small\"", "\"small\"\nkind = \"score\"\nvisibility",
                "the id 'small' is given twice"},
        Mistake{"TaskTwice", "id = 2", "id = 1", "1\ntitle = \"Second\"", "the id '1' is given twice"},
        Mistake{"CheckTwice", "id = \"time\"", "id = \"bytes-up\"", "\"bytes-up\"\ntask = 2",
                "the id 'bytes-up' is given twice"},
        Mistake{"IdWithCapitals", "id = \"toy\"", "id = \"Toy\"", "\"Toy\"", "'Toy' is no id"},
        Mistake{"UnknownTask", "task = 2", "task = 3", "3\ntitle", "there is no task '3'"},
        Mistake{"UnknownKind", "kinds = [\"decide\"]", "kinds = [\"decode\"]", "[\"decode\"]",
                "there is no scenario of the kind 'decode'"},
        Mistake{"UnknownNeed", "rule = \"ratio\"", "needs = [\"values\"]\nrule = \"ratio\"", "[\"values\"]",
                "there is no check 'values'"},
        Mistake{"NeedsItself", "rule = \"ratio\"", "needs = [\"time\"]\nrule = \"ratio\"", "[\"time\"]",
                "needs itself"},
        Mistake{"PointsNotAHundred", "points = 30", "points = 20", "20\nkinds", "sum to 90, not to 100"},
        Mistake{"NegativePoints", "points = 30", "points = -30", "-30", "expected a positive number"},
        Mistake{"TwoHints", "hints = [\"a\", \"b\", \"c\"]", "hints = [\"a\", \"b\"]", "[\"a\", \"b\"]",
                "expected three hints, seen 2"},
        Mistake{"TwoLimits", "reference_times = 1.1", "reference_times = 1.1\nlimit = 3", "\"at_most\"",
                "exactly one of limit, parameter, reference_times"},
        Mistake{"KeyOfAnotherRule", "metric = [\"time_ps\"]", "metric = [\"time_ps\"]\nlimit = 3", "3\ncode",
                "unknown key 'limit'"},
        Mistake{"UnknownKeyOfAFurtherCondition", "reference_times = 1.1",
                "reference_times = 1.1\nalso = [{ rule = \"equals\", metric = [\"launches\"], limit = 1, code = \"x\", "
                "text = \"y\", more = 3 }]",
                "3 }]", "unknown key 'more' in [[also]]"},
        Mistake{"Infinity", "points = 30", "points = inf", "inf", "expected a finite number"},
        Mistake{"NotANumber", "reference_times = 1.1", "reference_times = nan", "nan", "expected a finite number"},
        Mistake{"MetricWithASlip", "metric = [\"time_ps\"]", "metric = [\"time_pd\"]", "[\"time_pd\"]",
                "the card has one that is called 'time_ps'"},
        Mistake{"PlaceholderThatStandsForNothing", "reference_times = 1.1",
                "reference_times = 1.1\nalso = [{ rule = \"equals\", metric = [\"launches\"], limit = 1, code = \"x\", "
                "text = \"{valu} launches\" }]",
                "\"{valu}", "{valu} stands for nothing"},
        Mistake{"CauseWithoutItsNext", "hints = [\"j\"", "causes = { unwise = { cause = \"x\" } }\nhints = [\"j\"",
                "{ cause", "next"},
        Mistake{"PlaceholderOfACauseThatStandsForNothing", "hints = [\"j\"",
                "causes = { unwise = { cause = \"x\", next = \"{valu}\" } }\nhints = [\"j\"", "\"{valu}",
                "{valu} stands for nothing"},
        Mistake{"FileOutsideTheFolder", "files = [\"submission.cpp\"]", "files = [\"../other.cpp\"]", "[\"../other",
                "not a file of the student's folder"}),
    [](const testing::TestParamInfo<Mistake>& mistake) { return mistake.param.name; });

TEST(LabTomlHandout, MustHaveTheAnchorsThatChecksName) {
  const std::string text = replaced(kLabText, "rule = \"ratio\"", "handout = \"task-9\"\nrule = \"ratio\"");
  EXPECT_TRUE(parse_lab(text, "lab.toml", "<h2 id=\"task-9\">").ok());
  EXPECT_TRUE(parse_lab(text, "lab.toml").ok()) << "without a handout there is nothing to compare";
  const Result<LabSpec> lab = parse_lab(text, "lab.toml", "<h2 id=\"task-1\">");
  ASSERT_FALSE(lab.ok());
  EXPECT_EQ(std::string(lab.error().what()).find("lab.toml:" + position_of(text, "\"task-9\"")), 0u)
      << lab.error().message();
}

}  // namespace
}  // namespace labrig::spec
