#include "plugins/qos_sort/qos_sort.h"

#include <string>

#include <gtest/gtest.h>

#include "cluster/testing/builders.h"

namespace berth::plugins::qos_sort {
namespace {

using Amounts = api::ResourceList;

Amounts Of(const char* cpu, const char* memory) {
  Amounts list;
  if (*cpu != 0) list["cpu"] = *api::Quantity::Parse(cpu);
  if (*memory != 0) list["memory"] = *api::Quantity::Parse(memory);
  return list;
}

api::Pod PodWith(const std::string& name, int32_t priority, const Amounts& requests,
                 const Amounts& limits) {
  api::Pod pod = cluster::MakePod(name).Priority(priority);
  pod.spec.containers.resize(1);
  pod.spec.containers[0].resources.requests = requests;
  pod.spec.containers[0].resources.limits = limits;
  return pod;
}

TEST(QosOf, ByRequestsAndLimits) {
  struct Case {
    const char* what;
    Amounts requests;
    Amounts limits;
    api::QosClass want;
  };
  const Case cases[] = {
      {"nothing", {}, {}, api::QosClass::kBestEffort},
      {"zero is nothing", Of("0", "0"), Of("0", ""), api::QosClass::kBestEffort},
      {"a request", Of("1", ""), {}, api::QosClass::kBurstable},
      {"a limit", {}, Of("", "1Gi"), api::QosClass::kBurstable},
      {"all equal", Of("1", "1Gi"), Of("1000m", "1024Mi"), api::QosClass::kGuaranteed},
      {"one limit is missing", Of("1", "1Gi"), Of("1", ""), api::QosClass::kBurstable},
      {"a larger limit", Of("1", "1Gi"), Of("2", "1Gi"), api::QosClass::kBurstable},
      {"limits alone", {}, Of("1", "1Gi"), api::QosClass::kBurstable},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(api::QosOf(PodWith("p", 0, c.requests, c.limits)), c.want) << c.what;
  }
}

TEST(QosOf, AllContainersCount) {
  api::Pod pod = PodWith("p", 0, Of("1", "1Gi"), Of("1", "1Gi"));
  pod.spec.init_containers.resize(1);
  EXPECT_EQ(api::QosOf(pod), api::QosClass::kBurstable) << "an init container without limits";
  pod.spec.init_containers[0].resources.requests = Of("1", "1Gi");
  pod.spec.init_containers[0].resources.limits = Of("1", "1Gi");
  EXPECT_EQ(api::QosOf(pod), api::QosClass::kGuaranteed);
}

TEST(QosOf, ThePodAsAWholeComesFirst) {
  api::Pod pod = PodWith("p", 0, {}, {});
  pod.spec.resources.emplace();
  EXPECT_EQ(api::QosOf(pod), api::QosClass::kBestEffort) << "empty";
  pod.spec.resources->requests = Of("1", "1Gi");
  pod.spec.resources->limits = Of("1", "1Gi");
  EXPECT_EQ(api::QosOf(pod), api::QosClass::kGuaranteed);
}

TEST(QosSort, ByPriorityThenByClassThenByTimeInTheQueue) {
  struct Case {
    const char* what;
    api::Pod a;
    int64_t queued_a;
    api::Pod b;
    int64_t queued_b;
    bool less;
  };
  const auto best_effort = [](const char* name, int32_t priority) {
    return PodWith(name, priority, {}, {});
  };
  const auto burstable = [](const char* name, int32_t priority) {
    return PodWith(name, priority, Of("1", ""), {});
  };
  const auto guaranteed = [](const char* name, int32_t priority) {
    return PodWith(name, priority, Of("1", "1Gi"), Of("1", "1Gi"));
  };
  const Case cases[] = {
      {"the higher priority goes first", best_effort("a", 10), 9, guaranteed("b", 5), 1, true},
      {"the lower one does not", guaranteed("a", 5), 1, best_effort("b", 10), 9, false},
      {"Guaranteed before Burstable", guaranteed("a", 5), 9, burstable("b", 5), 1, true},
      {"not the other way round", burstable("a", 5), 1, guaranteed("b", 5), 9, false},
      {"Burstable before BestEffort", burstable("a", 5), 9, best_effort("b", 5), 1, true},
      {"of equals the one that waits longer", burstable("a", 5), 1, burstable("b", 5), 2, true},
      {"and not the other", burstable("a", 5), 2, burstable("b", 5), 1, false},
      {"neither of two that came together", burstable("a", 5), 1, burstable("b", 5), 1, false},
  };
  const QosSort plugin;
  cluster::Cluster cluster;  // shapes come and go, and their ids are used again
  for (const Case& c : cases) {
    const auto a = cluster.AddPod(c.a);
    const auto b = cluster.AddPod(c.b);
    EXPECT_EQ(plugin.Less(cluster, cluster.GetPod(a), c.queued_a, cluster.GetPod(b), c.queued_b),
              c.less)
        << c.what;
    cluster.RemovePod(a);
    cluster.RemovePod(b);
  }
}

}  // namespace
}  // namespace berth::plugins::qos_sort
