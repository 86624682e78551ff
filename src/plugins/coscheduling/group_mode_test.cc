#include "plugins/coscheduling/group_mode.h"

#include <algorithm>
#include <string>

#include <gmock/gmock.h>

#include "cluster/objects/object_store.h"
#include "cluster/testing/builders.h"

namespace berth::plugins::coscheduling {
namespace {

using cluster::MakePod;

class GroupModeTest : public ::testing::Test {
 protected:
  GroupModeTest() : groups_(GroupModeKinds(), /*native=*/false) {
    for (const cluster::CustomKind& kind : GroupModeInputs().kinds) {
      objects_.custom.Add(kind.ApiVersion(), kind.kind);
    }
  }
  static api::UnknownObject Object(const std::string& api_version, const std::string& kind,
                                   const std::string& rest) {
    api::UnknownObject object{api_version, kind, {}, {}};
    object.metadata.name = "g";
    object.metadata.namespace_ = "ns";
    object.json = "{'metadata':{'name':'g'}," + rest + "}";
    std::replace(object.json.begin(), object.json.end(), '\'', '"');
    return object;
  }
  // "name min priority"; "basic" without a minimum, "-" without a priority.
  std::string Adopted(const api::UnknownObject& object) const {
    const auto group = groups_.Adopt(object, objects_);
    if (!group) return "nothing";
    const auto& gang = group->spec.scheduling_policy.gang;
    const auto& priority = group->spec.priority;
    return group->metadata.name + " " + (gang ? std::to_string(gang->min_count) : "basic") + " " +
           (priority ? std::to_string(*priority) : "-");
  }
  std::string GroupOf(api::Pod pod) const {
    groups_.Join(pod);
    const auto& group = pod.spec.scheduling_group;
    return group ? group->pod_group_name.value_or("?") : "";
  }

  cluster::ObjectStore objects_;
  cluster::AdoptedGroups groups_;
};

constexpr const char* kOwn = "scheduling.x-k8s.io/v1alpha1";
constexpr const char* kVolcano = "scheduling.volcano.sh/v1beta1";

TEST_F(GroupModeTest, ObjectsBecomeGroups) {
  EXPECT_EQ(Adopted(Object(kOwn, "PodGroup", "'spec':{'minMember':3,'minResources':{'cpu':'1'}}")),
            "scheduling.x-k8s.io/g 3 -");
  EXPECT_EQ(Adopted(Object(kOwn, "PodGroup", "'spec':{}")), "scheduling.x-k8s.io/g basic -");
  EXPECT_EQ(Adopted(Object(kOwn, "PodGroup", "'spec':{'minMember':'many'}")), "nothing");
  EXPECT_EQ(Adopted(Object(kVolcano, "PodGroup", "'spec':{'minMember':2,'queue':'q'}")),
            "scheduling.volcano.sh/g 2 -");
}

TEST_F(GroupModeTest, AVolcanoGroupHasThePriorityOfItsClass) {
  const auto group = Object(kVolcano, "PodGroup", "'spec':{'priorityClassName':'high'}");
  EXPECT_EQ(Adopted(group), "scheduling.volcano.sh/g basic -");
  auto high = Object("scheduling.k8s.io/v1", "PriorityClass", "'value':7");
  high.metadata.name = "high";
  high.metadata.namespace_.clear();
  objects_.custom.Find(high.api_version, high.kind)->Set(high);
  EXPECT_EQ(Adopted(group), "scheduling.volcano.sh/g basic 7");
}

TEST_F(GroupModeTest, PodsNameTheirGroup) {
  EXPECT_EQ(GroupOf(MakePod("p")), "");
  EXPECT_EQ(GroupOf(MakePod("p").Label("scheduling.x-k8s.io/pod-group", "g")),
            "scheduling.x-k8s.io/g");
  EXPECT_EQ(GroupOf(MakePod("p").Label("scheduling.x-k8s.io/pod-group", "")), "");
  for (const char* key : {"scheduling.k8s.io/group-name", "scheduling.volcano.sh/group-name"}) {
    api::Pod pod = MakePod("p");
    pod.metadata.annotations[key] = "g";
    EXPECT_EQ(GroupOf(pod), "scheduling.volcano.sh/g");
  }
  api::Pod native = MakePod("p").Label("scheduling.x-k8s.io/pod-group", "g");
  native.spec.scheduling_group.emplace().pod_group_name = "h";
  EXPECT_EQ(GroupOf(native), "scheduling.x-k8s.io/g") << "without the gate the field is not read";
  groups_ = {GroupModeKinds(), /*native=*/true};
  EXPECT_EQ(GroupOf(native), "h");
}

}  // namespace
}  // namespace berth::plugins::coscheduling
