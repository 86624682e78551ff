// Every invariant is shown to fail: the observer is told, or finds, what must not be.
#include "sim/chaos/invariants.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cluster/testing/builders.h"
#include "sim/chaos/faulty_network.h"
#include "sim/chaos/inhabitants.h"

namespace berth::sim {
namespace {

using cluster::MakeNode;
using cluster::MakePod;
using scheduler::BindPod;
using scheduler::Effect;
using testing::HasSubstr;
using testing::StartsWith;

class InvariantsTest : public testing::Test {
 protected:
  void SetUp() override {
    invariants_.Watch(host_);
    Add(MakeNode("n1").Cpu("2").Memory("8Gi"));
    ASSERT_TRUE(host_.Start());
  }
  void Add(const api::Node& node) { api_.Create(node); }
  void Add(const api::Pod& pod) { api_.Create(pod); }
  void Run(Nanos time = kMinute) { loop_.RunUntil(loop_.Now() + time); }
  scheduler::PodRef Ref(const std::string& name) {
    return {"ns", name, api_.Find<api::Pod>("ns", name)->metadata.uid};
  }
  const cluster::Pod& Known(const std::string& name) {
    const cluster::Cluster& cluster = host_.Get().GetCluster();
    return cluster.GetPod(cluster.FindPod(Ref(name).uid));
  }
  void Attempt(const std::string& pod, const std::string& node) {
    invariants_.Attempted(Known(pod), scheduler::Outcome::kScheduled, node, "");
  }
  Effect Bind(const std::string& pod, const std::string& node) {
    return {++next_id_, BindPod{Ref(pod), node}};
  }
  std::string Violation() { return invariants_.Violation().value_or(""); }

  EventLoop loop_{api::Time::FromUnixNano(1'700'000'000 * kSecond)};
  ModelApi api_{loop_};
  Network network_;
  Invariants invariants_{loop_, api_};
  EngineHost host_{loop_, api_, network_, config::Default(), {}, &invariants_};
  uint64_t next_id_ = 1000;
};

TEST_F(InvariantsTest, HoldInAQuietCluster) {
  Add(MakePod("p").Requests("cpu", "1"));
  Add(MakePod("too-big").Requests("cpu", "5"));
  Add(MakePod("gated").Gate("wait"));
  Run();
  invariants_.CheckAlways();
  invariants_.CheckQuiet();
  invariants_.CheckRest();
  EXPECT_EQ(Violation(), "");
  EXPECT_EQ(invariants_.Bindings(), 1u);
}

TEST_F(InvariantsTest, BoundToWhatWasNotDecided) {
  Add(MakePod("p").Requests("cpu", "5"));
  Run();
  invariants_.Asked(Bind("p", "n1"));
  EXPECT_EQ(Violation(), "decided: p is bound to n1, but nothing was decided");
}

TEST_F(InvariantsTest, BoundTwice) {
  Add(MakePod("p").Requests("cpu", "1"));
  Run();
  ASSERT_EQ(api_.Find<api::Pod>("ns", "p")->spec.node_name, "n1");
  invariants_.Asked(Bind("p", "n1"));
  EXPECT_EQ(Violation(), "decided: p is bound although it has been");
}

TEST_F(InvariantsTest, BoundTwiceAtOnce) {
  Add(MakePod("p").Requests("cpu", "5"));
  Run();
  api_.Modify<api::Node>(
      "", "n1", [](api::Node& node) { node.status.allocatable["cpu"] = cluster::Amount("8"); });
  Run(6 * kMillisecond);
  Attempt("p", "n1");
  invariants_.Asked(Bind("p", "n1"));
  invariants_.Asked(Bind("p", "n1"));
  EXPECT_EQ(Violation(), "decided: p is bound twice at once");
}

TEST_F(InvariantsTest, DecidedForANodeWhereItDoesNotFit) {
  Add(MakePod("p").Requests("cpu", "5"));
  Run();
  Attempt("p", "n1");
  EXPECT_EQ(Violation(),
            "feasible: ns/p is to go to n1: cpu is short: 5000 wanted, 0 of 2000 used");
}

TEST_F(InvariantsTest, DecidedForANodeThatIsNotThere) {
  Add(MakePod("p").Requests("cpu", "5"));
  Run();
  Attempt("p", "n2");
  EXPECT_EQ(Violation(), "feasible: ns/p is to go to n2, which is not there");
}

TEST_F(InvariantsTest, Gated) {
  Add(MakePod("p").Gate("wait"));
  Run();
  Attempt("p", "n1");
  ASSERT_EQ(Violation(), "");
  invariants_.Asked(Bind("p", "n1"));
  EXPECT_EQ(Violation(), "gated: p is gated and bound");
}

TEST_F(InvariantsTest, Room) {
  Add(MakePod("big").Requests("cpu", "1500m"));
  Run();
  Add(MakePod("p").Requests("cpu", "1"));
  Run();
  ASSERT_EQ(api_.Find<api::Pod>("ns", "p")->spec.node_name, "");
  // As if the engine had taken the first for gone.
  const_cast<cluster::Cluster&>(host_.Get().GetCluster()).Unplace(Known("big").id);
  Attempt("p", "n1");
  const Effect bind = Bind("p", "n1");
  invariants_.Asked(bind);
  ASSERT_EQ(Violation(), "");
  invariants_.CarriedOut(bind, api_.Bind(Ref("p"), "n1"));
  EXPECT_THAT(Violation(), StartsWith("room: p was bound to n1: cpu is short"));
}

TEST_F(InvariantsTest, RoomThatTheEngineCouldNotKnowOf) {
  Add(MakePod("p").Requests("cpu", "1"));
  Run(8 * kMillisecond);
  ASSERT_EQ(api_.Find<api::Pod>("ns", "p")->spec.node_name, "") << "decided, on its way";
  Add(MakePod("foreign").Requests("cpu", "1500m"));
  api_.Bind(Ref("foreign"), "n1");
  Run();
  EXPECT_EQ(api_.Find<api::Pod>("ns", "p")->spec.node_name, "n1");
  EXPECT_EQ(Violation(), "");
}

TEST_F(InvariantsTest, Nowhere) {
  Add(MakePod("p").Requests("cpu", "5"));
  Run();
  host_.Get().Delete(*api_.Get("Pod", "ns/p"));
  invariants_.CheckAlways();
  EXPECT_EQ(Violation(), "one place: p waits but is nowhere");
}

TEST_F(InvariantsTest, Order) {
  Add(MakePod("low").Requests("cpu", "5"));
  Run();
  Add(MakePod("high").Requests("cpu", "5").Priority(7));
  Run(5 * kMillisecond);
  ASSERT_EQ(host_.Get().WhereIs(Ref("high").uid), "active");
  invariants_.BeforeStep(host_.Get());
  invariants_.Attempted(Known("low"), scheduler::Outcome::kUnschedulable, "", "");
  EXPECT_EQ(Violation(), "order: ns/low of priority 0 is tried while high of priority 7 is ready");
}

TEST_F(InvariantsTest, CacheOfPods) {
  Add(MakePod("p").Requests("cpu", "1"));
  Run();
  const_cast<cluster::Cluster&>(host_.Get().GetCluster()).Unplace(Known("p").id);
  invariants_.CheckQuiet();
  EXPECT_EQ(Violation(), "cache: ns/p is on 'n1', the engine has it on '' (assigned)");
}

TEST_F(InvariantsTest, CacheOfNodes) {
  Run();
  api_.Modify<api::Node>("", "n1", [](api::Node& node) { node.spec.unschedulable = true; });
  invariants_.CheckQuiet();  // although the event is still under way
  EXPECT_EQ(Violation(), "cache: cordon of n1: 1, the engine has 0");
}

TEST_F(InvariantsTest, Exclusive) {
  for (const char* name : {"a", "b"}) {
    api::PersistentVolumeClaim claim = MakeVolumeClaim(name, kLocalClass);
    claim.spec.volume_name = "v";
    api_.Create(claim);
  }
  Run();
  invariants_.CheckQuiet();
  EXPECT_EQ(Violation(), "exclusive: volume v belongs to a and b");
}

TEST_F(InvariantsTest, Liveness) {
  Run();
  Add(MakePod("p").Requests("cpu", "1"));
  Run(5 * kMillisecond);  // it has arrived and not been tried
  invariants_.CheckRest();
  EXPECT_THAT(Violation(), StartsWith("liveness: p of priority 0 waits (active) and fits n1"));
}

TEST_F(InvariantsTest, Starvation) {
  Add(MakePod("low").Requests("cpu", "2"));
  Run();
  Add(MakePod("high").Requests("cpu", "2").Priority(7));
  Run(5 * kMillisecond);
  invariants_.CheckRest();
  EXPECT_THAT(Violation(), HasSubstr("while pods of lower priority have its place on n1"));
}

}  // namespace
}  // namespace berth::sim
