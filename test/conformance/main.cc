// berth-conformance: compares berth with what was recorded from the real kube-scheduler.
#include <cstdio>
#include <map>
#include <string>
#include <string_view>

#include "config/behaviour.h"
#include "conformance/runner.h"

namespace {

constexpr char kUsage[] =
    "usage: berth-conformance [--kubernetes-version 1.N] MODE\n"
    "modes: --cases FILE --expected FILE [--results OUT]\n"
    "       --values FILE | --config FILE | --hints FILE | --explain FILE |\n"
    "       --scores FILE | --admissions FILE | --gangs FILE\n"
    "\n"
    "  --cases FILE     cluster states and the pods to schedule\n"
    "  --expected FILE  what kube-scheduler decided about them\n"
    "  --results OUT    file for berth's decisions, in the same format\n"
    "  --config FILE    KubeSchedulerConfiguration files\n"
    "  --hints FILE     events, and the pods that they requeue\n"
    "  --explain FILE   cases whose explanations and suggestions to verify\n"
    "  --admissions FILE  nodes, and pods that their kubelets admit or not\n"
    "  --gangs FILE     runs of Coscheduling, step by step\n"
    "  --scores FILE    single plugins of scheduler-plugins, and their scores\n"
    "  --values FILE    quantities, selectors, pod requests and other values\n"
    "  --kubernetes-version 1.N  the minor that the recordings are from (the newest)\n"
    "  --help           print this help\n"
    "\n"
    "Files are JSON lines, plain or gzip-compressed. Prints the number of matched cases and the "
    "first "
    "differences.\n"
    "Exit code: 0 all matched, 1 differences, 2 bad command line or input.\n";

int UsageError(const std::string& what) {
  std::fprintf(stderr, "berth-conformance: %s\n\n%s", what.c_str(), kUsage);
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  std::map<std::string, std::string> flags{
      {"--cases", ""},      {"--expected", ""}, {"--results", ""},
      {"--config", ""},     {"--values", ""},   {"--hints", ""},
      {"--explain", ""},    {"--scores", ""},   {"--kubernetes-version", ""},
      {"--admissions", ""}, {"--gangs", ""}};
  for (int i = 1; i < argc; ++i) {
    const std::string arg = argv[i];
    if (arg == "--help" || arg == "-h") {
      std::fputs(kUsage, stdout);
      return 0;
    }
    const size_t equals = arg.find('=');
    const auto flag = flags.find(arg.substr(0, equals));
    if (flag == flags.end()) return UsageError("unknown argument " + arg);
    if (equals != std::string::npos) {
      flag->second = arg.substr(equals + 1);
    } else if (i + 1 < argc) {
      flag->second = argv[++i];
    } else {
      return UsageError(arg + " needs a file");
    }
  }
  int minor = berth::config::NewestKubernetes();
  if (const std::string& version = flags["--kubernetes-version"]; !version.empty()) {
    const auto parsed = berth::config::ParseKubernetesVersion(version);
    if (!parsed) return UsageError("--kubernetes-version: " + parsed.error().Message());
    minor = *parsed;
  }
  if (flags["--cases"].empty() != flags["--expected"].empty()) {
    return UsageError("--cases and --expected go together");
  }
  if (!flags["--cases"].empty()) {
    return berth::conformance::RunCases(minor, flags["--cases"], flags["--expected"],
                                        flags["--results"]);
  }
  if (!flags["--explain"].empty())
    return berth::conformance::RunExplanations(minor, flags["--explain"]);
  if (!flags["--scores"].empty()) return berth::conformance::RunScores(flags["--scores"]);
  if (!flags["--admissions"].empty()) {
    return berth::conformance::RunAdmissions(flags["--admissions"]);
  }
  if (!flags["--gangs"].empty()) return berth::conformance::RunGangs(flags["--gangs"]);
  if (!flags["--config"].empty()) return berth::conformance::RunConfig(minor, flags["--config"]);
  if (!flags["--hints"].empty()) return berth::conformance::RunHints(minor, flags["--hints"]);
  if (!flags["--values"].empty()) return berth::conformance::RunValues(minor, flags["--values"]);
  return UsageError("nothing to compare");
}
