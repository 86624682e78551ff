#include "plugins/topological_sort/topological_sort.h"

#include <string>

#include <gtest/gtest.h>

#include "cluster/inputs.h"
#include "cluster/objects/object_store.h"
#include "cluster/testing/builders.h"

namespace berth::plugins::topological_sort {
namespace {

using cluster::MakePod;
using cluster::PodId;

class TopologicalSortTest : public testing::Test {
 protected:
  void SetUp() override { cluster_.Track(Inputs({})); }
  // `order` is JSON: selector, index and so on.
  void Group(const std::string& ns, const std::string& order) {
    api::UnknownObject object{AppGroupKind().ApiVersion(), "AppGroup", {}, ""};
    object.metadata.name = "g";
    object.metadata.namespace_ = ns;
    object.json = R"({"metadata":{"name":"g"},"status":{"topologyOrder":[)" + order + "]}}";
    cluster_.MutableObjects().custom.Find(object.api_version, object.kind)->Set(object);
  }
  static std::string At(const std::string& selector, int index) {
    return R"({"workload":{"selector":")" + selector + R"("},"index":)" + std::to_string(index) +
           "}";
  }
  PodId Pod(const std::string& workload, int32_t priority = 0, const std::string& group = "g") {
    return cluster_.AddPod(MakePod(workload)
                               .Priority(priority)
                               .Label(std::string(kAppGroupLabel), group)
                               .Label(std::string(kWorkloadLabel), workload));
  }
  bool Less(PodId a, int64_t a_queued, PodId b, int64_t b_queued) const {
    config::TopologicalSortArgs args;
    args.namespaces = {"default", "apps"};
    return TopologicalSort(args).Less(cluster_, cluster_.GetPod(a), a_queued, cluster_.GetPod(b),
                                      b_queued);
  }
  cluster::Cluster cluster_;
};

TEST_F(TopologicalSortTest, ByTheOrderOfTheGroup) {
  Group("apps", At("a", 3) + "," + At("b", 1) + "," + At("c", 2));
  const PodId a = Pod("a", 9);
  const PodId b = Pod("b");
  const PodId c = Pod("c");
  EXPECT_TRUE(Less(b, 9, a, 1)) << "whatever the priority";
  EXPECT_FALSE(Less(a, 1, b, 9));
  EXPECT_TRUE(Less(c, 9, a, 1));
  EXPECT_TRUE(Less(b, 9, c, 1));
  EXPECT_TRUE(Less(b, 1, b, 1)) << "as in the original";
  EXPECT_TRUE(Less(Pod("unknown"), 9, b, 1)) << "-1 is first";
}

TEST_F(TopologicalSortTest, ByPriorityAndTimeOtherwise) {
  Group("apps", At("a", 2) + "," + At("b", 1));
  const PodId a = Pod("a");
  const PodId other = Pod("b", 0, "h");
  const PodId urgent = cluster_.AddPod(MakePod("urgent").Priority(1));
  EXPECT_TRUE(Less(a, 1, other, 2)) << "of different groups";
  EXPECT_FALSE(Less(a, 2, other, 1));
  EXPECT_TRUE(Less(urgent, 2, a, 1));
  EXPECT_FALSE(Less(a, 1, urgent, 2));
}

TEST_F(TopologicalSortTest, AGroupThatDoesNotExistOrdersNothing) {
  Group("elsewhere", At("a", 2) + "," + At("b", 1));
  const PodId a = Pod("a");
  const PodId b = Pod("b");
  EXPECT_TRUE(Less(a, 1, b, 2));
  EXPECT_FALSE(Less(a, 2, b, 1));
}

}  // namespace
}  // namespace berth::plugins::topological_sort
