#include "cli/scheduler/reloader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace berth::cli::scheduler {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(NeedsRestartTest, NamesWhatTheEngineDoesNotOwn) {
  const config::KubeSchedulerConfiguration running = config::Default();
  config::KubeSchedulerConfiguration wanted = running;
  wanted.pod_max_backoff_seconds = 99;
  wanted.profiles[0].scheduler_name = "another";
  EXPECT_THAT(NeedsRestart(running, wanted), IsEmpty()) << "these are taken up";
  wanted.leader_election.leader_elect = false;
  wanted.client_connection.qps = 7;
  wanted.parallelism = 3;
  EXPECT_THAT(NeedsRestart(running, wanted),
              ElementsAre("leaderElection", "clientConnection", "parallelism"));
}

}  // namespace
}  // namespace berth::cli::scheduler
