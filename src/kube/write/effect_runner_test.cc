#include "kube/write/effect_runner.h"

#include <optional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/codec/proto.h"
#include "api/codec/protozero.h"
#include "api/object.h"
#include "framework/points/device_claims.h"
#include "kube/hex.h"
#include "kube/testing/fake_api_client.h"
#include "kube/write/bodies.h"
#include "net/testing/fake_loop.h"

namespace berth::kube {
namespace {

using scheduler::EffectResult;
using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;
using Code = EffectResult::Code;

std::string Field(uint32_t number, std::string_view payload) {
  std::string out;
  protozero::pbf_writer(out).add_message(number, payload);
  return out;
}

api::PodCondition Condition(std::string message, std::string status = "False") {
  api::PodCondition condition;
  condition.type = "PodScheduled";
  condition.status = std::move(status);
  condition.reason = "Unschedulable";
  condition.message = std::move(message);
  condition.observed_generation = 1;
  condition.last_transition_time = *api::Time::Parse("2026-11-15T19:39:44Z");
  return condition;
}

const scheduler::PodRef kPod{"default", "toobig", "uid-1", "9"};

// ---- Bodies

TEST(Bodies, ABindingIsByteForByteClientGos) {
  const scheduler::BindPod bind{{"default", "ok", "4fff3a43-45f8-4486-a9a2-0c27b94cc244", "7"},
                                "n1"};
  EXPECT_EQ(Hex(BindingBody(bind, kProtobuf)),
            "6b3873000a0d0a027631120742696e64696e6712550a3d0a026f6b12001a0764656661756c7422002a2434"
            "666666336134332d343566382d343438362d613961322d3063323762393463633234343200380042001214"
            "0a044e6f646512001a026e3122002a0032003a001a002200");
  EXPECT_THAT(BindingBody(bind, kJson), HasSubstr(R"("target":{"kind":"Node","name":"n1"})"));
}

TEST(Bodies, ABindingOfAnyLengthIsWhatTheDescriptionOfItsTypeGives) {
  for (const size_t length : {0, 1, 100, 127, 128, 253, 20'000}) {
    const scheduler::BindPod bind{{"ns", std::string(length, 'p'), "u", "7"},
                                  std::string(length, 'n')};
    api::Binding binding;
    binding.metadata.name = bind.pod.name;
    binding.metadata.namespace_ = bind.pod.namespace_;
    binding.metadata.uid = bind.pod.uid;
    binding.target.kind = "Node";
    binding.target.name = bind.node;
    EXPECT_EQ(BindingBody(bind, kProtobuf),
              api::WrapEnvelope("v1", "Binding", api::ToProto(binding)))
        << length;
  }
}

TEST(Bodies, ADeletionHasNoOptions) {
  EXPECT_EQ(Hex(DeleteBody(kProtobuf)),
            "6b3873000a130a027631120d44656c6574654f7074696f6e7312001a002200");
  EXPECT_EQ(DeleteBody(kJson), R"({"kind":"DeleteOptions","apiVersion":"v1"})");
}

TEST(StatusPatch, TheFirstConditionComesWhole) {
  EXPECT_EQ(
      StatusPatch(
          {.pod = kPod, .condition = Condition("0/1 nodes"), .nominated_node_name = std::nullopt}),
      R"({"status":{"conditions":[{"lastProbeTime":null,)"
      R"("lastTransitionTime":"2026-11-15T19:39:44Z","message":"0/1 nodes",)"
      R"("observedGeneration":1,"reason":"Unschedulable","status":"False",)"
      R"("type":"PodScheduled"}]}})");
}

TEST(StatusPatch, AConditionOfANewTypeGoesToTheEnd) {
  api::PodCondition condition = Condition("default-scheduler: preempting");
  condition.type = "DisruptionTarget";
  condition.status = "True";
  condition.reason = "PreemptionByScheduler";
  EXPECT_EQ(StatusPatch({.pod = kPod,
                         .condition = condition,
                         .nominated_node_name = std::nullopt,
                         .condition_types = {"PodScheduled"}}),
            R"({"status":{"$setElementOrder/conditions":[{"type":"PodScheduled"},)"
            R"({"type":"DisruptionTarget"}],"conditions":[{"lastProbeTime":null,)"
            R"("lastTransitionTime":"2026-11-15T19:39:44Z",)"
            R"("message":"default-scheduler: preempting","observedGeneration":1,)"
            R"("reason":"PreemptionByScheduler","status":"True","type":"DisruptionTarget"}]}})");
}

TEST(StatusPatch, OfAKnownConditionOnlyWhatChanged) {
  scheduler::PatchPodStatus patch{.pod = kPod,
                                  .condition = Condition("new"),
                                  .nominated_node_name = std::nullopt,
                                  .condition_types = {"PodScheduled"},
                                  .old_condition = Condition("old")};
  EXPECT_EQ(StatusPatch(patch),
            R"({"status":{"$setElementOrder/conditions":[{"type":"PodScheduled"}],)"
            R"("conditions":[{"message":"new","type":"PodScheduled"}]}})");
  patch.condition->reason = "";
  patch.condition->observed_generation = 2;
  EXPECT_EQ(StatusPatch(patch),
            R"({"status":{"$setElementOrder/conditions":[{"type":"PodScheduled"}],)"
            R"("conditions":[{"message":"new","observedGeneration":2,"reason":null,)"
            R"("type":"PodScheduled"}]}})");
}

TEST(StatusPatch, TheNominationAloneOrTogether) {
  scheduler::PatchPodStatus patch{
      .pod = kPod, .condition = std::nullopt, .nominated_node_name = ""};
  EXPECT_EQ(StatusPatch(patch), R"({"status":{"nominatedNodeName":null}})");
  patch.nominated_node_name = "n1";
  EXPECT_EQ(StatusPatch(patch), R"({"status":{"nominatedNodeName":"n1"}})");
  patch.condition = Condition("new");
  patch.condition_types = {"PodScheduled"};
  patch.old_condition = Condition("old");
  EXPECT_EQ(StatusPatch(patch),
            R"({"status":{"$setElementOrder/conditions":[{"type":"PodScheduled"}],)"
            R"("conditions":[{"message":"new","type":"PodScheduled"}],"nominatedNodeName":"n1"}})");
  patch.old_condition = patch.condition;
  EXPECT_EQ(StatusPatch(patch), R"({"status":{"nominatedNodeName":"n1"}})");
}

TEST(StatusPatch, TheClaimOfExtendedResources) {
  const scheduler::PatchPodStatus patch{
      .pod = kPod,
      .condition = std::nullopt,
      .nominated_node_name = std::nullopt,
      .extended_resource_claim = api::PodExtendedResourceClaimStatus{
          {{"c", "x.com/gpu", "container-0-request-1"}}, "p-extended-resources-x"}};
  EXPECT_EQ(StatusPatch(patch),
            R"({"status":{"extendedResourceClaimStatus":{"requestMappings":[{"containerName":"c",)"
            R"("requestName":"container-0-request-1","resourceName":"x.com/gpu"}],)"
            R"("resourceClaimName":"p-extended-resources-x"}}})");
}

TEST(StatusPatch, NothingToSay) {
  scheduler::PatchPodStatus patch{
      .pod = kPod, .condition = std::nullopt, .nominated_node_name = std::nullopt};
  EXPECT_EQ(StatusPatch(patch), std::nullopt);
  patch.condition = patch.old_condition = Condition("same");
  patch.condition_types = {"PodScheduled"};
  EXPECT_EQ(StatusPatch(patch), std::nullopt);
}

TEST(StatusPatch, TextIsEscapedAsGoDoes) {
  EXPECT_THAT(*StatusPatch({.pod = kPod,
                            .condition = Condition("a<b>&\"c\"\n"),
                            .nominated_node_name = std::nullopt}),
              HasSubstr(R"("message":"a\u003cb\u003e\u0026\"c\"\n")"));
}

// ---- Requests

class EffectRunnerTest : public ::testing::Test {
 protected:
  void Run(scheduler::EffectAction action) { runner_.Run({++id_, std::move(action)}); }
  const EffectResult& Last() const { return results_.back(); }
  std::string LastLine() const { return client_.Last().Line(); }
  const std::string& LastBody() const { return client_.Last().request.body; }

  net::FakeLoop loop_;
  FakeApiClient client_;
  RawObjects raw_;
  EventRecorder events_{loop_, client_, "vm"};
  std::vector<EffectResult> results_;
  EffectRunner runner_{loop_, client_, events_, raw_,
                       [this](EffectResult result) { results_.push_back(std::move(result)); }};
  scheduler::EffectId id_ = 40;
};

struct Answer {
  const char* what;
  ApiResponse response;
  Code code;
};

TEST_F(EffectRunnerTest, AnswersBecomeResults) {
  const Answer rows[] = {
      {"created", FakeApiClient::Success(), Code::kOk},
      {"conflict", FakeApiClient::Failure(409, "Conflict", "words"), Code::kConflict},
      {"not found", FakeApiClient::Failure(404, "NotFound", "words"), Code::kNotFound},
      {"forbidden", FakeApiClient::Failure(403, "Forbidden", "words"), Code::kError},
      {"server error", FakeApiClient::Failure(500, "InternalError", "words"), Code::kError},
      {"given up", FakeApiClient::Failure(504, "Timeout", "words"), Code::kUnknown},
      {"too many", FakeApiClient::Failure(429, "TooManyRequests", "words"), Code::kError},
      {"refused", FakeApiClient::Broken(net::HttpError::Kind::kRefused, "words"), Code::kError},
      {"unsent", FakeApiClient::Broken(net::HttpError::Kind::kUnsent, "words"), Code::kError},
      {"broken", FakeApiClient::Broken(net::HttpError::Kind::kBroken, "words"), Code::kUnknown},
      {"timeout", FakeApiClient::Broken(net::HttpError::Kind::kTimeout, "words"), Code::kUnknown},
  };
  for (const Answer& row : rows) {
    Run(scheduler::BindPod{kPod, "n1"});
    EXPECT_EQ(LastLine(), "POST /api/v1/namespaces/default/pods/toobig/binding");
    EXPECT_EQ(client_.Last().request.content_type, kProtobuf);
    EXPECT_EQ(runner_.Outstanding(), 1u);
    client_.RespondNext(row.response);
    EXPECT_EQ(Last().id, id_) << row.what;
    EXPECT_EQ(Last().code, row.code) << row.what;
    EXPECT_EQ(Last().message, row.code == Code::kOk ? "" : "words") << row.what;
    EXPECT_EQ(runner_.Outstanding(), 0u);
    loop_.Advance(seconds(60));
    EXPECT_EQ(client_.CountOpen(), 0u) << row.what;  // a binding is never repeated
  }
}

TEST_F(EffectRunnerTest, BindingsMayBeMarkedWithTheEpoch) {
  runner_.MarkBindings(7);
  Run(scheduler::BindPod{kPod, "n1"});
  const auto object = api::DecodeObjectProto(client_.Last().request.body);
  ASSERT_TRUE(object) << object.error().Message();
  const auto& binding = std::get<api::Binding>(*object);
  EXPECT_EQ(binding.metadata.annotations.at(std::string(kEpochAnnotation)), "7");
  EXPECT_EQ(binding.metadata.uid, kPod.uid);
  EXPECT_EQ(binding.target.name, "n1");
  EXPECT_EQ(BindingBody({kPod, "n1"}, kJson, "7").find(R"("berth.dev/lease-epoch":"7")"),
            BindingBody({kPod, "n1"}, kJson, "7").find("\"berth.dev"));
}

TEST_F(EffectRunnerTest, DeletesWithoutPrecondition) {
  Run(scheduler::DeletePod{kPod});
  EXPECT_EQ(LastLine(), "DELETE /api/v1/namespaces/default/pods/toobig");
  EXPECT_EQ(LastBody(), DeleteBody(kProtobuf));
  client_.RespondNext(FakeApiClient::Success());
  EXPECT_EQ(Last().code, Code::kOk);
}

TEST_F(EffectRunnerTest, ReadsAPod) {
  Run(scheduler::ReadPod{kPod});
  EXPECT_EQ(LastLine(), "GET /api/v1/namespaces/default/pods/toobig");
  api::Pod pod;
  pod.metadata.name = "toobig";
  pod.spec.node_name = "n7";
  client_.RespondNext(FakeApiClient::Success(api::ToEnvelope(pod)));
  ASSERT_TRUE(Last().pod);
  EXPECT_EQ(Last().pod->spec.node_name, "n7");
  Run(scheduler::ReadPod{kPod});
  client_.RespondNext(
      FakeApiClient::Success(R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":"j"}})", kJson));
  ASSERT_TRUE(Last().pod);
  EXPECT_EQ(Last().pod->metadata.name, "j");
  Run(scheduler::ReadPod{kPod});
  client_.RespondNext(FakeApiClient::Success("garbage"));
  EXPECT_EQ(Last().code, Code::kError);
  EXPECT_FALSE(Last().pod);
}

TEST_F(EffectRunnerTest, AStatusPatchIsRepeatedWhenTheServerIsInTrouble) {
  Run(scheduler::PatchPodStatus{
      .pod = kPod, .condition = std::nullopt, .nominated_node_name = "n1"});
  EXPECT_EQ(LastLine(), "PATCH /api/v1/namespaces/default/pods/toobig/status");
  EXPECT_EQ(client_.Last().request.content_type, kStrategicMergePatch);
  client_.RespondNext(FakeApiClient::Failure(500, "InternalError", "one"));
  EXPECT_EQ(client_.CountOpen(), 0u);
  loop_.Advance(milliseconds(11));
  EXPECT_EQ(LastBody(), R"({"status":{"nominatedNodeName":"n1"}})");
  client_.RespondNext(FakeApiClient::Failure(503, "ServiceUnavailable", "two"));
  loop_.Advance(milliseconds(55));
  client_.RespondNext(FakeApiClient::Broken(net::HttpError::Kind::kRefused, "three"));
  loop_.Advance(milliseconds(275));
  client_.RespondNext(FakeApiClient::Failure(500, "InternalError", "four"));
  ASSERT_THAT(results_, SizeIs(1));
  EXPECT_EQ(Last().code, Code::kError);
  EXPECT_EQ(Last().message, "four");
  EXPECT_EQ(client_.Size(), 4u);
}

TEST_F(EffectRunnerTest, RequestsAboutOnePodGoOneAfterTheOther) {
  Run(scheduler::PatchPodStatus{
      .pod = kPod, .condition = std::nullopt, .nominated_node_name = "n1"});
  Run(scheduler::BindPod{kPod, "n1"});
  Run(scheduler::BindPod{{"default", "other", "uid-2", "9"}, "n1"});
  EXPECT_EQ(client_.CountOpen(), 2u);
  EXPECT_EQ(runner_.Outstanding(), 3u);
  EXPECT_EQ(LastLine(), "POST /api/v1/namespaces/default/pods/other/binding");
  client_.RespondNext(FakeApiClient::Failure(500, "InternalError", "once more"));
  loop_.Advance(milliseconds(11));
  EXPECT_EQ(LastLine(), "PATCH /api/v1/namespaces/default/pods/toobig/status");
  client_.RespondNext(FakeApiClient::Success());  // of the other pod's binding
  client_.RespondNext(FakeApiClient::Success());
  EXPECT_EQ(LastLine(), "POST /api/v1/namespaces/default/pods/toobig/binding");
  client_.RespondNext(FakeApiClient::Success());
  EXPECT_THAT(results_, SizeIs(3));
  EXPECT_EQ(runner_.Outstanding(), 0u);
}

EffectRules Merging() {
  EffectRules rules;
  rules.merges = true;
  return rules;
}

class MergingRunnerTest : public EffectRunnerTest {
 protected:
  // A request about the pod is under way; what is run now waits for it.
  MergingRunnerTest() {
    RunMerging(scheduler::PatchPodStatus{
        .pod = kPod, .condition = std::nullopt, .nominated_node_name = "n0"});
  }
  void RunMerging(scheduler::EffectAction action) { merging_.Run({++id_, std::move(action)}); }
  // What was sent after the first request, each answered at once.
  std::vector<std::string> Rest() {
    loop_.Advance(milliseconds(1));
    while (client_.RespondNext(FakeApiClient::Success())) {
    }
    std::vector<std::string> rest;
    for (size_t i = 1; i < client_.Size(); ++i) {
      const ApiRequest& request = client_.At(i).request;
      rest.push_back(request.method == "PATCH" ? request.body : request.method);
    }
    return rest;
  }

  EffectRunner merging_{loop_,
                        client_,
                        events_,
                        raw_,
                        [this](EffectResult result) { results_.push_back(std::move(result)); },
                        Merging()};
};

TEST_F(MergingRunnerTest, OfPatchesThatWaitTheLastIsSentWithWhatItDoesNotSay) {
  scheduler::PatchPodStatus first{
      .pod = kPod, .condition = Condition("one"), .nominated_node_name = "n1"};
  first.condition_types = {"PodScheduled"};
  first.old_condition = Condition("zero");
  RunMerging(first);
  RunMerging(scheduler::PatchPodStatus{
      .pod = kPod, .condition = std::nullopt, .nominated_node_name = "n2"});
  EXPECT_EQ(merging_.Outstanding(), 3u);
  EXPECT_THAT(results_, SizeIs(0)) << "never from inside Run";
  EXPECT_THAT(Rest(),
              ElementsAre(R"({"status":{"$setElementOrder/conditions":[{"type":"PodScheduled"}],)"
                          R"("conditions":[{"message":"one","type":"PodScheduled"}],)"
                          R"("nominatedNodeName":"n2"}})"));
  ASSERT_THAT(results_, SizeIs(3));
  for (const EffectResult& result : results_) EXPECT_EQ(result.code, Code::kOk);
  EXPECT_EQ(merging_.Outstanding(), 0u);
}

TEST_F(MergingRunnerTest, ABindingMakesPatchesNeedless) {
  RunMerging(scheduler::PatchPodStatus{
      .pod = kPod, .condition = Condition("one"), .nominated_node_name = ""});
  RunMerging(scheduler::BindPod{kPod, "n1"});
  RunMerging(scheduler::PatchPodStatus{
      .pod = kPod, .condition = Condition("two"), .nominated_node_name = ""});
  EXPECT_THAT(Rest(), ElementsAre("POST"));
  EXPECT_THAT(results_, SizeIs(4));
}

TEST_F(MergingRunnerTest, APatchAboutAnEvictionIsSentInAnyCase) {
  api::PodCondition evicted = Condition("preempted", "True");
  evicted.type = "DisruptionTarget";
  RunMerging(scheduler::PatchPodStatus{
      .pod = kPod, .condition = evicted, .nominated_node_name = std::nullopt});
  RunMerging(scheduler::DeletePod{kPod});
  EXPECT_THAT(Rest(), ElementsAre(HasSubstr("preempted"), "DELETE"));
}

TEST_F(EffectRunnerTest, AStatusPatchThatIsWrongIsNotRepeated) {
  for (int code : {400, 403, 404, 409, 422}) {
    Run(scheduler::PatchPodStatus{
        .pod = kPod, .condition = std::nullopt, .nominated_node_name = ""});
    const size_t before = client_.Size();
    client_.RespondNext(FakeApiClient::Failure(code, "", "no"));
    loop_.Advance(seconds(1));
    EXPECT_EQ(client_.Size(), before) << code;
  }
  EXPECT_THAT(results_, SizeIs(5));
}

TEST_F(EffectRunnerTest, APatchThatSaysNothingIsNotSent) {
  Run(scheduler::PatchPodStatus{
      .pod = kPod, .condition = std::nullopt, .nominated_node_name = std::nullopt});
  EXPECT_THAT(results_, SizeIs(0));
  loop_.Advance(milliseconds(1));
  ASSERT_THAT(results_, SizeIs(1));
  EXPECT_EQ(Last().code, Code::kOk);
  EXPECT_EQ(client_.Size(), 0u);
}

// ---- Whole objects

class WriteObjectTest : public EffectRunnerTest {
 protected:
  WriteObjectTest() {
    volume_.metadata.name = "pv1";
    volume_.metadata.resource_version = "5";
  }
  // As the server sends it, with things berth does not know.
  static std::string Bytes(const api::PersistentVolume& volume) {
    return Field(1, api::ToProto(volume.metadata) + Field(60, "odd")) +
           Field(2, api::ToProto(volume.spec)) + Field(70, "unknown");
  }
  static ApiResponse Answer(const api::PersistentVolume& volume) {
    return FakeApiClient::Success(api::WrapEnvelope("v1", "PersistentVolume", Bytes(volume)));
  }
  api::PersistentVolume Changed() const {
    api::PersistentVolume changed = volume_;
    changed.metadata.annotations["pv.kubernetes.io/bound-by-controller"] = "yes";
    return changed;
  }
  void Write() { Run(scheduler::WriteObject{{Changed()}}); }
  void ExpectPut() {
    EXPECT_EQ(LastLine(), "PUT /api/v1/persistentvolumes/pv1");
    EXPECT_EQ(client_.Last().request.content_type, kProtobuf);
    EXPECT_THAT(LastBody(), HasSubstr("unknown"));
    EXPECT_THAT(LastBody(), HasSubstr("odd"));
    const auto sent = api::DecodeObjectProto(LastBody());
    ASSERT_TRUE(sent);
    EXPECT_TRUE(std::get<api::PersistentVolume>(*sent) == Changed());
  }

  api::PersistentVolume volume_;
};

TEST_F(WriteObjectTest, ThePutKeepsWhatBerthDoesNotKnow) {
  raw_.Put("PersistentVolume", "", "pv1", {"5", Bytes(volume_)});
  Write();
  ExpectPut();
  api::PersistentVolume written = Changed();
  written.metadata.resource_version = "6";
  client_.RespondNext(Answer(written));
  EXPECT_EQ(Last().code, Code::kOk);
  ASSERT_TRUE(Last().written);
  EXPECT_TRUE(std::get<api::PersistentVolume>(*Last().written) == written);
  EXPECT_EQ(raw_.Find("PersistentVolume", "", "pv1")->resource_version, "6");
  EXPECT_EQ(raw_.Find("PersistentVolume", "", "pv1")->proto, Bytes(written));
}

TEST_F(WriteObjectTest, AnUnknownVersionIsReadFirst) {
  raw_.Put("PersistentVolume", "", "pv1", {"4", Bytes(volume_)});
  Write();
  EXPECT_EQ(LastLine(), "GET /api/v1/persistentvolumes/pv1");
  EXPECT_EQ(client_.Last().request.accept, "application/vnd.kubernetes.protobuf, */*");
  client_.RespondNext(Answer(volume_));
  ExpectPut();
  client_.RespondNext(FakeApiClient::Failure(409, "Conflict", "modified"));
  EXPECT_EQ(Last().code, Code::kConflict);
  EXPECT_EQ(Last().message, "modified");
}

TEST_F(WriteObjectTest, AnotherVersionIsAConflictInTheServersWords) {
  Write();
  api::PersistentVolume newer = volume_;
  newer.metadata.resource_version = "9";
  client_.RespondNext(Answer(newer));
  EXPECT_EQ(Last().code, Code::kConflict);
  EXPECT_EQ(Last().message,
            "Operation cannot be fulfilled on persistentvolumes \"pv1\": the object has been "
            "modified; please apply your changes to the latest version and try again");
  EXPECT_EQ(client_.Size(), 1u);
  EXPECT_EQ(raw_.Find("PersistentVolume", "", "pv1")->resource_version, "9");
}

class ClaimTest : public EffectRunnerTest {
 protected:
  static constexpr std::string_view kPath = "/apis/resource.k8s.io/v1/namespaces/ns/resourceclaims";

  static ApiResponse Answer(const api::ResourceClaim& claim) {
    return FakeApiClient::Success(api::WrapEnvelope(
        api::ResourceClaim::kApiVersion, api::ResourceClaim::kKind, api::ToProto(claim)));
  }
  api::ResourceClaim Named(std::vector<std::string> finalizers = {}) const {
    api::ResourceClaim claim = claim_;
    claim.metadata.name = "p-x";
    claim.metadata.uid = "uid-x";
    claim.metadata.resource_version = "5";
    claim.metadata.finalizers = std::move(finalizers);
    return claim;
  }
  std::string Line(std::string_view verb, std::string_view name = "") const {
    return std::string(verb) + " " + std::string(kPath) + std::string(name);
  }

  api::ResourceClaim claim_ = [] {
    api::ResourceClaim claim;
    claim.metadata.generate_name = "p-";
    claim.metadata.namespace_ = "ns";
    return claim;
  }();
};

TEST_F(ClaimTest, IsCreated) {
  Run(scheduler::WriteObject{{claim_, framework::ApiWrite::Verb::kCreate}});
  EXPECT_EQ(LastLine(), Line("POST"));
  const auto sent = api::DecodeObjectProto(LastBody());
  ASSERT_TRUE(sent);
  EXPECT_EQ(std::get<api::ResourceClaim>(*sent), claim_);
  client_.RespondNext(Answer(Named()));
  ASSERT_TRUE(Last().written);
  EXPECT_EQ(std::get<api::ResourceClaim>(*Last().written), Named());
  EXPECT_EQ(raw_.Find("ResourceClaim", "ns", "p-x")->resource_version, "5");
}

TEST_F(ClaimTest, IsRemovedAfterItsFinalizer) {
  claim_ = Named();
  Run(scheduler::WriteObject{{claim_, framework::ApiWrite::Verb::kDelete}});
  for (int conflicts = 0; conflicts < 2; ++conflicts) {
    EXPECT_EQ(LastLine(), Line("GET", "/p-x"));
    client_.RespondNext(Answer(Named({"mine", "resource.kubernetes.io/delete-protection"})));
    EXPECT_EQ(LastLine(), Line("PUT", "/p-x"));
    EXPECT_EQ(std::get<api::ResourceClaim>(*api::DecodeObjectProto(LastBody())), Named({"mine"}));
    if (conflicts == 0) client_.RespondNext(FakeApiClient::Failure(409, "Conflict", "modified"));
  }
  client_.RespondNext(Answer(Named({"mine"})));
  EXPECT_EQ(LastLine(), Line("DELETE", "/p-x"));
  client_.RespondNext(FakeApiClient::Success(""));
  EXPECT_EQ(Last().code, Code::kOk);
}

TEST_F(ClaimTest, AnotherOfTheSameNameIsNotRemoved) {
  claim_ = Named();
  Run(scheduler::WriteObject{{claim_, framework::ApiWrite::Verb::kDelete}});
  api::ResourceClaim other = Named();
  other.metadata.uid = "other";
  client_.RespondNext(Answer(other));
  EXPECT_EQ(Last().code, Code::kNotFound);
  EXPECT_EQ(client_.Size(), 1u);
}

TEST_F(WriteObjectTest, WhenReadingFirstFailsNothingWasWritten) {
  struct Row {
    ApiResponse response;
    Code code;
  };
  const Row rows[] = {
      {FakeApiClient::Failure(404, "NotFound", "words"), Code::kNotFound},
      {FakeApiClient::Failure(500, "InternalError", "words"), Code::kError},
      {FakeApiClient::Broken(net::HttpError::Kind::kBroken, "words"), Code::kError},
      {FakeApiClient::Success("garbage"), Code::kError},
      {FakeApiClient::Success(R"({"kind":"PersistentVolume","apiVersion":"v1",
                                  "metadata":{"name":"pv1","resourceVersion":"5"}})",
                              kJson),
       Code::kError},
  };
  for (const Row& row : rows) {
    Write();
    client_.RespondNext(row.response);
    EXPECT_EQ(Last().code, row.code);
    EXPECT_EQ(client_.CountOpen(), 0u);
  }
}

TEST_F(WriteObjectTest, StatusIsASubresource) {
  api::ResourceClaim claim;
  claim.metadata.namespace_ = "default";
  claim.metadata.name = "c";
  claim.metadata.resource_version = "3";
  raw_.Put("ResourceClaim", "default", "c", {"3", api::ToProto(claim)});
  Run(scheduler::WriteObject{{claim, framework::ApiWrite::Verb::kUpdateStatus}});
  EXPECT_EQ(LastLine(), "PUT /apis/resource.k8s.io/v1/namespaces/default/resourceclaims/c/status");
  client_.RespondNext(FakeApiClient::Success("garbage"));
  EXPECT_EQ(Last().code, Code::kUnknown);  // it was written, but as what?
}

TEST_F(WriteObjectTest, NoAnswerMeansItMayHaveBeenWritten) {
  raw_.Put("PersistentVolume", "", "pv1", {"5", Bytes(volume_)});
  Write();
  client_.RespondNext(FakeApiClient::Broken(net::HttpError::Kind::kTimeout, "words"));
  EXPECT_EQ(Last().code, Code::kUnknown);
  EXPECT_EQ(Last().message, "words");
}

TEST_F(WriteObjectTest, BytesThatDoNotFitAreAnError) {
  raw_.Put("PersistentVolume", "", "pv1", {"5", "\x0a\x7f"});
  Write();
  loop_.Advance(milliseconds(1));
  EXPECT_EQ(Last().code, Code::kError);
}

}  // namespace
}  // namespace berth::kube
