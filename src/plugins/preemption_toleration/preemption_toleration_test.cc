#include "plugins/preemption_toleration/preemption_toleration.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>

#include "cluster/inputs.h"
#include "cluster/objects/object_store.h"
#include "cluster/testing/builders.h"
#include "plugins/default_preemption/testing/post_filter_run.h"

namespace berth::plugins::preemption_toleration {
namespace {

using cluster::MakePod;
using default_preemption::PostFilterRun;

constexpr const char* kScheduled = "2025-01-01T00:00:00Z";

class PreemptionTolerationTest : public testing::Test {
 protected:
  void SetUp() override {
    cluster_.Track(Inputs({}));
    cluster_.SetNode(cluster::MakeNode("n").Pods("1"));
  }
  void Class(const std::string& name, const std::string& annotations, int32_t value = 10) {
    api::UnknownObject object{"scheduling.k8s.io/v1", "PriorityClass", {}, ""};
    object.metadata.name = name;
    object.json = R"({"metadata":{"name":")" + name + R"(","annotations":{)" + annotations +
                  R"(}},"value":)" + std::to_string(value) + "}";
    cluster_.MutableObjects().custom.Find(object.api_version, object.kind)->Set(object);
  }
  static std::string Minimum(const std::string& value) {
    return "\"" + std::string(kMinimumPriority) + "\":\"" + value + "\"";
  }
  static std::string Seconds(const std::string& value) {
    return "\"" + std::string(kTolerationSeconds) + "\":\"" + value + "\"";
  }
  void Victim(const std::string& priority_class, bool scheduled = true) {
    api::Pod pod = MakePod("victim").Priority(10).On("n");
    pod.spec.priority_class_name = priority_class;
    api::PodCondition& condition = pod.status.conditions.emplace_back();
    condition.type = "PodScheduled";
    condition.status = scheduled ? "True" : "False";
    condition.last_transition_time = *api::Time::Parse(kScheduled);
    victim_ = cluster_.AddPod(pod);
  }
  // "n: victim", or the message.
  std::string Preempt(int32_t priority, const std::string& now = kScheduled) {
    const auto pod = cluster_.AddPod(MakePod("p").Priority(priority));
    PostFilterRun run(cluster_, kName, &Make);
    dynamic_cast<framework::TimeAwarePlugin&>(run.plugin()).SetTime(*api::Time::Parse(now));
    std::string text = run.Run(pod);
    cluster_.RemovePod(pod);
    return text;
  }

  cluster::Cluster cluster_;
  cluster::PodId victim_ = cluster::kNoPod;
};

constexpr const char* kSpared =
    "Unschedulable: 0/1 nodes are available: 1 No victims found on node n for preemptor pod p.";

TEST_F(PreemptionTolerationTest, WithoutAClassPriorityAloneCounts) {
  Victim("");
  EXPECT_EQ(Preempt(11), "n: victim");
  EXPECT_EQ(Preempt(10), kSpared);
}

TEST_F(PreemptionTolerationTest, TheMinimumPriorityHoldsForAsLongAsItSays) {
  Class("minimum", Minimum("100"));
  Class("minute", Minimum("100") + "," + Seconds("60"));
  Class("forever", Minimum("100") + "," + Seconds("-1"));
  struct Case {
    const char* priority_class;
    int32_t priority;
    const char* now;
    const char* want;
  };
  const Case cases[] = {
      {"minimum", 99, "2025-01-01T00:00:01Z", "n: victim"},  // 0 seconds are over
      {"minute", 99, "2025-01-01T00:00:59Z", kSpared},
      {"minute", 99, "2025-01-01T00:01:00Z", "n: victim"},
      {"minute", 100, "2025-01-01T00:00:01Z", "n: victim"},
      {"forever", 99, "2035-01-01T00:00:00Z", kSpared},
      {"forever", 100, "2025-01-01T00:00:00Z", "n: victim"},
  };
  for (const Case& c : cases) {
    Victim(c.priority_class);
    EXPECT_EQ(Preempt(c.priority, c.now), c.want) << c.priority_class << " " << c.now;
    cluster_.RemovePod(victim_);
  }
}

TEST_F(PreemptionTolerationTest, APodThatIsNotScheduledIsSpared) {
  Class("minute", Minimum("100") + "," + Seconds("60"));
  Victim("minute", /*scheduled=*/false);
  EXPECT_EQ(Preempt(99, "2035-01-01T00:00:00Z"), kSpared);
}

TEST_F(PreemptionTolerationTest, AnAnnotationThatIsNoNumberTakesTheTolerationAway) {
  Class("bad", Minimum("many") + "," + Seconds("-1"));
  Class("wide", Minimum("2147483648") + "," + Seconds("-1"));
  for (const char* name : {"bad", "wide"}) {
    Victim(name);
    EXPECT_EQ(Preempt(11), "n: victim") << name;
    cluster_.RemovePod(victim_);
  }
}

TEST_F(PreemptionTolerationTest, AMissingClassIsAnError) {
  Victim("gone");
  EXPECT_EQ(Preempt(11), "Error: priorityclass.scheduling.k8s.io \"gone\" not found");
}

TEST_F(PreemptionTolerationTest, AClassThatComesLaterIsFound) {
  Victim("late");
  EXPECT_EQ(Preempt(11), "Error: priorityclass.scheduling.k8s.io \"late\" not found");
  Class("late", "");
  EXPECT_EQ(Preempt(11), "n: victim");
}

TEST_F(PreemptionTolerationTest, APodWaitsForWhatItHasPreempted) {
  api::Pod leaving = MakePod("leaving").Priority(1).On("n");
  leaving.metadata.deletion_timestamp.emplace();
  cluster_.AddPod(leaving);
  const auto pod = cluster_.AddPod(MakePod("p").Priority(20).Nominated("n"));
  PostFilterRun run(cluster_, kName, &Make);
  EXPECT_EQ(run.Run(pod),
            "Unschedulable: not eligible due to a terminating pod on the nominated node.");
}

}  // namespace
}  // namespace berth::plugins::preemption_toleration
