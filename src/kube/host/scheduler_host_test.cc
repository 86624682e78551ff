// SchedulerHost over a client that the test answers, on a loop in virtual time that pauses as the
// real one does: what a pod waits for by design is counted, not measured.
#include "kube/host/scheduler_host.h"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "cluster/objects/object_store.h"
#include "config/behaviour.h"
#include "config/config.h"
#include "kube/kinds.h"
#include "kube/testing/fake_api_client.h"
#include "net/testing/paced_loop.h"

namespace berth::kube {
namespace {

using std::chrono::milliseconds;

constexpr std::string_view kPods = "/api/v1/pods";
constexpr std::string_view kFloors = "/apis/example.com/v1/floors";

class SchedulerHostTest : public ::testing::Test {
 protected:
  void SetUp() override {
    SchedulerHostOptions options;
    options.config = Configuration();
    options.host_name = "test";
    options.longest_pause = milliseconds(50);
    options.engine.extra_plugins = ExtraPlugins();
    auto host = SchedulerHost::Make(loop_, client_, std::move(options));
    ASSERT_TRUE(host) << host.error().Message();
    host_ = std::move(*host);
    host_->Start();
    if (Leads()) host_->StartScheduling();
    AnswerLists();
  }
  void TearDown() override { host_->Stop(); }

  virtual std::vector<scheduler::ExtraPlugin> ExtraPlugins() { return {}; }
  virtual bool Leads() const { return true; }
  // Sources of metrics, which are read as soon as everything is listed.
  virtual size_t Polls() const { return 0; }
  virtual config::KubeSchedulerConfiguration Configuration() const { return config::Default(); }

  void AnswerLists() {
    const size_t kinds = WatchedKinds(config::Behaviour()).size() + ExtraPlugins().size();
    loop_.RunUntil([&] { return client_.Size() == kinds + 1; });  // and what events there are
    for (size_t i = 0; i < kinds + 1; ++i) {
      loop_.Deliver([this, i] { client_.Respond(i, ListFor(client_.At(i).request.path)); });
    }
    loop_.RunUntil([&] { return client_.Size() == 2 * kinds + 1 + Polls(); });
    pods_watch_ = client_.FindOpen(kPods);
    client_.Start(pods_watch_, kJson);
  }

  static ApiResponse ListFor(std::string_view path) {
    std::string_view kind = path == kFloors ? "Floor" : "";
    for (const Kind& watched : WatchedKinds(config::Behaviour())) {
      if (CollectionPath(watched) == path) kind = watched.kind;
    }
    std::string_view items;
    if (kind == "Node") {
      items = R"({"metadata":{"name":"node","resourceVersion":"1"},
                  "status":{"allocatable":{"cpu":"100","memory":"1Ti","pods":"10000"},
                            "capacity":{"cpu":"100","memory":"1Ti"}}})";
    }
    return FakeApiClient::Success(
        fmt::format(R"({{"kind":"{}List","metadata":{{"resourceVersion":"1"}},"items":[{}]}})",
                    kind, items),
        kJson);
  }

  std::string PodFrame(std::string_view type, int i, bool bound) {
    return fmt::format(
        R"({{"type":"{}","object":{{"kind":"Pod","apiVersion":"v1",
            "metadata":{{"name":"pod-{}","namespace":"default","uid":"uid-{}","resourceVersion":"{}"}},
            "spec":{{"schedulerName":"default-scheduler"{},"containers":[{{"name":"c"}}]}}}}}})",
        type, i, i, ++version_, bound ? R"(,"nodeName":"node")" : "");
  }
  // The event about pod `i` arrives, with or without its node.
  void Arrive(std::string_view type, int i, bool bound) {
    loop_.Deliver(
        [this, frame = PodFrame(type, i, bound)] { client_.SendFrame(pods_watch_, frame); });
  }
  // Watches opened since call `from` that begin with a list, by path.
  std::map<std::string, size_t> Streams(size_t from) const {
    std::map<std::string, size_t> streams;
    for (size_t i = from; i < client_.Size(); ++i) {
      const FakeApiClient::Call& call = client_.At(i);
      const bool lists = call.request.query.find("sendInitialEvents=true") != std::string::npos;
      if (call.watch && call.Open() && lists) streams.emplace(call.request.path, i);
    }
    return streams;
  }
  // The list of `kind` arrives as events of the watch.
  void Stream(size_t watch, const Kind& kind, const std::vector<std::string>& frames) {
    client_.Start(watch, kJson);
    for (const std::string& frame : frames) client_.SendFrame(watch, frame);
    client_.SendFrame(watch, fmt::format(R"({{"type":"BOOKMARK","object":{{"kind":"{}",
        "apiVersion":"{}","metadata":{{"resourceVersion":"{}",
        "annotations":{{"k8s.io/initial-events-end":"true"}}}}}}}})",
                                         kind.kind, kind.api_version, ++version_));
  }
  void Create(int i) { Arrive("ADDED", i, false); }

  // Requests that bind pods, in the order they were sent.
  std::vector<size_t> Bindings() {
    for (; looked_at_ < client_.Size(); ++looked_at_) {
      const ApiRequest& request = client_.At(looked_at_).request;
      if (request.method == "POST" && request.path.ends_with("/binding")) {
        bindings_.push_back(looked_at_);
      }
    }
    return bindings_;
  }
  void AwaitBindings(size_t count) {
    loop_.RunUntil([&] { return Bindings().size() >= count; });
  }
  void Answer(size_t binding) {
    loop_.Deliver([this, call = Bindings()[binding]] {
      client_.Respond(call, FakeApiClient::Success("", kJson));
    });
  }
  // Everything delivered is served, and the engine has it.
  void Settle() {
    bool settled = false;
    loop_.Deliver([&] {
      loop_.Post(
          [&] { host_->Do([&](scheduler::Engine&) { loop_.Post([&] { settled = true; }); }); });
    });
    loop_.RunUntil([&] { return settled; });
  }

  net::PacedLoop loop_;
  FakeApiClient client_{kJson};
  std::unique_ptr<SchedulerHost> host_;
  size_t pods_watch_ = 0;
  size_t looked_at_ = 0;
  std::vector<size_t> bindings_;
  int version_ = 10;
};

// Pods that come one after the other: from the event to the request no time passes, and none until
// the answer and the event about the binding are taken up. Every round counts as a second of CPU
// time here: the policy must not take a slow machine for a backlog.
TEST_F(SchedulerHostTest, ALonePodMeetsNoPause) {
  const net::Nanoseconds start = loop_.Steady();
  const int met = loop_.pauses_met;
  for (int i = 0; i < 50; ++i) {
    Create(i);
    AwaitBindings(static_cast<size_t>(i) + 1);
    Answer(static_cast<size_t>(i));
    Arrive("MODIFIED", i, true);
    Settle();
  }
  EXPECT_EQ(loop_.pauses_met, met);
  EXPECT_EQ(loop_.Steady(), start);
}

// As above, while the API server takes its time with a few other bindings.
TEST_F(SchedulerHostTest, APodBesideAFewSlowBindingsMeetsNoPause) {
  constexpr int kSlow = 10;
  for (int i = 0; i < kSlow; ++i) Create(i);
  AwaitBindings(kSlow);
  loop_.Pass(milliseconds(500));
  const int met = loop_.pauses_met;
  for (int i = kSlow; i < 2 * kSlow; ++i) {
    Create(i);
    AwaitBindings(static_cast<size_t>(i) + 1);
    Answer(static_cast<size_t>(i));
    Settle();
  }
  EXPECT_EQ(loop_.pauses_met, met);
}

// More pods than requests may be in flight, and a server that takes half a second: its answers are
// gathered. Once it has caught up, a pod meets no pause again.
TEST_F(SchedulerHostTest, AnswersAreGatheredWhileTheServerIsBehind) {
  constexpr int kPodsAtOnce = 1200;
  constexpr size_t kInFlight = 1000;
  for (int i = 0; i < kPodsAtOnce; ++i) Create(i);
  AwaitBindings(kInFlight);
  loop_.Pass(milliseconds(500));

  constexpr size_t kAnswers = 900;
  const int rounds = loop_.rounds;
  for (size_t i = 0; i < kAnswers; ++i) {
    Answer(i);
    loop_.Pass(std::chrono::microseconds(500));
  }
  EXPECT_LT(loop_.rounds - rounds, 60);

  AwaitBindings(kPodsAtOnce);
  for (size_t i = kAnswers; i < kPodsAtOnce; ++i) Answer(i);
  Settle();
  const int met = loop_.pauses_met;
  const net::Nanoseconds start = loop_.Steady();
  Create(kPodsAtOnce);
  AwaitBindings(kPodsAtOnce + 1);
  EXPECT_EQ(loop_.pauses_met, met);
  EXPECT_EQ(loop_.Steady(), start);
}

// The API server was upgraded: an engine that behaves as the new minor does takes over once the
// binding under way is answered, with the watches of that minor, and pods that wait are bound.
TEST_F(SchedulerHostTest, AnotherKubernetesTakesOverWithWatchesOfItsOwn) {
  Create(0);
  AwaitBindings(1);
  const config::Behaviour next(config::FeatureGates(37));
  auto engine = host_->MakeEngine(config::Default(next), next);
  ASSERT_TRUE(engine) << engine.error().Message();
  const size_t before = client_.Size();
  host_->Replace(std::move(*engine), std::chrono::hours(1));
  Settle();
  EXPECT_TRUE(Streams(before).empty()) << "the binding is not answered";

  Answer(0);
  const std::vector<Kind> kinds = WatchedKinds(next);
  loop_.RunUntil([&] { return Streams(before).size() == kinds.size(); });
  const auto streams = Streams(before);
  EXPECT_TRUE(streams.contains("/apis/resource.k8s.io/v1/devicetaintrules"));
  for (const Kind& kind : kinds) {
    std::vector<std::string> frames;
    if (kind.kind == "Pod") frames = {PodFrame("ADDED", 0, true), PodFrame("ADDED", 1, false)};
    if (kind.kind == "Node") {
      frames = {R"({"type":"ADDED","object":{"kind":"Node","apiVersion":"v1",
          "metadata":{"name":"node","resourceVersion":"1"},
          "status":{"allocatable":{"cpu":"100","memory":"1Ti","pods":"10000"}}}})"};
    }
    loop_.Deliver([this, kind, frames, watch = streams.at(CollectionPath(kind))] {
      Stream(watch, kind, frames);
    });
  }
  AwaitBindings(2);
  EXPECT_TRUE(client_.At(Bindings()[1]).request.path.ends_with("/pods/pod-1/binding"));
}

// A replica that knows the cluster and does not lead yet.
class TakeoverTest : public SchedulerHostTest {
 protected:
  bool Leads() const override { return false; }
  void SetUp() override {
    SchedulerHostTest::SetUp();
    Create(0);
    Settle();
    before_ = client_.Size();
  }
  // Lists in the newest version since the takeover, by call.
  std::vector<size_t> NewestLists() const {
    std::vector<size_t> lists;
    for (size_t i = before_; i < client_.Size(); ++i) {
      const FakeApiClient::Call& call = client_.At(i);
      const bool newest = call.request.query.find("resourceVersion=") == std::string::npos;
      if (!call.watch && call.request.method == "GET" && newest) lists.push_back(i);
    }
    return lists;
  }
  static size_t WrittenKinds() {
    const std::vector<Kind> kinds = WatchedKinds(config::Behaviour());
    return static_cast<size_t>(std::count_if(
        kinds.begin(), kinds.end(), [](const Kind& kind) { return SchedulersWrite(kind.kind); }));
  }
  void AnswerList(size_t list) {
    loop_.Deliver([this, list] {
      ApiResponse answer = ListFor(client_.At(list).request.path);
      if (client_.At(list).request.path == kPods) {
        const std::string frame = PodFrame("ADDED", 0, false);
        const size_t pod = frame.find("\"object\":") + 9;
        const std::string item = frame.substr(pod, frame.size() - pod - 1);
        answer.body =
            R"({"kind":"PodList","metadata":{"resourceVersion":"20"},"items":[)" + item + "]}";
      }
      client_.Respond(list, std::move(answer));
    });
  }

  size_t before_ = 0;
};

TEST_F(TakeoverTest, NothingIsDecidedBeforeWhatSchedulersWriteIsListedAnew) {
  host_->StartScheduling({.follows_another = true});
  const size_t kinds = WrittenKinds();
  EXPECT_GE(kinds, 3u);
  loop_.RunUntil([&] { return NewestLists().size() == kinds; });
  const std::vector<size_t> lists = NewestLists();
  for (size_t i = 0; i < kinds; ++i) {
    Settle();
    EXPECT_TRUE(Bindings().empty()) << "after " << i << " lists";
    AnswerList(lists[i]);
  }
  AwaitBindings(1);
  EXPECT_TRUE(client_.At(Bindings()[0]).request.path.ends_with("/pods/pod-0/binding"));
  EXPECT_EQ(NewestLists().size(), kinds);
}

TEST_F(TakeoverTest, NothingIsListedWhileRequestsOfAnotherMayBeCarriedOut) {
  host_->StartScheduling(
      {.follows_another = true, .silent_from = loop_.Steady() + milliseconds(1500)});
  Settle();
  loop_.Pass(milliseconds(1499));
  Settle();
  EXPECT_TRUE(NewestLists().empty());
  loop_.Pass(milliseconds(1));
  loop_.RunUntil([&] { return NewestLists().size() == WrittenKinds(); });
  EXPECT_TRUE(Bindings().empty());
}

TEST_F(TakeoverTest, TheFirstLeaderBeginsAtOnce) {
  host_->StartScheduling();
  AwaitBindings(1);
  EXPECT_TRUE(NewestLists().empty());
}

// A recording is to go on without what came before: an equal engine takes over, but not while a
// binding is in flight, and pods are scheduled until then.
TEST_F(SchedulerHostTest, AnEqualEngineTakesOverWhenIdle) {
  Create(0);
  AwaitBindings(1);
  const size_t before = client_.Size();
  host_->Renew();
  Settle();
  Create(1);
  AwaitBindings(2);
  EXPECT_TRUE(Streams(before).empty()) << "bindings are not answered";

  Answer(0);
  Answer(1);
  Settle();
  EXPECT_TRUE(Streams(before).empty()) << "bound pods are not confirmed";
  Arrive("MODIFIED", 0, true);
  Arrive("MODIFIED", 1, true);
  const std::vector<Kind> kinds = WatchedKinds(config::Behaviour());
  const auto lists = [&] {
    size_t count = 0;
    for (size_t i = before; i < client_.Size(); ++i) {
      const FakeApiClient::Call& call = client_.At(i);
      count += call.request.method == "GET" && !call.watch ? 1 : 0;
    }
    return count;
  };
  loop_.RunUntil([&] { return lists() == kinds.size() || Streams(before).size() == kinds.size(); });
  const size_t after = client_.Size();
  Settle();
  EXPECT_EQ(client_.Size(), after) << "once";
}

// A filter that reads a custom resource: pods fit where a Floor called "ground" exists.
class Floors final : public framework::FilterPlugin {
 public:
  std::string_view Name() const override { return "Floors"; }
  void Filter(const framework::CycleContext& c, const framework::PluginState*,
              framework::FilterBatch& batch) const override {
    const auto* floors = c.cluster.Objects().custom.Find("example.com/v1", "Floor");
    const bool open = floors->Find("", "ground") != nullptr;
    batch.ForEach([&](cluster::NodeIndex n) {
      if (!open) batch.Reject(n, framework::Code::kUnschedulable);
    });
  }
};

class CustomResourceTest : public SchedulerHostTest {
 protected:
  std::vector<scheduler::ExtraPlugin> ExtraPlugins() override {
    return {
        {{"Floors",
          [](const config::PluginArgs&, const framework::PluginHandle&)
              -> Result<std::unique_ptr<framework::Plugin>> { return std::make_unique<Floors>(); },
          [](const config::PluginArgs&) {
            return cluster::PluginInputs{.kinds = {{"example.com", "v1", "Floor", "floors", false}},
                                         .node_annotations = {},
                                         .pod_annotations = {}};
          }},
         {config::ExtensionPoint::kFilter}}};
  }
};

TEST_F(CustomResourceTest, IsWatchedForThePluginThatNamesIt) {
  const size_t watch = client_.FindOpen(kFloors);
  ASSERT_LT(watch, client_.Size());
  client_.Start(watch, kJson);
  loop_.Deliver([&] {
    client_.SendFrame(watch, R"({"type":"ADDED","object":{"apiVersion":"example.com/v1",
        "kind":"Floor","metadata":{"name":"ground","resourceVersion":"9"}}})");
  });
  Settle();
  Create(1);
  AwaitBindings(1);
  EXPECT_EQ(Bindings().size(), 1u);
}

// --- Load of nodes

class LoadOfNodesTest : public SchedulerHostTest {
 protected:
  size_t Polls() const override { return 1; }
  config::KubeSchedulerConfiguration Configuration() const override {
    auto config = config::Load(R"(
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- plugins: {score: {enabled: [{name: TargetLoadPacking}]}}
)",
                               config::Behaviour());
    EXPECT_TRUE(config) << config.error().Message();
    return *config;
  }
};

TEST_F(LoadOfNodesTest, IsReadForThePluginsThatScoreByIt) {
  const auto asked = [&] { return client_.FindOpen("/apis/metrics.k8s.io/v1beta1/nodes"); };
  loop_.RunUntil([&] { return asked() < client_.Size(); });
  loop_.Deliver([&] {
    client_.Respond(asked(), FakeApiClient::Success(R"({"items":[
        {"metadata":{"name":"node"},"usage":{"cpu":"25","memory":"1Gi"}}]})",
                                                    kJson));
  });
  std::map<std::string, double, std::less<>> values;
  bool looked = false;
  Settle();
  host_->Do([&](scheduler::Engine& engine) {
    const cluster::Cluster& cluster = engine.GetCluster();
    const cluster::NodeMetrics* metrics = cluster.Metrics(cluster.FindNode("node"));
    if (metrics != nullptr) values = metrics->values;
    loop_.Post([&] { looked = true; });
  });
  loop_.RunUntil([&] { return looked; });
  EXPECT_EQ(values["load@KubernetesMetricsServer:00/CPU/Latest"], 25);
}

}  // namespace
}  // namespace berth::kube
