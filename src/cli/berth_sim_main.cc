// berth-sim: runs simulated clusters and says which seeds break an invariant.
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>

#include "config/behaviour.h"
#include "log/log.h"
#include "record/directory.h"
#include "record/recorder.h"
#include "replicas/replica_run.h"
#include "sim/chaos/seed_run.h"
#include "term/flags.h"
#include "term/terminal.h"

namespace berth::sim {
namespace {

constexpr int kPassed = 0;
constexpr int kFailed = 1;
constexpr int kUsage = 2;

struct Options {
  int64_t first = 1;
  int64_t last = 30;
  int64_t steps = 300;
  int64_t jobs = 1;
  int64_t replicas = 0;
  std::string profile = "all";
  std::string plant = "none";
  std::string record;  // directory; empty: nothing is recorded
  bool record_redact = false;
  int kubernetes = config::DefaultKubernetes();
  bool verbose = false;
  bool expect_failure = false;
  bool help = false;
};

Result<void> ParseSeeds(const std::string& text, Options* options) {
  const size_t dots = text.find("..");
  const auto number = [](const std::string& digits, int64_t* out) {
    if (digits.empty() || digits.size() > 15) return false;
    if (digits.find_first_not_of("0123456789") != std::string::npos) return false;
    *out = std::stoll(digits);
    return true;
  };
  const bool one = dots == std::string::npos;
  if (!number(text.substr(0, dots), &options->first) ||
      !number(one ? text : text.substr(dots + 2), &options->last) ||
      options->last < options->first) {
    return Fail("'" + text + "' is no range of seeds: write 1..100");
  }
  return {};
}

term::Flags MakeFlags(Options* options) {
  term::Flags flags;
  flags.Add("seeds", "A..B", "seeds to run (1..30)",
            [options](const std::string& text) { return ParseSeeds(text, options); });
  flags.AddNumber("steps", "N", "number of steps per seed (300)", 1, 1'000'000, &options->steps);
  std::vector<std::string> profiles = {"all"};
  for (const ChaosProfile& profile : ChaosProfiles()) profiles.emplace_back(profile.name);
  profiles.emplace_back(GangsProfile().name);
  profiles.emplace_back(CoschedulingProfile().name);
  flags.AddChoice("profile", profiles,
                  "mix of actions and faults; all: chaos, churn and preempt take turns (all)",
                  &options->profile);
  flags.AddNumber("replicas", "N",
                  "run N schedulers that compete for a Lease, in a profile of their own, instead "
                  "of one (0)",
                  2, 9, &options->replicas);
  flags.AddChoice(
      "plant",
      {"none", "lost-requeue", "double-assume", "missed-forget", "split-gang", "early-barrier",
       "no-list", "late-deadline", "no-fence", "no-timeout", "dirty-release"},
      "run with a planted bug, which the invariants must find; split-gang is of "
      "--profile gangs and coscheduling, the last six are of --replicas (none)",
      &options->plant);
  flags.Add("kubernetes-version", "1.N",
            "behave as the kube-scheduler of this minor, with its default gates",
            [options](const std::string& text) -> Result<void> {
              const Result<int> minor = config::ParseKubernetesVersion(text);
              if (!minor) return Fail(minor.error());
              options->kubernetes = *minor;
              return {};
            });
  flags.AddSwitch("expect-failure", "succeed only if an invariant is violated",
                  &options->expect_failure);
  flags.AddNumber("jobs", "N", "seeds to run in parallel (1)", 1, 256, &options->jobs);
  flags.AddText("record", "DIR", "record every seed as a run in this directory, for berth replay",
                &options->record);
  flags.AddSwitch("record-redact", "record pseudonyms instead of names, labels and so on",
                  &options->record_redact);
  flags.AddSwitch("verbose", "print everything that happens", &options->verbose);
  flags.AddSwitch("help", "print this help", &options->help);
  return flags;
}

scheduler::PlantedBug BugCalled(const std::string& name) {
  if (name == "lost-requeue") return scheduler::PlantedBug::kLostRequeue;
  if (name == "double-assume") return scheduler::PlantedBug::kDoubleAssume;
  if (name == "missed-forget") return scheduler::PlantedBug::kMissedForget;
  if (name == "split-gang") return scheduler::PlantedBug::kSplitGang;
  return scheduler::PlantedBug::kNone;
}

// Log lines of leader elections belong to the trace only.
Result<void> SilenceLog() {
  const int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
  if (null < 0) return Fail("cannot open /dev/null");
  return log::Configure({.verbosity = 0, .fd = null});
}

const ChaosProfile& ProfileOf(const Options& options, int64_t seed) {
  const ChaosProfile* named = FindChaosProfile(options.profile);
  if (named != nullptr) return *named;
  return ChaosProfiles()[static_cast<size_t>(seed) % ChaosProfiles().size()];
}

std::string Replay(const Options& options, int64_t seed) {
  if (options.replicas > 0) {
    return fmt::format(
        "berth-sim --kubernetes-version 1.{} --seeds {}..{} --steps {} --replicas {}{} --verbose",
        options.kubernetes, seed, seed, options.steps, options.replicas,
        options.plant == "none" ? "" : " --plant " + options.plant);
  }
  return fmt::format(
      "berth-sim --kubernetes-version 1.{} --seeds {}..{} --steps {} --profile {}{} "
      "--verbose",
      options.kubernetes, seed, seed, options.steps, ProfileOf(options, seed).name,
      options.plant == "none" ? "" : " --plant " + options.plant);
}

// Everything that was run, added up.
struct Total {
  uint64_t failed = 0;
  SeedOutcome sum;
  void Add(const SeedOutcome& outcome) {
    failed += !outcome.violation.empty();
    sum.attempts += outcome.attempts;
    sum.bindings += outcome.bindings;
    sum.preemptions += outcome.preemptions;
    sum.crashes += outcome.crashes;
    sum.faults += outcome.faults;
    sum.takeovers += outcome.takeovers;
    sum.time += outcome.time;
  }
};

SeedOutcome RunSeveral(const Options& options, int64_t seed) {
  replicas::RunOptions run;
  run.seed = static_cast<uint64_t>(seed);
  run.steps = options.steps;
  run.replicas = options.replicas;
  run.behaviour = config::Behaviour(config::FeatureGates(options.kubernetes));
  run.bug = replicas::BugCalled(options.plant).value_or(replicas::Bug::kNone);
  if (options.verbose) run.trace = [](std::string_view line) { fmt::print("{}\n", line); };
  const replicas::RunOutcome outcome = RunReplicas(run);
  return {.violation = outcome.violation,
          .step = outcome.step,
          .time = outcome.time,
          .bindings = outcome.bindings,
          .faults = outcome.faults,
          .takeovers = outcome.takeovers};
}

// A run of a recording, from seed to seed.
class SeedRecording {
 public:
  // Ends the program when the directory cannot be written.
  SeedRecording(const std::string& dir, bool redact, const config::FeatureGates& gates) {
    record::DirectoryOptions directory;
    directory.dir = dir;
    directory.max_bytes = uint64_t{1} << 62;
    auto sink = record::DirectorySink::Open(directory, Give);
    if (!sink) Give(sink.error().Message());
    sink_ = std::move(*sink);
    recorder_ = std::make_unique<record::Recorder>(
        *sink_, gates, record::RecorderOptions{.berth_version = "berth-sim", .redact = redact});
  }
  ~SeedRecording() { recorder_->Close(); }

  scheduler::EngineTap* Tap() { return recorder_.get(); }

 private:
  static void Give(const std::string& reason) {
    fmt::print(stderr, "berth-sim: --record: {}\n", reason);
    std::exit(kUsage);
  }

  std::unique_ptr<record::DirectorySink> sink_;
  std::unique_ptr<record::Recorder> recorder_;
};

SeedOutcome RunOne(const Options& options, int64_t seed) {
  if (options.replicas > 0) return RunSeveral(options, seed);
  SeedOptions run;
  run.seed = static_cast<uint64_t>(seed);
  run.steps = options.steps;
  run.profile = &ProfileOf(options, seed);
  const config::FeatureGates gates =
      GatesFor(*run.profile, config::FeatureGates(options.kubernetes));
  run.behaviour = config::Behaviour(gates);
  run.planted_bug = BugCalled(options.plant);
  if (options.verbose) run.trace = [](const std::string& line) { fmt::print("{}\n", line); };
  std::optional<SeedRecording> recording;
  if (!options.record.empty())
    run.tap = recording.emplace(options.record, options.record_redact, gates).Tap();
  return RunSeed(run);
}

Total RunAll(const Options& options) {
  Total total;
  std::mutex mutex;
  std::atomic<int64_t> next = options.first;
  term::Progress progress("seeds", static_cast<size_t>(options.last - options.first + 1));
  size_t done = 0;
  const auto work = [&] {
    for (int64_t seed = next++; seed <= options.last; seed = next++) {
      const SeedOutcome outcome = RunOne(options, seed);
      const std::lock_guard lock(mutex);
      total.Add(outcome);
      progress.Update(++done);
      if (outcome.violation.empty()) continue;
      fmt::print("seed {} profile {} step {} time {:.3f}s: {} | replay: {}\n", seed,
                 options.replicas > 0 ? "replicas" : ProfileOf(options, seed).name, outcome.step,
                 static_cast<double>(outcome.time) / kSecond, outcome.violation,
                 Replay(options, seed));
      std::fflush(stdout);
    }
  };
  std::vector<std::thread> workers;
  for (int64_t i = 1; i < options.jobs; ++i) workers.emplace_back(work);
  work();
  for (std::thread& worker : workers) worker.join();
  return total;
}

void PrintTotal(const Options& options, const Total& total) {
  const SeedOutcome& sum = total.sum;
  const int64_t seeds = options.last - options.first + 1;
  const double hours = static_cast<double>(sum.time) / (60 * kMinute);
  if (options.replicas > 0) {
    fmt::print("{} seeds, {} failed: {} bindings, {} takeovers, {} faults, {:.1f} virtual hours\n",
               seeds, total.failed, sum.bindings, sum.takeovers, sum.faults, hours);
    return;
  }
  fmt::print(
      "{} seeds, {} failed: {} attempts, {} bindings, {} preemptions, {} crashes, {} faults, "
      "{:.1f} virtual hours\n",
      seeds, total.failed, sum.attempts, sum.bindings, sum.preemptions, sum.crashes, sum.faults,
      hours);
}

int Run(const std::vector<std::string>& args) {
  Options options;
  term::Flags flags = MakeFlags(&options);
  std::vector<std::string> rest;
  const auto parsed = flags.Parse(args, &rest);
  if (!parsed || !rest.empty()) {
    fmt::print(
        stderr, "berth-sim: {}\n",
        parsed ? "unexpected argument " + rest[0] + "; try --help" : parsed.error().Message());
    return kUsage;
  }
  if (options.help) {
    fmt::print(
        "Runs the scheduler in simulated clusters with fault injection, and checks its "
        "invariants.\nPrints a line per seed that violates one.\n\n{}",
        flags.Help());
    return kPassed;
  }
  if (options.verbose) options.jobs = 1;
  if (auto silenced = SilenceLog(); !silenced) {
    fmt::print(stderr, "berth-sim: {}\n", silenced.error().Message());
    return kFailed;
  }
  const Total total = RunAll(options);
  PrintTotal(options, total);
  return (total.failed > 0) == options.expect_failure ? kPassed : kFailed;
}

}  // namespace
}  // namespace berth::sim

int main(int argc, char** argv) {
  return berth::sim::Run(std::vector<std::string>(argv + 1, argv + argc));
}
