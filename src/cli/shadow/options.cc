#include "cli/shadow/options.h"

#include <algorithm>

#include <fmt/format.h>

#include "cli/observe/own_flags.h"
#include "term/flags.h"

namespace berth::cli {
namespace {

constexpr int64_t kLongestLag = 600'000'000'000;

constexpr std::string_view kIntro =
    "Follows another scheduler of a cluster, decides about every pod as well, and compares. The\n"
    "cluster is only read: get, list and watch are all the rights that are needed.\n"
    "\n"
    "usage: berth shadow --kubeconfig FILE [--config FILE] [flags of kube-scheduler]\n"
    "\n"
    "Give the flags and the --config of the running kube-scheduler, and a --kubeconfig of a user\n"
    "who may read. That flag comes before the kubeconfig of --config. Flags about leader election "
    "and\n"
    "logs of requests have no effect. With --secure-port PORT the metrics and /apis/shadow/v1 are\n"
    "served, on 127.0.0.1 unless --bind-address is given, and with --dashboard a page.\n"
    "\n"
    "outcomes: Same, Tie (equal total), Sampled (kube-scheduler did not look at the better node),\n"
    "Race (equal on a state within the lag window); unexplained are ScoreGap, Infeasible (a "
    "filter\n"
    "rejects the node here), WeWait, TheyWait and Preemption.\n"
    "\n"
    "flags:\n";

constexpr std::string_view kEnd =
    "\n'berth scheduler --help' lists the flags of kube-scheduler.\n"
    "\n"
    "exit code: 0 nothing is unexplained, 1 something is, 2 bad flags or no cluster\n";

term::Flags MakeFlags(ShadowFlags* o) {
  term::Flags flags;
  AddDuration(flags, &o->duration_ns);
  flags.Add("lag-window", "TIME",
            "how far the other scheduler's view of the cluster may be behind or ahead "
            "(default 5s)",
            DurationInto(0, kLongestLag, &o->lag_ns));
  flags.Add("fail-on", "unexplained|race|never", "what makes the exit code 1 (default unexplained)",
            [o](const std::string& text) -> Result<void> {
              constexpr std::string_view kNames[] = {"unexplained", "race", "never"};
              const auto found = std::find(std::begin(kNames), std::end(kNames), text);
              if (found == std::end(kNames)) {
                return Fail(fmt::format("\"{}\" is none of unexplained, race, never", text));
              }
              o->fail_on = static_cast<FailOn>(found - std::begin(kNames));
              return {};
            });
  flags.AddChoice("o,output", {"text", "json"},
                  "json: one object per comparison and line, the summary last", &o->output);
  flags.AddText("report", "FILE", "write the summary at the end: FILE.md or FILE.json", &o->report);
  flags.AddSwitch("h,help", "show this help", &o->help);
  return flags;
}

}  // namespace

Result<ShadowFlags> ParseShadowFlags(const std::vector<std::string>& args) {
  ShadowFlags options;
  term::Flags flags = MakeFlags(&options);
  auto rest = ParseOwn(
      flags, {"--duration", "--lag-window", "--fail-on", "--output", "-o", "--report"}, args);
  if (!rest) return Fail(rest.error());
  options.rest = std::move(*rest);
  if (!options.report.empty() && !options.report.ends_with(".md") &&
      !options.report.ends_with(".json")) {
    return Fail(fmt::format("--report {}: the name must end with .md or .json", options.report));
  }
  return options;
}

std::string ShadowHelp() {
  ShadowFlags options;
  return std::string(kIntro) + MakeFlags(&options).Help() + std::string(kEnd);
}

}  // namespace berth::cli
