#include "record/player.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "record/recorder.h"
#include "record/testing/memory_sink.h"
#include "sim/chaos/profile.h"
#include "sim/chaos/seed_run.h"

namespace berth::record {
namespace {

struct Recorded {
  std::vector<std::string> segments;
  sim::SeedOutcome outcome;
};

Recorded RecordSeed(uint64_t seed, const sim::ChaosProfile& profile, int minor, int64_t steps,
                    size_t segment_bytes = 1 << 20) {
  const config::FeatureGates gates(minor);
  MemorySink sink(segment_bytes);
  Recorder recorder(sink, gates, {.berth_version = "test", .batch_bytes = 16 << 10});
  sim::SeedOptions options{.seed = seed, .steps = steps, .profile = &profile};
  options.behaviour = config::Behaviour(gates);
  options.tap = &recorder;
  const sim::SeedOutcome outcome = sim::RunSeed(options);
  recorder.Close();
  EXPECT_EQ(sink.Reason(), "");
  return {sink.Segments(), outcome};
}

PlayOutcome PlayAll(std::vector<std::string> segments, const PlayOptions& options = {}) {
  RunReader reader(1, std::move(segments));
  return Play(reader, options);
}

const sim::ChaosProfile& Chaos() { return *sim::FindChaosProfile("chaos"); }

TEST(Player, RepeatsEveryDecisionOfChaos) {
  uint64_t seed = 1;
  for (int minor = config::OldestKubernetes(); minor <= config::NewestKubernetes(); ++minor) {
    for (const sim::ChaosProfile& profile : sim::ChaosProfiles()) {
      for (int i = 0; i < 2; ++i, ++seed) {
        const Recorded recorded = RecordSeed(seed, profile, minor, 80);
        const PlayOutcome outcome = PlayAll(recorded.segments);
        EXPECT_EQ(outcome.trouble, "") << profile.name << " " << seed << " 1." << minor;
        EXPECT_EQ(outcome.divergence, "") << profile.name << " " << seed << " 1." << minor;
        EXPECT_TRUE(outcome.closed);
        EXPECT_EQ(outcome.engines, 1 + recorded.outcome.crashes);
        EXPECT_GT(outcome.steps, 0u);
        EXPECT_GE(outcome.bindings, recorded.outcome.bindings);
        EXPECT_GT(outcome.decisions, 0u);
      }
    }
  }
}

// Writes the run again with some records changed or left out.
template <class Change>
std::vector<std::string> Rewritten(const std::vector<std::string>& segments, Change change) {
  RunReader reader(1, segments);
  Batch batch;
  batch.first_sequence = 1;
  RecordWriter writer(batch.records);
  for (;;) {
    Record record = Record(End{});
    const Record* next = reader.Next().value();
    if (next == nullptr) break;
    record = *next;
    if (!change(record)) continue;
    std::visit(
        [&]<class T>(const T& value) {
          if constexpr (std::is_same_v<T, Begin>) {
            writer.Add(value);
          } else if constexpr (std::is_same_v<T, Advance>) {
            writer.AddAdvance(value.time_ns);
          } else if constexpr (std::is_same_v<T, Upsert>) {
            writer.AddUpsert(value.object);
          } else if constexpr (std::is_same_v<T, UpdateStatus>) {
            writer.AddStatus(value.pod);
          } else if constexpr (std::is_same_v<T, Delete>) {
            writer.AddDelete(value.object);
          } else if constexpr (std::is_same_v<T, Replace>) {
            writer.AddReplace(value.kind, value.part, value.objects);
          } else if constexpr (std::is_same_v<T, Complete>) {
            writer.AddComplete(value.result);
          } else if constexpr (std::is_same_v<T, Step>) {
            writer.AddStep(value.tried);
          } else if constexpr (std::is_same_v<T, Taken>) {
            writer.AddTaken(value.digests);
          } else if constexpr (std::is_same_v<T, Synced>) {
            writer.AddSynced();
          } else if constexpr (std::is_same_v<T, Metrics>) {
            writer.AddMetrics(value.node, value.metrics);
          } else {
            writer.AddEnd();
          }
        },
        record);
  }
  MemorySink sink;
  sink.Put(std::move(batch));
  return sink.Segments();
}

TEST(Player, FindsWhatDiffers) {
  const Recorded recorded = RecordSeed(3, Chaos(), 34, 80);
  const auto same = [](Record&) { return true; };
  EXPECT_TRUE(PlayAll(Rewritten(recorded.segments, same)).Same());

  const auto other_seed = [](Record& record) {
    if (auto* begin = std::get_if<Begin>(&record)) begin->seed ^= 1;
    return true;
  };
  EXPECT_NE(PlayAll(Rewritten(recorded.segments, other_seed)).divergence, "");

  int nodes = 0;
  const auto without_a_node = [&](Record& record) {
    auto* replace = std::get_if<Replace>(&record);
    if (replace != nullptr && replace->kind == "Node" && nodes++ == 0) replace->objects.clear();
    return true;
  };
  const PlayOutcome outcome = PlayAll(Rewritten(recorded.segments, without_a_node));
  EXPECT_NE(outcome.divergence, "");
  EXPECT_GT(outcome.stopped.sequence, 0u);
}

TEST(Player, PlaysUpToDamage) {
  const Recorded recorded = RecordSeed(5, Chaos(), 36, 80, 8'000);
  ASSERT_GT(recorded.segments.size(), 2u);
  const PlayOutcome whole = PlayAll(recorded.segments);
  ASSERT_TRUE(whole.Same());
  uint64_t before = 0;
  for (size_t i = 0; i < recorded.segments.size(); ++i) {
    std::vector<std::string> damaged = recorded.segments;
    damaged[i][damaged[i].size() / 2] ^= 0x10;
    const PlayOutcome outcome = PlayAll(damaged);
    EXPECT_EQ(outcome.divergence, "");
    EXPECT_NE(outcome.trouble.find(SegmentName({1, static_cast<uint32_t>(i + 1)})),
              std::string::npos)
        << outcome.trouble;
    EXPECT_GE(outcome.records, before);
    EXPECT_LT(outcome.records, whole.records);
    before = outcome.records;

    std::vector<std::string> cut(recorded.segments.begin(),
                                 recorded.segments.begin() + static_cast<ptrdiff_t>(i) + 1);
    cut.back().resize(cut.back().size() - 1);
    EXPECT_NE(PlayAll(cut).trouble, "");
    EXPECT_EQ(PlayAll(cut).divergence, "");
  }
  EXPECT_GT(before, 0u);
}

TEST(Player, StopsAtATime) {
  const Recorded recorded = RecordSeed(6, Chaos(), 37, 40);
  const PlayOutcome whole = PlayAll(recorded.segments);
  PlayOptions options;
  options.until_ns = whole.first_time_ns + (whole.last_time_ns - whole.first_time_ns) / 2;
  const PlayOutcome half = PlayAll(recorded.segments, options);
  EXPECT_TRUE(half.Same());
  EXPECT_TRUE(half.reached_until);
  EXPECT_FALSE(half.closed);
  EXPECT_GT(half.records, 0u);
  EXPECT_LT(half.records, whole.records);
  EXPECT_LE(half.last_time_ns, *options.until_ns);
}

TEST(Player, GoesOnByOneRecordAtATime) {
  const Recorded recorded = RecordSeed(8, Chaos(), 37, 40);
  const PlayOutcome whole = PlayAll(recorded.segments);
  RunReader reader(1, recorded.segments);
  Player player(reader, {});
  EXPECT_EQ(player.GetEngine(), nullptr);
  uint64_t records = 0;
  int64_t last = 0;
  while (const auto next = player.Peek()) {
    EXPECT_EQ(next->sequence, records + 1);
    EXPECT_EQ(player.Peek()->sequence, next->sequence) << "looking does not play";
    EXPECT_GE(next->time_ns, last);
    last = next->time_ns;
    ASSERT_TRUE(player.Next());
    EXPECT_EQ(player.Outcome().records, ++records);
  }
  EXPECT_FALSE(player.Next());
  EXPECT_EQ(records, whole.records);
  EXPECT_EQ(player.Outcome().decisions, whole.decisions);
  EXPECT_NE(player.GetEngine(), nullptr);
}

// What is left when another scheduler decides: its inputs.
std::vector<std::string> Observed(const std::vector<std::string>& segments) {
  return Rewritten(segments, [](Record& record) {
    if (auto* begin = std::get_if<Begin>(&record)) begin->observed = true;
    if (std::holds_alternative<Step>(record)) record = Synced{};
    return !std::holds_alternative<Taken>(record) && !std::holds_alternative<Complete>(record);
  });
}

TEST(Player, AnObservedRunHasInputsAlone) {
  const Recorded recorded = RecordSeed(9, Chaos(), 37, 40);
  const std::vector<std::string> observed = Observed(recorded.segments);
  const PlayOutcome outcome = PlayAll(observed);
  EXPECT_EQ(outcome.trouble, "");
  EXPECT_TRUE(outcome.observed);
  EXPECT_EQ(outcome.steps, 0u);
  EXPECT_EQ(outcome.decisions, 0u);
  const auto with_steps = Rewritten(recorded.segments, [](Record& record) {
    if (auto* begin = std::get_if<Begin>(&record)) begin->observed = true;
    return true;
  });
  EXPECT_NE(PlayAll(with_steps).trouble.find("a scheduling cycle in a recording without"),
            std::string::npos);
  const auto marked = Rewritten(recorded.segments, [](Record& record) {
    if (std::holds_alternative<Step>(record)) record = Synced{};
    return true;
  });
  EXPECT_NE(PlayAll(marked).trouble.find("the mark of a recording without scheduling"),
            std::string::npos);
}

TEST(Player, SaysWhatItCannotPlay) {
  const Recorded recorded = RecordSeed(7, Chaos(), 35, 5);
  const auto with = [&](auto change) {
    return PlayAll(Rewritten(recorded.segments,
                             [&](Record& record) {
                               if (auto* begin = std::get_if<Begin>(&record)) change(*begin);
                               return true;
                             }))
        .trouble;
  };
  EXPECT_EQ(with([](Begin& begin) {
              begin.minor = 99;
            }).find("run 1, record 1: recorded as Kubernetes 1.99; this berth knows 1.34"),
            0u);
  EXPECT_NE(with([](Begin& begin) {
              begin.extra_plugins = {"Own"};
            }).find("out-of-tree plugin Own, which is not loaded here"),
            std::string::npos);
  EXPECT_NE(with([](Begin& begin) { begin.config = "{"; }).find("recorded configuration: "),
            std::string::npos);
  EXPECT_NE(with([](Begin& begin) { begin.gates = "NoSuchGate=true"; }).find("recorded gates: "),
            std::string::npos);
  const auto headless = Rewritten(
      recorded.segments, [](Record& record) { return !std::holds_alternative<Begin>(record); });
  EXPECT_EQ(PlayAll(headless).trouble, "run 1, record 1: an input before an engine was made");
}

TEST(Recorder, EndsWhenTheGatesOfAnEngineAreUnknown) {
  const config::FeatureGates gates(34);
  MemorySink sink;
  Recorder recorder(sink, gates, {});
  scheduler::EngineOptions options;
  options.behaviour = config::Behaviour(config::FeatureGates(36));
  recorder.Began(config::Default(options.behaviour), options, api::Time::FromUnixNano(1));
  EXPECT_EQ(sink.Reason(), "the feature gates of the engine are unknown");
  recorder.Allow(config::FeatureGates(36));
  recorder.Close();
  EXPECT_TRUE(sink.Segments().empty());
}

// A sink that wants another run with every engine.
class RunPerEngine final : public Sink {
 public:
  bool Put(Batch&& batch) override {
    if (refuses) return false;
    runs.back().Put(std::move(batch));
    return true;
  }
  void End(const std::string&) override { ADD_FAILURE(); }
  bool WantsRun() const override { return true; }
  void StartRun() override { runs.emplace_back(); }

  std::vector<MemorySink> runs;
  bool refuses = false;
};

TEST(Recorder, BeginsAnotherRunWithAnotherEngine) {
  const config::FeatureGates gates(37);
  RunPerEngine sink;
  Recorder recorder(sink, gates, {.berth_version = "test", .batch_bytes = 4 << 10});
  sim::SeedOptions options{.seed = 11, .steps = 300, .profile = &Chaos()};
  options.behaviour = config::Behaviour(gates);
  options.tap = &recorder;
  const sim::SeedOutcome outcome = sim::RunSeed(options);
  ASSERT_GT(outcome.crashes, 0u) << "of another seed, then";
  // What is refused is missing up to the next engine.
  scheduler::EngineOptions engine;
  engine.behaviour = options.behaviour;
  const config::KubeSchedulerConfiguration config = config::Default(engine.behaviour);
  recorder.Began(config, engine, api::Time::FromUnixNano(1));
  sink.refuses = true;
  recorder.Flush();
  recorder.Step(true);
  sink.refuses = false;
  recorder.Began(config, engine, api::Time::FromUnixNano(2));
  recorder.Close();
  ASSERT_EQ(sink.runs.size(), outcome.crashes + 3);
  for (size_t i = 0; i < sink.runs.size(); ++i) {
    if (i + 2 == sink.runs.size()) continue;  // the one that was refused
    const PlayOutcome played = PlayAll(sink.runs[i].Segments());
    EXPECT_TRUE(played.Same()) << i << ": " << played.divergence << played.trouble;
    EXPECT_TRUE(played.closed) << i;
    EXPECT_EQ(played.engines, 1u) << i;
  }
}

TEST(Recorder, ConfigurationsComeBackAsTheyWere) {
  for (int minor = config::OldestKubernetes(); minor <= config::NewestKubernetes(); ++minor) {
    const config::Behaviour behaviour{config::FeatureGates(minor)};
    const std::string json = config::ToJson(config::Default(behaviour));
    auto loaded = config::Load(json, behaviour);
    ASSERT_TRUE(loaded) << loaded.error().Message();
    EXPECT_EQ(config::ToJson(*loaded), json);
  }
}

}  // namespace
}  // namespace berth::record
