#include "api/admission/defaults.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/codec/json.h"

namespace berth::api {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

template <class T>
T Make(std::string_view json) {
  auto value = FromJson<T>(json, {.strict = true});
  EXPECT_TRUE(value) << value.error().Message();
  return value ? *value : T{};
}

Object Read(std::string_view json) {
  auto object = DecodeObject(json, {.strict = true});
  EXPECT_TRUE(object) << object.error().Message();
  return object ? *object : Object();
}

TEST(Defaults, OfABarePod) {
  Pod pod = Make<Pod>(R"({"metadata":{"name":"p"},"spec":{"containers":[{"name":"c",
      "ports":[{"containerPort":80}],
      "resources":{"limits":{"cpu":"1","memory":"1Gi"},"requests":{"cpu":"100m"}}}]}})");
  SetDefaults(pod);
  EXPECT_EQ(pod.metadata.namespace_, "default");
  EXPECT_EQ(pod.spec.scheduler_name, "default-scheduler");
  EXPECT_EQ(pod.spec.restart_policy, "Always");
  EXPECT_EQ(pod.spec.termination_grace_period_seconds, 30);
  EXPECT_EQ(pod.spec.containers[0].ports[0].protocol, "TCP");
  EXPECT_EQ(pod.spec.containers[0].ports[0].host_port, 0) << "only on the host network";
  const ResourceList& requests = pod.spec.containers[0].resources.requests;
  EXPECT_EQ(requests.at("cpu").MilliValue(), 100);
  EXPECT_EQ(requests.at("memory").Value(), 1 << 30) << "the request is the limit";
  EXPECT_EQ(pod.status.phase, "Pending");
  ASSERT_EQ(pod.spec.tolerations.size(), 2u);
  EXPECT_EQ(pod.spec.tolerations[0].key, "node.kubernetes.io/not-ready");
  EXPECT_EQ(pod.spec.tolerations[1].key, "node.kubernetes.io/unreachable");
  EXPECT_EQ(pod.spec.tolerations[1].toleration_seconds, 300);

  const Pod once = pod;
  SetDefaults(pod);
  EXPECT_TRUE(pod == once) << "twice is as good as once";
}

TEST(Defaults, LeaveObjectsOfAnApiServerAlone) {
  for (std::string metadata :
       {R"({"uid":"u"})", R"({"creationTimestamp":"2025-01-01T00:00:00Z"})"}) {
    Object object = Read(R"({"apiVersion":"v1","kind":"Pod","metadata":)" + metadata + "}");
    const Object before = object;
    EXPECT_TRUE(Admission().Apply(object));
    EXPECT_TRUE(object == before) << metadata;
  }
}

TEST(Defaults, HostNetworkTakesThePortsOfTheNode) {
  Pod pod = Make<Pod>(R"({"spec":{"hostNetwork":true,
      "initContainers":[{"name":"i","ports":[{"containerPort":1}]}],
      "containers":[{"name":"c","ports":[{"containerPort":80},{"containerPort":81,"hostPort":9}]}]}})");
  SetDefaults(pod);
  EXPECT_EQ(pod.spec.init_containers[0].ports[0].host_port, 1);
  EXPECT_EQ(pod.spec.containers[0].ports[0].host_port, 80);
  EXPECT_EQ(pod.spec.containers[0].ports[1].host_port, 9);
}

TEST(Defaults, AmountsAreRoundedUpToThousandths) {
  Pod pod = Make<Pod>(R"({"spec":{"containers":[{"name":"c",
      "resources":{"requests":{"cpu":"1500u","memory":"100E"}}}]}})");
  SetDefaults(pod);
  EXPECT_EQ(pod.spec.containers[0].resources.requests.at("cpu").String(), "2m");
  EXPECT_EQ(pod.spec.containers[0].resources.requests.at("memory").String(), "100E");
}

TEST(Defaults, PodLevelResources) {
  Pod pod = Make<Pod>(R"({"spec":{
      "resources":{"limits":{"cpu":"4","memory":"8Gi"}},
      "containers":[{"name":"a","resources":{"requests":{"cpu":"1"}}},
                    {"name":"b","resources":{"requests":{"cpu":"500m"},
                                             "limits":{"hugepages-2Mi":"4Mi"}}}]}})");
  SetDefaults(pod);
  const ResourceRequirements& whole = *pod.spec.resources;
  EXPECT_EQ(whole.requests.at("cpu").MilliValue(), 1500) << "what the containers ask for";
  EXPECT_EQ(whole.requests.at("memory").Value(), 8LL << 30) << "the limit, as no container asks";
  EXPECT_EQ(whole.limits.at("hugepages-2Mi").Value(), 4 << 20);
  EXPECT_EQ(whole.requests.at("hugepages-2Mi").Value(), 4 << 20);
}

TEST(Defaults, LabelKeysBecomeRequirements) {
  Pod pod = Make<Pod>(R"({"metadata":{"labels":{"rev":"7","tenant":"t"}},"spec":{
      "affinity":{"podAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[
         {"topologyKey":"z","labelSelector":{},"matchLabelKeys":["rev","gone"],
          "mismatchLabelKeys":["tenant"]},
         {"topologyKey":"z","matchLabelKeys":["rev"]}]}},
      "topologySpreadConstraints":[{"maxSkew":1,"topologyKey":"z","whenUnsatisfiable":"DoNotSchedule",
         "labelSelector":{"matchLabels":{"a":"b"}},"matchLabelKeys":["rev"]}]}})");
  SetDefaults(pod);
  SetDefaults(pod);
  const auto& terms =
      pod.spec.affinity->pod_affinity->required_during_scheduling_ignored_during_execution;
  EXPECT_THAT(terms[0].label_selector->match_expressions,
              ElementsAre(LabelSelectorRequirement{"rev", "In", {"7"}},
                          LabelSelectorRequirement{"tenant", "NotIn", {"t"}}));
  EXPECT_FALSE(terms[1].label_selector);
  EXPECT_THAT(pod.spec.topology_spread_constraints[0].label_selector->match_expressions,
              ElementsAre(LabelSelectorRequirement{"rev", "In", {"7"}}));
  EXPECT_FALSE(pod.spec.topology_spread_constraints[0].node_affinity_policy);
}

TEST(Defaults, TolerationsThatSayTheirOwn) {
  Pod pod = Make<Pod>(R"({"spec":{"tolerations":[{"operator":"Exists"}]}})");
  SetDefaults(pod);
  EXPECT_EQ(pod.spec.tolerations.size(), 1u) << "everything is tolerated already";
  pod = Make<Pod>(R"({"spec":{"tolerations":[{"key":"node.kubernetes.io/not-ready",
      "operator":"Exists","effect":"NoSchedule"}]}})");
  SetDefaults(pod);
  EXPECT_EQ(pod.spec.tolerations.size(), 3u) << "another effect does not count";
}

TEST(Defaults, OfOtherKinds) {
  struct Case {
    std::string what;
    std::string json;
    std::string want;
  };
  const std::vector<Case> cases = {
      {"allocatable is the capacity",
       R"({"kind":"Node","apiVersion":"v1","metadata":{"name":"n"},"status":{"capacity":{"cpu":"4"}}})",
       R"("status":{"capacity":{"cpu":"4"},"allocatable":{"cpu":"4"})"},
      {"allocatable stays",
       R"({"kind":"Node","apiVersion":"v1","status":{"capacity":{"cpu":"4"},"allocatable":{"cpu":"3"}}})",
       R"("allocatable":{"cpu":"3"})"},
      {"a namespace is labelled with its name",
       R"({"kind":"Namespace","apiVersion":"v1","metadata":{"name":"shop"}})",
       R"("labels":{"kubernetes.io/metadata.name":"shop"})"},
      {"one replica", R"({"kind":"Deployment","apiVersion":"apps/v1"})", R"("replicas":1)"},
      {"zero replicas stay",
       R"({"kind":"Deployment","apiVersion":"apps/v1","spec":{"replicas":0}})", R"("replicas":0)"},
      {"templates get the scheduler's name", R"({"kind":"DaemonSet","apiVersion":"apps/v1"})",
       R"("schedulerName":"default-scheduler")"},
      {"a job runs one pod once", R"({"kind":"Job","apiVersion":"batch/v1"})",
       R"("parallelism":1,"completions":1,"backoffLimit":6)"},
      {"a class binds at once", R"({"kind":"StorageClass","apiVersion":"storage.k8s.io/v1"})",
       R"("reclaimPolicy":"Delete","volumeBindingMode":"Immediate")"},
      {"a claim is for a file system", R"({"kind":"PersistentVolumeClaim","apiVersion":"v1"})",
       R"("volumeMode":"Filesystem"},"status":{"phase":"Pending")"},
      {"one device",
       R"({"kind":"ResourceClaim","apiVersion":"resource.k8s.io/v1",
           "spec":{"devices":{"requests":[{"name":"r","exactly":{"deviceClassName":"c"}}]}}})",
       R"("allocationMode":"ExactCount","count":1)"},
      {"a limit range fills in",
       R"({"kind":"LimitRange","apiVersion":"v1",
           "spec":{"limits":[{"type":"Container","max":{"cpu":"2"},"min":{"memory":"1Mi"}}]}})",
       R"("default":{"cpu":"2"},"defaultRequest":{"cpu":"2","memory":"1Mi"})"},
  };
  for (const Case& test : cases) {
    Object object = Read(test.json);
    SetDefaults(object);
    const std::string json = std::visit(
        [](const auto& value) -> std::string {
          if constexpr (requires { value.Type(); }) {
            return ToJson(value);
          } else {
            return "unknown kind";
          }
        },
        object);
    EXPECT_THAT(json, ::testing::HasSubstr(test.want)) << test.what;
  }
}

TEST(Admission, ResolvesPriorityClasses) {
  struct Case {
    std::string what;
    std::string spec;
    int32_t priority;
    std::string policy;
    std::string error;
  };
  const std::vector<Case> cases = {
      {"no class: the global default", R"({})", 10, "PreemptLowerPriority", ""},
      {"named", R"({"priorityClassName":"gold"})", 1000, "Never", ""},
      {"built in", R"({"priorityClassName":"system-node-critical"})", 2000001000,
       "PreemptLowerPriority", ""},
      {"stated and the same", R"({"priorityClassName":"gold","priority":1000})", 1000, "Never", ""},
      {"only stated", R"({"priority":-3})", -3, "PreemptLowerPriority", ""},
      {"unknown", R"({"priorityClassName":"lead"})", 0, "",
       "no PriorityClass with name lead was found"},
      {"stated and another", R"({"priorityClassName":"gold","priority":5})", 0, "",
       "the integer value of priority (5) must not be provided in pod spec; priority admission "
       "controller computed 1000 from the given PriorityClass name"},
      {"another policy",
       R"({"priorityClassName":"gold","preemptionPolicy":"PreemptLowerPriority"})", 0, "",
       "the string value of PreemptionPolicy (PreemptLowerPriority) must not be provided in pod "
       "spec; priority admission controller computed Never from the given PriorityClass name"},
  };
  Admission admission;
  const std::string kind = R"({"kind":"PriorityClass","apiVersion":"scheduling.k8s.io/v1",)";
  admission.Learn(
      Read(kind + R"("metadata":{"name":"gold"},"value":1000,"preemptionPolicy":"Never"})"));
  admission.Learn(Read(kind + R"("metadata":{"name":"base"},"value":10,"globalDefault":true})"));
  admission.Learn(Read(kind + R"("metadata":{"name":"also"},"value":20,"globalDefault":true})"));
  for (const Case& test : cases) {
    PodSpec spec = Make<PodSpec>(test.spec);
    auto ok = admission.ResolvePriority(spec);
    EXPECT_EQ(ok ? "" : ok.error().Message(), test.error) << test.what;
    if (!test.error.empty()) continue;
    EXPECT_EQ(spec.priority, test.priority) << test.what;
    EXPECT_EQ(spec.preemption_policy, test.policy) << test.what;
    EXPECT_TRUE(admission.ResolvePriority(spec)) << test.what << ", again";
  }
  PodSpec plain;
  EXPECT_TRUE(Admission().ResolvePriority(plain));
  EXPECT_EQ(plain.priority, 0) << "without any class";
}

TEST(Admission, LimitRangesOfTheNamespace) {
  Admission admission;
  admission.Learn(
      Read(R"({"kind":"LimitRange","apiVersion":"v1","metadata":{"name":"l","namespace":"a"},
      "spec":{"limits":[{"type":"Container","default":{"cpu":"2"},"defaultRequest":{"cpu":"1"}}]}})"));
  for (std::string ns : {"a", "b"}) {
    Object object = Read(R"({"kind":"Pod","apiVersion":"v1","metadata":{"namespace":")" + ns +
                         R"("},"spec":{"containers":[{"name":"c"},
                            {"name":"d","resources":{"requests":{"cpu":"3"}}}]}})");
    ASSERT_TRUE(admission.Apply(object));
    const auto& containers = std::get<Pod>(object).spec.containers;
    EXPECT_EQ(containers[0].resources.requests.contains("cpu"), ns == "a");
    EXPECT_EQ(containers[1].resources.requests.at("cpu").Value(), 3);
    EXPECT_EQ(containers[0].resources.limits.contains("cpu"), ns == "a");
  }
}

TEST(Admission, DefaultStorageClass) {
  Admission admission;
  const auto add = [&](std::string name, std::string created, std::string is_default) {
    admission.Learn(
        Read(R"({"kind":"StorageClass","apiVersion":"storage.k8s.io/v1","provisioner":"p",
        "metadata":{"name":")" +
             name + R"(","creationTimestamp":")" + created +
             R"(","annotations":{"storageclass.kubernetes.io/is-default-class":")" + is_default +
             "\"}}}"));
  };
  add("other", "2025-01-03T00:00:00Z", "false");
  add("old", "2025-01-01T00:00:00Z", "true");
  add("young", "2025-01-02T00:00:00Z", "true");
  PersistentVolumeClaim claim;
  admission.ChooseStorageClass(claim);
  EXPECT_EQ(claim.spec.storage_class_name, "young");
  claim.spec.storage_class_name = "";
  admission.ChooseStorageClass(claim);
  EXPECT_EQ(claim.spec.storage_class_name, "") << "an empty name is a choice";
}

}  // namespace
}  // namespace berth::api
