// For tests only: plugins whose answers are written down in the test, and a profile of them.
//
//   FakeProfile profile(cluster, {{.name = "A", .filter = [](NodeIndex n) { return n != 2; }}});
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "framework/runtime/profile.h"

namespace berth::framework {

// A plugin serves the points it has an answer for.
struct FakeSpec {
  std::string name;
  std::function<Status(const CycleContext&, PreFilterResult*)> pre_filter = {};
  // False: the node is refused, with `code` and the reason "NAME says no".
  std::function<bool(NodeIndex)> filter = {};
  Code code = Code::kUnschedulable;
  std::function<Status(const Diagnosis&, PostFilterResult*)> post_filter = {};
  std::function<Status()> pre_score = {};
  std::function<int64_t(NodeIndex)> score = {};
  std::optional<int64_t> uniform = {};
  std::function<void(const NodeSet&, ScoreColumn&)> normalize = {};
  int32_t weight = 1;
  std::function<Status(int added)> extension = {};  // +1: a pod was added, -1: removed
  uint32_t concerns = kEveryPod;
  uint32_t depends_on = kOnEverything;
};

class FakePlugin final : public PreFilterPlugin,
                         public FilterPlugin,
                         public PostFilterPlugin,
                         public PreScorePlugin,
                         public ScorePlugin {
 public:
  explicit FakePlugin(FakeSpec spec) : spec_(std::move(spec)) {}

  std::string_view Name() const override { return spec_.name; }
  uint32_t Concerns() const override { return spec_.concerns; }
  uint32_t DependsOn() const override { return spec_.depends_on; }
  Status PreFilter(const CycleContext& c, PluginState*, PreFilterResult* result) const override {
    return spec_.pre_filter(c, result);
  }
  bool HasExtensions() const override { return static_cast<bool>(spec_.extension); }
  Status AddPod(const CycleContext&, PluginState*, const cluster::Pod&, NodeIndex) const override {
    return spec_.extension(+1);
  }
  Status RemovePod(const CycleContext&, PluginState*, const cluster::Pod&,
                   NodeIndex) const override {
    return spec_.extension(-1);
  }
  void Filter(const CycleContext&, const PluginState*, FilterBatch& batch) const override {
    batch.ForEach([&](NodeIndex n) {
      if (!spec_.filter(n)) batch.Reject(n, spec_.code);
    });
  }
  void Reasons(const CycleContext&, const PluginState*, const Verdict&,
               std::vector<std::string>* out) const override {
    out->push_back(spec_.name + " says no");
  }
  Status PostFilter(Cycle&, cluster::Cluster&, const Diagnosis& diagnosis,
                    PostFilterResult* result) override {
    return spec_.post_filter(diagnosis, result);
  }
  Status PreScore(const CycleContext&, PluginState*, const NodeSet&) const override {
    return spec_.pre_score();
  }
  std::optional<int64_t> UniformScore(const CycleContext&, PluginState*,
                                      const NodeSet&) const override {
    return spec_.uniform;
  }
  void Score(const CycleContext&, const PluginState*, ScoreBatch& batch) const override {
    batch.ForEach([&](NodeIndex n) { batch.Scores()[n] = spec_.score(n); });
  }
  bool HasNormalize() const override { return static_cast<bool>(spec_.normalize); }
  void Normalize(const CycleContext&, const PluginState*, const NodeSet& feasible,
                 ScoreColumn& column) const override {
    spec_.normalize(feasible, column);
  }

 private:
  FakeSpec spec_;
};

// A profile of at most four fakes, in the order given at every point.
class FakeProfile {
 public:
  FakeProfile(cluster::Cluster& cluster, std::vector<FakeSpec> specs, int32_t percentage = 0) {
    config::ResolvedProfile resolved;
    resolved.scheduler_name = "default-scheduler";
    resolved.percentage_of_nodes_to_score = percentage;
    std::vector<RegistryRow> registry;
    for (size_t i = 0; i < specs.size(); ++i) {
      const FakeSpec& spec = Specs()[i] = specs[i];
      registry.push_back({spec.name, kFactories.at(i)});
      const auto serve = [&](bool serves, config::ExtensionPoint point) {
        const int32_t weight = point == config::ExtensionPoint::kScore ? spec.weight : 0;
        if (serves) resolved.points[config::Index(point)].push_back({spec.name, weight});
      };
      serve(spec.pre_filter != nullptr, config::ExtensionPoint::kPreFilter);
      serve(spec.filter != nullptr, config::ExtensionPoint::kFilter);
      serve(spec.post_filter != nullptr, config::ExtensionPoint::kPostFilter);
      serve(spec.pre_score != nullptr, config::ExtensionPoint::kPreScore);
      serve(spec.score != nullptr || spec.uniform.has_value(), config::ExtensionPoint::kScore);
    }
    auto made = Profile::Make(resolved, registry, {cluster});
    EXPECT_TRUE(made.has_value());
    profile_ = std::move(*made);
  }

  operator const Profile&() const { return *profile_; }  // NOLINT: stands for the profile

 private:
  // Factories are plain functions; they find their spec here.
  static std::array<FakeSpec, 4>& Specs() {
    static std::array<FakeSpec, 4> specs;
    return specs;
  }
  template <size_t I>
  static Result<std::unique_ptr<Plugin>> MakeFake(const config::PluginArgs&, const PluginHandle&) {
    return std::make_unique<FakePlugin>(Specs()[I]);
  }
  static constexpr std::array<PluginFactory, 4> kFactories{&MakeFake<0>, &MakeFake<1>, &MakeFake<2>,
                                                           &MakeFake<3>};

  std::unique_ptr<Profile> profile_;
};

}  // namespace berth::framework
