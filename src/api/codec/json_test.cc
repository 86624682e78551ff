#include "api/codec/json.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/core/node.h"
#include "api/core/pod.h"
#include "api/object.h"
#include "api/policy/pod_disruption_budget.h"
#include "api/resource/resource_slice.h"
#include "api/testing/objects.h"

namespace berth::api {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

TEST(JsonDecode, PodOfTheGoTypes) {
  auto pod = FromJson<Pod>(ReadTestData("pod.json"));
  ASSERT_TRUE(pod) << pod.error().Message();
  EXPECT_EQ(pod->metadata.name, "web-0");
  EXPECT_EQ(pod->metadata.namespace_, "shop");
  EXPECT_EQ(pod->metadata.generation, 3);
  EXPECT_EQ(pod->metadata.creation_timestamp.Format(), "2025-03-04T05:06:07Z");
  EXPECT_EQ(pod->metadata.deletion_grace_period_seconds, 30);
  EXPECT_THAT(pod->metadata.labels, ElementsAre(Pair("app", "web"), Pair("tier", "front")));
  EXPECT_EQ(pod->metadata.annotations.at("note"), "caf\u00e9 <b>");
  ASSERT_EQ(pod->metadata.owner_references.size(), 1u);
  EXPECT_EQ(pod->metadata.owner_references[0].controller, true);
  EXPECT_EQ(pod->metadata.owner_references[0].block_owner_deletion, false);

  const PodSpec& spec = pod->spec;
  ASSERT_EQ(spec.volumes.size(), 6u);
  EXPECT_EQ(spec.volumes[0].persistent_volume_claim->claim_name, "data-0");
  EXPECT_TRUE(spec.volumes[0].persistent_volume_claim->read_only);
  const PersistentVolumeClaimSpec& claim = spec.volumes[1].ephemeral->volume_claim_template->spec;
  EXPECT_EQ(claim.storage_class_name, "fast");
  EXPECT_EQ(claim.resources.requests.at("storage").Value(), 10LL << 30);
  EXPECT_EQ(spec.volumes[2].gce_persistent_disk->pd_name, "pd-1");
  EXPECT_EQ(spec.volumes[2].gce_persistent_disk->partition, 2);
  EXPECT_TRUE(spec.volumes[3].config_map);
  EXPECT_FALSE(spec.volumes[3].csi);
  EXPECT_THAT(spec.volumes[4].rbd->monitors, ElementsAre("a", "b"));
  EXPECT_EQ(spec.volumes[5].csi->volume_attributes.at("k"), "v");
  EXPECT_EQ(spec.init_containers[0].restart_policy, "Always");
  const Container& main = spec.containers[0];
  EXPECT_EQ(main.resources.requests.at("cpu").MilliValue(), 1500);
  EXPECT_EQ(main.resources.limits.at("memory").Value(), 3LL << 30);
  EXPECT_EQ(main.resources.claims[0].request, "r0");
  EXPECT_EQ(main.ports[0].host_port, 8080);
  EXPECT_EQ(main.ports[0].host_ip, "127.0.0.1");
  EXPECT_EQ(spec.ephemeral_containers[0].name, "dbg");
  EXPECT_EQ(spec.ephemeral_containers[0].target_container_name, "main");
  EXPECT_EQ(spec.termination_grace_period_seconds, 0);
  EXPECT_EQ(spec.node_selector.at("disk"), "ssd");
  EXPECT_TRUE(spec.host_network);
  const Affinity& affinity = *spec.affinity;
  const NodeSelector& required =
      *affinity.node_affinity->required_during_scheduling_ignored_during_execution;
  EXPECT_EQ(required.node_selector_terms[0].match_expressions[0].operator_, "Gt");
  EXPECT_THAT(required.node_selector_terms[0].match_fields[0].values, ElementsAre("n1"));
  const PodAffinityTerm& term =
      affinity.pod_affinity->required_during_scheduling_ignored_during_execution[0];
  EXPECT_TRUE(term.namespace_selector) << "an empty selector is not an absent one";
  EXPECT_EQ(term.label_selector->match_expressions[0].key, "tier");
  EXPECT_FALSE(affinity.pod_anti_affinity->preferred_during_scheduling_ignored_during_execution[0]
                   .pod_affinity_term.label_selector);
  EXPECT_EQ(spec.tolerations[0].toleration_seconds, 300);
  EXPECT_EQ(spec.priority, -5);
  EXPECT_EQ(spec.preemption_policy, std::string("Never"));
  EXPECT_EQ(spec.topology_spread_constraints[0].min_domains, 2);
  EXPECT_EQ(spec.topology_spread_constraints[0].node_taints_policy, "Ignore");
  EXPECT_EQ(spec.resource_claims[0].resource_claim_template_name, "tmpl");
  EXPECT_EQ(spec.resources->requests.at("cpu").Value(), 3);
  EXPECT_EQ(pod->status.nominated_node_name, "n2");
  EXPECT_EQ(pod->status.container_statuses[0].resources->requests.at("cpu").MilliValue(), 1250);
  EXPECT_EQ(pod->status.resource_claim_statuses[0].resource_claim_name, "web-0-gpu-x");
  EXPECT_EQ(pod->status.extended_resource_claim_status->request_mappings[0].request_name,
            "container-0-request-0");
}

TEST(JsonDecode, ResourceSliceWithMapsOfMessages) {
  auto slice = FromJson<ResourceSlice>(ReadTestData("resourceslice.json"));
  ASSERT_TRUE(slice) << slice.error().Message();
  const Device& device = slice->spec.devices.at(0);
  EXPECT_EQ(device.attributes.at("index").int_, -3);
  EXPECT_EQ(device.attributes.at("ecc").bool_, false);
  EXPECT_EQ(device.attributes.at("model").string, std::string("H100"));
  EXPECT_EQ(device.capacity.at("memory").request_policy->valid_range->step->Value(), 1LL << 30);
  EXPECT_EQ(slice->spec.shared_counters[0].counters.at("m").value.Value(), 80LL << 30);
}

struct Bad {
  std::string what;
  std::string json;
  std::string error;
};

TEST(JsonDecode, ErrorsNameThePathAndTheValue) {
  const std::vector<Bad> cases = {
      {"quantity", R"({"spec":{"containers":[{},{"resources":{"requests":{"cpu":"1x"}}}]}})",
       "spec.containers[1].resources.requests.cpu: cannot parse \"1x\" as a quantity: "},
      {"string for a number", R"({"spec":{"priority":"high"}})",
       "spec.priority: expected an integer, got the string \"high\""},
      {"fraction for a number", R"({"spec":{"priority":1.5}})",
       "spec.priority: expected an integer, got the number 1.5"},
      {"beyond int32", R"({"spec":{"priority":3000000000}})",
       "spec.priority: the number 3000000000 does not fit int32"},
      {"beyond int64", R"({"metadata":{"generation":9223372036854775808}})",
       "metadata.generation: the number 9223372036854775808 does not fit int64"},
      {"number for a string", R"({"metadata":{"name":7}})",
       "metadata.name: expected a string, got the number 7"},
      {"object for a list", R"({"spec":{"containers":{}}})",
       "spec.containers: expected an array, got an object"},
      {"list for an object", R"({"spec":[]})", "spec: expected an object, got an array"},
      {"string for a boolean", R"({"spec":{"hostNetwork":"true"}})",
       "spec.hostNetwork: expected a boolean, got the string \"true\""},
      {"label that is no string", R"({"metadata":{"labels":{"a":"x","b":true}}})",
       "metadata.labels.b: expected a string, got true"},
      {"time", R"({"metadata":{"creationTimestamp":"yesterday"}})",
       "metadata.creationTimestamp: cannot parse \"yesterday\" as a time: "},
      {"presence of a scalar", R"({"spec":{"volumes":[{"emptyDir":1}]}})",
       "spec.volumes[0].emptyDir: expected an object, got the number 1"},
      {"not an object at all", R"(["a"])", "expected an object, got an array"},
      {"not JSON", "{\"a\":\n }",
       "invalid JSON: line 2, column 2: unexpected \"}\" looking for a value"},
      {"nothing", "", "invalid JSON: line 1, column 1: unexpected end of the text"},
      {"cut short", R"({"metadata":{"name":"a)", "invalid JSON: line 1, column 23: unexpected end"},
      {"two values", R"({} {})", "invalid JSON: line 1, column 4: unexpected \"{\" after the end"},
      {"no UTF-8", "{\"metadata\":{\"name\":\"\xff\"}}", "invalid JSON: "},
      {"too deep", std::string(2000, '[') + std::string(2000, ']'), "nested deeper than 1000"},
  };
  for (const Bad& test : cases) {
    auto pod = FromJson<Pod>(test.json);
    ASSERT_FALSE(pod) << test.what;
    EXPECT_THAT(pod.error().Message(), HasSubstr(test.error)) << test.what;
  }
}

TEST(JsonDecode, LenientAboutWhatItDoesNotKnow) {
  auto pod = FromJson<Pod>(R"({"kind":"Pod","future":{"x":[1,2]},"metadata":null,
      "spec":{"Priority":9,"priority":1,"priority":2,"nodeSelector":{"b":"1","a":"2","b":"3"},
              "affinity":null,"containers":[{"name":"c","env":[{"name":1}]},null]}})");
  ASSERT_TRUE(pod) << pod.error().Message();
  EXPECT_EQ(pod->spec.priority, 2) << "the last of equal keys";
  EXPECT_THAT(pod->spec.node_selector, ElementsAre(Pair("a", "2"), Pair("b", "3")));
  EXPECT_FALSE(pod->spec.affinity);
  ASSERT_EQ(pod->spec.containers.size(), 2u) << "null in a list is an empty element";
  EXPECT_EQ(pod->spec.containers[1], Container());
}

TEST(JsonDecode, StrictRejectsUnknownAndDuplicateFields) {
  const DecodeOptions strict{.strict = true};
  const std::vector<Bad> cases = {
      {"unknown", R"({"spec":{"containers":[{"nmae":"c"}]}})",
       "spec.containers[0]: unknown field \"nmae\""},
      {"other case", R"({"spec":{"NodeName":"n"}})", "spec: unknown field \"NodeName\""},
      {"duplicate", R"({"spec":{"nodeName":"n","nodeName":"m"}})",
       "spec: duplicate field \"nodeName\""},
      {"duplicate of a skipped one", R"({"spec":{"dnsPolicy":"n","dnsPolicy":"m"}})",
       "spec: duplicate field \"dnsPolicy\""},
      {"duplicate in a map", R"({"metadata":{"labels":{"a":"1","a":"2"}}})",
       "metadata.labels: duplicate field \"a\""},
  };
  for (const Bad& test : cases) {
    auto pod = FromJson<Pod>(test.json, strict);
    ASSERT_FALSE(pod) << test.what;
    EXPECT_EQ(pod.error().Message(), test.error) << test.what;
  }
  EXPECT_TRUE(FromJson<Pod>(ReadTestData("pod.json"), strict)) << "skipped fields are known";
}

TEST(JsonDecode, NumbersAsQuantities) {
  struct Case {
    std::string json;
    std::string text;
  };
  for (const Case& test : std::vector<Case>{{"2", "2"},
                                            {"0.5", "500m"},
                                            {"1e3", "1k"},
                                            {"\" 5Gi \"", "5Gi"},
                                            {"18446744073709551615", "18446744073709551615"},
                                            {"100000000000000000000", "100E"},
                                            {"null", "0"}}) {
    auto node = FromJson<Node>(R"({"status":{"capacity":{"cpu":)" + test.json + "}}}");
    ASSERT_TRUE(node) << test.json << node.error().Message();
    EXPECT_EQ(node->status.capacity.at("cpu").Canonical(), test.text) << test.json;
  }
}

TEST(JsonDecode, IntOrString) {
  auto pdb = FromJson<PodDisruptionBudget>(ReadTestData("pdb.json"));
  ASSERT_TRUE(pdb) << pdb.error().Message();
  EXPECT_EQ(pdb->spec.min_available, IntOrString::String("50%"));
  EXPECT_EQ(pdb->spec.max_unavailable, IntOrString::Int(1));
  EXPECT_EQ(pdb->status.disrupted_pods.at("p2").Format(), "2025-03-04T05:06:07Z");
  EXPECT_FALSE(FromJson<PodDisruptionBudget>(R"({"spec":{"minAvailable":1.5}})"));
  EXPECT_FALSE(FromJson<PodDisruptionBudget>(R"({"spec":{"minAvailable":[]}})"));
}

TEST(JsonEncode, LeavesOutWhatKubernetesLeavesOut) {
  Pod pod;
  pod.metadata.name = "a\"<\n";
  pod.spec.containers.emplace_back().name = "c";
  pod.spec.priority = 0;
  EXPECT_EQ(ToJson(pod),
            R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":"a\"\u003c\n"},)"
            R"("spec":{"containers":[{"name":"c","resources":{}}],"priority":0},"status":{}})");
}

// Types of which every field is described: the text must be Go's, byte for byte.
TEST(JsonEncode, SameTextAsTheGoTypes) {
  for (std::string name : {"lease", "priorityclass", "podgroup", "pdb", "csinode",
                           "csistoragecapacity", "storageclass", "resourceslice", "resourceclaim",
                           "deviceclass", "binding", "status", "pvc", "pv"}) {
    const std::string text = ReadTestData(name + ".json");
    auto object = DecodeObject(text);
    ASSERT_TRUE(object) << name << ": " << object.error().Message();
    const std::string again = std::visit(
        [](const auto& value) -> std::string {
          if constexpr (requires { value.Type(); }) {
            return ToJson(value);
          } else {
            return "unknown kind";
          }
        },
        *object);
    EXPECT_EQ(again + "\n", text) << name;
  }
}

TEST(JsonEncode, DecodesToTheSameValue) {
  for (std::string name : {"pod", "node", "statefulset", "cronjob", "event"}) {
    auto object = DecodeObject(ReadTestData(name + ".json"));
    ASSERT_TRUE(object) << name << ": " << object.error().Message();
    const std::string text = std::visit(
        [](const auto& value) -> std::string {
          if constexpr (requires { value.Type(); }) {
            return ToJson(value);
          } else {
            return "unknown kind";
          }
        },
        *object);
    auto again = DecodeObject(text, {.strict = true});
    ASSERT_TRUE(again) << name << ": " << again.error().Message();
    EXPECT_TRUE(*again == *object) << name << ": " << text;
  }
}

}  // namespace
}  // namespace berth::api
