// Pods that share a resource claim: the second waits until the first has had it allocated.
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
using ::testing::IsEmpty;

constexpr int64_t kSecond = 1'000'000'000;

class SharedClaimTest : public ::testing::Test {
 protected:
  void SetUp() override {
    engine_ = std::move(*Engine::Make(config::Default(), {}, Now()));
    Put(static_cast<const api::Node&>(MakeNode("a").Cpu("4")));
    Put(FromText<api::DeviceClass>("{'metadata':{'name':'gpu'}}"));
    Put(FromText<api::ResourceSlice>(
        "{'metadata':{'name':'s'},'spec':{'driver':'d','nodeName':'a','devices':[{'name':'d0'}],"
        "'pool':{'name':'a','generation':1,'resourceSliceCount':1}}}"));
    Put(FromText<api::ResourceClaim>(
        "{'metadata':{'name':'c','namespace':'ns','uid':'c'},'spec':{'devices':{'requests':"
        "[{'name':'r','exactly':{'deviceClassName':'gpu','allocationMode':'ExactCount',"
        "'count':1}}]}}}"));
    for (const char* name : {"p", "q"}) {
      api::Pod pod = MakePod(name).Requests("cpu", "1");
      pod.spec.resource_claims =
          FromText<api::PodSpec>("{'resourceClaims':[{'name':'x','resourceClaimName':'c'}]}")
              .resource_claims;
      Put(pod);
    }
    while (engine_->Step()) {
    }
    Sort();
    EXPECT_EQ(engine_->WhereIs("p"), "binding");
    EXPECT_EQ(engine_->WhereIs("q"), "unschedulable") << "the claim is being allocated";
  }

  api::Time Now() const { return api::Time::FromUnixNano(now_); }
  void Sleep(int64_t seconds) {
    now_ += seconds * kSecond;
    engine_->AdvanceTo(Now());
    while (engine_->Step()) {
    }
    Sort();
  }
  template <class T>
  void Put(T object) {
    object.metadata.resource_version = std::to_string(++version_);
    engine_->Upsert(std::move(object));
  }
  // Writes and bindings among the effects; the rest needs no answer.
  void Sort() {
    for (Effect& effect : engine_->TakeEffects()) {
      if (std::holds_alternative<WriteObject>(effect.action)) writes_.push_back(std::move(effect));
      if (const auto* bind = std::get_if<BindPod>(&effect.action)) bound_.push_back(bind->pod.name);
    }
  }
  // What the API server makes of the only write under way.
  api::ResourceClaim Written() {
    EXPECT_EQ(writes_.size(), 1u);
    auto claim =
        std::get<api::ResourceClaim>(std::get<WriteObject>(writes_.front().action).write.object);
    claim.metadata.resource_version = std::to_string(++version_);
    return claim;
  }
  void Answer(api::ResourceClaim written) {
    EffectResult result;
    result.id = writes_.front().id;
    result.written = std::move(written);
    writes_.clear();
    engine_->Complete(std::move(result));
    Sleep(0);
  }

  int64_t now_ = 1'700'000'000 * kSecond;
  int64_t version_ = 0;
  std::unique_ptr<Engine> engine_;
  std::vector<Effect> writes_;
  std::vector<std::string> bound_;
};

TEST_F(SharedClaimTest, TheAnswerFreesThoseWhoWaitBeforeTheWatchDoes) {
  Answer(Written());  // the finalizer
  EXPECT_EQ(engine_->WhereIs("q"), "unschedulable");
  Answer(Written());  // the allocation
  EXPECT_THAT(bound_, ElementsAre("p"));
  Sleep(2);
  EXPECT_EQ(engine_->WhereIs("q"), "binding");
  Answer(Written());  // q's reservation
  EXPECT_THAT(bound_, ElementsAre("p", "q"));
}

TEST_F(SharedClaimTest, TheWatchMayComeBeforeTheAnswer) {
  Answer(Written());
  const api::ResourceClaim allocated = Written();
  const Effect first = std::move(writes_.front());
  writes_.clear();
  engine_->Upsert(allocated);
  Sleep(2);
  EXPECT_EQ(engine_->WhereIs("q"), "binding") << "an allocated claim is free to be shared";
  EXPECT_THAT(bound_, IsEmpty());
  Answer(Written());  // q's reservation
  writes_.push_back(first);
  Answer(allocated);
  EXPECT_THAT(bound_, ElementsAre("q", "p"));
}

}  // namespace
}  // namespace berth::scheduler
