// Reflectors of pods: those of which only the status changed are told as that.
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kube/testing/reflector.h"
#include "kube/watch/known_pods.h"

namespace berth::kube {
namespace {

using std::chrono::seconds;
using ::testing::ElementsAre;

class PodReflectorTest : public ReflectorTest {
 protected:
  PodReflectorTest() { pods_.Serve({"default-scheduler"}); }
  static api::Pod Pod(std::string name, std::string version, std::string node = "",
                      std::string image = "web:1") {
    auto pod = Make<api::Pod>(name, std::move(version));
    pod.metadata.uid = name;
    pod.spec.scheduler_name = "default-scheduler";
    pod.spec.node_name = std::move(node);
    pod.spec.containers.resize(1);
    pod.spec.containers[0].image = std::move(image);
    return pod;
  }
  void BeginPods(const std::vector<api::Pod>& list) {
    reflector_ = std::make_unique<Reflector>(*FindKind("Pod"), loop_, client_, sink_, nullptr,
                                             false, &pods_);
    reflector_->Start();
    ListNow(list);
  }
  void ListNow(const std::vector<api::Pod>& list) {
    client_.RespondNext(FakeApiClient::Success(List<api::Pod>("7", list)));
    client_.Start(client_.NextWatch());
    sink_.lines.clear();
  }
  void Event(std::string_view type, const api::Pod& pod) {
    client_.SendFrame(Watch(), Frame(type, api::ToEnvelope(pod)));
  }

  KnownPods pods_{7};
};

TEST_F(PodReflectorTest, AStatusIsToldAsSuchAndAllElseAsAWhole) {
  BeginPods({Pod("a", "1"), Pod("b", "2", "node")});
  Event("MODIFIED", Pod("a", "8", "node"));
  Event("MODIFIED", Pod("a", "9", "node", "web:2"));
  Event("MODIFIED", Pod("a", "10", "node", "web:2"));
  Event("ADDED", Pod("b", "11", "node"));
  Event("DELETED", Pod("a", "12", "node", "web:2"));
  Event("ADDED", Pod("c", "13"));
  Event("MODIFIED", Pod("c", "14"));
  Event("MODIFIED", Pod("c", "15", "node"));
  EXPECT_THAT(sink_.lines, ElementsAre("* a@8", "+ a@9", "* a@10", "+ b@11", "- a@12", "+ c@13",
                                       "+ c@14", "* c@15"));
  EXPECT_EQ(pods_.Size(), 2u) << "b and c";
}

TEST_F(PodReflectorTest, AfterANewListOnlyItsPodsAreKnown) {
  BeginPods({Pod("a", "1", "node"), Pod("b", "2", "node")});
  client_.SendFrame(Watch(), "nonsense");
  loop_.Advance(seconds(40));
  ListNow({Pod("b", "2", "node")});
  Event("MODIFIED", Pod("a", "8", "node"));
  Event("MODIFIED", Pod("b", "9", "node"));
  EXPECT_THAT(sink_.lines, ElementsAre("+ a@8", "* b@9"));
}

}  // namespace
}  // namespace berth::kube
