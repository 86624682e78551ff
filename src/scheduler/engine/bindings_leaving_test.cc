// What follows for others when a pod leaves: a nominated one that is bound, one that is deleted
// while its binding waits for a volume.
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cluster/testing/builders.h"
#include "scheduler/engine.h"

namespace berth::scheduler {
namespace {

using cluster::FromText;
using cluster::MakeNode;
using cluster::MakePod;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr int64_t kSecond = 1'000'000'000;

class LeavingTest : public ::testing::Test {
 protected:
  void SetUp() override { engine_ = std::move(*Engine::Make(config::Default(), {}, Now())); }

  api::Time Now() const { return api::Time::FromUnixNano(now_); }
  void Sleep(int64_t seconds) {
    now_ += seconds * kSecond;
    engine_->AdvanceTo(Now());
  }
  template <class T>
  void Put(T object) {
    object.metadata.resource_version = std::to_string(++version_);
    engine_->Upsert(std::move(object));
  }
  void PutNode(const api::Node& node) { Put(node); }
  void PutPod(const api::Pod& pod) { Put(pod); }

  // What the API server does with a write.
  void Carry(EffectId id, api::PersistentVolumeClaim claim) {
    claim.metadata.resource_version = std::to_string(++version_);
    EffectResult result;
    result.id = id;
    result.written = claim;
    engine_->Complete(std::move(result));
    engine_->Upsert(std::move(claim));
  }
  // Bindings, writes and events among the effects since the last call. All but writes get no
  // answer.
  std::vector<std::string> Run() {
    while (engine_->Step()) {
    }
    std::vector<std::string> words;
    for (Effect& effect : engine_->TakeEffects()) {
      if (const auto* bind = std::get_if<BindPod>(&effect.action)) {
        words.push_back("bind " + bind->pod.name + " to " + bind->node);
      } else if (const auto* event = std::get_if<RecordEvent>(&effect.action)) {
        words.push_back(event->regarding.name + ": " + event->note);
      } else if (auto* write = std::get_if<WriteObject>(&effect.action)) {
        words.push_back("write");
        Carry(effect.id, std::get<api::PersistentVolumeClaim>(write->write.object));
      }
    }
    EXPECT_THAT(engine_->Invariants(), IsEmpty());
    return words;
  }

  int64_t now_ = 1'700'000'000 * kSecond;
  int64_t version_ = 0;
  std::unique_ptr<Engine> engine_;
};

// Recorded from kube-scheduler: its queue takes the binding of a nominated pod for its end, and
// tries what is not more important once more.
TEST_F(LeavingTest, TheBindingOfANominatedPodLetsLesserPodsTryAgain) {
  PutNode(MakeNode("a").Cpu("2"));
  PutPod(MakePod("lesser").Requests("cpu", "3"));
  PutPod(MakePod("greater").Requests("cpu", "3").Priority(20));
  Run();
  PutPod(MakePod("nominated").Requests("cpu", "1").Priority(10).Nominated("a"));
  EXPECT_THAT(Run(), ElementsAre("bind nominated to a"));
  PutPod(MakePod("plain").Requests("cpu", "1").Priority(10));
  EXPECT_THAT(Run(), ElementsAre("bind plain to a"));
  Sleep(30);
  PutPod(MakePod("plain").Requests("cpu", "1").Priority(10).On("a"));
  EXPECT_THAT(Run(), IsEmpty());
  PutPod(MakePod("nominated").Requests("cpu", "1").Priority(10).Nominated("a").On("a"));
  EXPECT_THAT(Run(), ElementsAre(HasSubstr("lesser: 0/1 nodes are available")));
}

TEST_F(LeavingTest, APodThatGoesWhileItWaitsForItsVolumeGivesItsRoomBackAtOnce) {
  PutNode(MakeNode("a").Cpu("1"));
  Put(
      FromText<api::StorageClass>("{'metadata':{'name':'fast'},'provisioner':'example.com/p',"
                                  "'volumeBindingMode':'WaitForFirstConsumer'}"));
  Put(FromText<api::PersistentVolumeClaim>(
      "{'metadata':{'name':'c','namespace':'ns','uid':'c'},'spec':{'storageClassName':'fast',"
      "'accessModes':['ReadWriteOnce'],'resources':{'requests':{'storage':'1Gi'}}},"
      "'status':{'phase':'Pending'}}"));
  const MakePod waits = MakePod("p")
                            .Requests("cpu", "1")
                            .Volume("{'name':'d','persistentVolumeClaim':{'claimName':'c'}}");
  PutPod(waits);
  EXPECT_THAT(Run(), ElementsAre("write"));
  Sleep(2);
  EXPECT_THAT(Run(), IsEmpty()) << "for the volume";
  engine_->Delete(api::Pod(waits));
  PutPod(MakePod("q").Requests("cpu", "1"));
  Run();
  Sleep(2);
  EXPECT_THAT(Run(), ::testing::UnorderedElementsAre(
                         "p: running PreBind plugin \"VolumeBinding\": binding volumes: pod does "
                         "not exist any more: pod \"p\" not found",
                         "bind q to a"));
  EXPECT_EQ(engine_->WhereIs("p"), "");
}

}  // namespace
}  // namespace berth::scheduler
