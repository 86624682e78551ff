#include "kube/write/event_recorder.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/codec/proto.h"
#include "api/events/event.h"
#include "api/object.h"
#include "kube/hex.h"
#include "kube/testing/fake_api_client.h"
#include "kube/write/core_event.h"
#include "kube/write/event_series.h"
#include "kube/write/event_writer.h"
#include "net/testing/fake_loop.h"

namespace berth::kube {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

scheduler::RecordEvent Failed(std::string pod, std::string version, std::string note = "note") {
  scheduler::RecordEvent event;
  event.regarding = {"default", std::move(pod), "uid-1", std::move(version)};
  event.type = "Warning";
  event.reason = "FailedScheduling";
  event.action = "Scheduling";
  event.note = std::move(note);
  event.reporting_controller = "default-scheduler";
  return event;
}

class EventRecorderTest : public ::testing::Test {
 protected:
  // A server with events.k8s.io/v1.
  void Begin() {
    recorder_.Start();
    EXPECT_EQ(client_.Last().Line(), "GET /apis/events.k8s.io/v1");
    client_.RespondNext(FakeApiClient::Success());
  }
  void BeginCore() {
    recorder_.Start();
    client_.RespondNext(FakeApiClient::Failure(404, "NotFound", "not found"));
  }
  std::string LastLine() const { return client_.Last().Line(); }
  const std::string& LastBody() const { return client_.Last().request.body; }
  api::Event LastEvent() const {
    auto object = api::DecodeObjectProto(LastBody());
    return object ? std::get<api::Event>(*object) : api::Event{};
  }
  CoreEvent LastCore() const {
    return *api::FromProto<CoreEvent>(api::UnwrapEnvelope(LastBody())->raw);
  }

  net::FakeLoop loop_{*api::Time::Parse("2026-11-15T19:39:44.079657Z")};
  FakeApiClient client_;
  EventRecorder recorder_{loop_, client_, "vm"};
};

TEST_F(EventRecorderTest, AnEventIsByteForByteClientGos) {
  // client-go looks at the clock twice: its event is 17 microseconds older than its name.
  net::FakeLoop loop(api::Time::FromUnixNano(0x18e84f3f2208bb94));
  EventRecorder recorder(loop, client_, "vm");
  recorder.Start();
  client_.RespondNext(FakeApiClient::Success());
  scheduler::RecordEvent event;
  event.regarding = {"default", "ok", "4fff3a43-45f8-4486-a9a2-0c27b94cc244", "211"};
  event.type = "Normal";
  event.reason = "Scheduled";
  event.action = "Binding";
  event.note = "Successfully assigned default/ok to n1";
  event.reporting_controller = "default-scheduler";
  recorder.Record(event);
  EXPECT_EQ(LastLine(), "POST /apis/events.k8s.io/v1/namespaces/default/events");
  EXPECT_EQ(client_.Last().request.content_type, kProtobuf);
  for (size_t i = 0; i < client_.Size(); ++i) EXPECT_TRUE(client_.At(i).request.event);
  EXPECT_EQ(
      Hex(LastBody()),
      "6b3873000a190a106576656e74732e6b38732e696f2f763112054576656e7412f7010a2a0a136f6b2e313865"
      "3834663366323230386262393412001a0764656661756c7422002a00320038004200120b088095e8d7061090"
      "f5fe25221164656661756c742d7363686564756c65722a1464656661756c742d7363686564756c65722d766d"
      "320742696e64696e673a095363686564756c656442430a03506f64120764656661756c741a026f6b22243466"
      "6666336134332d343566382d343438362d613961322d3063323762393463633234342a02763132033231313a"
      "0052265375636365737366756c6c792061737369676e65642064656661756c742f6f6b20746f206e315a064e"
      "6f726d616c62040a0012006a00720078001a002200");
}

TEST_F(EventRecorderTest, ASecondOccurrenceMakesASeriesAndLaterOnesAreSilent) {
  Begin();
  recorder_.Record(Failed("rep", "206"));
  client_.RespondNext(FakeApiClient::Success());
  recorder_.Record(Failed("rep", "208"));  // the version counts
  EXPECT_EQ(client_.Last().request.method, "POST");
  const std::string name = LastEvent().metadata.name;
  client_.RespondNext(FakeApiClient::Success());
  loop_.Advance(seconds(3));
  recorder_.Record(Failed("rep", "208", "another note"));  // the note does not
  EXPECT_EQ(LastLine(), "PATCH /apis/events.k8s.io/v1/namespaces/default/events/" + name);
  EXPECT_EQ(client_.Last().request.content_type, kStrategicMergePatch);
  EXPECT_EQ(LastBody(),
            R"({"series":{"count":2,"lastObservedTime":"2026-11-15T19:39:47.079657Z"}})");
  client_.RespondNext(FakeApiClient::Success());
  const size_t before = client_.Size();
  for (int i = 0; i < 4; ++i) {
    loop_.Advance(seconds(3));
    recorder_.Record(Failed("rep", "208"));
  }
  EXPECT_EQ(client_.Size(), before);
  loop_.Advance(minutes(6));  // the first sweep: the series was seen within six minutes
  EXPECT_EQ(client_.Size(), before);
  loop_.Advance(minutes(6));
  EXPECT_EQ(client_.Size(), before + 1);
  EXPECT_EQ(LastBody(),
            R"({"series":{"count":6,"lastObservedTime":"2026-11-15T19:39:59.079657Z"}})");
  client_.RespondNext(FakeApiClient::Success());
  recorder_.Record(Failed("rep", "208"));  // finished, so it begins anew
  EXPECT_EQ(client_.Last().request.method, "POST");
}

TEST_F(EventRecorderTest, AnEventWhoseNoteCountsIsAnotherOneWithAnotherNote) {
  Begin();
  scheduler::RecordEvent event = Failed("rep", "1", "one");
  event.note_counts = true;
  recorder_.Record(event);
  client_.RespondNext(FakeApiClient::Success());
  event.note = "two";
  recorder_.Record(event);
  EXPECT_EQ(client_.Last().request.method, "POST");
  client_.RespondNext(FakeApiClient::Success());
  recorder_.Record(event);
  EXPECT_EQ(client_.Last().request.method, "PATCH");
}

TEST_F(EventRecorderTest, ASeriesThatGoesOnIsRefreshedEveryHalfHour) {
  Begin();
  recorder_.Record(Failed("rep", "1"));
  client_.RespondNext(FakeApiClient::Success());
  recorder_.Record(Failed("rep", "1"));
  client_.RespondNext(FakeApiClient::Success());
  const size_t before = client_.Size();
  for (int i = 0; i < 29; ++i) {
    loop_.Advance(minutes(1));
    recorder_.Record(Failed("rep", "1"));
  }
  EXPECT_EQ(client_.Size(), before);
  loop_.Advance(minutes(1));
  EXPECT_EQ(client_.Size(), before + 1);
  EXPECT_THAT(LastBody(), StartsWith(R"({"series":{"count":31,)"));
}

TEST_F(EventRecorderTest, TheSeriesWaitsUntilItsEventIsThere) {
  Begin();
  recorder_.Record(Failed("rep", "1"));
  recorder_.Record(Failed("rep", "1"));
  recorder_.Record(Failed("rep", "1"));
  EXPECT_EQ(client_.CountOpen(), 1u);
  client_.RespondNext(FakeApiClient::Success());
  EXPECT_EQ(client_.Last().request.method, "PATCH");
  EXPECT_THAT(LastBody(), HasSubstr(R"("count":3)"));
}

TEST_F(EventRecorderTest, ASeriesWhoseEventIsGoneIsCreatedAgain) {
  Begin();
  recorder_.Record(Failed("rep", "1"));
  client_.RespondNext(FakeApiClient::Success());
  recorder_.Record(Failed("rep", "1"));
  client_.RespondNext(FakeApiClient::Failure(404, "NotFound", "gone"));
  EXPECT_EQ(LastLine(), "POST /apis/events.k8s.io/v1/namespaces/default/events");
  EXPECT_EQ(LastEvent().series->count, 2);
  client_.RespondNext(FakeApiClient::Failure(409, "AlreadyExists", "exists"));
  EXPECT_EQ(client_.CountOpen(), 0u);
  loop_.Advance(milliseconds(11'250));
  EXPECT_EQ(client_.Last().request.method, "PATCH");
}

TEST_F(EventRecorderTest, WhatTheServerRefusesIsDropped) {
  Begin();
  for (int code : {403, 409, 422, 429, 500}) {
    recorder_.Record(Failed("p" + std::to_string(code), "1"));
    client_.RespondNext(FakeApiClient::Failure(code, "", "no"));
    const size_t before = client_.Size();
    loop_.Advance(minutes(1));
    EXPECT_EQ(client_.Size(), before) << code;
  }
}

TEST_F(EventRecorderTest, WhatDoesNotArriveIsTriedTwelveTimes) {
  Begin();
  recorder_.Record(Failed("rep", "1"));
  int tries = 0;
  for (; client_.CountOpen() > 0; ++tries) {
    client_.RespondNext(FakeApiClient::Broken(net::HttpError::Kind::kBroken, "EOF"));
    loop_.Advance(milliseconds(11'249));
    EXPECT_EQ(client_.CountOpen(), 0u);
    loop_.Advance(milliseconds(1));
  }
  EXPECT_EQ(tries, 12);
}

TEST_F(EventRecorderTest, EventsWaitUntilTheServerHasSaidWhichItHas) {
  recorder_.Record(Failed("early", "1"));
  recorder_.Start();
  EXPECT_EQ(client_.Size(), 1u);
  client_.RespondNext(FakeApiClient::Broken(net::HttpError::Kind::kRefused, "refused"));
  loop_.Advance(seconds(2));
  EXPECT_EQ(LastLine(), "GET /apis/events.k8s.io/v1");
  client_.RespondNext(FakeApiClient::Success());
  EXPECT_EQ(LastEvent().regarding.name, "early");
  EXPECT_EQ(LastEvent().event_time.Format(), "2026-11-15T19:39:44.079657Z");
}

TEST_F(EventRecorderTest, TooManyAreDroppedAndCounted) {
  for (int i = 0; i < 1003; ++i) recorder_.Record(Failed("p" + std::to_string(i), "1"));
  EXPECT_EQ(recorder_.Dropped(), 3u);
  Begin();
  EXPECT_EQ(client_.CountOpen(), 64u);  // few at a time
  for (size_t i = 0; i < EventWriter::kMaxWaiting; ++i) {
    recorder_.Record(Failed("q" + std::to_string(i), "1"));
  }
  EXPECT_EQ(recorder_.Dropped(), 1003u);
  for (size_t i = 0; i < client_.Size(); ++i) client_.Respond(i, FakeApiClient::Success());
  EXPECT_EQ(client_.Size(), 1 + EventWriter::kMaxWaiting);
}

TEST_F(EventRecorderTest, RelatedObjectsAndNamesThatWouldBeTooLong) {
  Begin();
  scheduler::RecordEvent event = Failed(std::string(250, 'a'), "1");
  event.related = scheduler::PodRef{"other", "preemptor", "uid-2", "7"};
  recorder_.Record(event);
  EXPECT_EQ(LastEvent().related->name, "preemptor");
  EXPECT_EQ(LastEvent().related->resource_version, "7");
  EXPECT_EQ(LastEvent().metadata.name.size(), 36u);
}

TEST_F(EventRecorderTest, LeaderElectionIsByteForByteClientGos) {
  net::FakeLoop loop(api::Time::FromUnixNano(0x18e84f3ee36bed8c));
  EventRecorder recorder(loop, client_, "vm");
  recorder.RecordLeaderElection("kube-system", "kube-scheduler",
                                "1bbd9388-de4d-4d47-bf3b-bd8de70ba59d", "208",
                                "vm_a322311d-24f0-491d-99cf-51595c5a7341 became leader");
  EXPECT_EQ(LastLine(), "POST /api/v1/namespaces/kube-system/events");
  EXPECT_EQ(
      Hex(LastBody()),
      "6b3873000a0b0a02763112054576656e7412bc020a3a0a1f6b7562652d7363686564756c65722e3138653834663"
      "365653336626564386312001a0b6b7562652d73797374656d22002a0032003800420012690a054c65617365120b"
      "6b7562652d73797374656d1a0e6b7562652d7363686564756c6572222431626264393338382d646534642d34643"
      "4372d626633622d6264386465373062613539642a16636f6f7264696e6174696f6e2e6b38732e696f2f76313203"
      "3230383a001a0e4c6561646572456c656374696f6e2235766d5f61333232333131642d323466302d343931642d3"
      "93963662d35313539356335613733343120626563616d65206c65616465722a150a1164656661756c742d736368"
      "6564756c65721200320808ff94e8d70610003a0808ff94e8d706100040014a064e6f726d616c52006200721164"
      "656661756c742d7363686564756c65727a001a002200");
}

TEST_F(EventRecorderTest, WithoutEventsV1EveryOccurrenceIsCounted) {
  BeginCore();
  recorder_.Record(Failed("bad", "2519"));
  EXPECT_EQ(LastLine(), "POST /api/v1/namespaces/default/events");
  const CoreEvent event = LastCore();
  EXPECT_EQ(event.count, 1);
  EXPECT_EQ(event.message, "note");
  EXPECT_EQ(event.source.component, "default-scheduler");
  EXPECT_EQ(event.involved_object.resource_version, "2519");
  EXPECT_TRUE(event.event_time.IsZero());
  EXPECT_EQ(event.first_timestamp, event.last_timestamp);
  client_.RespondNext(FakeApiClient::Success());
  for (int count = 2; count < 4; ++count) {
    loop_.Advance(seconds(1));
    recorder_.Record(Failed("bad", "26" + std::to_string(count)));  // the version does not matter
    EXPECT_EQ(LastLine(), "PATCH /api/v1/namespaces/default/events/" + event.metadata.name);
    client_.RespondNext(FakeApiClient::Success());
  }
  EXPECT_EQ(LastBody(), R"({"count":3,"lastTimestamp":"2026-11-15T19:39:46Z","message":"note"})");
}

TEST_F(EventRecorderTest, CoreEventsAboutOneObjectAreLimited) {
  BeginCore();
  for (int i = 0; i < 40; ++i) {
    recorder_.Record(Failed("bad", "1"));
    client_.RespondNext(FakeApiClient::Success());
  }
  EXPECT_EQ(client_.Size(), 1u + 25u);
  loop_.Advance(minutes(5));
  recorder_.Record(Failed("bad", "1"));
  EXPECT_THAT(LastBody(), StartsWith(R"({"count":41,)"));
}

TEST_F(EventRecorderTest, CoreEventsOfOneReasonAreCombined) {
  BeginCore();
  for (int i = 0; i < 9; ++i) {
    recorder_.Record(Failed("bad", "1", "message " + std::to_string(i)));
    EXPECT_EQ(LastCore().message, "message " + std::to_string(i));
    client_.RespondNext(FakeApiClient::Success());
  }
  recorder_.Record(Failed("bad", "1", "message 9"));
  EXPECT_EQ(LastCore().message, "(combined from similar events): message 9");
  client_.RespondNext(FakeApiClient::Success());
  recorder_.Record(Failed("bad", "1", "message 10"));
  EXPECT_THAT(LastBody(), HasSubstr(R"("message":"(combined from similar events): message 10")"));
}

TEST_F(EventRecorderTest, NothingIsSentAfterStop) {
  Begin();
  recorder_.Record(Failed("a", "1"));
  recorder_.Stop();
  EXPECT_EQ(client_.CountOpen(), 0u);
  EXPECT_EQ(loop_.Timers(), 0u);
  recorder_.Record(Failed("b", "1"));
  recorder_.RecordLeaderElection("kube-system", "l", "u", "1", "m");
  EXPECT_EQ(client_.Size(), 2u);
}

TEST(EventSeriesCache, KeepsTheirOrderWhileOthersComeAndGo) {
  EventSeriesCache cache;
  const EventSeriesCache::Id first = cache.Add("first", "a", "", {});
  for (int i = 0; i < 1000; ++i) cache.Remove(cache.Add("passing", "b", "", {}));
  const EventSeriesCache::Id last = cache.Add("last", "c", "", {});
  EXPECT_EQ(cache.Ids(), (std::vector<EventSeriesCache::Id>{first, last}));
  EXPECT_EQ(cache.Find("passing"), 0u);
  EXPECT_EQ(cache.Get(first)->name, "a");
}

TEST(EventSeriesCache, ForgetsTheOldest) {
  EventSeriesCache cache;
  for (size_t i = 0; i < EventSeriesCache::kMaxEntries + 5; ++i)
    cache.Add(std::to_string(i), "", "", {});
  EXPECT_EQ(cache.Size(), EventSeriesCache::kMaxEntries);
  EXPECT_EQ(cache.Find("4"), 0u);
  EXPECT_NE(cache.Find("5"), 0u);
  cache.Remove(cache.Find("6"));
  EXPECT_EQ(cache.Find("6"), 0u);
  EXPECT_EQ(cache.Ids().size(), EventSeriesCache::kMaxEntries - 1);
}

}  // namespace
}  // namespace berth::kube
