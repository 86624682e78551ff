#include "kube/auth/process_runner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>

#include "net/testing/fake_loop.h"

namespace berth::kube {
namespace {

using ::testing::HasSubstr;
using Kind = ProcessResult::Kind;

// A loop whose Post may be called from any thread; the test waits for tasks and runs them.
class PostingLoop final : public net::Loop {
 public:
  void Post(Task task) override {
    const std::lock_guard lock(mutex_);
    tasks_.push_back(std::move(task));
    arrived_.notify_one();
  }
  TimerId After(net::Nanoseconds delay, Task task) override {
    return fake_.After(delay, std::move(task));
  }
  void Cancel(TimerId timer) override { fake_.Cancel(timer); }
  api::Time Now() const override { return fake_.Now(); }
  net::Nanoseconds Steady() const override { return fake_.Steady(); }
  double Random() override { return fake_.Random(); }

  void RunOne() {
    std::unique_lock lock(mutex_);
    arrived_.wait(lock, [&] { return !tasks_.empty(); });
    Task task = std::move(tasks_.front());
    tasks_.pop_front();
    lock.unlock();
    task();
  }
  void RunAll() {
    while (!tasks_.empty()) RunOne();
  }

 private:
  net::FakeLoop fake_;
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::deque<Task> tasks_;
};

ProcessSpec Shell(const std::string& script) {
  ProcessSpec spec;
  spec.command = "sh";
  spec.args = {"-c", script};
  spec.env = {"PATH=/usr/bin:/bin", "NAME=value"};
  return spec;
}

ProcessResult RunToEnd(ProcessSpec spec) {
  PostingLoop loop;
  const auto runner = MakeProcessRunner(loop);
  std::optional<ProcessResult> got;
  runner->Run(std::move(spec), [&](ProcessResult result) { got = std::move(result); });
  EXPECT_FALSE(got) << "never from inside the call";
  loop.RunOne();
  return got.value_or(ProcessResult{});
}

TEST(ProcessRunner, OutputAndExitCode) {
  const ProcessResult fine = RunToEnd(Shell("echo $NAME; cat"));
  EXPECT_EQ(fine.kind, Kind::kExited) << fine.error;
  EXPECT_EQ(fine.exit_code, 0);
  EXPECT_EQ(fine.output, "value\n") << "standard input is empty";
  EXPECT_EQ(RunToEnd(Shell("exit 7")).exit_code, 7);
  EXPECT_EQ(RunToEnd(Shell("kill -9 $$")).exit_code, -1);
}

TEST(ProcessRunner, ProgramsThatAreNotThere) {
  ProcessSpec spec = Shell("");
  for (const std::string command :
       {"no-such-program-here", "/no/such/program", "/etc/passwd", "/"}) {
    spec.command = command;
    EXPECT_EQ(RunToEnd(spec).kind, Kind::kNotFound) << command;
  }
}

TEST(ProcessRunner, EndlessProgramsAreEnded) {
  ProcessSpec sleeping = Shell("sleep 1000 & sleep 1000");
  sleeping.timeout = std::chrono::milliseconds(50);
  const ProcessResult late = RunToEnd(sleeping);
  EXPECT_EQ(late.kind, Kind::kFailed);
  EXPECT_THAT(late.error, HasSubstr("no answer within"));

  ProcessSpec silent = Shell("exec >&-; sleep 1000");
  silent.timeout = std::chrono::milliseconds(50);
  EXPECT_EQ(RunToEnd(silent).kind, Kind::kFailed);

  ProcessSpec chatty =
      Shell("while :; do echo xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx; done");
  chatty.max_output = 10'000;
  const ProcessResult too_much = RunToEnd(chatty);
  EXPECT_EQ(too_much.kind, Kind::kFailed);
  EXPECT_EQ(too_much.error, "output is larger than 10000 bytes");
}

TEST(ProcessRunner, DestroyingItEndsTheProgramAndDropsTheCallback) {
  PostingLoop loop;
  auto runner = MakeProcessRunner(loop);
  bool called = false;
  runner->Run(Shell("sleep 1000"), [&](ProcessResult) { called = true; });
  runner.reset();
  loop.RunAll();
  EXPECT_FALSE(called);
}

TEST(ProcessRunner, ASecondRunReplacesTheFirst) {
  PostingLoop loop;
  const auto runner = MakeProcessRunner(loop);
  std::string got;
  runner->Run(Shell("sleep 1000"), [&](ProcessResult) { got += "first"; });
  runner->Run(Shell("echo second"), [&](ProcessResult result) { got += result.output; });
  loop.RunOne();
  if (got.empty()) loop.RunOne();
  EXPECT_EQ(got, "second\n");
}

}  // namespace
}  // namespace berth::kube
