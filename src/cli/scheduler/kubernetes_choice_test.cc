#include "cli/scheduler/kubernetes_choice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/scheduler/options.h"
#include "log/log.h"

namespace berth::cli::scheduler {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

KubernetesChoice Choose(const std::vector<std::string>& args) {
  return ChooseKubernetes(**ParseFlags(args));
}

TEST(KubernetesChoiceTest, AFlagChooses) {
  EXPECT_EQ(Choose({"--kubernetes-version=1.35"}).minor, 35);
  EXPECT_EQ(Choose({"--kubernetes-version=v1.36"}).minor, 36);
  EXPECT_FALSE(Choose({"--kubernetes-version=1.35"}).follows);
  const auto wrong = ParseFlags({"--kubernetes-version=1.12"});
  ASSERT_FALSE(wrong);
  EXPECT_THAT(wrong.error().err,
              HasSubstr("Error: invalid argument \"1.12\" for \"--kubernetes-version\" flag: "
                        "\"1.12\" is not a Kubernetes version from 1.34 to 1.37, nor \"auto\""));
}

// Missing credentials are reported later, in kube-scheduler's order.
TEST(KubernetesChoiceTest, WithoutAnApiServerItIsTheNewestUntilOneAnswers) {
  for (const char* flag : {"--kubeconfig=/missing", "--config=/missing"}) {
    const KubernetesChoice choice = Choose({flag});
    EXPECT_EQ(choice.minor, config::NewestKubernetes());
    EXPECT_TRUE(choice.follows);
    EXPECT_FALSE(choice.answered);
    EXPECT_THAT(choice.warnings, IsEmpty());
  }
}

TEST(KubernetesChoiceTest, GatesAndConfigurationAreThoseOfTheMinor) {
  const auto flags = ParseFlags({"--feature-gates=GangScheduling=false"});
  const auto options = Complete(**flags, {.minor = 36});
  ASSERT_TRUE(options);
  EXPECT_EQ(options->version, "v1.36.4");
  EXPECT_EQ(options->config, config::Default(config::Behaviour(config::FeatureGates(36))));
  const auto older = InMinor(**flags, *options, 35);
  ASSERT_TRUE(older) << older.error().Message();
  EXPECT_EQ(older->behaviour.kubernetes_version, "1.35");
  EXPECT_EQ(older->version, "v1.35.8");
  EXPECT_EQ(InMinor(**flags, *options, 37).error().Message(),
            "unrecognized feature gate: GangScheduling");
}

}  // namespace
}  // namespace berth::cli::scheduler
