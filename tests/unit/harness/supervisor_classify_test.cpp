// What the end of a worker means, for each way it can end.
#include "supervisor/classify.hpp"

#include <gtest/gtest.h>

#include <csignal>

namespace labrig::supervisor {
namespace {

using grade::Phase;
using grade::Status;

// As wait() encodes them.
constexpr int exited(int code) { return code << 8; }
constexpr int killed(int signal) { return signal; }

class Classify : public testing::Test {
 protected:
  Ending ending() const { return classify(run_, card_, report_, limits_); }
  void expect(Status status, const std::string& code, const std::string& part) const {
    const Ending end = ending();
    EXPECT_EQ(end.status, status) << grade::name_of(end.status);
    ASSERT_TRUE(end.reason.has_value());
    EXPECT_EQ(end.reason->code, code);
    EXPECT_NE(end.reason->text.find(part), std::string::npos) << end.reason->text;
    EXPECT_EQ(end.phase, run_.phase);
  }
  void come_back() {
    run_.phase = Phase::teardown;
    run_.stop = Stop::finished;
    run_.outputs.emplace();
    run_.done = true;
  }
  void with_card() {
    card_ = true;
    report_.emplace();
    report_->finished = true;
  }

  WorkerRun run_;
  bool card_ = false;
  std::optional<sim::Report> report_;
  spec::Limits limits_;
};

TEST_F(Classify, ACallThatCameBackIsOk) {
  come_back();
  EXPECT_EQ(ending().status, Status::ok);
  EXPECT_EQ(ending().phase, Phase::call);
  with_card();
  EXPECT_EQ(ending().status, Status::ok);
}

TEST_F(Classify, AnExitWithoutTheTokenIsAnEarlyStop) {
  run_.wait_status = exited(0);
  expect(Status::stopped_early, "stopped-early", "ended itself with exit code 0 while loading");
  run_.phase = Phase::call;
  run_.wait_status = exited(3);
  expect(Status::stopped_early, "stopped-early", "ended itself with exit code 3 during the call");
  run_.outputs.emplace();
  run_.phase = Phase::teardown;
  expect(Status::stopped_early, "stopped-early", "after the call");
}

TEST_F(Classify, ASignalIsACrash) {
  run_.phase = Phase::call;
  run_.wait_status = killed(SIGSEGV);
  expect(Status::crashed, "crashed", "SIGSEGV (Segmentation fault) during the call");
  run_.wait_status = killed(SIGABRT);
  expect(Status::crashed, "aborted", "aborted during the call");
}

TEST_F(Classify, TheCardsWordsAboutACrashComeFirst) {
  with_card();
  run_.wait_status = killed(SIGSEGV);
  report_->crash_text =
      "error: device pointer dereferenced on the host: sim:0+0x4\n  why: it is not host memory\n  fix: copy it";
  expect(Status::crashed, "crashed",
         "device pointer dereferenced on the host: sim:0+0x4; it is not host memory; copy it");
  EXPECT_EQ(ending().reason->text.find('\n'), std::string::npos);
}

TEST_F(Classify, LimitsOfTimeAreTimeOuts) {
  run_.phase = Phase::call;
  run_.stop = Stop::cpu_limit;
  expect(Status::timed_out, "timed-out", "of CPU time during the call");
  run_.stop = Stop::wall_limit;
  with_card();
  report_->last_command = "copy up x";
  expect(Status::timed_out, "timed-out", "most of it waiting; the last thing the card was asked for: copy up x");
  run_.stop = Stop::none;
  run_.wait_status = killed(SIGXCPU);
  expect(Status::timed_out, "timed-out", "CPU time");
}

TEST_F(Classify, ExceptionsCarryTheirOwnCode) {
  run_.phase = Phase::call;
  run_.stop = Stop::failed;
  run_.exception = grade::Reason{"shape-mismatch", "cannot add"};
  expect(Status::crashed, "shape-mismatch", "cannot add");
  run_.exception = grade::Reason{"exception", "the submission threw an exception of type int"};
  expect(Status::crashed, "exception", "of type int");
  run_.exception = grade::Reason{"out-of-memory", "CUDA out of memory"};
  expect(Status::out_of_memory, "out-of-memory", "CUDA");
  run_.exception = grade::Reason{"host-out-of-memory", "std::bad_alloc"};
  expect(Status::out_of_memory, "host-out-of-memory", "bad_alloc");
}

TEST_F(Classify, KeepsWhatWhyAndFixOfAnErrorApart) {
  run_.exception = grade::Reason{"shape-mismatch", "cannot add", "3 and 4", "transpose"};
  EXPECT_EQ(ending().reason->why, "3 and 4");
  EXPECT_EQ(ending().reason->fix, "transpose");
  run_.exception.reset();
  come_back();
  with_card();
  report_->violation_code = "out-of-memory";
  report_->violation_text = "error: no memory\n  why: 4 MiB are free,\n  and 5 asked for\n  fix: ask for less";
  EXPECT_EQ(ending().reason->text, "no memory");
  EXPECT_EQ(ending().reason->why, "4 MiB are free,;   and 5 asked for");
  EXPECT_EQ(ending().reason->fix, "ask for less");
}

TEST_F(Classify, OtherLimitsHaveTheirNames) {
  run_.stop = Stop::flood;
  expect(Status::over_limit, "output", "printed more than 16 MiB");
  run_.stop = Stop::too_large;
  expect(Status::over_limit, "large-result", "1024 MiB");
  run_.stop = Stop::none;
  with_card();
  report_->violation_code = "over-limit";
  report_->violation_text = "too many commands";
  expect(Status::over_limit, "card-limit", "too many commands");
}

TEST_F(Classify, DamagedDataIsTheWorkersDoing) {
  run_.stop = Stop::damage;
  run_.damage = "a frame holds no message";
  expect(Status::stopped_early, "damaged-data", "sent damaged data to the harness: a frame holds no message");
  with_card();
  report_->violation_code = "protocol-error";
  report_->violation_text = "sequence 7 came after 5";
  run_.stop = Stop::card_ended;
  expect(Status::stopped_early, "damaged-command", "the device got a damaged command: sequence 7 came after 5");
}

TEST_F(Classify, ARefusedCommandCountsEvenWhenItsErrorWasDropped) {
  with_card();
  come_back();
  report_->violation_code = "use-after-free";
  report_->violation_text = "read of a freed block";
  expect(Status::crashed, "use-after-free", "read of a freed block");
}

TEST_F(Classify, ACallThatNeverFinishedOnTheCardIsAnEarlyStop) {
  with_card();
  come_back();
  report_->finished = false;
  expect(Status::stopped_early, "not-finished", "never told");
}

TEST_F(Classify, ACardThatIsStillAtWorkIsTheSubmissionsDoing) {
  card_ = true;  // it lives, and has no time to report
  come_back();
  expect(Status::over_limit, "card-busy", "work that it left on the card");
  run_ = WorkerRun{};
  run_.phase = Phase::call;
  run_.wait_status = killed(SIGSEGV);
  expect(Status::crashed, "crashed", "SIGSEGV");
}

TEST_F(Classify, OutOfMemoryIsOneEndingWhicheverMemoryItWas) {
  run_.stop = Stop::failed;
  for (const char* code : {"out-of-memory", "out-of-pinned-memory", "out-of-host-memory", "host-out-of-memory"}) {
    run_.exception = grade::Reason{code, "no memory left"};
    expect(Status::out_of_memory, code, "no memory left");
  }
  run_.exception = grade::Reason{"out-of-range", "index 3"};
  expect(Status::crashed, "out-of-range", "index 3");
}

TEST_F(Classify, WhatIsOursIsAFault) {
  card_ = true;  // and no report
  come_back();
  run_.card_ended = true;
  expect(Status::fault, "card-died", "no report");
  with_card();
  run_.stop = Stop::card_ended;
  expect(Status::fault, "card-ended", "ended before");
  run_.ours = true;
  run_.exception = grade::Reason{"plugin-load", "cannot load"};
  expect(Status::fault, "lab-module", "cannot load");
}

TEST_F(Classify, AnInterruptedRunIsNotRun) {
  card_ = true;
  run_.stop = Stop::cancelled;
  expect(Status::not_run, "interrupted", "interrupted");
}

}  // namespace
}  // namespace labrig::supervisor
