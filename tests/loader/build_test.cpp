// Compiling a student's folder: the same plugin as CMake would build, kept by content, and errors that name the
// student's line.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "build/build_submission.hpp"
#include "loader/inspection.hpp"

namespace {

namespace fs = std::filesystem;
using namespace labrig;

// Every test has a cache of its own.
class BuildSubmission : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = fs::temp_directory_path() / "labrig-test-XXXXXX";
    scratch_ = mkdtemp(name.data());
    setenv("XDG_CACHE_HOME", (scratch_ / "cache").c_str(), 1);
    fs::create_directories(scratch_ / "mine");
    fs::copy_file(fs::path(LABRIG_TEMPLATE_SOURCE) / "solution/submission.cpp", source());
  }
  void TearDown() override {
    unsetenv("XDG_CACHE_HOME");
    unsetenv("LABRIG_CXX");
    fs::remove_all(scratch_);
  }

  fs::path source() const { return scratch_ / "mine/submission.cpp"; }
  void write(const std::string& text) { std::ofstream(source()) << text; }
  Result<build::SubmissionSource> read() const { return build::read_submission(scratch_ / "mine", {"submission.cpp"}); }
  Result<build::BuiltSubmission> build() const {
    return build::build_submission(read().value(), LABRIG_TEMPLATE_SOURCE, build::installation_at(LABRIG_ROOT));
  }

  fs::path scratch_;
};

TEST_F(BuildSubmission, GivesAPluginThatTheLadderAccepts) {
  const build::BuiltSubmission built = build().value();
  EXPECT_FALSE(built.cached);
  const loader::Inspection inspection = loader::inspect(built.plugin, {LABRIG_SUBMISSION_KIND, "scale", {}});
  EXPECT_TRUE(inspection.ok()) << inspection.rungs.back().detail;
  EXPECT_EQ(inspection.file.exported, std::vector<std::string>{LABRIG_ENTRY_SYMBOL});
}

TEST_F(BuildSubmission, CompilesTheSameContentOnce) {
  const build::BuiltSubmission first = build().value(), second = build().value();
  EXPECT_TRUE(second.cached);
  EXPECT_EQ(first.plugin, second.plugin);
  // The plugin, and its digest by which a damaged one is known.
  EXPECT_EQ(std::distance(fs::directory_iterator(first.plugin.parent_path()), {}), 2) << "something was left behind";
}

TEST_F(BuildSubmission, NamesTheStudentsLineWhenItDoesNotCompile) {
  write("#include \"interface.hpp\"\n\nint broken = ;\n");
  const auto built = build();
  ASSERT_FALSE(built.ok());
  EXPECT_EQ(built.error().code(), "does-not-build");
  EXPECT_TRUE(built.error().why().starts_with("submission.cpp:3:14: error: ")) << built.error().why();
}

TEST_F(BuildSubmission, NamesWhatTheLinkerMisses) {
  write(
      "#include \"interface.hpp\"\nint helper(int);\nint used() { return helper(1); }\n"
      "extern \"C\" __attribute__((visibility(\"default\"))) int entry() { return used(); }\n");
  const auto built = build();
  ASSERT_FALSE(built.ok());
  EXPECT_EQ(built.error().code(), "does-not-build");
  EXPECT_NE(built.error().why().find("helper(int)"), std::string::npos) << built.error().why();
}

TEST_F(BuildSubmission, SaysThatTheCompilerIsMissing) {
  setenv("LABRIG_CXX", "/no/such/compiler", 1);
  const auto built = build();
  ASSERT_FALSE(built.ok());
  EXPECT_EQ(built.error().code(), "no-compiler");
}

TEST_F(BuildSubmission, ReadsNothingButTheNamedFiles) {
  std::ofstream(scratch_ / "mine/helper.hpp") << "";
  write("#include \"helper.hpp\"\n");
  const auto built = build();
  ASSERT_FALSE(built.ok());
  EXPECT_NE(built.error().why().find("helper.hpp"), std::string::npos);
}

TEST_F(BuildSubmission, RefusesALinkThatLeadsOutOfTheFolder) {
  std::ofstream(scratch_ / "elsewhere.cpp") << "";
  fs::remove(source());
  fs::create_symlink(scratch_ / "elsewhere.cpp", source());
  ASSERT_FALSE(read().ok());
  EXPECT_EQ(read().error().code(), "unfit-file");
}

TEST_F(BuildSubmission, SaysWhichFileIsMissing) {
  fs::remove(source());
  ASSERT_FALSE(read().ok());
  EXPECT_EQ(read().error().code(), "missing-file");
}

TEST_F(BuildSubmission, HashesNamesAndContents) {
  const std::string hash = read().value().hash;
  EXPECT_EQ(hash, read().value().hash);
  fs::copy_file(source(), scratch_ / "mine/other.cpp");
  EXPECT_NE(hash, build::read_submission(scratch_ / "mine", {"other.cpp"}).value().hash);
  write("// changed\n");
  EXPECT_NE(hash, read().value().hash);
}

}  // namespace
