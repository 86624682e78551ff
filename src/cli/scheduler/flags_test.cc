// Command lines: what pflag makes of them.
#include "cli/scheduler/flags.h"

#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/scheduler/usage.h"
#include "cli/scheduler/version.h"

namespace berth::cli::scheduler {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

using Args = std::vector<std::string>;

TEST(SchedulerFlagsTest, Errors) {
  struct Row {
    Args args;
    std::string error;
  };
  const Row rows[] = {
      {{"--nope"}, "unknown flag: --nope"},
      {{"--nope=1"}, "unknown flag: --nope"},
      {{"--leader_elect_foo"}, "unknown flag: --leader_elect_foo"},
      {{"-z"}, "unknown shorthand flag: 'z' in -z"},
      {{"-kubeconfig=x"}, "unknown shorthand flag: 'k' in -kubeconfig=x"},
      {{"-'"}, "unknown shorthand flag: '\\'' in -'"},
      {{"-\""}, "unknown shorthand flag: '\"' in -\""},
      {{"-=x"}, "unknown shorthand flag: '=' in -=x"},
      {{"-hx"}, "unknown shorthand flag: 'x' in -x"},
      {{"--secure-port=abc"},
       "invalid argument \"abc\" for \"--secure-port\" flag: strconv.ParseInt: parsing \"abc\": "
       "invalid syntax"},
      {{"--secure_port="},
       "invalid argument \"\" for \"--secure-port\" flag: strconv.ParseInt: parsing \"\": invalid "
       "syntax"},
      {{"--leader-elect=maybe"},
       "invalid argument \"maybe\" for \"--leader-elect\" flag: strconv.ParseBool: parsing "
       "\"maybe\": invalid syntax"},
      {{"--leader-elect-lease-duration=5"},
       "invalid argument \"5\" for \"--leader-elect-lease-duration\" flag: time: missing unit in "
       "duration \"5\""},
      {{"--leader-elect-lease-duration="},
       "invalid argument \"\" for \"--leader-elect-lease-duration\" flag: time: invalid duration "
       "\"\""},
      {{"--v=x"},
       "invalid argument \"x\" for \"-v, --v\" flag: strconv.ParseUint: parsing \"x\": invalid "
       "syntax"},
      {{"-v="},
       "invalid argument \"=\" for \"-v, --v\" flag: strconv.ParseUint: parsing \"=\": invalid "
       "syntax"},
      {{"-v", "--config=x"},
       "invalid argument \"--config=x\" for \"-v, --v\" flag: strconv.ParseUint: parsing "
       "\"--config=x\": invalid syntax"},
      {{"-v"}, "flag needs an argument: 'v' in -v"},
      {{"--kubeconfig"}, "flag needs an argument: --kubeconfig"},
      {{"---x"}, "bad flag syntax: ---x"},
      {{"--=x"}, "bad flag syntax: --=x"},
      {{"--bind-address=foo"},
       "invalid argument \"foo\" for \"--bind-address\" flag: failed to parse IP: \"foo\""},
      {{"--log-text-info-buffer-size=x"},
       "invalid argument \"x\" for \"--log-text-info-buffer-size\" flag: quantities must match the "
       "regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"},
      {{"--kube-api-burst=99999999999"},
       "invalid argument \"99999999999\" for \"--kube-api-burst\" flag: strconv.ParseInt: parsing "
       "\"99999999999\": value out of range"},
      {{"--kube-api-qps=abc"},
       "invalid argument \"abc\" for \"--kube-api-qps\" flag: strconv.ParseFloat: parsing "
       "\"abc\": invalid syntax"},
      {{"--allow-metric-labels=x"},
       "invalid argument \"x\" for \"--allow-metric-labels\" flag: x must be formatted as "
       "key=value"},
      {{"--vmodule==1"},
       "invalid argument \"=1\" for \"--vmodule\" flag: \"=1\" does not have the pattern=N format"},
      {{"--version=banana"},
       "invalid argument \"banana\" for \"--version\" flag: strconv.ParseBool: parsing "
       "\"banana\": invalid syntax"},
      {{"--version=v1.30.0"},
       "invalid argument \"v1.30.0\" for \"--version\" flag: version \"v1.30.0\" must match "
       "major/minor/patch of default version \"v1.37.1\""},
      {{"--version=v1.34"},
       "invalid argument \"v1.34\" for \"--version\" flag: illegal version string \"v1.34\""},
      {{"--help=x"},
       "invalid argument \"x\" for \"-h, --help\" flag: strconv.ParseBool: parsing \"x\": invalid "
       "syntax"},
      {{"--help", "--nope"}, "unknown flag: --nope"},
  };
  for (const Row& row : rows) {
    const auto flags = ParseFlags(row.args);
    ASSERT_FALSE(flags) << row.args[0];
    EXPECT_EQ(flags.error().code, 1) << row.args[0];
    EXPECT_THAT(flags.error().out, IsEmpty()) << row.args[0];
    EXPECT_THAT(flags.error().err, StartsWith("Usage:\n  kube-scheduler [flags]\n"));
    EXPECT_THAT(flags.error().err, EndsWith("\n\nError: " + row.error + "\n"));
  }
}

TEST(SchedulerFlagsTest, PositionalArguments) {
  struct Row {
    Args args;
    std::string error;  // empty: fine
  };
  const std::string start = "Error: \"kube-scheduler\" does not take any arguments, got [";
  const Row rows[] = {
      {{"foo"}, start + "\"foo\"]\n"},
      {{"--kubeconfig=k", "foo", "bar"}, start + "\"foo\" \"bar\"]\n"},
      {{"--", "--nope"}, start + "\"--nope\"]\n"},
      {{"-"}, start + "\"-\"]\n"},
      {{"", "x"}, start + "\"\" \"x\"]\n"},
      {{""}, ""},
      {{"--"}, ""},
  };
  for (const Row& row : rows) {
    const auto flags = ParseFlags(row.args);
    EXPECT_EQ(flags ? "" : flags.error().err, row.error);
    EXPECT_EQ(flags ? 1 : flags.error().code, 1);
  }
}

TEST(SchedulerFlagsTest, WaysToWriteAValue) {
  struct Row {
    Args args;
    int64_t v;
    int64_t port;
    bool elect;
  };
  const Row rows[] = {
      {{}, 0, 10259, true},
      {{"-v=4"}, 4, 10259, true},
      {{"-v", "4"}, 4, 10259, true},
      {{"-v4"}, 4, 10259, true},
      {{"--v", "4", "--secure-port", "1"}, 4, 1, true},
      {{"--secure_port=1", "--leader_elect=false"}, 0, 1, false},
      {{"--leader-elect", "--v=1"}, 1, 10259, true},
      {{"--v=1", "--v=2"}, 2, 10259, true},
      {{"--secure-port=0x10"}, 0, 16, true},
  };
  for (const Row& row : rows) {
    const auto flags = ParseFlags(row.args);
    ASSERT_TRUE(flags);
    EXPECT_EQ((*flags)->Values().v, row.v);
    EXPECT_EQ((*flags)->Values().secure_port, row.port);
    EXPECT_EQ((*flags)->Values().leader_elect, row.elect);
  }
}

TEST(SchedulerFlagsTest, RepeatedLists) {
  const auto flags =
      ParseFlags({"--requestheader-group-headers=a,b", "--requestheader-group-headers=c",
                  "--vmodule=a=1", "--vmodule=b=2", "--tls-sni-cert-key=a,b",
                  "--tls-sni-cert-key=c,d", "--feature-gates=A=true", "--feature-gates=B=false,",
                  "--allow-metric-labels=m,l=1", "--allow-metric-labels=m,k=2",
                  "--tls-curve-preferences=23,0x1d", "--tls-curve-preferences=24"});
  ASSERT_TRUE(flags);
  const FlagValues& values = (*flags)->Values();
  EXPECT_THAT(values.requestheader_group_headers, ElementsAre("a", "b", "c"));
  EXPECT_EQ(values.vmodule, "a=1,b=2");
  EXPECT_EQ(values.tls_sni_cert_key.size(), 2u);
  EXPECT_THAT(values.feature_gates.at(""), ElementsAre("A=true", "B=false"));
  EXPECT_EQ(values.allow_metric_labels.size(), 2u);
  EXPECT_THAT(values.tls_curve_preferences, ElementsAre(23, 29, 24));
}

TEST(SchedulerFlagsTest, WhatWasGivenIsKnown) {
  const auto flags = ParseFlags({"--leader_elect=true"});
  ASSERT_TRUE(flags);
  EXPECT_TRUE((*flags)->Changed("leader-elect"));
  EXPECT_FALSE((*flags)->Changed("kubeconfig"));
  EXPECT_FALSE((*flags)->Changed("nope"));
}

TEST(SchedulerFlagsTest, Dump) {
  const auto flags =
      ParseFlags({"--disabled-metrics=a,b c, d", "--tls-sni-cert-key=a,b:c,d", "--kube-api-qps=1e7",
                  "--allow-metric-labels=a,b=c", "--bind-address=::ffff:1.2.3.4",
                  "--vmodule=a=1,b*=2", "--feature-gates=A=true", "--feature-gates=B=false",
                  "--log-text-info-buffer-size=1000k", "--port=0"});
  ASSERT_TRUE(flags);
  std::map<std::string, std::string> dump;
  std::vector<std::string> names;
  for (const auto& [name, value] : (*flags)->Dump()) {
    dump[name] = value;
    names.push_back(name);
  }
  EXPECT_TRUE(std::is_sorted(names.begin(), names.end()));
  EXPECT_EQ(dump["disabled-metrics"], "[a,b c,\" d\"]");
  EXPECT_EQ(dump["tls-sni-cert-key"], "[a,b:c,d]");
  EXPECT_EQ(dump["kube-api-qps"], "1e+07");
  EXPECT_EQ(dump["allow-metric-labels"], "[\"a,b=c\"]");
  EXPECT_EQ(dump["bind-address"], "1.2.3.4");
  EXPECT_EQ(dump["vmodule"], "a=1,b*=2");
  EXPECT_EQ(dump["feature-gates"], ":A=true,:B=false");
  EXPECT_EQ(dump["log-text-info-buffer-size"], "1M");
  EXPECT_EQ(dump["pod-max-in-unschedulable-pods-duration"], "5m0s");
  EXPECT_EQ(dump["version"], "false");
  EXPECT_FALSE(dump.contains("port")) << "flags of older versions are not shown";
}

TEST(SchedulerFlagsTest, FlagsOfOlderVersionsAreTaken) {
  const auto flags = ParseFlags({"--port=0", "--address", "0.0.0.0", "--logtostderr",
                                 "--policy-configmap=x", "--use-legacy-policy-config=false",
                                 "--lock-object-name=y", "--log_dir=/var/log"});
  ASSERT_TRUE(flags);
  EXPECT_TRUE((*flags)->Changed("port"));
  EXPECT_TRUE((*flags)->Changed("log-dir"));
  for (const Flag& flag : (*flags)->All()) {
    EXPECT_EQ(flag.obsolete.empty(), !flag.section.empty()) << flag.name;
  }
}

TEST(SchedulerFlagsTest, NamesAreUnique) {
  const Flags flags;
  std::set<std::string> names;
  for (const Flag& flag : flags.All()) EXPECT_TRUE(names.insert(flag.name).second) << flag.name;
}

TEST(UsageTest, HelpGoesToStandardOutput) {
  for (const Args& args : {Args{"--help"}, Args{"-h"}, Args{"-h", "foo"}}) {
    const auto flags = ParseFlags(args);
    ASSERT_FALSE(flags);
    EXPECT_EQ(flags.error().code, 0);
    EXPECT_THAT(flags.error().err, IsEmpty());
    EXPECT_THAT(flags.error().out, HasSubstr("\nUsage:\n  kube-scheduler [flags]\n"));
  }
  EXPECT_TRUE(ParseFlags({"--help=false"}));
}

TEST(UsageTest, Layout) {
  const std::string usage = UsageText(Flags());
  EXPECT_THAT(usage, StartsWith("Usage:\n  kube-scheduler [flags]\n\nMisc flags:\n\n"
                                "      --config string            File"));
  for (const char* line : {
           "\n\nLeader election flags:\n\n      --leader-elect                             ",
           "\n      --leader-elect-lease-duration duration     ",
           " (default 15s)\n",
           " (default \"kube-system\")\n",
           " (default true)\n",
           " (default [x-remote-user])\n",
           " (default 10259)\n",
           "\n  -v, --v Level                              ",
           "\n      --vmodule pattern=N,...                ",
           "\n      --version version[=true]   ",
           "\n  -h, --help                     ",
           "kube:SchedulerPopFromBackoffQ=true|false (BETA - default=true)\n",
           "\n\nBerth flags:\n\n      --adaptive-sampling     ",
       }) {
    EXPECT_THAT(usage, HasSubstr(line));
  }
  EXPECT_THAT(usage, Not(HasSubstr("--port")));
  EXPECT_THAT(usage, Not(HasSubstr("SidecarContainers"))) << "settled gates are not offered";
}

TEST(VersionTest, Texts) {
  EXPECT_EQ(VersionText("true", config::Release::k1_34), "Kubernetes v1.34.10\n");
  EXPECT_THAT(VersionText("raw", config::Release::k1_34),
              StartsWith("version.Info{Major:\"1\", Minor:\"34\", EmulationMajor:\"\", "));
  EXPECT_THAT(VersionText("raw", config::Release::k1_34), HasSubstr("GitVersion:\"v1.34.10\""));
  EXPECT_EQ(VersionText("false", config::Release::k1_34), "");
  EXPECT_EQ(VersionText("v1.34.10-x", config::Release::k1_34), "");
  EXPECT_EQ(ReportedVersion("false", config::Release::k1_34), "v1.34.10");
  EXPECT_EQ(ReportedVersion("v1.34.10-x", config::Release::k1_34), "v1.34.10-x");
  EXPECT_EQ(ReportedVersion("v1.34.10-x", config::Release::k1_37), "v1.37.1")
      << "what is reported fits the minor that it is";
  EXPECT_EQ(VersionText("true", config::Release::k1_37), "Kubernetes v1.37.1\n");
  EXPECT_EQ(*ParseVersionFlag("v1.34.10+k3s1"), "v1.34.10+k3s1");
  EXPECT_EQ(*ParseVersionFlag("T"), "true");
}

TEST(VersionTest, IsTheProjects) {
  const char* source = std::getenv("BERTH_SOURCE_DIR");
  if (source == nullptr) GTEST_SKIP() << "needs BERTH_SOURCE_DIR";
  std::stringstream text;
  text << std::ifstream(std::string(source) + "/CMakeLists.txt").rdbuf();
  EXPECT_THAT(text.str(), HasSubstr("project(berth VERSION " + std::string(kBerthVersion) + " "));
}

}  // namespace
}  // namespace berth::cli::scheduler
