#include "cli/scheduler/serving.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace berth::cli::scheduler {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

SchedulerOptions WithoutPort() {
  SchedulerOptions options;
  options.config = config::Default();
  options.serving.port = 0;
  return options;
}

TEST(ServingTest, CurvePreferencesAreTheOnesGoKnows) {
  struct Row {
    std::vector<int32_t> curves;
    const char* error;
  };
  const Row rows[] = {
      {{}, ""},
      {{29, 23, 4588}, ""},
      {{23, 24, 23}, "duplicate curve preference 23"},
      {{0}, "curve preference 0 is out of range (must be 1-65535)"},
      {{70000}, "curve preference 70000 is out of range (must be 1-65535)"},
      {{26}, "curve preference 26 is not supported by the current Go version"},
  };
  for (const Row& row : rows) {
    ServingOptions serving;
    serving.curve_preferences = row.curves;
    const auto checked = CheckServing(serving);
    EXPECT_EQ(checked ? "" : checked.error().Message(), row.error);
  }
}

TEST(ServingTest, DisabledMetricsAreNotShown) {
  const auto loop = net::MakeSystemLoop();
  SchedulerOptions options = WithoutPort();
  auto all = Serving::Make(options, *loop);
  ASSERT_TRUE(all) << all.error().Message();
  EXPECT_THAT((*all)->Metrics().WriteText(), HasSubstr("scheduler_pending_pods"));
  options.metrics.disabled = {"scheduler_pending_pods"};
  auto fewer = Serving::Make(options, *loop);
  ASSERT_TRUE(fewer) << fewer.error().Message();
  EXPECT_THAT((*fewer)->Metrics().WriteText(), Not(HasSubstr("scheduler_pending_pods")));
}

TEST(ServingTest, AMissingKubeconfigForReviewsIsSaidAsKubeSchedulerSaysIt) {
  const auto loop = net::MakeSystemLoop();
  SchedulerOptions options = WithoutPort();
  options.serving.port = 10259;
  options.authentication.kubeconfig = "missing.conf";
  const auto serving = Serving::Make(options, *loop);
  ASSERT_FALSE(serving);
  EXPECT_EQ(serving.error().Message(),
            "failed to get delegated authentication kubeconfig: failed to get delegated "
            "authentication kubeconfig: stat missing.conf: no such file or directory");
  options.authentication.kubeconfig.clear();
  options.authorization.kubeconfig = "missing.conf";
  EXPECT_EQ(Serving::Make(options, *loop).error().Message(),
            "failed to get delegated authorization kubeconfig: stat missing.conf: no such file or "
            "directory");
}

}  // namespace
}  // namespace berth::cli::scheduler
