#include "cli/behaviour_flags.h"

#include <gtest/gtest.h>

namespace berth::cli {
namespace {

Result<config::Behaviour> Parse(const std::vector<std::string>& args) {
  BehaviourFlags behaviour;
  term::Flags flags;
  behaviour.Add(flags);
  std::vector<std::string> rest;
  if (auto ok = flags.Parse(args, &rest); !ok) return Fail(ok.error());
  return behaviour.Make("test");
}

TEST(BehaviourFlags, GatesAreFollowed) {
  const auto parse = [](const std::string& gates) {
    return Parse({"--kubernetes-version=1.34", "--feature-gates=" + gates}).value();
  };
  EXPECT_EQ(parse(""), config::Behaviour(config::FeatureGates(34)));
  EXPECT_FALSE(parse("").dra.taints);
  EXPECT_TRUE(parse("DRADeviceTaints=true").dra.taints);
}

TEST(BehaviourFlags, WithoutAClusterItIsTheNewestKubernetes) {
  EXPECT_EQ(Parse({}).value(), config::Behaviour(config::FeatureGates(37)));
}

TEST(BehaviourFlags, MistakesNameTheFlag) {
  EXPECT_EQ(Parse({"--feature-gates=Nope=true"}).error().Message(),
            "--feature-gates: unrecognized feature gate: Nope");
  EXPECT_FALSE(Parse({"--kubernetes-version=1.2"}));
  EXPECT_FALSE(Parse({"--kubernetes-version=latest"}));
  EXPECT_EQ(Parse({"--kubernetes-version=1.34"}).value().kubernetes_version, "1.34");
}

}  // namespace
}  // namespace berth::cli
