#include "config/config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace berth::config {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::string_view kHead =
    "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n";

std::string Text(std::string_view rest) { return std::string(kHead) + std::string(rest); }

// The error of loading, empty if there is none.
std::string LoadError(std::string_view text) {
  const auto config = Load(text);
  return config ? "" : config.error().Message();
}

KubeSchedulerConfiguration MustLoad(std::string_view rest) {
  auto config = Load(Text(rest));
  EXPECT_TRUE(config) << config.error().Message();
  return config ? *config : KubeSchedulerConfiguration();
}

std::string ResolveError(std::string_view rest, const ResolveOptions& options = {}) {
  const auto resolved = Resolve(MustLoad(rest), options);
  return resolved ? "" : resolved.error().Message();
}

std::vector<std::string> Names(const std::vector<EnabledPlugin>& plugins) {
  std::vector<std::string> names;
  for (const EnabledPlugin& plugin : plugins) names.push_back(plugin.name);
  return names;
}

struct ErrorCase {
  const char* what;
  std::string text;
  const char* want;
};

TEST(ConfigDecode, RefusesWhatIsNoConfiguration) {
  const ErrorCase cases[] = {
      {"empty", "", "Object 'Kind' is missing in ''"},
      {"no apiVersion", "kind: X\n", "Object 'apiVersion' is missing in 'kind: X\n'"},
      {"a number for the kind", "kind: 1\n",
       "couldn't get version/kind; json parse error: json: cannot unmarshal number into Go struct "
       "field .kind of type string"},
      {"an older version",
       "apiVersion: kubescheduler.config.k8s.io/v1beta3\nkind: KubeSchedulerConfiguration\n",
       "no kind \"KubeSchedulerConfiguration\" is registered for version "
       "\"kubescheduler.config.k8s.io/v1beta3\" in scheme "
       "\"pkg/scheduler/apis/config/scheme/scheme.go:29\""},
      {"two slashes", "apiVersion: a/b/c\nkind: X\n", "unexpected GroupVersion string: a/b/c"},
      {"plugin arguments alone",
       "apiVersion: kubescheduler.config.k8s.io/v1\nkind: NodeAffinityArgs\n",
       "couldn't decode as KubeSchedulerConfiguration, got kubescheduler.config.k8s.io/v1, "
       "Kind=NodeAffinityArgs: "},
      {"broken JSON", "{a: b}",
       "couldn't get version/kind; json parse error: invalid character 'a' looking for beginning "
       "of object key string"},
      {"broken YAML", "a: [\n", "yaml: line 1: did not find expected node content"},
  };
  for (const ErrorCase& c : cases) EXPECT_EQ(LoadError(c.text), c.want) << c.what;
}

TEST(ConfigDecode, ReportsWrongFieldsAsGoDoes) {
  const ErrorCase cases[] = {
      {"unknown fields, all of them", "foo: 1\nprofiles:\n- bar: 2\n",
       "strict decoding error: unknown field \"foo\", unknown field \"profiles[0].bar\""},
      {"names are case-sensitive", "Parallelism: 1\n",
       "strict decoding error: unknown field \"Parallelism\""},
      {"a repeated key", "parallelism: 1\nparallelism: 2\n",
       "strict decoding error: yaml: unmarshal errors:\n  line 4: key \"parallelism\" already set "
       "in map"},
      {"a string for a number", "parallelism: x\n",
       "json: cannot unmarshal string into Go struct field KubeSchedulerConfiguration.parallelism "
       "of type int32"},
      {"too large a number", "parallelism: 3000000000\n",
       "json: cannot unmarshal number 3000000000 into Go struct field "
       "KubeSchedulerConfiguration.parallelism of type int32"},
      {"a list for an object, deep inside", "profiles:\n- plugins:\n    filter: []\n",
       "json: cannot unmarshal array into Go struct field Plugins.profiles.plugins.filter of type "
       "v1.PluginSet"},
      {"the first of several", "parallelism: x\nprofiles: y\n",
       "json: cannot unmarshal string into Go struct field KubeSchedulerConfiguration.parallelism "
       "of type int32"},
      {"a duration hides it", "clientConnection: 1\nleaderElection: {leaseDuration: 5x}\n",
       "time: unknown unit \"x\" in duration \"5x\""},
      {"no base64", "extenders:\n- tlsConfig: {caData: '*'}\n",
       "illegal base64 data at input byte 0"},
      {"arguments of a plugin",
       "profiles:\n- pluginConfig:\n  - name: InterPodAffinity\n    args: {foo: 1}\n",
       "strict decoding error: decoding .profiles[0].pluginConfig[0]: strict decoding error: "
       "decoding args for plugin InterPodAffinity: strict decoding error: unknown field \"foo\""},
      {"arguments of another plugin",
       "profiles:\n- pluginConfig:\n  - name: InterPodAffinity\n    args: {kind: "
       "NodeAffinityArgs}\n",
       "decoding .profiles[0].pluginConfig[0]: args for plugin InterPodAffinity were not of type "
       "InterPodAffinityArgs.kubescheduler.config.k8s.io, got "
       "NodeAffinityArgs.kubescheduler.config.k8s.io"},
  };
  for (const ErrorCase& c : cases) EXPECT_EQ(LoadError(Text(c.text)), c.want) << c.what;
}

TEST(ConfigDecode, RepeatedFieldsInJson) {
  EXPECT_EQ(LoadError(R"({"apiVersion":"kubescheduler.config.k8s.io/v1",)"
                      R"("kind":"KubeSchedulerConfiguration","parallelism":1,"parallelism":2})"),
            "strict decoding error: duplicate field \"parallelism\"");
}

TEST(ConfigDefaults, FillInWhatIsAbsent) {
  const KubeSchedulerConfiguration config = MustLoad("");
  EXPECT_EQ(config, Default());
  EXPECT_EQ(config.parallelism, 16);
  EXPECT_EQ(config.leader_election.lease_duration.Format(), "15s");
  EXPECT_EQ(config.client_connection.qps, 50);
  ASSERT_EQ(config.profiles.size(), 1U);
  EXPECT_EQ(config.profiles[0].scheduler_name, "default-scheduler");
  EXPECT_EQ(config.profiles[0].plugin_config.size(), 8U);
}

TEST(ConfigDefaults, DependOnOtherFields) {
  EXPECT_FALSE(MustLoad("enableProfiling: false\n").enable_contention_profiling);
  EXPECT_TRUE(MustLoad("enableProfiling: false\nenableContentionProfiling: true\n")
                  .enable_contention_profiling);
  EXPECT_EQ(LoadError(Text("profiles: [{schedulerName: a}, {}]\n")),
            "profiles[1].schedulerName: Required value");
  EXPECT_EQ(MustLoad("clientConnection: {qps: 0.1}\n").client_connection.qps, 0.1);
}

TEST(ConfigDefaults, MergeMultiPoint) {
  Plugins custom;
  custom.multi_point.enabled = {{"Foo", 3}, {"NodeName", 7}};
  custom.multi_point.disabled = {{"NodePorts", 0}};
  const Plugins plugins = MergePlugins(DefaultPlugins({}), custom);
  ASSERT_EQ(plugins.multi_point.enabled.size(), 19U);
  EXPECT_EQ(plugins.multi_point.enabled[3], (Plugin{"NodeName", 7})) << "keeps its place";
  EXPECT_EQ(plugins.multi_point.enabled.back(), (Plugin{"Foo", 3}));
  for (const Plugin& plugin : plugins.multi_point.enabled) EXPECT_NE(plugin.name, "NodePorts");
}

TEST(ConfigValidation, ReportsAllAtOnce) {
  const ErrorCase cases[] = {
      {"several", "parallelism: -3\npodInitialBackoffSeconds: 20\n",
       "[parallelism: Invalid value: -3: should be an integer value greater than zero, "
       "podMaxBackoffSeconds: Invalid value: 10: must be greater than or equal to "
       "PodInitialBackoffSeconds]"},
      {"lease shorter than its renewal", "leaderElection: {leaseDuration: 5s}\n",
       "leaderElection.leaseDuration: Invalid value: \"10s\": must be greater than "
       "`RenewDeadline`"},
      {"a lock that is gone", "leaderElection: {resourceLock: endpoints}\n",
       "leaderElection.resourceLock: Invalid value: \"endpoints\": resourceLock value must be "
       "\"leases\""},
      {"equal profiles", "profiles: [{schedulerName: a}, {schedulerName: a}]\n",
       "profiles[1].schedulerName: Duplicate value: {}"},
      {"a removed plugin", "profiles: [{plugins: {filter: {enabled: [{name: EBSLimits}]}}}]\n",
       "profiles[0].plugins.filter.enabled[0]: Invalid value: \"EBSLimits\": was invalid in "
       "version \"v1\" (KubeSchedulerConfiguration is version \"kubescheduler.config.k8s.io/v1\")"},
      {"queues sorted differently",
       "profiles: [{schedulerName: a}, {schedulerName: b, plugins: {queueSort: {disabled: [{name: "
       "'*'}]}}}]\n",
       "profiles[1].plugins.queueSort: Invalid value: "
       "{\"Enabled\":null,\"Disabled\":[{\"Name\":\"*\",\"Weight\":0}]}: must be the same for all "
       "profiles"},
      {"a resource without domain",
       "extenders: [{urlPrefix: x, managedResources: [{name: pods}]}]\n",
       "extenders[0].managedResources[0].name: Invalid value: \"pods\": is an invalid extended "
       "resource name"},
      {"a shape that no gate allows",
       "profiles: [{pluginConfig: [{name: VolumeBinding, args: {shape: []}}]}]\n",
       "profiles[0].pluginConfig[0].args.shape: Invalid value: []: unexpected field `shape`, "
       "remove it or turn on the feature gate StorageCapacityScoring"},
      {"an affinity that does not parse",
       "profiles: [{pluginConfig: [{name: NodeAffinity, args: {addedAffinity: "
       "{requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: "
       "[{key: a, operator: In}]}]}}}}]}]\n",
       "profiles[0].pluginConfig[0].args.addedAffinity."
       "requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchExpressions[0]."
       "values: Invalid value: null: for 'in', 'notin' operators, values set can't be empty"},
  };
  for (const ErrorCase& c : cases) EXPECT_EQ(LoadError(Text(c.text)), c.want) << c.what;
}

TEST(ConfigResolve, DefaultProfile) {
  const auto resolved = Resolve(Default());
  ASSERT_TRUE(resolved);
  ASSERT_EQ(resolved->profiles.size(), 1U);
  const ResolvedProfile& profile = resolved->profiles[0];
  EXPECT_THAT(Names(profile.At(ExtensionPoint::kPreEnqueue)),
              ElementsAre("SchedulingGates", "DynamicResources", "DefaultPreemption"));
  EXPECT_THAT(
      profile.At(ExtensionPoint::kScore),
      ElementsAre(EnabledPlugin{"TaintToleration", 3}, EnabledPlugin{"NodeAffinity", 2},
                  EnabledPlugin{"NodeResourcesFit", 1}, EnabledPlugin{"VolumeBinding", 1},
                  EnabledPlugin{"PodTopologySpread", 2}, EnabledPlugin{"InterPodAffinity", 2},
                  EnabledPlugin{"NodeResourcesBalancedAllocation", 1},
                  EnabledPlugin{"ImageLocality", 1}));
  const auto* args = profile.ArgsOf<InterPodAffinityArgs>("InterPodAffinity");
  ASSERT_NE(args, nullptr);
  EXPECT_EQ(args->hard_pod_affinity_weight, 1);
  EXPECT_EQ(profile.ArgsOf<NodeAffinityArgs>("InterPodAffinity"), nullptr);
}

TEST(ConfigResolve, OrderAtAPoint) {
  const auto resolved = Resolve(MustLoad(
      "profiles: [{plugins: {bind: {enabled: [{name: DefaultBinder}]}, score: {enabled: [{name: "
      "ImageLocality, weight: 5}], disabled: [{name: NodeAffinity}]}, filter: {disabled: [{name: "
      "'*'}], enabled: [{name: NodePorts}]}}}]\n"));
  ASSERT_TRUE(resolved);
  const ResolvedProfile& profile = resolved->profiles[0];
  EXPECT_THAT(
      Names(profile.At(ExtensionPoint::kScore)),
      ElementsAre("ImageLocality", "TaintToleration", "NodeResourcesFit", "VolumeBinding",
                  "PodTopologySpread", "InterPodAffinity", "NodeResourcesBalancedAllocation"))
      << "what the point re-configures comes first";
  EXPECT_EQ(profile.At(ExtensionPoint::kScore)[0].weight, 5);
  EXPECT_THAT(Names(profile.At(ExtensionPoint::kFilter)), ElementsAre("NodePorts"));
}

TEST(ConfigResolve, ErrorsOfTheFramework) {
  const std::string in =
      "initializing profiles: creating profile for scheduler name default-scheduler: ";
  const ErrorCase cases[] = {
      {"unknown plugin", "profiles: [{plugins: {permit: {enabled: [{name: Foo}]}}}]\n",
       "PermitPlugin \"Foo\" does not exist"},
      {"wrong point", "profiles: [{plugins: {bind: {enabled: [{name: NodeName}]}}}]\n",
       "plugin \"NodeName\" does not extend BindPlugin plugin"},
      {"twice",
       "profiles: [{plugins: {score: {enabled: [{name: ImageLocality}, {name: "
       "ImageLocality}]}}}]\n",
       "plugin \"ImageLocality\" already registered as \"ScorePlugin\""},
      {"nothing binds", "profiles: [{plugins: {bind: {disabled: [{name: '*'}]}}}]\n",
       "at least one bind plugin is needed for profile with scheduler name \"default-scheduler\""},
      {"a negative weight wraps the check",
       "profiles: [{plugins: {score: {enabled: [{name: ImageLocality, weight: -3}]}}}]\n",
       "total score of Score plugins could overflow"},
      {"arguments that are checked late",
       "profiles: [{pluginConfig: [{name: NodeResourcesFit, args: {scoringStrategy: {type: "
       "Foo}}}]}]\n",
       "initializing plugin \"NodeResourcesFit\": scoringStrategy.type: Unsupported value: "
       "\"Foo\": supported values: \"LeastAllocated\", \"MostAllocated\", "
       "\"RequestedToCapacityRatio\""},
  };
  for (const ErrorCase& c : cases) EXPECT_EQ(ResolveError(c.text), in + c.want) << c.what;
  EXPECT_THAT(ResolveError("profiles: [{pluginConfig: [{name: NodeResourcesFit, args: "
                           "{scoringStrategy: {type: RequestedToCapacityRatio}}}]}]\n"),
              HasSubstr("requestedToCapacityRatio: Required value"));
}

TEST(ConfigResolve, Extenders) {
  const auto resolved = Resolve(MustLoad(
      "extenders: [{urlPrefix: a, ignorable: true}, {urlPrefix: b, managedResources: [{name: "
      "example.com/foo, ignoredByScheduler: true}]}]\n"));
  ASSERT_TRUE(resolved);
  ASSERT_EQ(resolved->extenders.size(), 2U);
  EXPECT_EQ(resolved->extenders[0].url_prefix, "b") << "ignorable ones are asked last";
  EXPECT_EQ(resolved->extenders[0].http_timeout.Format(), "5s");
  EXPECT_THAT(
      resolved->profiles[0].ArgsOf<NodeResourcesFitArgs>("NodeResourcesFit")->ignored_resources,
      ElementsAre("example.com/foo"));

  const ResolveOptions options{
      {}, [](const std::string& path) -> Result<std::string> { return Fail("no " + path); }};
  EXPECT_EQ(ResolveError("extenders: [{urlPrefix: a, tlsConfig: {caFile: f}}]\n", options),
            "couldn't build extenders: no f");
  EXPECT_EQ(ResolveError("extenders: [{urlPrefix: a, tlsConfig: {caFile: f, insecure: true}}]\n"),
            "couldn't build extenders: specifying a root certificates file with the insecure flag "
            "is not allowed");
}

TEST(ConfigResolve, OutOfTreePlugins) {
  const InTreePlugin mine{"Mine", 0, static_cast<uint16_t>(1U << Index(ExtensionPoint::kScore))};
  const auto resolved =
      Resolve(MustLoad("profiles: [{plugins: {multiPoint: {enabled: [{name: Mine, weight: 4}]}}, "
                       "pluginConfig: [{name: Mine, args: {a: [1, x]}}]}]\n"),
              {{mine}, {}});
  ASSERT_TRUE(resolved);
  const ResolvedProfile& profile = resolved->profiles[0];
  EXPECT_EQ(profile.At(ExtensionPoint::kScore).back(), (EnabledPlugin{"Mine", 4}));
  EXPECT_EQ(profile.plugin_config[3].raw.text, R"({"a":[1,"x"]})");
}

TEST(ConfigResolve, SchedulerPluginsAreUsedWhereNamed) {
  const auto by_default = Resolve(MustLoad(""), {});
  ASSERT_TRUE(by_default);
  EXPECT_THAT(Names(by_default->profiles[0].At(ExtensionPoint::kScore)),
              testing::Not(testing::Contains("PodState")));
  const auto named = Resolve(MustLoad("profiles:\n- plugins:\n"
                                      "    multiPoint: {enabled: [{name: PodState, weight: 5}]}\n"
                                      "    queueSort: {enabled: [{name: QOSSort}],"
                                      " disabled: [{name: '*'}]}\n"),
                             {});
  ASSERT_TRUE(named) << named.error().Message();
  const auto& score = named->profiles[0].At(ExtensionPoint::kScore);
  EXPECT_EQ(score.back().name, "PodState");
  EXPECT_EQ(score.back().weight, 5);
  EXPECT_THAT(Names(named->profiles[0].At(ExtensionPoint::kQueueSort)), ElementsAre("QOSSort"));
  EXPECT_TRUE(IsInTreePlugin("QOSSort")) << "a library cannot take its name";
}

TEST(ConfigWrite, WrittenConfigurationLoadsAgain) {
  const auto resolved = Resolve(MustLoad(
      "profiles: [{schedulerName: a, percentageOfNodesToScore: 5, pluginConfig: [{name: NodeName, "
      "args: {x: 1}}]}]\nextenders: [{urlPrefix: u, tlsConfig: {certData: aGk=}}]\n"));
  ASSERT_TRUE(resolved);
  const std::string yaml = ToYaml(resolved->effective);
  EXPECT_THAT(yaml, testing::StartsWith("apiVersion: kubescheduler.config.k8s.io/v1\n"
                                        "clientConnection:\n  acceptContentTypes: \"\"\n"));
  const auto again = Load(yaml);
  ASSERT_TRUE(again) << again.error().Message();
  EXPECT_EQ(ToYaml(*again), yaml);
  EXPECT_EQ(*again, resolved->effective);
}

}  // namespace
}  // namespace berth::config
