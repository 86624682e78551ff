#include "server/endpoints/configz.h"

#include <gtest/gtest.h>

#include "config/config.h"

namespace berth::server {
namespace {

// What kube-scheduler answers when it is given nothing but --kubeconfig.
// clang-format off
constexpr const char* kRecorded =
    R"({"componentconfig":{"apiVersion":"kubescheduler.config.k8s.io/v1","Parallelism":16,"L)"
    R"(eaderElection":{"LeaderElect":true,"LeaseDuration":"15s","RenewDeadline":"10s","Retry)"
    R"(Period":"2s","ResourceLock":"leases","ResourceName":"kube-scheduler","ResourceNamespa)"
    R"(ce":"kube-system"},"ClientConnection":{"Kubeconfig":"sched.kubeconfig","AcceptContent)"
    R"(Types":"","ContentType":"application/vnd.kubernetes.protobuf","QPS":50,"Burst":100},")"
    R"(EnableProfiling":true,"EnableContentionProfiling":true,"PercentageOfNodesToScore":0,")"
    R"(PodInitialBackoffSeconds":1,"PodMaxBackoffSeconds":10,"Profiles":[{"SchedulerName":"d)"
    R"(efault-scheduler","PercentageOfNodesToScore":null,"Plugins":{"PreEnqueue":{"Enabled":)"
    R"(null,"Disabled":null},"QueueSort":{"Enabled":null,"Disabled":null},"PreFilter":{"Enab)"
    R"(led":null,"Disabled":null},"Filter":{"Enabled":null,"Disabled":null},"PostFilter":{"E)"
    R"(nabled":null,"Disabled":null},"PreScore":{"Enabled":null,"Disabled":null},"Score":{"E)"
    R"(nabled":null,"Disabled":null},"Reserve":{"Enabled":null,"Disabled":null},"Permit":{"E)"
    R"(nabled":null,"Disabled":null},"PreBind":{"Enabled":null,"Disabled":null},"Bind":{"Ena)"
    R"(bled":null,"Disabled":null},"PostBind":{"Enabled":null,"Disabled":null},"MultiPoint":)"
    R"({"Enabled":[{"Name":"SchedulingGates","Weight":0},{"Name":"PrioritySort","Weight":0},)"
    R"({"Name":"NodeUnschedulable","Weight":0},{"Name":"NodeName","Weight":0},{"Name":"Taint)"
    R"(Toleration","Weight":3},{"Name":"NodeAffinity","Weight":2},{"Name":"NodePorts","Weigh)"
    R"(t":0},{"Name":"NodeResourcesFit","Weight":1},{"Name":"VolumeRestrictions","Weight":0})"
    R"(,{"Name":"NodeVolumeLimits","Weight":0},{"Name":"VolumeBinding","Weight":0},{"Name":")"
    R"(VolumeZone","Weight":0},{"Name":"PodTopologySpread","Weight":2},{"Name":"InterPodAffi)"
    R"(nity","Weight":2},{"Name":"DynamicResources","Weight":0},{"Name":"DefaultPreemption",)"
    R"("Weight":0},{"Name":"NodeResourcesBalancedAllocation","Weight":1},{"Name":"ImageLocal)"
    R"(ity","Weight":1},{"Name":"DefaultBinder","Weight":0}],"Disabled":null}},"PluginConfig)"
    R"(":[{"Name":"DefaultPreemption","Args":{"MinCandidateNodesPercentage":10,"MinCandidate)"
    R"(NodesAbsolute":100}},{"Name":"DynamicResources","Args":{"FilterTimeout":"10s"}},{"Nam)"
    R"(e":"InterPodAffinity","Args":{"HardPodAffinityWeight":1,"IgnorePreferredTermsOfExisti)"
    R"(ngPods":false}},{"Name":"NodeAffinity","Args":{"AddedAffinity":null}},{"Name":"NodeRe)"
    R"(sourcesBalancedAllocation","Args":{"Resources":[{"Name":"cpu","Weight":1},{"Name":"me)"
    R"(mory","Weight":1}]}},{"Name":"NodeResourcesFit","Args":{"IgnoredResources":null,"Igno)"
    R"(redResourceGroups":null,"ScoringStrategy":{"Type":"LeastAllocated","Resources":[{"Nam)"
    R"(e":"cpu","Weight":1},{"Name":"memory","Weight":1}],"RequestedToCapacityRatio":null}}})"
    R"(,{"Name":"PodTopologySpread","Args":{"DefaultConstraints":null,"DefaultingType":"Syst)"
    R"(em"}},{"Name":"VolumeBinding","Args":{"BindTimeoutSeconds":600,"Shape":null}}]}],"Ext)"
    R"(enders":null,"DelayCacheUntilActive":false}})";
// clang-format on

config::Behaviour BehaviourOf(int minor) { return config::Behaviour(config::FeatureGates(minor)); }

TEST(Configz, TheDefaultConfigurationAsRecorded) {
  config::KubeSchedulerConfiguration config = config::Default();
  config.client_connection.kubeconfig = "sched.kubeconfig";
  EXPECT_EQ(ConfigzText(config, BehaviourOf(34)), kRecorded);
}

TEST(Configz, ExtendersArePrintedWithoutTheirKeys) {
  config::KubeSchedulerConfiguration config = config::Default();
  config::Extender extender;
  extender.url_prefix = "https://x";
  extender.weight = 5;
  extender.http_timeout.ns = 5'000'000'000;
  extender.tls_config.emplace();
  extender.tls_config->cert_data.data = "cert";
  extender.tls_config->key_data.data = "secret";
  extender.managed_resources.push_back({"example.com/gpu", true});
  config.extenders.push_back(extender);
  const std::string text = ConfigzText(config, BehaviourOf(34));
  EXPECT_NE(
      text.find(
          R"("Extenders":[{"URLPrefix":"https://x","FilterVerb":"","PreemptVerb":"",)"
          R"("PrioritizeVerb":"","Weight":5,"BindVerb":"","EnableHTTPS":false,)"
          R"("TLSConfig":{"Insecure":false,"ServerName":"","CertFile":"","KeyFile":"","CAFile":"",)"
          R"("CertData":"Y2VydA==","KeyData":null,"CAData":null},"HTTPTimeout":"5s",)"
          R"("NodeCacheCapable":false,"ManagedResources":[{"Name":"example.com/gpu",)"
          R"("IgnoredByScheduler":true}],"Ignorable":false}])"),
      std::string::npos)
      << text;
}

TEST(Configz, ArgsOfPluginsWithoutATypeArePrintedAsGiven) {
  config::KubeSchedulerConfiguration config = config::Default();
  config::PluginConfig entry;
  entry.name = "Mine";
  entry.raw.text = R"({"a":1})";
  config.profiles[0].plugin_config = {entry};
  EXPECT_NE(ConfigzText(config, BehaviourOf(34))
                .find(R"("PluginConfig":[{"Name":"Mine","Args":{"a":1}}])"),
            std::string::npos);
}

TEST(ExtenderText, IsWhatTheLogSaysOfAnExtender) {
  config::Extender extender;
  extender.url_prefix = "http://h/sched";
  extender.filter_verb = "filter";
  extender.weight = 2;
  extender.managed_resources.push_back({"example.com/ext", true});
  EXPECT_EQ(ExtenderText(extender),
            R"({"URLPrefix":"http://h/sched","FilterVerb":"filter","PreemptVerb":"",)"
            R"("PrioritizeVerb":"","Weight":2,"BindVerb":"","EnableHTTPS":false,"TLSConfig":null,)"
            R"("HTTPTimeout":"0s","NodeCacheCapable":false,"ManagedResources":[)"
            R"({"Name":"example.com/ext","IgnoredByScheduler":true}],"Ignorable":false})");
}

}  // namespace
}  // namespace berth::server
