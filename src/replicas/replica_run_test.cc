#include "replicas/replica_run.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace berth::replicas {
namespace {

RunOutcome RunSeed(uint64_t seed, int64_t steps, Bug bug = Bug::kNone, bool shares = false) {
  RunOptions options;
  options.seed = seed;
  options.steps = steps;
  options.replicas = 3;
  options.bug = bug;
  options.shares_work = shares;
  return RunReplicas(options);
}

TEST(ReplicaRun, TakeoversOverfillNoNodeAndForgetNoPod) {
  RunOutcome sum;
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    const RunOutcome outcome = RunSeed(seed, 300);
    EXPECT_EQ(outcome.violation, "") << "seed " << seed;
    sum.bindings += outcome.bindings;
    sum.takeovers += outcome.takeovers;
  }
  EXPECT_GT(sum.bindings, 100u);
  EXPECT_GT(sum.takeovers, 5u);
}

TEST(ReplicaRun, HandsOverfillNoNodeAndForgetNoPod) {
  RunOutcome sum;
  for (uint64_t seed = 1; seed <= 8; ++seed) {
    const RunOutcome outcome = RunSeed(seed, 300, Bug::kNone, true);
    EXPECT_EQ(outcome.violation, "") << "seed " << seed;
    sum.bindings += outcome.bindings;
    sum.takeovers += outcome.takeovers;
    sum.carried += outcome.carried;
  }
  EXPECT_GT(sum.bindings, 100u);
  EXPECT_GT(sum.takeovers, 5u);
  EXPECT_GT(sum.carried, 100u);
}

TEST(ReplicaRun, FindsBindingsThatLeaveBeforeTheyAreLogged) {
  std::string found;
  for (uint64_t seed = 1; seed <= 20 && found.empty(); ++seed) {
    found = RunSeed(seed, 600, Bug::kSendBeforeAck, true).violation;
  }
  EXPECT_TRUE(found.starts_with("log: ")) << found;
}

TEST(ReplicaRun, ASeedIsReproducible) {
  std::vector<std::string> traces[2];
  for (auto& trace : traces) {
    RunOptions options;
    options.seed = 7;
    options.steps = 60;
    options.trace = [&](std::string_view line) { trace.emplace_back(line); };
    RunReplicas(options);
  }
  EXPECT_GT(traces[0].size(), 100u);
  EXPECT_EQ(traces[0], traces[1]);
}

TEST(ReplicaRun, FindsALeaderThatDoesNotList) {
  std::string found;
  for (uint64_t seed = 1; seed <= 20 && found.empty(); ++seed) {
    found = RunSeed(seed, 600, Bug::kNoList).violation;
  }
  EXPECT_TRUE(found.starts_with("room: ")) << found;
}

TEST(ReplicaRun, FindsRequestsThatArriveTooLate) {
  std::string found;
  for (uint64_t seed = 1; seed <= 20 && found.empty(); ++seed) {
    found = RunSeed(seed, 600, Bug::kNoTimeout).violation;
  }
  EXPECT_TRUE(found.starts_with("late: ") || found.starts_with("room: ")) << found;
}

TEST(Bug, HasAName) {
  EXPECT_EQ(BugCalled("none"), Bug::kNone);
  EXPECT_EQ(BugCalled("early-barrier"), Bug::kEarlyBarrier);
  EXPECT_FALSE(BugCalled("no-such-bug"));
}

}  // namespace
}  // namespace berth::replicas
