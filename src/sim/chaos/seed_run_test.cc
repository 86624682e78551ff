#include "sim/chaos/seed_run.h"

#include <string>

#include <gtest/gtest.h>

namespace berth::sim {
namespace {

std::string Trace(uint64_t seed, const ChaosProfile& profile) {
  std::string text;
  SeedOptions options{.seed = seed, .steps = 60, .profile = &profile};
  options.trace = [&](const std::string& line) { text += line + "\n"; };
  EXPECT_EQ(RunSeed(options).violation, "");
  return text;
}

TEST(SeedRun, ASeedReproducesEverything) {
  for (const ChaosProfile& profile : ChaosProfiles()) {
    const std::string first = Trace(7, profile);
    EXPECT_FALSE(first.empty());
    EXPECT_EQ(Trace(7, profile), first) << profile.name;
    EXPECT_NE(Trace(8, profile), first) << profile.name;
  }
}

TEST(SeedRun, ProfilesDoWhatTheyAreFor) {
  SeedOptions options{.seed = 5, .steps = 200};
  options.profile = FindChaosProfile("chaos");
  const SeedOutcome chaos = RunSeed(options);
  EXPECT_GT(chaos.faults, 100u);
  EXPECT_GT(chaos.bindings, 20u);
  options.profile = FindChaosProfile("preempt");
  EXPECT_GT(RunSeed(options).preemptions, 10u);
  EXPECT_EQ(FindChaosProfile("calm"), nullptr);
}

TEST(SeedRun, GangsAreWholeAndASplitOneIsFound) {
  SeedOptions options{.seed = 3, .steps = 200, .profile = &GangsProfile()};
  options.behaviour = config::Behaviour(GatesFor(GangsProfile(), config::FeatureGates()));
  const SeedOutcome outcome = RunSeed(options);
  EXPECT_EQ(outcome.violation, "");
  EXPECT_GT(outcome.bindings, 20u);
  options.planted_bug = scheduler::PlantedBug::kSplitGang;
  bool found = false;
  for (options.seed = 1; options.seed <= 10 && !found; ++options.seed) {
    found = RunSeed(options).violation.starts_with("held: ");
  }
  EXPECT_TRUE(found);
}

TEST(SeedRun, GroupsOfOtherApisAreWholeOnEveryMinorAndASplitOneIsFound) {
  SeedOptions options{.steps = 200, .profile = &CoschedulingProfile()};
  uint64_t bindings = 0;
  for (const int minor : {34, 35, 36, 37}) {
    options.behaviour = config::Behaviour(config::FeatureGates(minor));
    options.seed = static_cast<uint64_t>(minor);
    const SeedOutcome outcome = RunSeed(options);
    EXPECT_EQ(outcome.violation, "") << minor;
    bindings += outcome.bindings;
  }
  EXPECT_GT(bindings, 80u);
  options.planted_bug = scheduler::PlantedBug::kSplitGang;
  bool found = false;
  for (options.seed = 1; options.seed <= 10 && !found; ++options.seed) {
    found = RunSeed(options).violation.starts_with("held: ");
  }
  EXPECT_TRUE(found);
}

TEST(SeedRun, PlantedBugsAreFound) {
  for (const auto bug : {scheduler::PlantedBug::kLostRequeue, scheduler::PlantedBug::kDoubleAssume,
                         scheduler::PlantedBug::kMissedForget}) {
    bool found = false;
    for (uint64_t seed = 1; seed <= 10 && !found; ++seed) {
      found = !RunSeed({.seed = seed,
                        .steps = 300,
                        .profile = FindChaosProfile("chaos"),
                        .planted_bug = bug,
                        .trace = {}})
                   .violation.empty();
    }
    EXPECT_TRUE(found) << static_cast<int>(bug);
  }
}

}  // namespace
}  // namespace berth::sim
