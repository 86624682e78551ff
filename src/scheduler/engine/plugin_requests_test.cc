// What a plugin can do and read besides the pod at hand: waiting pods, activation, custom
// resources, annotations and measured metrics.
#include "scheduler/engine/plugin_requests.h"

#include <memory>
#include <string>
#include <utility>

#include <gmock/gmock.h>

#include "cluster/objects/object_store.h"
#include "scheduler/testing/engine.h"

namespace berth::scheduler {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::string_view kFloors = "example.com/v1";

// Acts on other pods as labels say: "join" makes a pod wait for the next one that joins, "break"
// rejects all that wait, "wake" activates the pod it names.
class Conductor final : public framework::PermitPlugin {
 public:
  explicit Conductor(framework::PodControl* pods) : pods_(pods) {}
  std::string_view Name() const override { return "Conductor"; }
  framework::Status Permit(const framework::CycleContext& c, framework::PluginState*,
                           framework::NodeIndex, int64_t* timeout_ns) override {
    const auto& labels = c.shape.source.metadata.labels;
    if (const auto* name = api::FindValue(labels, "wake")) pods_->Activate("ns", *name);
    const bool breaks = api::FindValue(labels, "break") != nullptr;
    bool met = false;
    pods_->ForEachWaiting([&](const framework::WaitingPod& waiting) {
      met = true;
      EXPECT_THAT(waiting.plugins, ElementsAre(Name()));
      if (breaks) {
        pods_->Reject(waiting.pod.uid, Name(), "the conductor broke it off");
      } else {
        pods_->Allow(waiting.pod.uid, Name());
      }
    });
    if (api::FindValue(labels, "join") == nullptr || met) return {};
    *timeout_ns = 60 * kSecond;
    return {framework::Code::kWait, "for company"};
  }

 private:
  framework::PodControl* pods_;
};

// A node is good for pods when an object Floor of its annotation "floor" exists, and its measured
// load is not above 1.
class Floors final : public framework::FilterPlugin {
 public:
  std::string_view Name() const override { return "Floors"; }
  void Filter(const framework::CycleContext& c, const framework::PluginState*,
              framework::FilterBatch& batch) const override {
    const auto* floors = c.cluster.Objects().custom.Find(kFloors, "Floor");
    batch.ForEach([&](cluster::NodeIndex n) {
      const std::string* floor = c.cluster.NodeAnnotation(n, "floor");
      const cluster::NodeMetrics* metrics = c.cluster.Metrics(n);
      const bool busy = metrics != nullptr && metrics->values.at("load") > 1;
      if (floor == nullptr || floors->Find("", *floor) == nullptr || busy) {
        batch.Reject(n, framework::Code::kUnschedulable);
      }
    });
  }
};

ExtraPlugin ConductorRow() {
  return {{"Conductor",
           [](const config::PluginArgs&,
              const framework::PluginHandle& handle) -> Result<std::unique_ptr<framework::Plugin>> {
             return std::make_unique<Conductor>(handle.pods);
           }},
          {config::ExtensionPoint::kPermit}};
}

ExtraPlugin FloorsRow(std::string kind = "Floor") {
  static std::string name;
  name = std::move(kind);
  return {{"Floors",
           [](const config::PluginArgs&, const framework::PluginHandle&)
               -> Result<std::unique_ptr<framework::Plugin>> { return std::make_unique<Floors>(); },
           [](const config::PluginArgs&) {
             return cluster::PluginInputs{.kinds = {{"example.com", "v1", name, "floors", false}},
                                          .node_annotations = {"floor"},
                                          .pod_annotations = {}};
           }},
          {config::ExtensionPoint::kFilter}};
}

api::Object Floor(const std::string& name, const std::string& version) {
  return *api::DecodeObject(R"({"apiVersion": "example.com/v1", "kind": "Floor", "metadata":
      {"name": ")" + name + R"(", "resourceVersion": ")" +
                            version + R"("}, "spec": {"n": 1}})");
}

class PluginRequestsTest : public EngineTest {
 protected:
  void SetUp() override {
    EngineOptions options;
    options.extra_plugins = {ConductorRow()};
    Make(std::move(options));
    PutNode(cluster::MakeNode("node").Cpu("8"));
  }
};

TEST_F(PluginRequestsTest, APluginAllowsPodsThatWait) {
  PutPod(Small("first").Label("join", ""));
  EXPECT_THAT(Run(), Not(Contains(HasSubstr("bind"))));
  EXPECT_EQ(engine_->WhereIs("first"), "waiting");
  PutPod(Small("second").Label("join", ""));
  EXPECT_THAT(Run(), ElementsAre("bind second to node", "bind first to node"));
}

TEST_F(PluginRequestsTest, APluginRejectsPodsThatWait) {
  PutPod(Small("first").Label("join", ""));
  Run();
  PutPod(Small("second").Label("break", ""));
  const auto effects = Run();
  EXPECT_THAT(effects, Contains("bind second to node"));
  EXPECT_THAT(effects, Contains(HasSubstr("the conductor broke it off")));
  EXPECT_EQ(engine_->WhereIs("first"), "unschedulable");
}

TEST_F(PluginRequestsTest, APluginActivatesAPodThatWaitsForAnEvent) {
  PutPod(cluster::MakePod("sleeper").Requests("cpu", "99"));
  Run();
  EXPECT_EQ(engine_->WhereIs("sleeper"), "unschedulable");
  PutPod(Small("other").Label("wake", "sleeper"));
  Run();
  bool activated = false;
  for (const EventMoves& moves : engine_->IncomingPods()) {
    activated |= moves.event == "ForceActivate";
  }
  EXPECT_TRUE(activated);
  PutPod(Small("more").Label("wake", "nobody"));
  EXPECT_THAT(Run(), Contains("bind more to node"));
}

class FloorsTest : public EngineTest {
 protected:
  void SetUp() override {
    EngineOptions options;
    options.extra_plugins = {FloorsRow()};
    Make(std::move(options));
    api::Node node = cluster::MakeNode("node").Cpu("8");
    node.metadata.annotations["floor"] = "ground";
    PutNode(node);
  }
};

TEST_F(FloorsTest, CustomResourcesAreReadAndWakePods) {
  PutPod(Small("p"));
  EXPECT_THAT(Run(), Not(Contains(HasSubstr("bind"))));
  engine_->Upsert(Floor("cellar", "1"));
  Sleep(60);
  EXPECT_THAT(Run(), Not(Contains(HasSubstr("bind")))) << "tried again, in vain";
  engine_->Upsert(Floor("ground", "2"));
  Sleep(60);
  EXPECT_THAT(Run(), Contains("bind p to node"));
  const auto* floors = engine_->GetCluster().Objects().custom.Find(kFloors, "Floor");
  EXPECT_THAT(floors->Find("", "ground")->json, HasSubstr(R"("n": 1)"));
}

TEST_F(FloorsTest, ListsOfCustomResourcesRemoveWhatIsMissing) {
  const auto size = [&] {
    return engine_->GetCluster().Objects().custom.Find(kFloors, "Floor")->Size();
  };
  engine_->Replace("Floor", {Floor("a", "1"), Floor("b", "1")});
  EXPECT_EQ(size(), 2u);
  engine_->Replace("Floor", {Floor("b", "1")});
  EXPECT_EQ(size(), 1u);
  engine_->Delete(Floor("b", "2"));
  EXPECT_EQ(size(), 0u);
  engine_->Upsert(*api::DecodeObject(
      R"({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "x"}})"));
  EXPECT_EQ(engine_->GetCluster().Objects().custom.Find("v1", "ConfigMap"), nullptr);
}

TEST_F(FloorsTest, MeasuredMetricsAreReadByTheNextCycle) {
  engine_->Upsert(Floor("ground", "1"));
  engine_->UpdateNodeMetrics("node", {Now(), {{"load", 2.0}}});
  PutPod(Small("p"));
  EXPECT_THAT(Run(), Not(Contains(HasSubstr("bind"))));
  engine_->UpdateNodeMetrics("node", {Now(), {{"load", 0.5}}});
  PutPod(Small("q"));
  EXPECT_THAT(Run(), Contains("bind q to node"));
}

class SharedNameTest : public EngineTest {
 protected:
  void SetUp() override {
    EngineOptions options;
    options.extra_plugins = {FloorsRow("Service")};
    Make(std::move(options));
  }
};

TEST_F(SharedNameTest, ListsOfAKindWithATakenNameCarryItsGroup) {
  const auto size = [&] {
    return engine_->GetCluster().Objects().custom.Find(kFloors, "Service")->Size();
  };
  const auto object = *api::DecodeObject(
      R"({"apiVersion": "example.com/v1", "kind": "Service", "metadata": {"name": "a"}})");
  engine_->Replace("Service.example.com", {object});
  EXPECT_EQ(size(), 1u);
  engine_->Replace("Service", {});
  EXPECT_EQ(size(), 1u) << "the other kind's list";
  engine_->Replace("Service.example.com", {});
  EXPECT_EQ(size(), 0u);
}

TEST(PluginInputs, TwoCustomKindsMustHaveDifferentNames) {
  EngineOptions options;
  options.extra_plugins = {FloorsRow()};
  options.extra_plugins[0].row.inputs = [](const config::PluginArgs&) {
    return cluster::PluginInputs{.kinds = {{"a.com", "v1", "Floor", "floors", false},
                                           {"b.com", "v1", "Floor", "floors", false}},
                                 .node_annotations = {},
                                 .pod_annotations = {}};
  };
  const auto made = Engine::Make(config::Default(), options, api::Time::FromUnixNano(kStart));
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().Message(), "custom resource Floor.b.com: another kind has this name");
}

}  // namespace
}  // namespace berth::scheduler
