#include "plugins/sy_sched/sy_sched.h"

#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "cluster/inputs.h"
#include "cluster/objects/object_store.h"
#include "plugins/common/testing/one_plugin.h"

namespace berth::plugins::sy_sched {
namespace {

using cluster::PodId;

TEST(SeccompProfiles, PathsNameAnObject) {
  using Names = std::pair<std::string_view, std::string_view>;
  EXPECT_EQ(ProfileOfPath("localhost/operator/team/web.json"), Names("team", "web"));
  EXPECT_EQ(ProfileOfPath("operator/team/web.v2.json"), Names("team", "web.v2"));
  EXPECT_EQ(ProfileOfPath("team/web"), Names("team", "web"));
  EXPECT_EQ(ProfileOfPath("web.json"), Names("", ""));
  EXPECT_EQ(ProfileOfPath("/web.json"), Names("", "web"));
  EXPECT_EQ(ProfileOfPath("team/.json"), Names("team", ""));
  EXPECT_EQ(ProfileOfPath(""), Names("", ""));
}

class SySchedTest : public testing::Test {
 protected:
  void SetUp() override {
    cluster_.Track(Inputs({}));
    for (const char* name : {"a", "b", "c"}) cluster_.SetNode(MakeNode(name));
    Profile("default", "ab", R"({"action":"SCMP_ACT_ALLOW","names":["a","b"]})");
    Profile("default", "bcd",
            R"({"action":"SCMP_ACT_ALLOW","names":["b"]},{"action":"SCMP_ACT_LOG",)"
            R"("names":["c","d"]},{"action":"SCMP_ACT_ERRNO","names":["e","f"]})");
  }
  void Profile(const std::string& ns, const std::string& name, const std::string& syscalls) {
    const cluster::CustomKind& kind = SeccompProfileKind();
    api::UnknownObject object{kind.ApiVersion(), kind.kind, {}, ""};
    object.metadata.namespace_ = ns;
    object.metadata.name = name;
    object.json = R"({"spec":{"syscalls":[)" + syscalls + "]}}";
    cluster_.MutableObjects().custom.Find(kind.ApiVersion(), kind.kind)->Set(object);
  }
  static api::Pod Pod(const std::string& name, const std::string& path) {
    api::Pod pod = MakePod(name);
    if (path.empty()) return pod;
    auto& profile = pod.spec.security_context.emplace().seccomp_profile.emplace();
    profile.type = "Localhost";
    profile.localhost_profile = path;
    return pod;
  }
  // Started by its kubelet.
  PodId Run(api::Pod pod, const std::string& node) {
    pod.spec.node_name = node;
    pod.status.start_time = api::Time::FromUnixNano(1);
    return cluster_.AddPod(pod);
  }
  std::string Score(const api::Pod& pod) {
    const PodId id = cluster_.AddPod(pod);
    std::string scores = plugin_.Score(id);
    cluster_.RemovePod(id);
    return scores;
  }

  cluster::Cluster cluster_;
  OnePlugin plugin_{cluster_, &Make};
};

TEST_F(SySchedTest, CountsCallsThatAreOpenWithoutNeed) {
  EXPECT_EQ(Score(Pod("p", "operator/default/ab.json")), "a 0>100 | b 0>100 | c 0>100");
  Run(Pod("one", "operator/default/ab.json"), "a");
  Run(Pod("two", "operator/default/bcd.json"), "b");
  Run(Pod("three", "operator/default/bcd.json"), "b");
  // On b: c and d for the pod, a for each of the others.
  EXPECT_EQ(Score(Pod("p", "operator/default/ab.json")), "a 0>100 | b 4>0 | c 0>100");
  // On a: a for the pod, c and d for the other.
  EXPECT_EQ(Score(Pod("p", "operator/default/bcd.json")), "a 3>0 | b 0>100 | c 0>100");
}

TEST_F(SySchedTest, PodsWithoutProfileHaveTheDefaultOneOrNoneAtAll) {
  Run(Pod("one", "operator/default/ab.json"), "a");
  const std::string largest = std::to_string(INT64_MAX);
  EXPECT_EQ(Score(Pod("p", "")),
            "a " + largest + ">100 | b " + largest + ">100 | c " + largest + ">100");
  Profile("default", "all-syscalls",
          R"({"action":"SCMP_ACT_ALLOW","names":["a","b","c","d","e","f","g"]})");
  EXPECT_EQ(Score(Pod("p", "")), "a 5>0 | b 0>100 | c 0>100");
  EXPECT_EQ(Score(Pod("p", "operator/default/gone.json")), "a 5>0 | b 0>100 | c 0>100");
}

TEST_F(SySchedTest, ContainersAndAnAnnotationAddCalls) {
  Run(Pod("one", "operator/default/bcd.json"), "a");
  api::Pod pod = Pod("p", "operator/default/ab.json");
  auto& context = pod.spec.containers.at(0).security_context.emplace();
  context.seccomp_profile.emplace().type = "Localhost";
  context.seccomp_profile->localhost_profile = "operator/default/bcd.json";
  EXPECT_EQ(Score(pod), "a 1>0 | b 0>100 | c 0>100") << "a, for the other";
  context.seccomp_profile->type = "Unconfined";
  EXPECT_EQ(Score(pod), "a 3>0 | b 0>100 | c 0>100");
  pod.metadata.annotations["container.seccomp.security.alpha.kubernetes.io/c"] =
      "localhost/operator/default/bcd.json";
  EXPECT_EQ(Score(pod), "a 1>0 | b 0>100 | c 0>100");
}

TEST_F(SySchedTest, PodsCountFromWhenTheyAreStartedAndProfilesAsTheyAreNow) {
  api::Pod placed = Pod("one", "operator/default/bcd.json");
  placed.spec.node_name = "a";
  const PodId id = cluster_.AddPod(placed);
  const api::Pod pod = Pod("p", "operator/default/ab.json");
  EXPECT_EQ(Score(pod), "a 0>100 | b 0>100 | c 0>100");
  placed.status.start_time = api::Time::FromUnixNano(1);
  cluster_.UpdatePod(id, placed);
  EXPECT_EQ(Score(pod), "a 3>0 | b 0>100 | c 0>100");
  Profile("default", "bcd", R"({"action":"SCMP_ACT_ALLOW","names":["a","b","z"]})");
  EXPECT_EQ(Score(pod), "a 1>0 | b 0>100 | c 0>100");
  cluster_.RemovePod(id);
  EXPECT_EQ(Score(pod), "a 0>100 | b 0>100 | c 0>100");
}

TEST_F(SySchedTest, OfPodsOfOneNameTheFirstCounts) {
  Run(Pod("twin", "operator/default/bcd.json"), "a");
  api::Pod other = Pod("twin", "operator/default/ab.json");
  other.metadata.namespace_ = "other";
  other.metadata.uid = "other-twin";
  Run(other, "a");
  EXPECT_EQ(Score(Pod("p", "operator/default/ab.json")), "a 3>0 | b 0>100 | c 0>100");
}

}  // namespace
}  // namespace berth::plugins::sy_sched
