#include "sim/host/engine_host.h"

#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "cluster/testing/builders.h"

namespace berth::sim {
namespace {

using scheduler::BindPod;
using scheduler::Effect;

// A network whose next requests have the fates written down; after that it is a good one.
class ScriptedNetwork final : public Network {
 public:
  Fate FateOf(const Effect& effect) override {
    if (!std::holds_alternative<BindPod>(effect.action) || bindings.empty()) return {};
    const Fate fate = bindings.front();
    bindings.erase(bindings.begin());
    return fate;
  }
  std::optional<Nanos> WatchBreaks(std::string_view kind) override {
    return kind == broken_kind ? std::optional<Nanos>(kSecond) : std::nullopt;
  }
  bool RepeatsEvent(std::string_view) override { return repeat; }
  bool ArrivesDespiteCrash(const Effect&) override { return arrives; }

  std::vector<Fate> bindings;
  std::string broken_kind;
  bool repeat = false;
  bool arrives = true;
};

class Counter final : public HostObserver {
 public:
  void Asked(const Effect& effect) override {
    asked += std::holds_alternative<BindPod>(effect.action);
  }
  void CarriedOut(const Effect& effect, const ApiAnswer& answer) override {
    carried_out += std::holds_alternative<BindPod>(effect.action) && answer.Ok();
  }
  void Delivered(const ApiChange&) override { ++delivered; }
  void Listed(std::string_view kind, size_t) override { pod_lists += kind == "Pod"; }
  int asked = 0;
  int carried_out = 0;
  int delivered = 0;
  int pod_lists = 0;
};

class EngineHostTest : public testing::Test {
 protected:
  void SetUp() override {
    api_.Create(static_cast<const api::Node&>(cluster::MakeNode("n1").Cpu("4").Memory("8Gi")));
    ASSERT_TRUE(host_.Start());
  }
  void AddPod(const std::string& name) {
    api_.Create(static_cast<const api::Pod&>(cluster::MakePod(name).Requests("cpu", "1")));
  }
  void Run(Nanos time) { loop_.RunUntil(loop_.Now() + time); }
  std::string NodeOf(const std::string& name) {
    const auto* pod = api_.Find<api::Pod>("ns", name);
    return pod == nullptr ? "gone" : pod->spec.node_name;
  }
  std::string Where(const std::string& name) {
    return std::string(host_.Get().WhereIs(api_.Find<api::Pod>("ns", name)->metadata.uid));
  }

  EventLoop loop_{api::Time::FromUnixNano(1'700'000'000 * kSecond)};
  ModelApi api_{loop_};
  ScriptedNetwork network_;
  Counter seen_;
  EngineHost host_{loop_, api_, network_, config::Default(), {}, &seen_};
};

TEST_F(EngineHostTest, APodIsScheduled) {
  AddPod("p");
  EXPECT_FALSE(host_.Quiet()) << "the engine has not heard of it";
  Run(kSecond);
  EXPECT_EQ(NodeOf("p"), "n1");
  EXPECT_EQ(Where("p"), "assigned");
  EXPECT_TRUE(host_.Quiet());
  EXPECT_EQ(seen_.asked, 1);
}

TEST_F(EngineHostTest, ARefusedBindingIsTriedAgain) {
  network_.bindings = {{.kind = Fate::Kind::kRefused, .code = 500}};
  AddPod("p");
  Run(kSecond / 2);
  EXPECT_EQ(NodeOf("p"), "");
  Run(kMinute);
  EXPECT_EQ(NodeOf("p"), "n1");
  EXPECT_EQ(seen_.asked, 2);
}

TEST_F(EngineHostTest, ALostRequestIsTriedAgain) {
  network_.bindings = {{.kind = Fate::Kind::kRequestLost}};
  AddPod("p");
  Run(kMinute);
  EXPECT_EQ(NodeOf("p"), "n1");
  EXPECT_EQ(seen_.carried_out, 1);
}

TEST_F(EngineHostTest, ALostAnswerIsFoundOut) {
  network_.bindings = {{.kind = Fate::Kind::kAnswerLost}};
  AddPod("p");
  Run(kMinute);
  EXPECT_EQ(NodeOf("p"), "n1");
  EXPECT_EQ(Where("p"), "assigned");
  EXPECT_EQ(seen_.carried_out, 1);
  EXPECT_TRUE(host_.Quiet());
}

TEST_F(EngineHostTest, AnswersAndEventsMayComeTwice) {
  network_.bindings = {{.again = kSecond}};
  network_.repeat = true;
  AddPod("p");
  Run(kMinute);
  EXPECT_EQ(Where("p"), "assigned");
  EXPECT_EQ(seen_.carried_out, 1);
  EXPECT_EQ(host_.Get().Invariants(), std::vector<std::string>());
}

TEST_F(EngineHostTest, ABrokenWatchIsListedAnew) {
  network_.broken_kind = "Pod";
  AddPod("p");
  Run(kSecond / 2);
  EXPECT_EQ(Where("p"), "") << "the event is lost";
  EXPECT_FALSE(host_.Quiet());
  network_.broken_kind.clear();
  const int lists = seen_.pod_lists;
  Run(kMinute);
  EXPECT_EQ(seen_.pod_lists, lists + 1);
  EXPECT_EQ(NodeOf("p"), "n1");
}

TEST_F(EngineHostTest, FinishedPodsLookDeleted) {
  AddPod("p");
  Run(kSecond);
  api_.Modify<api::Pod>("ns", "p", [](api::Pod& pod) { pod.status.phase = "Succeeded"; });
  Run(kSecond);
  EXPECT_EQ(Where("p"), "");
  EXPECT_EQ(host_.Seen<api::Pod>("ns/p"), nullptr);
  const int delivered = seen_.delivered;
  api_.DeletePod({"ns", "p", {}});
  Run(kSecond);
  EXPECT_EQ(seen_.delivered, delivered) << "gone twice is gone once";
}

TEST_F(EngineHostTest, ACrashLosesNothingButTheEngine) {
  for (const bool arrives : {true, false}) {
    network_.arrives = arrives;
    const std::string pod = arrives ? "p" : "q";
    network_.bindings = {{.request_delay = kSecond}};
    const int carried_out = seen_.carried_out;
    AddPod(pod);
    Run(kSecond / 2);
    host_.Crash();
    EXPECT_FALSE(host_.Running());
    EXPECT_EQ(NodeOf(pod), arrives ? "n1" : "") << "the request under way";
    Run(kSecond);
    ASSERT_TRUE(host_.Start());
    Run(kMinute);
    EXPECT_EQ(NodeOf(pod), "n1");
    EXPECT_EQ(Where(pod), "assigned");
    EXPECT_EQ(seen_.carried_out, carried_out + 1);
  }
}

}  // namespace
}  // namespace berth::sim
