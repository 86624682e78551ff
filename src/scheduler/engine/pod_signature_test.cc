#include "scheduler/engine/pod_signature.h"

#include <gtest/gtest.h>

#include "cluster/objects/object_store.h"
#include "cluster/testing/builders.h"
#include "scheduler/profile_set.h"

namespace berth::scheduler {
namespace {

using cluster::FromText;
using cluster::MakePod;

class PodSignerTest : public ::testing::Test {
 protected:
  PodSignerTest() { config_ = ConfigWithoutSpread(behaviour_); }

  static config::KubeSchedulerConfiguration ConfigWithoutSpread(const config::Behaviour& b) {
    config::KubeSchedulerConfiguration config = config::Default(b);
    for (config::PluginConfig& entry : config.profiles[0].plugin_config) {
      auto* args = std::get_if<config::PodTopologySpreadArgs>(&entry.args);
      if (args != nullptr) args->defaulting_type = "List";
    }
    return config;
  }
  PodSigner Signer(std::span<const ExtraPlugin> extra = {}) {
    profiles_.emplace(*ProfileSet::Make(config_, behaviour_, cluster_, nullptr, 0, extra));
    return {*profiles_->Profiles()[0], config_};
  }
  std::string Sign(const api::Pod& pod) {
    const cluster::PodId id = cluster_.AddPod(pod);
    return Signer().Sign(cluster_, cluster_.GetPod(id));
  }
  template <class Args>
  Args* ArgsOf() {
    for (config::PluginConfig& entry : config_.profiles[0].plugin_config) {
      if (auto* args = std::get_if<Args>(&entry.args)) return args;
    }
    return nullptr;
  }
  static api::Pod With(const std::string& name, const std::string& spec) {
    api::Pod pod = MakePod(name).Requests("cpu", "1");
    const auto more = FromText<api::PodSpec>(spec);
    pod.spec.volumes = more.volumes;
    pod.spec.tolerations = more.tolerations;
    pod.spec.affinity = more.affinity;
    pod.spec.resource_claims = more.resource_claims;
    pod.spec.topology_spread_constraints = more.topology_spread_constraints;
    return pod;
  }

  config::Behaviour behaviour_{config::FeatureGates(37)};
  config::KubeSchedulerConfiguration config_;
  cluster::Cluster cluster_;
  std::optional<ProfileSet> profiles_;
};

TEST_F(PodSignerTest, WhatNoPluginReadsDoesNotMatter) {
  const std::string plain = Sign(With("a", "{}"));
  EXPECT_NE(plain, "");
  EXPECT_EQ(plain, Sign(With("b", "{}")));
  EXPECT_EQ(plain, Sign(With("c", "{'volumes':[{'name':'own','configMap':{'name':'c'}}]}")));
  api::Pod important = With("d", "{}");
  important.spec.priority = 7;
  EXPECT_EQ(plain, Sign(important));
}

TEST_F(PodSignerTest, WhatAPluginReadsMatters) {
  const std::string plain = Sign(With("a", "{}"));
  EXPECT_NE(plain, Sign(MakePod("b").Requests("cpu", "2")));
  EXPECT_NE(plain, Sign(MakePod("c").Requests("cpu", "1").Label("app", "x")));
  EXPECT_NE(plain, Sign(With("d", "{'tolerations':[{'key':'k','operator':'Exists'}]}")));
  EXPECT_NE(plain, Sign(With("e",
                             "{'affinity':{'nodeAffinity':"
                             "{'requiredDuringSchedulingIgnoredDuringExecution':"
                             "{'nodeSelectorTerms':[{'matchExpressions':[{'key':'zone',"
                             "'operator':'Exists'}]}]}}}}")));
  EXPECT_NE(plain, Sign(With("f",
                             "{'volumes':[{'name':'data','persistentVolumeClaim':"
                             "{'claimName':'c'}}]}")));
}

TEST_F(PodSignerTest, LabelsMatterUnlessTermsOfExistingPodsAreIgnored) {
  ArgsOf<config::InterPodAffinityArgs>()->ignore_preferred_terms_of_existing_pods = true;
  EXPECT_EQ(Sign(MakePod("a").Label("app", "x")), Sign(MakePod("b").Label("app", "y")));
}

TEST_F(PodSignerTest, PodsThatDependOnOthersHaveNone) {
  EXPECT_EQ(Sign(With("a", "{'resourceClaims':[{'name':'x','resourceClaimName':'c'}]}")), "");
  EXPECT_EQ(Sign(With("b",
                      "{'topologySpreadConstraints':[{'maxSkew':1,'topologyKey':'zone',"
                      "'whenUnsatisfiable':'DoNotSchedule'}]}")),
            "");
  EXPECT_EQ(Sign(With("c",
                      "{'affinity':{'podAntiAffinity':"
                      "{'requiredDuringSchedulingIgnoredDuringExecution':"
                      "[{'topologyKey':'zone','labelSelector':{}}]}}}")),
            "");
}

TEST_F(PodSignerTest, PodsThatGetDevicesForExtendedResourcesHaveNone) {
  const api::Pod pod = MakePod("a").Requests("x.com/gpu", "1");
  EXPECT_NE(Sign(pod), "");
  cluster_.MutableObjects().device_classes.Set(FromText<api::DeviceClass>(
      "{'metadata':{'name':'gpus'},'spec':{'extendedResourceName':'x.com/gpu'}}"));
  EXPECT_EQ(Sign(MakePod("b").Requests("x.com/gpu", "1")), "");
  EXPECT_NE(Sign(MakePod("c").Requests("x.com/other", "1")), "");
}

TEST_F(PodSignerTest, ProfilesWhosePodsHaveNone) {
  EXPECT_TRUE(Signer().CanSign());
  ArgsOf<config::PodTopologySpreadArgs>()->defaulting_type = "System";
  EXPECT_FALSE(Signer().CanSign()) << "default constraints";
  config_.profiles[0].plugins.multi_point.disabled.push_back({"PodTopologySpread", 0});
  std::erase_if(config_.profiles[0].plugins.multi_point.enabled,
                [](const config::Plugin& plugin) { return plugin.name == "PodTopologySpread"; });
  EXPECT_TRUE(Signer().CanSign()) << "the plugin is disabled";
  config_.extenders.emplace_back();
  EXPECT_FALSE(PodSigner(*profiles_->Profiles()[0], config_).CanSign()) << "extenders";
}

TEST_F(PodSignerTest, In135DevicesForExtendedResourcesEndBatches) {
  behaviour_ = config::Behaviour(config::FeatureGates(35));
  config_ = ConfigWithoutSpread(behaviour_);
  EXPECT_TRUE(Signer().CanSign()) << "the gate is off";
  behaviour_.dra.extended_resource = true;
  EXPECT_FALSE(Signer().CanSign());
}

TEST_F(PodSignerTest, WithoutTheGateThereAreNoSignatures) {
  behaviour_.opportunistic_batching = false;
  EXPECT_FALSE(Signer().CanSign());
}

}  // namespace
}  // namespace berth::scheduler
