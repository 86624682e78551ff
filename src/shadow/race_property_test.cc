// An engine schedules random pods; its bindings show late and in another order, and it learns of
// changes late. The shadow sees the order of the API server alone, and must explain everything.
#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "cluster/testing/builders.h"
#include "scheduler/engine.h"
#include "shadow/shadow.h"
#include "shadow/summary.h"

namespace berth::shadow {
namespace {

using cluster::MakeNode;
using cluster::MakePod;

constexpr int64_t kMilli = 1'000'000;
constexpr int64_t kWatchLag = 30 * kMilli;  // of the engine, behind the shadow
constexpr int64_t kStart = 1'700'000'000'000 * kMilli;

class Trial {
 public:
  Trial(uint32_t seed, const config::KubeSchedulerConfiguration& theirs, int64_t latest_ns)
      : random_(seed), latest_ns_(latest_ns) {
    auto engine = scheduler::Engine::Make(theirs, {.algorithm = {.seed = seed}}, Now());
    EXPECT_TRUE(engine.has_value());
    engine_ = std::move(*engine);
    auto shadow = Shadow::Make(config::Default(), {});
    EXPECT_TRUE(shadow.has_value());
    shadow_ = std::move(*shadow);
    shadow_->AdvanceTo(Now());
    for (int i = 0; i < 12; ++i) {
      Put(MakeNode(fmt::format("n{}", i))
              .Cpu(std::to_string(4 << Below(3)))
              .Memory("32Gi")
              .Zone(fmt::format("z{}", i % 3))
              .Label("kubernetes.io/hostname", fmt::format("n{}", i)));
    }
    shadow_->Start();
  }

  // Creates a pod every `pause_ns`, and changes a node now and then.
  Summary Play(int pods, int64_t pause_ns) {
    for (int i = 0; i < pods; ++i) {
      Put(RandomPod(fmt::format("p{}", i)));
      if (Below(6) == 0) ChangeNode();
      if (i > 40 && Below(2) == 0) Delete(fmt::format("p{}", i - 40));
      Pass(pause_ns);
    }
    Pass(20'000 * kMilli);
    shadow_->Finish();
    Collect();
    summary_.Conclude();
    return summary_;
  }

 private:
  uint32_t Below(uint32_t n) { return std::uniform_int_distribution<uint32_t>(0, n - 1)(random_); }
  api::Time Now() const { return api::Time::FromUnixNano(now_ns_); }

  api::Pod RandomPod(const std::string& name) {
    MakePod pod = MakePod(name)
                      .Label("app", std::string(1, static_cast<char>('a' + Below(3))))
                      .Requests("cpu", fmt::format("{}m", 100 + 100 * Below(15)))
                      .Requests("memory", fmt::format("{}Mi", 64 + 64 * Below(20)));
    if (Below(4) == 0) {
      pod.Get().spec.topology_spread_constraints.push_back(
          cluster::FromText<api::TopologySpreadConstraint>(fmt::format(
              "{{'maxSkew':2,'topologyKey':'topology.kubernetes.io/zone','whenUnsatisfiable':"
              "'{}','labelSelector':{{'matchLabels':{{'app':'a'}}}}}}",
              Below(2) == 0 ? "DoNotSchedule" : "ScheduleAnyway")));
    }
    if (Below(10) == 0) pod.HostPort(static_cast<int32_t>(8000 + Below(4)));
    return pod;
  }

  void ChangeNode() {
    const uint32_t i = Below(12);
    MakeNode node(fmt::format("n{}", i));
    node.Cpu("16").Memory("32Gi").Zone(fmt::format("z{}", i % 3));
    node.Label("kubernetes.io/hostname", fmt::format("n{}", i));
    if (Below(3) == 0) node.Cordoned();
    Put(node);
  }

  // The API server has a new version: the shadow knows at once, the engine a little later.
  template <class T>
  void Put(T object) {
    if constexpr (std::is_same_v<T, api::Pod> || std::is_same_v<T, api::Node>) {
      object.metadata.resource_version = std::to_string(++version_);
      if constexpr (std::is_same_v<T, api::Pod>) pods_[object.metadata.name] = object;
      shadow_->Upsert(object);
      At(now_ns_ + kWatchLag, [this, object] { engine_->Upsert(object); });
    } else {
      Put(static_cast<const api::Node&>(object));
    }
  }
  void Delete(const std::string& name) {
    const auto it = pods_.find(name);
    if (it == pods_.end()) return;
    const api::Object object(it->second);
    pods_.erase(it);
    shadow_->Delete(object);
    At(now_ns_ + kWatchLag, [this, object] { engine_->Delete(object); });
  }

  void At(int64_t when_ns, std::function<void()> task) { tasks_.emplace(when_ns, std::move(task)); }

  void Pass(int64_t ns) {
    const int64_t until = now_ns_ + ns;
    while (now_ns_ < until) {
      now_ns_ += 10 * kMilli;
      while (!tasks_.empty() && tasks_.begin()->first <= now_ns_) {
        const auto task = std::move(tasks_.begin()->second);
        tasks_.erase(tasks_.begin());
        task();
      }
      engine_->AdvanceTo(Now());
      while (engine_->Step()) {
      }
      for (scheduler::Effect& effect : engine_->TakeEffects()) Carry(std::move(effect));
      shadow_->AdvanceTo(Now());
      Collect();
    }
  }

  void Collect() {
    for (const Comparison& c : shadow_->TakeComparisons()) summary_.Add(c);
  }

  void Carry(scheduler::Effect effect) {
    const int64_t when = now_ns_ + static_cast<int64_t>(Below(100)) * latest_ns_ / 100;
    const auto done = [this, id = effect.id](scheduler::EffectResult::Code code) {
      engine_->Complete({.id = id, .code = code, .message = "gone"});
    };
    using Code = scheduler::EffectResult::Code;
    if (auto* bind = std::get_if<scheduler::BindPod>(&effect.action)) {
      At(when, [this, done, bind = *bind] {
        const auto it = pods_.find(bind.pod.name);
        if (it == pods_.end()) return done(Code::kNotFound);
        api::Pod pod = it->second;
        pod.spec.node_name = bind.node;
        done(Code::kOk);
        Put(std::move(pod));
      });
    } else if (auto* patch = std::get_if<scheduler::PatchPodStatus>(&effect.action)) {
      // Sent within the cycle: the next decision comes after it.
      const auto it = pods_.find(patch->pod.name);
      if (it == pods_.end()) return done(Code::kNotFound);
      api::Pod pod = it->second;
      if (patch->condition) pod.status.conditions = {*patch->condition};
      if (patch->nominated_node_name) pod.status.nominated_node_name = *patch->nominated_node_name;
      done(Code::kOk);
      Put(std::move(pod));
    } else {
      done(Code::kOk);
    }
  }

  std::mt19937 random_;
  const int64_t latest_ns_;
  int64_t now_ns_ = kStart;
  int64_t version_ = 0;
  std::unique_ptr<scheduler::Engine> engine_;
  std::unique_ptr<Shadow> shadow_;
  std::map<std::string, api::Pod> pods_;
  std::multimap<int64_t, std::function<void()>> tasks_;
  Summary summary_;
};

std::string Wrong(const Summary& summary) {
  std::string text;
  for (const Comparison& c : summary.differences) {
    text += fmt::format("{} {} {} theirs {} ours {}: {}\n", c.time, c.Pod(), c.outcome_name,
                        c.their_node, c.our_node, Why(c));
  }
  return text;
}

TEST(RacePropertyTest, EverythingIsExplainedWhenBothAreAlike) {
  int64_t races = 0;
  for (uint32_t seed = 1; seed <= 6; ++seed) {
    const Summary summary = Trial(seed, config::Default(), 300 * kMilli).Play(250, 60 * kMilli);
    EXPECT_EQ(summary.unexplained, 0) << "seed " << seed << "\n" << Wrong(summary);
    EXPECT_GE(summary.compared, 240) << seed;
    races += summary.Count(Outcome::kRace);
  }
  EXPECT_GT(races, 0) << "nothing was late";
}

// The pods come so slowly that no two decisions share a window.
TEST(RacePropertyTest, ADisabledScoreIsFoundAndNamed) {
  auto theirs = config::Default();
  theirs.profiles.front().plugins.score.disabled.push_back({.name = "NodeResourcesFit"});
  const Summary summary = Trial(3, theirs, 20 * kMilli).Play(120, 11'000 * kMilli);
  EXPECT_GT(summary.unexplained, 5);
  EXPECT_EQ(summary.unexplained, summary.Count(Outcome::kScoreGap)) << Wrong(summary);
  const auto guess = std::find_if(summary.weights.begin(), summary.weights.end(),
                                  [](const auto& g) { return g.plugin == "NodeResourcesFit"; });
  ASSERT_NE(guess, summary.weights.end());
  EXPECT_EQ(guess->first, 0);
  EXPECT_EQ(guess->explained, guess->gaps);
}

}  // namespace
}  // namespace berth::shadow
