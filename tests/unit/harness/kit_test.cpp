// What goes into kits, and the file of `labrig ci`.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "build/lesser_user.hpp"
#include "build/run_program.hpp"
#include "kit/ci_file.hpp"
#include "kit/visible_lab.hpp"
#include "kit/zip_file.hpp"
#include "spec/lab_spec.hpp"
#include "store/digest.hpp"

namespace labrig::kit {
namespace {

const std::vector<std::string> kFormats = {"html", "json", "junit"};

std::string message_of(const std::string& text) {
  const auto read = parse_ci_file(text, "labrig.toml", kFormats);
  return read.ok() ? "no error" : read.error().message();
}

TEST(CiFile, TakesWhatASubmissionDoesNotSayFromTheTopOfTheFile) {
  const auto read = parse_ci_file(R"(schema = 1
formats = ["json"]
secret = "COURSE_SECRET"
[[submission]]
path = "a"
lab = "one"
[[submission]]
path = "b/c"
lab = "two"
formats = ["html", "junit"]
secret = "OTHER"
out = "there"
pass_mark = 80
view = "instructor"
)",
                                  "labrig.toml", kFormats);
  ASSERT_TRUE(read.ok()) << read.error().message();
  const CiSubmission &first = read.value().at(0), &second = read.value().at(1);
  EXPECT_EQ(first.formats, std::vector<std::string>{"json"});
  EXPECT_EQ(first.secret, "COURSE_SECRET");
  EXPECT_EQ(first.out, "labrig-reports/one");
  EXPECT_EQ(first.view, View::student);
  EXPECT_FALSE(first.pass_mark);
  EXPECT_EQ(second.formats, (std::vector<std::string>{"html", "junit"}));
  EXPECT_EQ(second.secret, "OTHER");
  EXPECT_EQ(second.out, "there");
  EXPECT_EQ(second.view, View::instructor);
  EXPECT_EQ(second.pass_mark, 80);
}

TEST(CiFile, SaysWhereAMistakeStands) {
  const std::string head = "schema = 1\n[[submission]]\npath = \"a\"\nlab = \"one\"\n";
  EXPECT_NE(message_of(head + "marks = 3\n").find("labrig.toml:5:9: unknown key 'marks'"), std::string::npos)
      << message_of(head + "marks = 3\n");
  EXPECT_NE(message_of(head + "formats = [\"pdf\"]\n").find("labrig.toml:5:11: "), std::string::npos);
  EXPECT_NE(message_of(head + "pass_mark = 101\n").find("a number from 0 to 100"), std::string::npos);
  EXPECT_NE(message_of(head + "secret = \"not a name\"\n").find("the name of an environment variable"),
            std::string::npos);
  EXPECT_NE(message_of("schema = 1\n[[submission]]\nlab = \"one\"\n").find("'path' is missing"), std::string::npos);
  EXPECT_NE(message_of("schema = 2\n").find("labrig.toml:1:10: "), std::string::npos) << message_of("schema = 2\n");
  EXPECT_NE(message_of("schema = 1\n").find("submission"), std::string::npos);
}

TEST(CiFile, KeepsInsideTheRepository) {
  for (const char* path : {"../other", "/etc", "a/../../b", ""})
    EXPECT_NE(message_of(std::string("schema = 1\n[[submission]]\npath = \"") + path + "\"\nlab = \"one\"\n")
                  .find("a path inside the repository"),
              std::string::npos)
        << path;
}

TEST(CiFile, RefusesTwoSubmissionsThatWouldWriteTheSameFiles) {
  const std::string one = "[[submission]]\npath = \"a\"\nlab = \"one\"\n";
  EXPECT_NE(message_of("schema = 1\n" + one + one).find("a folder of its own"), std::string::npos);
  EXPECT_EQ(message_of("schema = 1\n" + one + one + "out = \"other\"\n"), "no error");
}

constexpr char kLab[] = R"(schema = 1
[lab]
id = "toy"
version = "1.0.0"
title = "Toy"
[submission]
files = ["submission.cpp"]
[[task]]
id = 1
title = "Do it"  # the secret of the author
[[scenario]]
id = "seen"
kind = "run"
visibility = "visible"
device = "sim"
profiles = ["desktop"]
parameters = { n = 4 }
[[scenario]]
id = "unseen"
kind = "run"
visibility = "hidden"
device = "sim"
profiles = ["desktop"]
parameters = { n = { from = 3, to = 99, step = 1 } }
[[scenario]]
id = "unseen-too"
kind = "other"
visibility = "hidden"
device = "sim"
profiles = ["desktop"]
[[check]]
id = "right"
task = 1
title = { passed = "Right", failed = "Wrong" }
points = 60
kinds = ["run", "other"]
rule = "values"
hints = ["a", "b", "c"]
[[check]]
id = "hidden-check"
task = 1
title = { passed = "x", failed = "y" }
points = 25
visibility = "hidden"
kinds = ["run"]
rule = "values"
hints = ["the trick", "b", "c"]
[[check]]
id = "only-there"
task = 1
title = { passed = "x", failed = "y" }
points = 5
kinds = ["other"]
rule = "values"
hints = ["a", "b", "c"]
[[check]]
id = "last"
task = 1
title = { passed = "x", failed = "y" }
points = 10
kinds = ["run"]
needs = ["right", "hidden-check"]
rule = "equals"
metric = ["launches"]
limit = 1
code = "many"
text = "{value}"
hints = ["a", "b", "c"]
)";

TEST(VisibleLab, LeavesOutWhatIsHiddenAndWhatOnlyThatHas) {
  ASSERT_TRUE(spec::parse_lab(kLab, "lab.toml").ok()) << spec::parse_lab(kLab, "lab.toml").error().message();
  const std::string text = visible_lab(kLab, "lab.toml");
  for (const char* word : {"unseen", "hidden", "99", "the trick", "only-there", "other", "secret of the author"})
    EXPECT_EQ(text.find(word), std::string::npos) << word << " in\n" << text;
  const auto lab = spec::parse_lab(text, "lab.toml");
  ASSERT_TRUE(lab.ok()) << lab.error().message();
  EXPECT_EQ(lab.value().scenarios.size(), 1u);
  ASSERT_EQ(lab.value().checks.size(), 2u);
  EXPECT_EQ(lab.value().check("right")->kinds, std::vector<std::string>{"run"});
  EXPECT_EQ(lab.value().check("last")->needs, std::vector<std::string>{"right"});
  EXPECT_EQ(lab.value().points, 70);
}

TEST(VisibleLab, IsTheSameLabWhereNothingIsHidden) {
  const std::string once = visible_lab(kLab, "lab.toml");
  EXPECT_EQ(visible_lab(once, "lab.toml"), once);
}

TEST(VisibleLab, RefusesALabWithoutAVisibleScenario) {
  EXPECT_THROW(visible_lab("[[scenario]]\nid = \"a\"\nvisibility = \"hidden\"\n[[check]]\nid = \"b\"\n", "lab.toml"),
               Error);
  EXPECT_THROW(visible_lab("not toml", "lab.toml"), Error);
}

TEST(LesserUser, IsAskedForByNameAndNeverRoot) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root has lesser users";
  const std::vector<std::string> plain = {"/usr/bin/id", "-u"};
  ::unsetenv("LABRIG_RUN_AS");
  EXPECT_EQ(build::as_lesser_user(plain), plain);
  ::setenv("LABRIG_RUN_AS", "root", 1);
  EXPECT_THROW(build::lesser_user(), Error);
  ::setenv("LABRIG_RUN_AS", "no-user-of-this-name", 1);
  EXPECT_THROW(build::lesser_user(), Error);
  ::setenv("LABRIG_RUN_AS", "nobody", 1);
  const build::RunResult run = build::run_program(build::as_lesser_user({"/bin/sh", "-c", "id -u; id -G; umask"}), {});
  const build::LesserUser user = build::lesser_user().value();
  EXPECT_TRUE(run.output.starts_with(std::to_string(user.uid) + "\n" + std::to_string(user.gid) + "\n")) << run.output;
  ::unsetenv("LABRIG_RUN_AS");
}

TEST(ZipFile, HasTheSameBytesWheneverItIsWritten) {
  namespace fs = std::filesystem;
  const fs::path folder = fs::temp_directory_path() / store::random_token();
  fs::create_directories(folder / "in/side");
  std::ofstream(folder / "in/b") << "two";
  std::ofstream(folder / "in/side/a") << "one";
  fs::permissions(folder / "in/b", fs::perms(0750));
  write_zip(folder / "in", folder / "first.zip");
  fs::last_write_time(folder / "in/b", fs::file_time_type::clock::now() - std::chrono::hours(48));
  write_zip(folder / "in", folder / "second.zip");
  const std::string bytes = store::read_file(folder / "first.zip").value();
  EXPECT_EQ(bytes, store::read_file(folder / "second.zip").value());
  EXPECT_TRUE(bytes.starts_with("PK\3\4"));
  EXPECT_LT(bytes.find("b"), bytes.find("side/a"));
  EXPECT_THROW(write_zip(folder / "in", "/proc/nothing/here.zip"), Error);
  fs::remove_all(folder);
}

}  // namespace
}  // namespace labrig::kit
