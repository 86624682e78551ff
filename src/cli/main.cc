// berth: one program, a command per job.
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "base/visible.h"
#include "cli/build_info.h"
#include "cli/config_command.h"
#include "cli/explain/explain.h"
#include "cli/explain/pending.h"
#include "cli/plan/plan.h"
#include "cli/record/record.h"
#include "cli/replay/replay.h"
#include "cli/scheduler/scheduler.h"
#include "cli/shadow/shadow.h"
#include "cli/simulate.h"
#include "cli/status/status.h"
#include "cli/up/up.h"
#include "term/flags.h"

namespace {

struct Command {
  std::string_view name;
  std::string_view help;
  int (*run)(const std::vector<std::string>& args);
};

constexpr Command kCommands[] = {
    {"up", "start a local cluster: API server, simulated nodes and scheduler", &berth::cli::Up},
    {"scheduler", "run in place of kube-scheduler, with the same flags", &berth::cli::Scheduler},
    {"config", "validate, default and convert configuration files", &berth::cli::Config},
    {"explain", "show why a pod is on its node or pending, and what would help",
     &berth::cli::Explain},
    {"pending", "list pending pods by workload and cause", &berth::cli::Pending},
    {"plan", "show what draining, losing or adding nodes does to pods", &berth::cli::Plan},
    {"record", "record what the scheduler of a cluster decides, read-only", &berth::cli::Record},
    {"replay", "play a recording again and compare every decision", &berth::cli::Replay},
    {"shadow", "compare every decision of a running kube-scheduler with berth's, read-only",
     &berth::cli::Shadow},
    {"status", "show the replicas that share a scheduler's work", &berth::cli::Status},
    {"simulate", "place the pending pods of a cluster dump, with reasons", &berth::cli::Simulate},
};

std::string Usage() {
  std::string text =
      "berth is a drop-in replacement for kube-scheduler, with tools around it.\n"
      "\n"
      "usage: berth COMMAND [flags]\n"
      "\n"
      "commands:\n";
  for (const Command& command : kCommands) {
    text += fmt::format("  {:<10}  {}\n", command.name, command.help);
  }
  return text +
         "  version     print the version\n\n'berth COMMAND --help' lists the flags of a "
         "command.\n";
}

int Unknown(const std::string& name) {
  std::vector<std::string> names{"version"};
  for (const Command& command : kCommands) names.emplace_back(command.name);
  const std::string near = berth::term::Nearest(name, names);
  fmt::print(stderr, "berth: unknown command {}{}\n\n{}", berth::Visible(name),
             near.empty() ? "" : fmt::format("; did you mean {}?", near), Usage());
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> args(argv + 1, argv + argc);
  // Under kube-scheduler's own name berth is nothing else. As kubectl-berth it is a plugin of
  // kubectl, which hands on what follows `kubectl berth`: that needs nothing here.
  const std::string_view self(argv[0]);
  if (self.substr(self.rfind('/') + 1) == "kube-scheduler") return berth::cli::Scheduler(args);
  // `berth help COMMAND` is `berth COMMAND --help`.
  if (args.size() == 2 && args[0] == "help") {
    for (const Command& command : kCommands) {
      if (command.name == args[1]) return command.run({"--help"});
    }
    return Unknown(args[1]);
  }
  if (args.empty() || args[0] == "--help" || args[0] == "-h" || args[0] == "help") {
    std::fputs(Usage().c_str(), args.empty() ? stderr : stdout);
    return args.empty() ? 2 : 0;
  }
  if (args[0] == "version" || args[0] == "--version" || args[0] == "-v") {
    fmt::print("berth {} (decides as kube-scheduler v1.34 to v1.37), commit {}\n", BERTH_VERSION,
               berth::cli::BuildCommit());
    return 0;
  }
  for (const Command& command : kCommands) {
    if (command.name == args[0]) return command.run({args.begin() + 1, args.end()});
  }
  return Unknown(args[0]);
}
