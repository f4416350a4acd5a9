// Reference figures and report folders: what is kept, what is found again, what is never overwritten.
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "grade_cases.hpp"
#include "store/atomic_file.hpp"
#include "store/digest.hpp"
#include "store/run_folder.hpp"
#include "supervisor/reference_store.hpp"

namespace labrig {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

class Folder : public testing::Test {
 protected:
  Folder() {
    std::string pattern = (fs::temp_directory_path() / "labrig-store-XXXXXX").string();
    path_ = mkdtemp(pattern.data());
  }
  ~Folder() override {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  fs::path path_;
};

TEST(Digest, IsSha256) {
  EXPECT_EQ(store::sha256_hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(store::hex(store::hmac_sha256("key", {"ab", "c"})).size(), 64u);
  EXPECT_NE(store::hmac_number("key", {"ab", "c"}), store::hmac_number("key", {"a", "bc"}));
  EXPECT_NE(store::random_token(), store::random_token());
}

using AtomicFile = Folder;

TEST_F(AtomicFile, IsKeptOrReplacedAsAsked) {
  const fs::path file = path_ / "a" / "b.txt";
  EXPECT_TRUE(store::write_atomically(file, "one", store::Existing::keep));
  EXPECT_FALSE(store::write_atomically(file, "two", store::Existing::keep));
  EXPECT_EQ(store::read_file(file).value(), "one");
  EXPECT_TRUE(store::write_atomically(file, "three", store::Existing::replace));
  EXPECT_EQ(store::read_file(file).value(), "three");
  EXPECT_EQ(std::distance(fs::directory_iterator(file.parent_path()), fs::directory_iterator()), 1);
  EXPECT_THROW(store::write_atomically("/proc/none/file", "x", store::Existing::keep), Error);
}

using RunFolder = Folder;

Json report(const std::string& name, const std::string& hash, const std::string& lab = "toy") {
  return {{"lab", {{"id", lab}}}, {"submission", {{"name", name}, {"hash", hash}}}, {"n", hash}};
}

TEST_F(RunFolder, TakesANewReportOfTheSameSubmissionAndNoOther) {
  store::write_run(path_, report("ann", "1"), {{"report.html", "page 1"}});
  store::write_run(path_, report("ann", "2"), {{"report.html", "page 2"}});
  EXPECT_EQ(Json::parse(store::read_file(path_ / "report.json").value()).at("n"), "2");
  EXPECT_EQ(store::read_file(path_ / "report.html").value(), "page 2");
  for (const Json& other : {report("ben", "3"), report("ann", "2", "other-lab")}) {
    try {
      store::write_run(path_, other, {{"report.html", "page 3"}});
      FAIL() << "a report of another submission was overwritten";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), "other-report");
    }
  }
  EXPECT_EQ(store::read_file(path_ / "report.html").value(), "page 2");
  store::write_run(path_, report("ann renamed", "2"), {});
}

class References : public Folder {
 protected:
  References() { lab_.folder = path_; }
  // The case on the host: no profile is needed.
  spec::Case host_case() const { return spec::plan_cases(lab_, {}).back(); }
  grade::Reference figures(double regret) const { return {{{"launches", 3}}, {{"regret", regret}}, 12, nullptr}; }
  supervisor::ReferenceStore open() const { return {lab_, path_ / "cache", {path_ / "solution"}}; }

  spec::LabSpec lab_ = test::toy_lab();
};

TEST_F(References, AreFoundAgainUntilWhatMadeThemChanges) {
  EXPECT_FALSE(open().find(host_case()).has_value());
  open().keep(host_case(), figures(0.5));
  ASSERT_TRUE(open().find(host_case()).has_value());
  EXPECT_EQ(open().find(host_case())->figures.at("regret"), 0.5);
  EXPECT_EQ(open().find(host_case())->metrics, figures(0.5).metrics);
  std::ofstream(path_ / "solution") << "another";
  EXPECT_FALSE(open().find(host_case()).has_value());
}

TEST_F(References, ThatShipWithTheLabComeFirst) {
  grade::CaseOutcome outcome;
  outcome.plan = host_case();
  outcome.reference = figures(0.25);
  store::write_atomically(path_ / "reference.json", supervisor::shipped_figures(lab_, {outcome}),
                          store::Existing::keep);
  EXPECT_TRUE(open().find(host_case())->trace.is_null());
  grade::Reference kept = figures(0.5);
  kept.trace = {{"cut", false}};
  open().keep(host_case(), kept);
  EXPECT_EQ(open().find(host_case())->figures.at("regret"), 0.25);
  EXPECT_EQ(open().find(host_case())->trace, kept.trace) << "traces do not ship";
  EXPECT_EQ(open().find(host_case())->cpu_ms, 200) << "rounded up";
}

TEST_F(References, InADamagedFileAreNoFigures) {
  open().keep(host_case(), figures(0.5));
  for (const auto& file : fs::recursive_directory_iterator(path_ / "cache"))
    if (file.is_regular_file()) std::ofstream(file.path()) << "{\"metrics\": 3";
  EXPECT_FALSE(open().find(host_case()).has_value());
}

TEST_F(References, HaveAKeyForEachShape) {
  spec::Case plan = host_case();
  const std::string key = supervisor::case_key(lab_, plan);
  plan.seed += 1;
  EXPECT_EQ(supervisor::case_key(lab_, plan), key) << "figures do not depend on the data";
  plan.parameters["rows"] = 3;
  EXPECT_NE(supervisor::case_key(lab_, plan), key);
  lab_.version = "2";
  EXPECT_NE(supervisor::case_key(lab_, host_case()), key);
}

}  // namespace
}  // namespace labrig
