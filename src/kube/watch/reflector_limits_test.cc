// Lists and watches that cannot be followed: frames that are too large, lists without an end,
// objects that cannot be decoded.
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <unistd.h>

#include "kube/testing/reflector.h"
#include "kube/watch/decode.h"
#include "kube/watch/listing.h"
#include "log/log.h"

namespace berth::kube {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::HasSubstr;
using ::testing::Not;

// What a client tells of a watch whose frame is too large.
ApiResponse FrameTooLarge() {
  return FakeApiClient::Failure(500, "InternalError", "object to decode was longer");
}

// Runs `what` and returns the lines it logs.
template <class F>
std::string Logged(F what) {
  int ends[2];
  EXPECT_EQ(pipe(ends), 0);
  log::Options options;
  options.fd = ends[1];
  EXPECT_TRUE(log::Configure(options));
  what();
  EXPECT_TRUE(log::Configure({}));
  close(ends[1]);
  std::string text;
  char buffer[4096];
  for (ssize_t n; (n = read(ends[0], buffer, sizeof buffer)) > 0;) {
    text.append(buffer, static_cast<size_t>(n));
  }
  close(ends[0]);
  return text;
}

TEST_F(ReflectorTest, M3AFrameThatIsTooLargeEndsInAnErrorAndANewList) {
  BeginWatch("Node");
  loop_.Advance(milliseconds(1200));  // no short watch any more
  const std::string log = Logged([&] { client_.Respond(Watch(), FrameTooLarge()); });
  EXPECT_THAT(log, HasSubstr("object to decode was longer"));
  EXPECT_THAT(log, HasSubstr("*v1.Node"));
  EXPECT_EQ(client_.CountOpen(), 0u);
  loop_.Advance(milliseconds(1200));
  EXPECT_EQ(LastLine(), "GET /api/v1/nodes?resourceVersion=7");
}

TEST_F(ReflectorTest, M3AKindWhoseWatchesBreakForAMinuteIsNotFollowed) {
  BeginWatch("Node");
  EXPECT_EQ(reflector_->TypeName(), "*v1.Node");
  const auto start = loop_.Steady();
  for (int i = 0; loop_.Steady() - start < minutes(1); ++i) {
    ASSERT_TRUE(reflector_->IsFollowed()) << i;
    ASSERT_LT(i, 20);
    loop_.Advance(milliseconds(1200));
    client_.Respond(Watch(), FrameTooLarge());
    while (client_.CountOpen() == 0) loop_.Advance(seconds(1));
    client_.RespondNext(FakeApiClient::Success(List<api::Node>("7", {})));
    client_.Start(Watch());
  }
  client_.Respond(Watch(), FrameTooLarge());
  EXPECT_FALSE(reflector_->IsFollowed());
  // It is again when a watch lasts for a minute.
  loop_.Advance(minutes(1));
  client_.RespondNext(FakeApiClient::Success(List<api::Node>("7", {})));
  client_.Start(Watch());
  EXPECT_FALSE(reflector_->IsFollowed());
  loop_.Advance(minutes(1));
  client_.SendFrame(Watch(), Frame("BOOKMARK", api::ToEnvelope(Make<api::Node>("", "20"))));
  EXPECT_TRUE(reflector_->IsFollowed());
}

TEST_F(ReflectorTest, M3AKindWhoseListsFailForAMinuteIsNotFollowed) {
  Begin("Node");
  const auto start = loop_.Steady();
  while (loop_.Steady() - start < minutes(1)) {
    EXPECT_TRUE(reflector_->IsFollowed());
    client_.RespondNext(FakeApiClient::Failure(500, "InternalError", "injected"));
    while (client_.CountOpen() == 0) loop_.Advance(seconds(1));
  }
  client_.RespondNext(FakeApiClient::Failure(500, "InternalError", "injected"));
  EXPECT_FALSE(reflector_->IsFollowed());
  loop_.Advance(minutes(1));
  client_.RespondNext(FakeApiClient::Success(List<api::Node>("7", {})));
  EXPECT_TRUE(reflector_->IsFollowed());
}

TEST_F(ReflectorTest, L2AListThatIsContinuedWithItsOwnPageFails) {
  Begin("Node");
  client_.RespondNext(FakeApiClient::Success(List("7", std::vector<api::Node>(1), "again")));
  client_.RespondNext(FakeApiClient::Success(List("7", std::vector<api::Node>(1), "again")));
  EXPECT_EQ(client_.CountOpen(), 0u);
  EXPECT_FALSE(reflector_->Synced());
  loop_.Advance(milliseconds(1200));
  EXPECT_EQ(LastLine(), "GET /api/v1/nodes?limit=500&resourceVersion=0");
}

TEST(Listing, L2PagesHaveABound) {
  Listing list;
  int pages = 0;
  while (pages < 1000000 && list.Continue("t" + std::to_string(pages))) ++pages;
  EXPECT_EQ(pages, kMaxPages - 1);
}

TEST_F(ReflectorTest, L7AListedObjectThatCannotBeDecodedIsNamed) {
  Begin("Pod");
  api::Pod pod = Make<api::Pod>("broken", "3");
  pod.metadata.namespace_ = "team";
  const std::string spec_that_is_no_message = std::string("\x12\x02\xff\xff", 4);
  const std::string list = Field(1, api::ToProto(api::ListMeta{})) +
                           Field(2, api::ToProto(pod) + spec_that_is_no_message);
  const std::string log = Logged([&] {
    client_.RespondNext(FakeApiClient::Success(api::WrapEnvelope("v1", "PodList", list)));
  });
  EXPECT_THAT(log, HasSubstr("Skipping a listed object"));
  EXPECT_THAT(log, HasSubstr("object=\"team/broken\""));
}

TEST(DecodeList, L7NamesWhatItCan) {
  EXPECT_EQ(NameOfJson(R"({"metadata":{"name":"a","namespace":"n"},"spec":7})").name, "a");
  EXPECT_EQ(NameOfJson(R"({"metadata":{"name":"a","namespace":"n"},"spec":7})").namespace_, "n");
  EXPECT_EQ(NameOfJson(R"({"metadata":7})").name, "");
  EXPECT_EQ(NameOfProto("").name, "");
  EXPECT_EQ(NameOfProto("\xff\xff\xff").name, "");
  EXPECT_EQ(NameOfProto(api::ToProto(Make<api::Node>("b", "1"))).name, "b");
  // Cut in the middle of its metadata.
  EXPECT_EQ(NameOfProto(api::ToProto(Make<api::Node>("b", "1")).substr(0, 3)).name, "");
}

}  // namespace
}  // namespace berth::kube
