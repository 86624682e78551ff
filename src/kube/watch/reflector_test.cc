#include "kube/watch/reflector.h"

#include <functional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/codec/proto.h"
#include "kube/testing/reflector.h"

namespace berth::kube {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr const char* kNodeWatch7 =
    "WATCH /api/v1/nodes?allowWatchBookmarks=true&resourceVersion=7&timeout=7m30s&"
    "timeoutSeconds=450&watch=true";

std::vector<api::Node> Nodes(size_t count) {
  std::vector<api::Node> nodes;
  for (size_t i = 0; i < count; ++i) nodes.push_back(Make<api::Node>(fmt::format("n{}", i), "3"));
  return nodes;
}

TEST_F(ReflectorTest, ALongListComesInPartsAndNoFasterThanTheyAreTaken) {
  Begin("Node");
  client_.RespondNext(FakeApiClient::Success(List("7", Nodes(900))));
  EXPECT_THAT(sink_.lines, ElementsAre("~ first 250", "~ middle 250"));
  EXPECT_FALSE(reflector_->Synced());
  sink_.taken[0]();
  EXPECT_THAT(sink_.lines, ElementsAre("~ first 250", "~ middle 250", "~ middle 250"));
  EXPECT_EQ(client_.Size(), 1u);  // no watch before the end of the list
  sink_.taken[1]();
  EXPECT_EQ(sink_.lines.back(), "~ last 150");
  EXPECT_TRUE(reflector_->Synced());
  EXPECT_EQ(LastLine(), kNodeWatch7);
  ASSERT_EQ(sink_.names.size(), 900u);
  for (size_t i = 0; i < 900; ++i) EXPECT_EQ(sink_.names[i], fmt::format("n{}", i));
  sink_.taken[2]();
  sink_.taken[3]();
  EXPECT_EQ(sink_.lines.size(), 4u);
}

TEST_F(ReflectorTest, PagesMakeUpPartsToo) {
  Begin("Node");
  client_.RespondNext(FakeApiClient::Success(List("7", Nodes(250), "next")));
  EXPECT_THAT(sink_.lines, IsEmpty());
  client_.RespondNext(FakeApiClient::Success(List("7", Nodes(250), "last")));
  EXPECT_THAT(sink_.lines, ElementsAre("~ first 250"));
  sink_.taken[0]();  // while the next page is on its way
  client_.RespondNext(FakeApiClient::Success(List("7", Nodes(2))));
  EXPECT_THAT(sink_.lines, ElementsAre("~ first 250", "~ middle 250", "~ last 2"));
}

TEST_F(ReflectorTest, AListThatBreaksOffStartsAnewWithItsFirstPart) {
  Begin("Node");
  client_.RespondNext(FakeApiClient::Success(List("7", Nodes(350), "next")));
  client_.RespondNext(FakeApiClient::Failure(410, "Expired", "too old"));
  client_.RespondNext(FakeApiClient::Success(List("8", Nodes(251))));
  EXPECT_THAT(sink_.lines, ElementsAre("~ first 250", "~ first 250", "~ last 1"));
  sink_.taken[0]();  // of the one that broke off
  EXPECT_EQ(sink_.lines.size(), 3u);
}

TEST_F(ReflectorTest, PartsThatAreTakenAfterTheEndDoNoHarm) {
  Begin("Node");
  client_.RespondNext(FakeApiClient::Success(List("7", Nodes(900))));
  reflector_->Stop();
  sink_.taken[0]();
  EXPECT_EQ(sink_.lines.size(), 2u);
  reflector_.reset();
  sink_.taken[1]();
  EXPECT_EQ(sink_.lines.size(), 2u);
}

TEST_F(ReflectorTest, AKindThatIsWantedWholeComesWhole) {
  Begin("ResourceSlice");
  std::vector<api::ResourceSlice> slices(600, Make<api::ResourceSlice>("s", "1"));
  client_.RespondNext(FakeApiClient::Success(List("7", slices)));
  ASSERT_EQ(sink_.lines.size(), 1u);
  EXPECT_THAT(sink_.lines[0], HasSubstr("= ResourceSlice s s"));
}

TEST_F(ReflectorTest, ListsThenWatchesWithTheQueriesOfClientGo) {
  loop_.random = 0.7634;
  Begin("Pod");
  EXPECT_FALSE(reflector_->Synced());
  EXPECT_EQ(LastLine(),
            "GET /api/v1/pods?fieldSelector=status.phase%21%3DSucceeded%2Cstatus.phase%21%3DFailed"
            "&limit=500&resourceVersion=0");
  client_.RespondNext(FakeApiClient::Success(
      List<api::Pod>("2696", {Make<api::Pod>("a", "1"), Make<api::Pod>("b", "2")})));
  EXPECT_TRUE(reflector_->Synced());
  EXPECT_THAT(sink_.lines, ElementsAre("= Pod a b"));
  EXPECT_EQ(LastLine(),
            "WATCH /api/v1/pods?allowWatchBookmarks=true&fieldSelector=status.phase%21%3DSucceeded"
            "%2Cstatus.phase%21%3DFailed&resourceVersion=2696&timeout=8m49s&timeoutSeconds=529&"
            "watch=true");
}

TEST_F(ReflectorTest, TellsOfChangesInOrder) {
  BeginWatch("Node");
  client_.SendFrame(Watch(), Frame("ADDED", api::ToEnvelope(Make<api::Node>("b", "8"))));
  client_.SendFrame(Watch(), Frame("MODIFIED", api::ToEnvelope(Make<api::Node>("b", "9"))));
  client_.SendFrame(Watch(), Frame("DELETED", api::ToEnvelope(Make<api::Node>("a", "10"))));
  EXPECT_THAT(sink_.lines, ElementsAre("+ b@8", "+ b@9", "- a@10"));
}

TEST_F(ReflectorTest, AWatchThatEndsGoesOnFromTheLastVersion) {
  BeginWatch("Node");
  client_.SendFrame(Watch(), Frame("BOOKMARK", api::ToEnvelope(Make<api::Node>("", "20"))));
  EXPECT_THAT(sink_.lines, IsEmpty());
  loop_.Advance(minutes(7));
  client_.End(Watch());
  EXPECT_THAT(LastLine(), HasSubstr("resourceVersion=20&"));
  EXPECT_TRUE(client_.Last().watch);
  client_.Start(Watch());
  loop_.Advance(seconds(5));
  client_.Respond(Watch(), FakeApiClient::Broken(net::HttpError::Kind::kBroken, "unexpected EOF"));
  EXPECT_TRUE(client_.Last().watch);
  EXPECT_EQ(client_.CountOpen(), 1u);
}

TEST_F(ReflectorTest, AVeryShortWatchWithoutEventsMakesANewList) {
  BeginWatch("Node");
  client_.End(Watch());
  EXPECT_EQ(client_.CountOpen(), 0u);
  loop_.Advance(milliseconds(1200));
  EXPECT_EQ(LastLine(), "GET /api/v1/nodes?resourceVersion=7");
}

TEST_F(ReflectorTest, ShortWatchesWithEventsAreFollowedAtOnceOnlyTwice) {
  BeginWatch("Node");
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(client_.CountOpen(), 1u) << i;
    client_.Start(Watch());
    client_.SendFrame(Watch(), Frame("ADDED", api::ToEnvelope(Make<api::Node>("b", "8"))));
    client_.End(Watch());
  }
  EXPECT_EQ(client_.CountOpen(), 0u);
  loop_.Advance(milliseconds(1200));
  EXPECT_TRUE(client_.Last().watch);
}

TEST_F(ReflectorTest, ARefusedWatchIsFollowedByAListFromTheLastVersionWithoutLimit) {
  for (int code : {403, 410, 500}) {
    client_ = FakeApiClient();
    Begin("Node");
    client_.RespondNext(FakeApiClient::Success(List<api::Node>("7", {})));
    client_.Respond(Watch(), FakeApiClient::Failure(code, "", "injected"));
    loop_.Advance(milliseconds(1199));
    EXPECT_EQ(client_.CountOpen(), 0u);
    loop_.Advance(milliseconds(1));
    EXPECT_EQ(LastLine(), "GET /api/v1/nodes?resourceVersion=7") << code;
    client_.RespondNext(FakeApiClient::Success(List<api::Node>("9", {})));
    EXPECT_THAT(LastLine(), HasSubstr("resourceVersion=9&timeout"));
    reflector_.reset();
  }
}

TEST_F(ReflectorTest, AnErrorInTheStreamEndsTheWatch) {
  BeginWatch("Node");
  api::Status status;
  status.code = 410;
  status.reason = "Expired";
  status.message = "too old resource version: 7 (20)";
  const size_t watch = Watch();
  client_.SendFrame(watch, Frame("ERROR", api::ToEnvelope(status)));
  EXPECT_TRUE(client_.At(watch).cancelled);
  loop_.Advance(milliseconds(1200));
  EXPECT_EQ(LastLine(), "GET /api/v1/nodes?resourceVersion=7");
}

TEST_F(ReflectorTest, ARefusedConnectionIsWatchedAgainWithoutAList) {
  BeginWatch("Node");
  loop_.Advance(seconds(3));
  client_.End(Watch());
  client_.Respond(Watch(),
                  FakeApiClient::Broken(net::HttpError::Kind::kRefused, "connection refused"));
  loop_.Advance(milliseconds(1200));
  EXPECT_EQ(LastLine(), kNodeWatch7);
  client_.Respond(Watch(),
                  FakeApiClient::Broken(net::HttpError::Kind::kRefused, "connection refused"));
  loop_.Advance(milliseconds(2399));
  EXPECT_EQ(client_.CountOpen(), 0u);
  loop_.Advance(milliseconds(1));
  EXPECT_EQ(LastLine(), kNodeWatch7);
  client_.Respond(Watch(), FakeApiClient::Failure(429, "TooManyRequests", "slow down"));
  loop_.Advance(milliseconds(4800));
  EXPECT_EQ(LastLine(), kNodeWatch7);
}

TEST_F(ReflectorTest, FailedListsAreRepeatedWithPausesThatDoubleUpToALimit) {
  Begin("Node");
  loop_.random = 0;
  std::vector<int64_t> pauses;
  for (int i = 0; i < 8; ++i) {
    client_.RespondNext(FakeApiClient::Failure(500, "InternalError", "injected"));
    const net::Nanoseconds before = loop_.Steady();
    while (client_.CountOpen() == 0) loop_.Advance(milliseconds(100));
    pauses.push_back((loop_.Steady() - before) / milliseconds(1));
    EXPECT_EQ(LastLine(), "GET /api/v1/nodes?limit=500&resourceVersion=0");
  }
  EXPECT_THAT(pauses, ElementsAre(800, 1600, 3200, 6400, 12800, 25600, 30000, 30000));
  loop_.Advance(minutes(3));
  client_.RespondNext(FakeApiClient::Failure(500, "InternalError", "injected"));
  loop_.Advance(milliseconds(800));
  EXPECT_EQ(client_.CountOpen(), 1u);
}

TEST_F(ReflectorTest, AServerWithoutDevicesHasNone) {
  Begin("ResourceSlice");
  client_.RespondNext(FakeApiClient::Failure(404, "NotFound", "no such resource"));
  EXPECT_TRUE(reflector_->Synced());
  EXPECT_THAT(sink_.lines, ElementsAre("= ResourceSlice"));
  loop_.Advance(seconds(2));
  client_.RespondNext(FakeApiClient::Failure(404, "NotFound", "no such resource"));
  EXPECT_THAT(sink_.lines, ElementsAre("= ResourceSlice")) << "said once";
  loop_.Advance(seconds(4));
  client_.RespondNext(
      FakeApiClient::Success(List<api::ResourceSlice>("7", {Make<api::ResourceSlice>("a", "3")})));
  EXPECT_THAT(sink_.lines, ElementsAre("= ResourceSlice", "= ResourceSlice a"));
}

TEST_F(ReflectorTest, ACustomResourceMayBeDefinedLater) {
  const Kind kind{.kind = "Floor",
                  .api_version = "example.com/v1",
                  .plural = "floors",
                  .namespaced = false,
                  .optional = true,
                  .custom = true};
  reflector_ = std::make_unique<Reflector>(kind, loop_, client_, sink_, nullptr);
  reflector_->Start();
  EXPECT_EQ(LastLine(), "GET /apis/example.com/v1/floors?limit=500&resourceVersion=0");
  EXPECT_EQ(client_.Last().request.accept, kJson);
  client_.RespondNext(FakeApiClient::Failure(404, "NotFound", "no such resource"));
  EXPECT_TRUE(reflector_->Synced()) << "scheduling need not wait for it";
  EXPECT_TRUE(reflector_->IsFollowed());
  loop_.Advance(seconds(2));
  client_.RespondNext(FakeApiClient::Success(
      R"({"kind": "FloorList", "metadata": {"resourceVersion": "7"}, "items": [
          {"apiVersion": "example.com/v1", "kind": "Floor", "metadata": {"name": "a"}}]})",
      kJson));
  EXPECT_THAT(sink_.lines, ElementsAre("= Floor", "= Floor a"));
  client_.Start(Watch(), kJson);
  client_.SendFrame(Watch(), R"({"type": "ADDED", "object": {"apiVersion": "example.com/v1",
      "kind": "Floor", "metadata": {"name": "b", "resourceVersion": "8"}}})");
  EXPECT_EQ(sink_.lines.back(), "+ b@8");
}

TEST_F(ReflectorTest, AServerWithoutNodesIsAFailure) {
  Begin("Node");
  client_.RespondNext(FakeApiClient::Failure(404, "NotFound", "no such resource"));
  EXPECT_FALSE(reflector_->Synced());
  EXPECT_THAT(sink_.lines, IsEmpty());
}

TEST_F(ReflectorTest, AListWhoseVersionIsGoneAsksForTheNewest) {
  BeginWatch("Node");
  client_.Respond(Watch(), FakeApiClient::Failure(500, "", "injected"));
  loop_.Advance(milliseconds(1200));
  client_.RespondNext(FakeApiClient::Failure(410, "Expired", "too old"));
  EXPECT_EQ(LastLine(), "GET /api/v1/nodes");
  client_.RespondNext(FakeApiClient::Failure(500, "", "injected"));
  loop_.Advance(milliseconds(2400));
  EXPECT_EQ(LastLine(), "GET /api/v1/nodes?limit=500");
  client_.RespondNext(FakeApiClient::Success(List<api::Node>("5", {})));
  EXPECT_THAT(LastLine(), HasSubstr("resourceVersion=5&timeout"));
}

TEST_F(ReflectorTest, AVersionTheServerHasNotReachedAsksForTheNewest) {
  BeginWatch("Node");
  client_.Respond(Watch(), FakeApiClient::Failure(500, "", "injected"));
  loop_.Advance(milliseconds(1200));
  client_.RespondNext(
      FakeApiClient::Failure(504, "Timeout", "Too large resource version: 7, current: 2"));
  EXPECT_EQ(LastLine(), "GET /api/v1/nodes");
}

TEST_F(ReflectorTest, TheNewestListIsAskedForWithoutAVersion) {
  BeginWatch("Node");
  reflector_->ListNewest();
  EXPECT_EQ(client_.CountOpen(), 1u) << "the watch is over";
  EXPECT_EQ(LastLine(), "GET /api/v1/nodes?limit=500");
  client_.RespondNext(FakeApiClient::Failure(500, "InternalError", "no"));
  loop_.Advance(seconds(60));
  EXPECT_EQ(LastLine(), "GET /api/v1/nodes?limit=500") << "until there is one";
  client_.RespondNext(FakeApiClient::Success(List<api::Node>("9", {Make<api::Node>("b", "8")})));
  EXPECT_THAT(sink_.lines, ElementsAre("= Node b"));
  EXPECT_THAT(LastLine(), HasSubstr("resourceVersion=9"));
}

TEST_F(ReflectorTest, TheNewestListMayBeTheFirst) {
  reflector_ = std::make_unique<Reflector>(*FindKind("Node"), loop_, client_, sink_, nullptr);
  reflector_->ListNewest();
  EXPECT_EQ(client_.Size(), 0u);
  reflector_->Start();
  EXPECT_EQ(LastLine(), "GET /api/v1/nodes?limit=500");
}

TEST_F(ReflectorTest, TheNewestListMayReplaceAListUnderWay) {
  BeginStream("Node");
  reflector_->ListNewest();
  EXPECT_EQ(client_.CountOpen(), 1u);
  EXPECT_THAT(LastLine(), HasSubstr("sendInitialEvents=true"));
  EXPECT_THAT(LastLine(), Not(HasSubstr("resourceVersion=")));
}

TEST_F(ReflectorTest, AKindThatIsAbsentIsAbsentAgain) {
  Begin("ResourceClaim");
  client_.RespondNext(FakeApiClient::Failure(404, "NotFound", "no such page"));
  sink_.lines.clear();
  reflector_->ListNewest();
  client_.RespondNext(FakeApiClient::Failure(404, "NotFound", "no such page"));
  EXPECT_THAT(sink_.lines, ElementsAre("= ResourceClaim"));
}

TEST_F(ReflectorTest, PagesAreContinuedAndTakenTogether) {
  Begin("Node");
  client_.RespondNext(
      FakeApiClient::Success(List<api::Node>("7", {Make<api::Node>("a", "1")}, "tok/en=")));
  EXPECT_THAT(sink_.lines, IsEmpty());
  EXPECT_EQ(LastLine(), "GET /api/v1/nodes?continue=tok%2Fen%3D&limit=500");
  client_.RespondNext(FakeApiClient::Success(List<api::Node>("7", {Make<api::Node>("b", "2")})));
  EXPECT_THAT(sink_.lines, ElementsAre("= Node a b"));
  // A server that pages version 0 has no cache, so that later lists are paged too.
  client_.Respond(Watch(), FakeApiClient::Failure(500, "", "injected"));
  loop_.Advance(milliseconds(1200));
  EXPECT_EQ(LastLine(), "GET /api/v1/nodes?limit=500&resourceVersion=7");
}

TEST_F(ReflectorTest, PagesThatExpireAreListedInOnePiece) {
  Begin("Node");
  client_.RespondNext(
      FakeApiClient::Success(List<api::Node>("7", {Make<api::Node>("a", "1")}, "token")));
  client_.RespondNext(FakeApiClient::Failure(410, "Expired", "expired"));
  EXPECT_EQ(LastLine(), "GET /api/v1/nodes?resourceVersion=0");
  client_.RespondNext(FakeApiClient::Success(List<api::Node>("8", {Make<api::Node>("b", "2")})));
  EXPECT_THAT(sink_.lines, ElementsAre("= Node b"));
}

TEST_F(ReflectorTest, JsonIsUnderstoodToo) {
  Begin("Node");
  client_.RespondNext(FakeApiClient::Success(
      R"({"kind":"NodeList","apiVersion":"v1","metadata":{"resourceVersion":"7"},"items":[
          {"metadata":{"name":"a","resourceVersion":"3","managedFields":[{"x":1}]}},
          {"metadata":{"name":7}},
          {"metadata":{"name":"b","resourceVersion":"4"}}]})",
      kJson));
  EXPECT_THAT(sink_.lines, ElementsAre("= Node a b"));
  client_.Start(Watch(), kJson);
  client_.SendFrame(Watch(), R"({"type":"MODIFIED","object":{"kind":"Node","apiVersion":"v1",
                                 "metadata":{"name":"a","resourceVersion":"8"}}})");
  client_.SendFrame(Watch(), R"({"type":"BOOKMARK","object":{"kind":"Node","apiVersion":"v1",
              "metadata":{"resourceVersion":"12","creationTimestamp":null},"spec":{},"status":{}}})");
  EXPECT_THAT(sink_.lines, ElementsAre("= Node a b", "+ a@8"));
  loop_.Advance(seconds(2));
  client_.End(Watch());
  EXPECT_THAT(LastLine(), HasSubstr("resourceVersion=12&"));
}

TEST_F(ReflectorTest, AnEventThatCannotBeDecodedMakesANewList) {
  BeginWatch("Node");
  for (const std::string& frame : {std::string("garbage"), Frame("ADDED", "garbage"),
                                   Frame("RENAMED", api::ToEnvelope(Make<api::Node>("x", "8"))),
                                   Frame("ADDED", api::ToEnvelope(Make<api::Pod>("x", "8"))),
                                   Frame("ADDED", api::WrapEnvelope("v1", "Node", "\x0a\x05x"))}) {
    client_.SendFrame(Watch(), frame);
    EXPECT_EQ(client_.CountOpen(), 0u);
    loop_.Advance(minutes(1));
    EXPECT_EQ(LastLine(), "GET /api/v1/nodes?resourceVersion=7");
    client_.RespondNext(FakeApiClient::Success(List<api::Node>("7", {})));
    client_.Start(Watch());
  }
}

// ---- Lists that come as the first events of a watch

std::string EndOfList(std::string version) {
  api::Node end;
  end.metadata.resource_version = std::move(version);
  end.metadata.annotations["k8s.io/initial-events-end"] = "true";
  return Frame("BOOKMARK", api::ToEnvelope(end));
}

constexpr const char* kStreamedNodes =
    "WATCH /api/v1/nodes?allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan&"
    "sendInitialEvents=true&timeout=7m30s&timeoutSeconds=450&watch=true";

TEST_F(ReflectorTest, AListCanComeAsTheFirstEventsOfAWatch) {
  BeginStream("Node");
  EXPECT_EQ(LastLine(), kStreamedNodes);
  client_.Start(Watch());
  client_.SendFrame(Watch(), Frame("ADDED", api::ToEnvelope(Make<api::Node>("b", "3"))));
  client_.SendFrame(Watch(), Frame("ADDED", api::ToEnvelope(Make<api::Node>("a", "4"))));
  client_.SendFrame(Watch(), Frame("ADDED", api::ToEnvelope(Make<api::Node>("c", "4"))));
  client_.SendFrame(Watch(), Frame("BOOKMARK", api::ToEnvelope(Make<api::Node>("", "5"))));
  client_.SendFrame(Watch(), Frame("MODIFIED", api::ToEnvelope(Make<api::Node>("b", "6"))));
  client_.SendFrame(Watch(), Frame("DELETED", api::ToEnvelope(Make<api::Node>("c", "7"))));
  EXPECT_FALSE(reflector_->Synced());
  EXPECT_THAT(sink_.lines, IsEmpty());
  client_.SendFrame(Watch(), EndOfList("8"));
  EXPECT_TRUE(reflector_->Synced());
  client_.SendFrame(Watch(), Frame("ADDED", api::ToEnvelope(Make<api::Node>("d", "9"))));
  EXPECT_THAT(sink_.lines, ElementsAre("= Node a b", "+ d@9"));
  // A watch that ends is followed by another from there, not by a list.
  loop_.Advance(minutes(5));
  client_.End(Watch());
  EXPECT_EQ(LastLine(),
            "WATCH /api/v1/nodes?allowWatchBookmarks=true&resourceVersion=9&timeout=7m30s&"
            "timeoutSeconds=450&watch=true");
  // Where a list would follow, it is streamed too.
  client_.Respond(Watch(), FakeApiClient::Failure(410, "Expired", "too old"));
  loop_.Advance(minutes(1));
  EXPECT_EQ(LastLine(),
            "WATCH /api/v1/nodes?allowWatchBookmarks=true&resourceVersion=9&"
            "resourceVersionMatch=NotOlderThan&sendInitialEvents=true&timeout=7m30s&"
            "timeoutSeconds=450&watch=true");
  client_.Respond(Watch(), FakeApiClient::Failure(410, "Expired", "too old"));
  EXPECT_EQ(LastLine(), kStreamedNodes);
}

TEST_F(ReflectorTest, AServerThatDoesNotStreamIsAskedForAList) {
  const auto refuse = [&] {
    client_.Respond(Watch(),
                    FakeApiClient::Failure(422, "Invalid", "sendInitialEvents: Forbidden"));
  };
  const auto end_early = [&] {
    client_.Start(Watch());
    client_.SendFrame(Watch(), Frame("ADDED", api::ToEnvelope(Make<api::Node>("x", "3"))));
    client_.End(Watch());
  };
  const auto never_end = [&] {
    client_.Start(Watch());
    loop_.Advance(minutes(9));
  };
  const auto garbage = [&] {
    client_.Start(Watch());
    client_.SendFrame(Watch(), "garbage");
  };
  for (const std::function<void()>& fail :
       std::vector<std::function<void()>>{refuse, end_early, never_end, garbage}) {
    BeginStream("Node");
    EXPECT_EQ(LastLine(), kStreamedNodes);
    fail();
    EXPECT_EQ(LastLine(), "GET /api/v1/nodes?limit=500&resourceVersion=0");
    sink_.lines.clear();
    client_.RespondNext(FakeApiClient::Success(List<api::Node>("7", {Make<api::Node>("a", "3")})));
    EXPECT_THAT(sink_.lines, ElementsAre("= Node a"));
    EXPECT_EQ(LastLine(), kNodeWatch7);
  }
}

TEST_F(ReflectorTest, ABusyServerIsAskedForAStreamAgainLater) {
  BeginStream("Node");
  for (int i = 0; i < 3; ++i) {
    client_.Respond(Watch(), FakeApiClient::Failure(429, "TooManyRequests", "busy"));
    EXPECT_EQ(client_.CountOpen(), 0u);
    loop_.Advance(minutes(1));
    EXPECT_EQ(LastLine(), kStreamedNodes);
    client_.Respond(Watch(), FakeApiClient::Broken(net::HttpError::Kind::kRefused, "refused"));
    EXPECT_EQ(client_.CountOpen(), 0u);
    loop_.Advance(minutes(1));
  }
  EXPECT_EQ(LastLine(), kStreamedNodes);
}

TEST_F(ReflectorTest, AListThatIsNoneIsAFailure) {
  Begin("Node");
  for (const std::string& body : {std::string("garbage"), List<api::Pod>("7", {}), std::string(),
                                  api::WrapEnvelope("v1", "NodeList", "\x0a\x7f")}) {
    client_.RespondNext(FakeApiClient::Success(body));
    EXPECT_EQ(client_.CountOpen(), 0u);
    loop_.Advance(minutes(1));
    EXPECT_EQ(LastLine(), "GET /api/v1/nodes?limit=500&resourceVersion=0");
  }
  for (const char* body :
       {"{}", "null", "[]", R"({"status":"ok"})", R"({"kind":"Status","status":"Success"})",
        R"({"kind":"PodList","metadata":{"resourceVersion":"7"},"items":[]})", "<html></html>"}) {
    client_.RespondNext(FakeApiClient::Success(body, kJson));
    EXPECT_EQ(client_.CountOpen(), 0u) << body;
    loop_.Advance(minutes(1));
    EXPECT_EQ(LastLine(), "GET /api/v1/nodes?limit=500&resourceVersion=0");
  }
  EXPECT_THAT(sink_.lines, IsEmpty());
  EXPECT_FALSE(reflector_->Synced());
}

TEST_F(ReflectorTest, AWatchThatNeverEndsIsGivenUp) {
  BeginWatch("Node");
  const size_t watch = Watch();
  loop_.Advance(seconds(479));
  EXPECT_FALSE(client_.At(watch).cancelled);
  loop_.Advance(seconds(2));
  EXPECT_TRUE(client_.At(watch).cancelled);
  EXPECT_EQ(LastLine(), kNodeWatch7);
}

TEST_F(ReflectorTest, BytesOfVolumesAreKeptWithoutManagedFields) {
  RawObjects raw;
  raw.Put("PersistentVolume", "", "gone", {"1", "x"});
  raw.Put("PersistentVolumeClaim", "ns", "other", {"1", "x"});
  Begin("PersistentVolume", &raw);
  EXPECT_EQ(client_.Last().request.accept, "application/vnd.kubernetes.protobuf, */*");
  const auto volume = Make<api::PersistentVolume>("pv1", "3");
  const std::string metadata = api::ToProto(volume.metadata);
  const std::string rest = Field(2, api::ToProto(volume.spec)) + Field(77, "unknown");
  api::ListMeta meta;
  meta.resource_version = "7";
  client_.RespondNext(FakeApiClient::Success(api::WrapEnvelope(
      "v1", "PersistentVolumeList",
      Field(1, api::ToProto(meta)) + Field(2, Field(1, metadata + Field(17, "managed")) + rest))));
  const RawObjects::Entry* entry = raw.Find("PersistentVolume", "", "pv1");
  ASSERT_NE(entry, nullptr);
  EXPECT_EQ(entry->resource_version, "3");
  EXPECT_EQ(entry->proto, Field(1, metadata) + rest);
  EXPECT_EQ(raw.Find("PersistentVolume", "", "gone"), nullptr);
  EXPECT_NE(raw.Find("PersistentVolumeClaim", "ns", "other"), nullptr);

  client_.Start(Watch());
  const auto changed = Make<api::PersistentVolume>("pv1", "8");
  client_.SendFrame(Watch(), Frame("MODIFIED", api::ToEnvelope(changed)));
  EXPECT_EQ(raw.Find("PersistentVolume", "", "pv1")->proto, api::ToProto(changed));
  client_.SendFrame(Watch(), Frame("DELETED", api::ToEnvelope(changed)));
  EXPECT_EQ(raw.Find("PersistentVolume", "", "pv1"), nullptr);
}

TEST_F(ReflectorTest, JsonOfNodesIsKeptForExtenders) {
  RawObjects raw;
  raw.SetKeptJson({.nodes = true});
  Begin("Node", &raw);
  EXPECT_EQ(client_.Last().request.accept, kJson);
  client_.RespondNext(FakeApiClient::Success(
      R"({"kind":"NodeList","apiVersion":"v1","metadata":{"resourceVersion":"7"},"items":[)"
      R"({"metadata":{"name":"a","resourceVersion":"3"},"status":{"unknown":1}}]})",
      kJson));
  ASSERT_NE(raw.FindJson("Node", "", "a"), nullptr);
  EXPECT_EQ(*raw.FindJson("Node", "", "a"),
            R"({"metadata":{"name":"a","resourceVersion":"3"},"status":{"unknown":1}})");
  client_.Start(Watch(), kJson);
  client_.SendFrame(Watch(), R"({"type":"MODIFIED","object":{"kind":"Node","apiVersion":"v1",)"
                             R"("metadata":{"name":"a","resourceVersion":"8"},"spec":{"x":2}}})");
  EXPECT_EQ(*raw.FindJson("Node", "", "a"),
            R"({"metadata":{"name":"a","resourceVersion":"8"},"spec":{"x":2}})");
  client_.SendFrame(Watch(), R"({"type":"DELETED","object":{"kind":"Node","apiVersion":"v1",)"
                             R"("metadata":{"name":"a","resourceVersion":"9"}}})");
  EXPECT_EQ(raw.FindJson("Node", "", "a"), nullptr);
}

TEST_F(ReflectorTest, AStoppedReflectorIsSilent) {
  BeginWatch("Node");
  reflector_->Stop();
  EXPECT_EQ(client_.CountOpen(), 0u);
  EXPECT_EQ(loop_.Timers(), 0u);
  loop_.Advance(minutes(20));
  EXPECT_THAT(sink_.lines, IsEmpty());
  Begin("Node");
  reflector_->Stop();
  EXPECT_EQ(client_.CountOpen(), 0u);
}

TEST_F(ReflectorTest, TellsWhenALostServerIsThereAgain) {
  BeginWatch("Node");
  loop_.Advance(std::chrono::minutes(1));
  client_.End(Watch());
  client_.Start(Watch());
  EXPECT_EQ(sink_.reconnected, 0) << "a watch that ends in time was not lost";
  loop_.Advance(std::chrono::minutes(1));
  client_.Respond(Watch(), FakeApiClient::Broken(net::HttpError::Kind::kBroken, "reset"));
  client_.Respond(Watch(), FakeApiClient::Broken(net::HttpError::Kind::kRefused, "refused"));
  loop_.Advance(std::chrono::minutes(1));
  EXPECT_EQ(sink_.reconnected, 0);
  client_.Start(Watch());
  EXPECT_EQ(sink_.reconnected, 1);
}

}  // namespace
}  // namespace berth::kube
