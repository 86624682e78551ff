// From a command line to options, or to kube-scheduler's exit code and message.
#include "cli/scheduler/options.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/scheduler/options_checks.h"

namespace berth::cli::scheduler {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::StartsWith;

using Args = std::vector<std::string>;

class OptionsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/options_test.XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    folder_ = name;
  }
  void TearDown() override {
    std::filesystem::remove_all(folder_);
    ASSERT_TRUE(log::Configure({}));
  }

  std::string Path(const std::string& name) const { return folder_ + "/" + name; }
  std::string File(const std::string& name, std::string_view text) const {
    std::ofstream(Path(name)) << text;
    return Path(name);
  }
  static std::string Read(const std::string& path) {
    std::stringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
  }

  // Runs the command up to where it would connect; the options are in options_.
  struct Ran {
    int code = -1;  // -1: it would go on
    std::string out;
    std::string err;

    std::string LastLine() const {
      std::string text = err.substr(0, err.empty() ? 0 : err.size() - 1);
      const size_t line = text.rfind('\n');
      if (line != std::string::npos) text = text.substr(line + 1);
      const size_t head = text.find(".cc:");
      return head == std::string::npos ? text : text.substr(text.find("] ") + 2);
    }
  };
  Ran Run(const Args& args) {
    testing::internal::CaptureStdout();
    testing::internal::CaptureStderr();
    Ran ran;
    if (auto flags = ParseFlags(args); !flags) {
      ran.code = Report(flags.error());
    } else if (auto options = Complete(**flags, {.minor = 34}); !options) {
      ran.code = Report(options.error());
    } else {
      options_ = std::move(*options);
    }
    ran.err = testing::internal::GetCapturedStderr();
    ran.out = testing::internal::GetCapturedStdout();
    EXPECT_TRUE(log::Configure({}));
    return ran;
  }
  void MustRun(const Args& args) {
    const Ran ran = Run(args);
    ASSERT_EQ(ran.code, -1) << ran.err;
  }

  std::string folder_;
  SchedulerOptions options_;
};

std::string Failed(const std::string& error) { return "\"command failed\" err=\"" + error + "\""; }

constexpr std::string_view kConfig =
    "apiVersion: kubescheduler.config.k8s.io/v1\n"
    "kind: KubeSchedulerConfiguration\n";

TEST_F(OptionsTest, Mistakes) {
  struct Row {
    const char* what;
    Args args;
    std::string last_line;
  };
  const Row rows[] = {
      {"port out of range",
       {"--secure-port=70000"},
       Failed("--secure-port 70000 must be between 1 and 65535, inclusive. It cannot be turned off "
              "with 0")},
      {"port below range",
       {"--secure-port=-1"},
       Failed("--secure-port -1 must be between 0 and 65535, inclusive. 0 for turning off secure "
              "port")},
      {"unknown feature gate",
       {"--feature-gates=Nope=true"},
       Failed("unrecognized feature gate: Nope")},
      {"feature gate without value",
       {"--feature-gates=AllAlpha"},
       Failed("missing bool value for AllAlpha")},
      {"feature gate bad bool",
       {"--feature-gates=AllAlpha=perhaps"},
       Failed("invalid value of AllAlpha=perhaps, err: strconv.ParseBool: parsing "
              "\\\"perhaps\\\": invalid syntax")},
      {"locked feature gate",
       {"--feature-gates=kube:SchedulerQueueingHints=false"},
       Failed("cannot set feature gate SchedulerQueueingHints to false, feature is locked to "
              "true")},
      {"gates of another component",
       {"--feature-gates=foo:A=true"},
       Failed("component not registered: foo")},
      {"gates named in both ways",
       {"--feature-gates=AllAlpha=true,kube:AllBeta=true"},
       Failed("set kube feature gates with default empty prefix or kube: prefix consistently, do "
              "not mix use")},
      {"gates are looked at before the version is printed",
       {"--version", "--feature-gates=Nope=true"},
       Failed("unrecognized feature gate: Nope")},
      {"bad tls min version",
       {"--tls-min-version=VersionTLS99"},
       Failed("unknown tls version \\\"VersionTLS99\\\"")},
      {"bad cipher",
       {"--tls-cipher-suites=TLS_AES_128_GCM_SHA256,NOPE"},
       Failed("Cipher suite NOPE not supported or doesn't exist")},
      {"bad logging format",
       {"--logging-format=xml"},
       "format: Invalid value: \"xml\": Unsupported log format"},
      {"no logging format",
       {"--logging-format="},
       "format: Invalid value: \"\": Unsupported log format"},
      {"json without its gate",
       {"--logging-format=json", "--feature-gates=LoggingBetaOptions=false"},
       "format: Forbidden: Log format json is disabled, see LoggingBetaOptions feature"},
      {"json by file",
       {"--logging-format=json", "--vmodule=a=1"},
       "vmodule: Forbidden: Only supported for text log format"},
      {"several about the log",
       {"--logging-format=xml", "--vmodule=a=1", "--log-text-split-stream",
        "--log-json-info-buffer-size=1"},
       "[format: Invalid value: \"xml\": Unsupported log format, vmodule: Forbidden: Only "
       "supported for text log format, options.text.splitStream: Forbidden: Feature "
       "LoggingAlphaOptions is disabled, options.json.infoBufferSize: Forbidden: Feature "
       "LoggingAlphaOptions is disabled]"},
      {"bad hidden metrics",
       {"--show-hidden-metrics-for-version=1.2"},
       Failed("--show-hidden-metrics-for-version must be omitted or have the value '1.33'. Only "
              "the previous minor version is allowed")},
      {"bad metric label",
       {"--allow-metric-labels=a=b"},
       Failed("--allow-metric-labels must have a list of kv pair with format "
              "`metricName,labelName=labelValue, labelValue,...`")},
      {"emulated version too old",
       {"--emulated-version=1.20"},
       Failed("[emulation version 1.20 is not between [1.31, 1.34.0], minCompatibilityVersion "
              "version 1.31 is not between [1.31, 1.20]]")},
      {"emulated version too new",
       {"--emulated-version=1.35"},
       Failed("emulation version 1.35 is not between [1.31, 1.34.0]")},
      {"emulated version that is none",
       {"--emulated-version=x"},
       Failed("could not parse \\\"x\\\" as version")},
      {"emulated patch version",
       {"--emulated-version=kube=1.33.1"},
       Failed("patch version not allowed, got: kube=1.33.1")},
      {"emulated version of another component",
       {"--emulated-version=foo=1.33"},
       Failed("component not registered: foo")},
      {"emulated version twice",
       {"--emulated-version=1.33,kube=1.32"},
       Failed("duplicate version flag, kube=1.33 and kube=1.32")},
      {"a gate of a later version",
       {"--emulated-version=1.33", "--feature-gates=DRAExtendedResource=true"},
       Failed("cannot set feature gate DRAExtendedResource to true, feature is PreAlpha at "
              "emulated version 1.33")},
      {"an empty header",
       {"--requestheader-group-headers=,a"},
       Failed("empty value in \\\"requestheader-group-headers\\\"")},
      {"several about headers",
       {"--requestheader-uid-headers=,", "--requestheader-allowed-names=a,,"},
       Failed("[empty value in \\\"requestheader-allowed-names\\\", empty value in "
              "\\\"requestheader-uid-headers\\\", --requestheader-uid-headers is set without "
              "specifying the standard X-Remote-Uid header - API aggregation will not work]")},
      {"uids without their gate",
       {"--requestheader-uid-headers=x", "--feature-gates=RemoteRequestHeaderUID=false"},
       Failed("--requestheader-uid-headers requires the \\\"RemoteRequestHeaderUID\\\" feature to "
              "be enabled")},
      {"several flags",
       {"--show-hidden-metrics-for-version=1.2", "--secure-port=70000"},
       Failed("[--secure-port 70000 must be between 1 and 65535, inclusive. It cannot be turned "
              "off with 0, --show-hidden-metrics-for-version must be omitted or have the value "
              "'1.33'. Only the previous minor version is allowed]")},
      {"missing config file",
       {"--config=missing.yaml"},
       Failed("open missing.yaml: no such file or directory")},
      {"a folder as config file", {"--config=/"}, Failed("read /: is a directory")},
      {"flags before the config file",
       {"--config=missing.yaml", "--secure-port=70000"},
       Failed("--secure-port 70000 must be between 1 and 65535, inclusive. It cannot be turned off "
              "with 0")},
      {"the config file before serving",
       {"--config=missing.yaml", "--tls-min-version=x"},
       Failed("open missing.yaml: no such file or directory")},
  };
  for (const Row& row : rows) {
    const Ran ran = Run(row.args);
    EXPECT_EQ(ran.code, 1) << row.what;
    EXPECT_EQ(ran.LastLine(), row.last_line) << row.what;
    EXPECT_THAT(ran.out, IsEmpty()) << row.what;
  }
}

TEST_F(OptionsTest, MistakesInTheConfiguration) {
  struct Row {
    const char* what;
    std::string text;
    std::string error;
  };
  const std::string head(kConfig);
  const Row rows[] = {
      {"unknown field", head + "bogus: 1\n",
       Failed("strict decoding error: unknown field \\\"bogus\\\"")},
      {"wrong kind", "apiVersion: kubescheduler.config.k8s.io/v1\nkind: Foo\n",
       Failed(
           "no kind \\\"Foo\\\" is registered for version \\\"kubescheduler.config.k8s.io/v1\\\" "
           "in scheme \\\"pkg/scheduler/apis/config/scheme/scheme.go:29\\\"")},
      {"no apiVersion", "{\"parallelism\": 3}",
       Failed("Object 'Kind' is missing in '{\\\"parallelism\\\": 3}'")},
      {"empty file", "", Failed("Object 'Kind' is missing in ''")},
      {"several",
       head + "leaderElection: {leaseDuration: 10s}\n"
              "parallelism: -1\n"
              "percentageOfNodesToScore: 101\n"
              "profiles: [{schedulerName: a}, {schedulerName: a}]\n"
              "podInitialBackoffSeconds: 0\n"
              "podMaxBackoffSeconds: -1\n",
       Failed("[leaderElection.leaseDuration: Invalid value: \\\"10s\\\": must be greater than "
              "`RenewDeadline`, parallelism: Invalid value: -1: should be an integer value greater "
              "than zero, profiles[1].schedulerName: Duplicate value: {}, "
              "percentageOfNodesToScore: Invalid value: 101: not in valid range "
              "[0-100], podInitialBackoffSeconds: Invalid value: 0: must be greater than 0, "
              "podMaxBackoffSeconds: Invalid value: -1: must be greater than or equal to "
              "PodInitialBackoffSeconds]")},
      {"two lines", head + "parallelism: 1\nparallelism: 2\n", " >"},
  };
  for (const Row& row : rows) {
    const Ran ran = Run({"--config=" + File("c.yaml", row.text)});
    EXPECT_EQ(ran.code, 1) << row.what;
    EXPECT_EQ(ran.LastLine(), row.error) << row.what;
  }
}

TEST_F(OptionsTest, AMistakeOfSeveralLinesIsABlock) {
  const Ran ran = Run(
      {"--config=" + File("c.yaml", std::string(kConfig) + "parallelism: 1\nparallelism: 2\n")});
  EXPECT_THAT(ran.err, EndsWith("] \"command failed\" err=<\n"
                                "\tstrict decoding error: yaml: unmarshal errors:\n"
                                "\t  line 4: key \"parallelism\" already set in map\n"
                                " >\n"));
}

TEST_F(OptionsTest, TheVersionIsPrinted) {
  const Ran ran = Run({"--version", "--secure-port=70000", "--config=missing"});
  EXPECT_EQ(ran.code, 0);
  EXPECT_EQ(ran.out, "Kubernetes v1.34.10\n");
  EXPECT_THAT(ran.err, IsEmpty());
  EXPECT_THAT(Run({"--version=raw"}).out, HasSubstr("GitVersion:\"v1.34.10\""));
  MustRun({"--version=v1.34.10-x"});
  EXPECT_EQ(options_.version, "v1.34.10-x");
}

TEST_F(OptionsTest, DefaultsWithoutAnyFlag) {
  const Ran ran = Run({});
  EXPECT_EQ(ran.code, -1);
  EXPECT_THAT(ran.err, IsEmpty());
  EXPECT_EQ(options_.config, config::Default());
  EXPECT_EQ(options_.serving.port, 10259);
  EXPECT_EQ(options_.serving.min_tls_minor, 2);
  EXPECT_EQ(options_.pod_max_in_unschedulable_pods_ns, 300'000'000'000);
  EXPECT_EQ(options_.version, "v1.34.10");
  EXPECT_EQ(options_.authentication.token_cache_ttl_ns, 10'000'000'000);
  EXPECT_THAT(options_.authorization.always_allow_paths,
              ElementsAre("/healthz", "/readyz", "/livez"));
}

TEST_F(OptionsTest, DeprecatedFlagsCountWithoutAFile) {
  MustRun({"--kubeconfig=k", "--kube-api-qps=0.1", "--kube-api-burst=7", "--profiling=false",
           "--contention-profiling=false", "--kube-api-content-type=application/json",
           "--leader-elect=false", "--leader-elect-lease-duration=5s"});
  const config::ClientConnectionConfiguration& client = options_.config.client_connection;
  EXPECT_EQ(client.kubeconfig, "k");
  EXPECT_EQ(client.qps, 0.1);
  EXPECT_EQ(client.burst, 7);
  EXPECT_EQ(client.content_type, "application/json");
  EXPECT_FALSE(options_.config.enable_profiling);
  EXPECT_FALSE(options_.config.enable_contention_profiling);
  EXPECT_FALSE(options_.config.leader_election.leader_elect);
  EXPECT_EQ(options_.config.leader_election.lease_duration.ns, 5'000'000'000)
      << "not checked against the renew deadline here";
}

TEST_F(OptionsTest, WithAFileOnlyLeaderElectionFlagsCount) {
  const std::string file =
      File("c.yaml", std::string(kConfig) +
                         "clientConnection: {kubeconfig: file.conf, qps: 3}\n"
                         "leaderElection: {leaderElect: true, resourceName: mine}\n"
                         "percentageOfNodesToScore: 30\n");
  MustRun({"--config=" + file, "--kubeconfig=other", "--kube-api-qps=7", "--profiling=false",
           "--leader-elect=false", "--leader-elect-retry-period=3s",
           "--leader-elect-resource-namespace=ns", "--pod-max-in-unschedulable-pods-duration=1m",
           "--master=https://m"});
  EXPECT_EQ(options_.config.client_connection.kubeconfig, "file.conf");
  EXPECT_EQ(options_.config.client_connection.qps, 3);
  EXPECT_TRUE(options_.config.enable_profiling);
  EXPECT_EQ(options_.config.percentage_of_nodes_to_score, 30);
  const config::LeaderElectionConfiguration& election = options_.config.leader_election;
  EXPECT_FALSE(election.leader_elect);
  EXPECT_EQ(election.retry_period.ns, 3'000'000'000);
  EXPECT_EQ(election.resource_name, "mine");
  EXPECT_EQ(election.resource_namespace, "ns");
  EXPECT_EQ(options_.pod_max_in_unschedulable_pods_ns, 60'000'000'000);
  EXPECT_EQ(options_.master, "https://m");
}

TEST_F(OptionsTest, AFileOfV1beta3IsReadWithAWarningThatIsNotRepeated) {
  const std::string path =
      File("old.yaml",
           "apiVersion: kubescheduler.config.k8s.io/v1beta3\nkind: KubeSchedulerConfiguration\n"
           "parallelism: 7\nprofiles: [{plugins: {filter: {enabled: [{name: EBSLimits}]}}}]\n");
  const Ran ran = Run({"--config=" + path});
  ASSERT_EQ(ran.code, -1) << ran.err;
  EXPECT_THAT(ran.err, StartsWith("W"));
  EXPECT_THAT(ran.err, HasSubstr("] kubescheduler.config.k8s.io/v1beta3 is deprecated"));
  EXPECT_THAT(ran.err, HasSubstr("] plugin EBSLimits is gone since v1.32"));
  EXPECT_EQ(options_.config.parallelism, 7);
  testing::internal::CaptureStderr();
  EXPECT_TRUE(LoadConfig(**ParseFlags({"--config=" + path}), options_));
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST_F(OptionsTest, LeaderElectionFlagsAreValidatedWithTheFile) {
  const Ran ran = Run({"--config=" + File("c.yaml", kConfig), "--leader-elect-lease-duration=5s"});
  EXPECT_EQ(ran.code, 1);
  EXPECT_EQ(ran.LastLine(),
            Failed("leaderElection.leaseDuration: Invalid value: \\\"10s\\\": must be greater than "
                   "`RenewDeadline`"));
}

TEST_F(OptionsTest, ServingFlags) {
  MustRun({"--bind-address=::1", "--secure-port=1", "--tls-min-version=VersionTLS13",
           "--tls-cipher-suites=TLS_RSA_WITH_AES_128_CBC_SHA", "--disable-http2-serving",
           "--http2-max-streams-per-connection=-5", "--permit-port-sharing",
           "--tls-sni-cert-key=a,b:c"});
  EXPECT_EQ(options_.serving.bind_address, "::1");
  EXPECT_EQ(options_.serving.port, 1);
  EXPECT_EQ(options_.serving.min_tls_minor, 3);
  EXPECT_TRUE(options_.serving.reuse_port);
  EXPECT_FALSE(options_.serving.reuse_address);
  EXPECT_FALSE(options_.serving.http2);
  EXPECT_EQ(options_.serving.http2_max_streams, 100U) << "not a number of streams";
  EXPECT_EQ(options_.serving.sni.size(), 1u);
}

TEST_F(OptionsTest, StreamsOfAConnection) {
  MustRun({"--http2-max-streams-per-connection=7"});
  EXPECT_TRUE(options_.serving.http2);
  EXPECT_EQ(options_.serving.http2_max_streams, 7U);
}

TEST_F(OptionsTest, WithoutAPortTlsIsNotLookedAt) {
  MustRun({"--secure-port=0", "--tls-min-version=x", "--tls-cipher-suites=y"});
}

TEST_F(OptionsTest, MetricLabels) {
  MustRun({"--allow-metric-labels=\"m,l=a,b\"", "--disabled-metrics=x"});
  EXPECT_THAT(options_.metrics.allowed_labels, ElementsAre(Pair("m,l", ElementsAre("a", "b"))));
  EXPECT_THAT(options_.metrics.disabled, ElementsAre("x"));
  MustRun({"--allow-metric-labels-manifest=" + File("m.yaml", "m,l: a,b\nn,k: c\n")});
  EXPECT_THAT(options_.metrics.allowed_labels,
              ElementsAre(Pair("m,l", ElementsAre("a", "b")), Pair("n,k", ElementsAre("c"))));
  const Ran ran = Run({"--allow-metric-labels-manifest=" + File("m.yaml", "m,l: [a]\n")});
  EXPECT_EQ(ran.code, -1) << "labels are no reason not to schedule";
  EXPECT_THAT(ran.err, HasSubstr("failed to parse allow list manifest"));
  EXPECT_THAT(Run({"--allow-metric-labels-manifest=missing"}).err,
              HasSubstr("failed to read allow list manifest: open missing: no such file"));
}

TEST_F(OptionsTest, WithoutDynamicResourceAllocationThePluginIsGone) {
  const auto has_plugin = [&] {
    const auto& enabled = options_.config.profiles.at(0).plugins.multi_point.enabled;
    return std::any_of(enabled.begin(), enabled.end(), [](const config::Plugin& plugin) {
      return plugin.name == "DynamicResources";
    });
  };
  MustRun({});
  EXPECT_TRUE(has_plugin());
  const Ran ran = Run({"--feature-gates=DynamicResourceAllocation=false"});
  EXPECT_EQ(ran.code, -1);
  EXPECT_EQ(ran.LastLine(),
            "Setting GA feature gate DynamicResourceAllocation=false. It will be removed in a "
            "future release.");
  EXPECT_FALSE(has_plugin());
  for (const config::PluginConfig& entry : options_.config.profiles.at(0).plugin_config) {
    EXPECT_NE(entry.name, "DynamicResources");
  }
  MustRun({"--emulated-version=1.33"});
  EXPECT_FALSE(has_plugin());
  EXPECT_TRUE(config::Resolve(
      options_.config, {.out_of_tree = {}, .read_file = {}, .behaviour = options_.behaviour}));
}

TEST_F(OptionsTest, WithoutItsGateTheFilterHasNoTimeout) {
  const std::string gate = "--feature-gates=DRASchedulerFilterTimeout=false";
  MustRun({gate});
  int seen = 0;
  for (const config::PluginConfig& entry : options_.config.profiles.at(0).plugin_config) {
    const auto* args = std::get_if<config::DynamicResourcesArgs>(&entry.args);
    if (args == nullptr) continue;
    ++seen;
    EXPECT_EQ(args->filter_timeout, std::nullopt);
  }
  EXPECT_EQ(seen, 1);
  const Ran ran = Run({gate, "--config=" + File("c.yaml", std::string(kConfig) +
                                                              "profiles:\n"
                                                              "- pluginConfig:\n"
                                                              "  - name: DynamicResources\n"
                                                              "    args: {filterTimeout: 3s}\n")});
  EXPECT_EQ(ran.code, 1);
  EXPECT_EQ(ran.LastLine(), Failed("profiles[0].pluginConfig[0].args.filterTimeout: Forbidden: "
                                   "DRASchedulingFilterTimeout feature gate is disabled"));
}

TEST_F(OptionsTest, WithItsGateVolumesAreScoredByAShape) {
  const auto shape = [&] {
    for (const config::PluginConfig& entry : options_.config.profiles.at(0).plugin_config) {
      const auto* args = std::get_if<config::VolumeBindingArgs>(&entry.args);
      if (args != nullptr) return args->shape;
    }
    ADD_FAILURE() << "no arguments of VolumeBinding";
    return config::VolumeBindingArgs().shape;
  };
  const auto with = [&](const std::string& points) {
    return "--config=" + File("c.yaml", std::string(kConfig) +
                                            "profiles:\n"
                                            "- pluginConfig:\n"
                                            "  - name: VolumeBinding\n"
                                            "    args: {shape: " +
                                            points + "}\n");
  };
  using Points = std::vector<config::UtilizationShapePoint>;
  const std::string gate = "--feature-gates=StorageCapacityScoring=true";
  MustRun({});
  EXPECT_EQ(shape(), std::nullopt);
  MustRun({gate});
  EXPECT_EQ(shape(), (Points{{0, 10}, {100, 0}}));
  MustRun({gate, with("[]")});
  EXPECT_EQ(shape(), (Points{{0, 10}, {100, 0}}));
  MustRun({gate, with("[{utilization: 0, score: 0}, {utilization: 100, score: 10}]")});
  EXPECT_EQ(shape(), (Points{{0, 0}, {100, 10}}));
  const Ran ran = Run({gate, with("[{utilization: 101, score: 11}]")});
  EXPECT_EQ(ran.code, 1);
  EXPECT_EQ(ran.LastLine(),
            Failed("[profiles[0].pluginConfig[0].args.shape[0].utilization: Invalid value: 101: "
                   "not in valid range [0, 100], profiles[0].pluginConfig[0].args.shape[0].score: "
                   "Invalid value: 11: not in valid range [0, 10]]"));
}

TEST_F(OptionsTest, WhatHasNoEffectIsSaid) {
  const Ran ran = Run({"--port=0", "--log-flush-frequency=1s", "--contention-profiling",
                       "--feature-gates=ClientsAllowCBOR=true,CoordinatedLeaderElection=true"});
  EXPECT_EQ(ran.code, -1);
  EXPECT_THAT(ran.err, HasSubstr("Flag --port has no effect: there is no insecure port"));
  EXPECT_THAT(ran.err, HasSubstr("Flags that have no effect in berth: --contention-profiling, "
                                 "--log-flush-frequency\n"));
  EXPECT_THAT(ran.err, HasSubstr("Feature gates that berth does not act on: "
                                 "CoordinatedLeaderElection=true\n"));
  EXPECT_THAT(ran.err, HasSubstr("component has alpha features enabled in emulated version, this "
                                 "is unsupported: features=[ClientsAllowCBOR]\n"));
}

TEST_F(OptionsTest, HeadersThatAreNotTheUsualOnes) {
  const Ran ran = Run({"--requestheader-username-headers=x"});
  EXPECT_EQ(ran.LastLine(),
            "--requestheader-username-headers is set without specifying the standard X-Remote-User "
            "header - API aggregation will not work");
  EXPECT_THAT(Run({"--requestheader-username-headers=X-REMOTE-USER"}).err, IsEmpty());
}

TEST_F(OptionsTest, FlagsAreLoggedFromLevelOne) {
  const Ran ran = Run({"-v=1", "--kubeconfig=a\"b"});
  EXPECT_THAT(ran.err, HasSubstr("] FLAG: --kubeconfig=\"a\\\"b\"\n"));
  EXPECT_THAT(ran.err, HasSubstr("] FLAG: --v=\"1\"\n"));
  EXPECT_LT(ran.err.find("--allow-metric-labels="), ran.err.find("--write-config-to="));
  EXPECT_THAT(options_.flags, Contains(Pair("v", "1")));
}

TEST_F(OptionsTest, TheLogIsSetUp) {
  const Ran ran = Run({"--logging-format=json", "--port=1"});
  EXPECT_THAT(ran.err, StartsWith("{\"ts\":"));
  EXPECT_TRUE(options_.log.json);
  MustRun({"--vmodule=a=3", "-v2", "--feature-gates=LoggingAlphaOptions=true",
           "--log-text-split-stream"});
  EXPECT_EQ(options_.log.verbosity, 2);
  EXPECT_EQ(options_.log.vmodule, "a=3");
  EXPECT_EQ(options_.log.info_fd, 1);
}

TEST_F(OptionsTest, BerthsOwnFlags) {
  MustRun({"--threads=3", "--seed=18446744073709551615", "--dashboard", "--explain-events",
           "--adaptive-sampling", "--plugin-path=a.so,b", "--plugin-path=c"});
  EXPECT_TRUE(options_.dashboard);
  EXPECT_TRUE(options_.explain_events && options_.adaptive_sampling);
  EXPECT_THAT(options_.plugin_paths, ElementsAre("a.so", "b", "c"));
  EXPECT_EQ(options_.threads, 3);
  EXPECT_EQ(options_.seed, 18446744073709551615u);
}

class WriteConfigTest : public OptionsTest {
 protected:
  // What LogOrWriteConfig() answered and said.
  Ran Write(int verbosity) {
    testing::internal::CaptureStderr();
    EXPECT_TRUE(log::Configure({.verbosity = verbosity}));
    const auto resolved = config::Resolve(options_.config);
    EXPECT_TRUE(resolved);
    const auto written = LogOrWriteConfig(options_, resolved->effective);
    Ran ran;
    ran.code = !written ? 1 : *written ? 0 : -1;
    if (!written) ran.out = written.error().Message();
    ran.err = testing::internal::GetCapturedStderr();
    return ran;
  }
};

TEST_F(WriteConfigTest, ToAFile) {
  MustRun({"--kubeconfig=sched.kubeconfig", "--write-config-to=" + Path("w.yaml")});
  const Ran ran = Write(0);
  EXPECT_EQ(ran.code, 0);
  EXPECT_EQ(ran.LastLine(), "\"Wrote configuration\" file=\"" + Path("w.yaml") + "\"");
  const std::string text = Read(Path("w.yaml"));
  EXPECT_THAT(text, StartsWith("apiVersion: kubescheduler.config.k8s.io/v1\n"
                               "clientConnection:\n"
                               "  acceptContentTypes: \"\"\n"
                               "  burst: 100\n"
                               "  contentType: application/vnd.kubernetes.protobuf\n"
                               "  kubeconfig: sched.kubeconfig\n"
                               "  qps: 50\n"
                               "enableContentionProfiling: true\n"
                               "enableProfiling: true\n"
                               "kind: KubeSchedulerConfiguration\n"
                               "leaderElection:\n"
                               "  leaderElect: true\n"
                               "  leaseDuration: 15s\n"
                               "  renewDeadline: 10s\n"
                               "  resourceLock: leases\n"
                               "  resourceName: kube-scheduler\n"
                               "  resourceNamespace: kube-system\n"
                               "  retryPeriod: 2s\n"));
  MustRun({"--config=" + Path("w.yaml")});
}

TEST_F(WriteConfigTest, ToNowhere) {
  MustRun({"--write-config-to=nodir/x.yaml"});
  const Ran ran = Write(0);
  EXPECT_EQ(ran.code, 1);
  EXPECT_EQ(ran.out, "open nodir/x.yaml: no such file or directory");
}

TEST_F(WriteConfigTest, ToTheLog) {
  MustRun({});
  EXPECT_THAT(Write(1).err, IsEmpty());
  const Ran ran = Write(2);
  EXPECT_EQ(ran.code, -1);
  EXPECT_THAT(ran.err, HasSubstr("] \"Using component config\" config=<\n\tapiVersion: "
                                 "kubescheduler.config.k8s.io/v1\n\tclientConnection:\n"));
  EXPECT_THAT(ran.err, EndsWith("\n >\n"));
}

}  // namespace
}  // namespace berth::cli::scheduler
