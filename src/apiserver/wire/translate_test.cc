#include "apiserver/wire/translate.h"

#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "api/codec/json.h"
#include "api/codec/proto.h"
#include "api/object.h"

namespace berth::apiserver::wire {
namespace {

struct Row {
  const char* what;
  const char* group;
  const char* version;
  const char* kind;
  const char* json;
};

TEST(TranslateTest, ThereAndBackNothingIsLost) {
  const Row rows[] = {
      {"texts and bytes of a secret", "", "v1", "Secret",
       R"({"data":{"a":"aGVsbG8="},"metadata":{"labels":{"x":"y"},"name":"s"},"type":"Opaque"})"},
      {"a zero that is set differs from none", "apps", "v1", "Deployment",
       R"({"metadata":{"name":"d"},"spec":{"replicas":0,"selector":{"matchLabels":{"a":"b"}}}})"},
      {"times, generations and managed fields", "", "v1", "ConfigMap",
       R"({"metadata":{"creationTimestamp":"2024-05-06T07:08:09Z","generation":3,)"
       R"("managedFields":[{"fieldsV1":{"f:data":{"f:a":{}}},"manager":"m"}],"name":"c"}})"},
      {"sources of volumes are fields of the volume", "", "v1", "Pod",
       R"({"spec":{"containers":[{"name":"c"}],)"
       R"("volumes":[{"name":"v","nfs":{"path":"/p","server":"s"}}]}})"},
      {"quantities, ports by name and by number, probes", "", "v1", "Pod",
       R"({"spec":{"containers":[{"livenessProbe":{"httpGet":{"path":"/","port":"web"}},"name":"c",)"
       R"("readinessProbe":{"httpGet":{"port":80},"periodSeconds":3},)"
       R"("resources":{"requests":{"cpu":"100m","memory":"1Gi"}}}]}})"},
      {"lists of texts in a map", "authentication.k8s.io", "v1", "TokenReview",
       R"({"status":{"user":{"extra":{"k":["a","b"]},"username":"u"}}})"},
      {"microseconds", "coordination.k8s.io", "v1", "Lease",
       R"({"metadata":{"name":"l"},"spec":{"renewTime":"2024-05-06T07:08:09.123456Z"}})"},
      {"rules", "rbac.authorization.k8s.io", "v1", "Role",
       R"({"metadata":{"name":"r"},"rules":[{"apiGroups":[""],"resources":["pods"],)"
       R"("verbs":["get"]}]})"},
  };
  for (const Row& row : rows) {
    const Message* message = FindMessage(row.group, row.version, row.kind);
    ASSERT_NE(message, nullptr) << row.what;
    const auto back = FromProtobuf(*message, ToProtobuf(*message, row.json));
    ASSERT_TRUE(back) << row.what;
    EXPECT_EQ(back->Dump(), row.json) << row.what;
  }
}

// What the scheduler reads is what its own decoder takes from JSON.
TEST(TranslateTest, AgreesWithTheDescribedTypes) {
  constexpr std::string_view kPod =
      R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","namespace":"n","uid":"u",)"
      R"("labels":{"a":"b"},"creationTimestamp":"2024-05-06T07:08:09Z",)"
      R"("ownerReferences":[{"apiVersion":"apps/v1","kind":"ReplicaSet","name":"r","uid":"x",)"
      R"("controller":true}]},"spec":{"nodeName":"n1","priority":-5,"containers":[{"name":"c",)"
      R"("image":"i","ports":[{"containerPort":80,"hostPort":8080,"protocol":"TCP"}],)"
      R"("resources":{"limits":{"cpu":1,"memory":"1Gi"}}}],"tolerations":[{"key":"k",)"
      R"("operator":"Exists","tolerationSeconds":0}],"volumes":[{"name":"v",)"
      R"("persistentVolumeClaim":{"claimName":"claim"}}],"affinity":{"nodeAffinity":{)"
      R"("requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[{)"
      R"("matchExpressions":[{"key":"z","operator":"In","values":["a"]}]}]}}}},)"
      R"("status":{"phase":"Pending","conditions":[{"type":"PodScheduled","status":"False"}]}})";
  const Message& message = *FindMessage("", "v1", "Pod");
  const auto from_json = api::DecodeObject(kPod);
  const auto from_proto =
      api::DecodeObjectProto(api::WrapEnvelope("v1", "Pod", ToProtobuf(message, kPod)));
  ASSERT_TRUE(from_json);
  ASSERT_TRUE(from_proto);
  EXPECT_EQ(api::ToJson(std::get<api::Pod>(*from_json)),
            api::ToJson(std::get<api::Pod>(*from_proto)));
}

TEST(TranslateTest, AnswersBrokenMessages) {
  const Message& message = *FindMessage("", "v1", "Pod");
  EXPECT_FALSE(FromProtobuf(message, "\x0a\x7f"));
  // A boolean whose value is missing: immutable of a ConfigMap.
  EXPECT_FALSE(FromProtobuf(*FindMessage("", "v1", "ConfigMap"), "\x20"));
  // A field nobody knows is passed over.
  EXPECT_TRUE(FromProtobuf(message, std::string("\xba\x06\x01\x00", 4)));
  EXPECT_EQ(ToProtobuf(message, "not json"), "");
  EXPECT_EQ(ToProtobuf(message, R"({"spec":5,"metadata":{"name":7}})"), std::string("\x0a\0", 2));
}

TEST(TranslateTest, CustomKindsHaveNoMessage) {
  EXPECT_EQ(FindMessage("example.com", "v1", "Widget"), nullptr);
  EXPECT_EQ(FindMessage("apiextensions.k8s.io", "v1", "CustomResourceDefinition"), nullptr);
}

}  // namespace
}  // namespace berth::apiserver::wire
