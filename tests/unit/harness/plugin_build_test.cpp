// What surrounds the compiler: running a program within limits, and picking the message that a student reads first.
#include <gtest/gtest.h>

#include <csignal>

#include "build/compiler_messages.hpp"
#include "build/run_program.hpp"

namespace labrig::build {
namespace {

TEST(RunProgram, KeepsOutputAndExitCode) {
  const RunResult run = run_program({"sh", "-c", "echo out; echo err >&2; exit 3"}, {});
  EXPECT_TRUE(run.started);
  EXPECT_EQ(run.exit_code, 3);
  EXPECT_EQ(run.output, "out\nerr\n");
  EXPECT_EQ(run.ending(), "exit code 3");
}

TEST(RunProgram, SaysThatThereIsNoSuchProgram) {
  const RunResult run = run_program({"/no/such/program"}, {});
  EXPECT_FALSE(run.started);
  EXPECT_FALSE(run.succeeded());
}

TEST(RunProgram, StopsWhatDoesNotEndWithEverythingItStarted) {
  RunOptions options;
  options.wall_ms = 100;
  const RunResult run = run_program({"sh", "-c", "sleep 600 & sleep 600"}, options);
  EXPECT_TRUE(run.timed_out);
  EXPECT_FALSE(run.succeeded());
}

TEST(RunProgram, DoesNotWaitForAChildThatKeepsItsOutputOpen) {
  const RunResult run = run_program({"sh", "-c", "sleep 600 & echo done"}, {});
  EXPECT_TRUE(run.succeeded());
  EXPECT_EQ(run.output, "done\n");
}

TEST(RunProgram, CutsOutputAtTheLimit) {
  RunOptions options;
  options.output_bytes = 10;
  const RunResult run = run_program({"sh", "-c", "echo 0123456789012345"}, options);
  EXPECT_EQ(run.output, "0123456789");
  EXPECT_TRUE(run.output_cut);
  EXPECT_TRUE(run.succeeded());
}

TEST(RunProgram, TellsASignalFromAnExit) {
  const RunResult run = run_program({"sh", "-c", "kill -SEGV $$"}, {});
  EXPECT_EQ(run.signal, SIGSEGV);
  EXPECT_FALSE(run.succeeded());
}

TEST(RunProgram, ListensOnAPrivateChannel) {
  RunOptions options;
  options.channel = true;
  const RunResult run = run_program({"sh", "-c", "echo private >&3; echo public"}, options);
  EXPECT_EQ(run.channel, "private\n");
  EXPECT_EQ(run.output, "public\n");
}

TEST(CompilerMessages, AreLedByTheFirstError) {
  EXPECT_EQ(first_error("submission.cpp: In function 'int f()':\nsubmission.cpp:4:3: warning: unused\n"
                        "submission.cpp:5:1: error: expected ';'\n    5 | int g()\n      | ^\n"
                        "submission.cpp:9:9: error: another\n"),
            "submission.cpp:5:1: error: expected ';'\n    5 | int g()\n      | ^\nand 1 more error");
}

TEST(CompilerMessages, NameTheStudentsLineWhenAHeaderFails) {
  EXPECT_EQ(first_error("/usr/include/x.h: In instantiation of 'f<int>':\nsubmission.cpp:7:5:   required from here\n"
                        "/usr/include/x.h:90:8: error: no type named 'y'\n"),
            "submission.cpp:7:5: x.h:90:8: error: no type named 'y'");
}

TEST(CompilerMessages, ListTheFunctionsThatAClassDoesNotHave) {
  EXPECT_EQ(
      first_error(
          "/home/me/include/labrig/plugin.hpp: In instantiation of 'make_entry()':\n"
          "submission.cpp:6:1:   required from here\n"
          "/home/me/include/labrig/plugin.hpp:54:65: error: invalid new-expression of abstract class type 'Mine'\n"
          "   54 |   new Object()\n      |   ^~~\n"
          "submission.cpp:2:7: note:   because the following virtual functions are pure within 'Mine':\n"
          "/home/me/labs/x/interface.hpp:65:26: note:     'virtual bool Submission::worth_moving(const Work&)'\n"),
      "submission.cpp:6:1: labrig/plugin.hpp:54:65: error: invalid new-expression of abstract class type 'Mine'\n"
      "these functions of the interface are not written, or not with these parameters:\n"
      "  virtual bool Submission::worth_moving(const Work&)");
}

TEST(CompilerMessages, CutMessagesAboutTemplates) {
  EXPECT_EQ(first_error("submission.cpp:1:1: error: " + std::string(5000, 'x')).size(), 304u);
}

TEST(CompilerMessages, NameWhatTheLinkerMisses) {
  EXPECT_EQ(
      first_error(
          "/usr/bin/ld: /tmp/cc.o: in function `g()':\nsubmission.cpp:(.text+0x1): undefined reference to `helper()'\n"
          "collect2: error: ld returned 1 exit status\n"),
      "undefined reference to `helper()'");
  std::string many;
  for (int i = 0; i < 10; ++i)
    for (int twice = 0; twice < 2; ++twice)
      many += "submission.cpp:(.text+0x1): undefined reference to `f" + std::to_string(i) + "()'\n";
  const std::string told =
      first_error(many + "b.cpp:(.text+0x0): multiple definition of `g()'; a.cpp:(.text+0x0): first\n");
  EXPECT_TRUE(told.starts_with("undefined reference to `f0()'\nundefined reference to `f1()'\n")) << told;
  EXPECT_TRUE(told.ends_with("`f7()'\nand 3 more")) << told;
  EXPECT_EQ(first_error("b.cpp:(.text+0x0): multiple definition of `g()'; a.cpp:(.text+0x0): first defined here\n"),
            "multiple definition of `g()'");
}

}  // namespace
}  // namespace labrig::build
