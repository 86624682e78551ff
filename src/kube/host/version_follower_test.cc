#include "kube/host/version_follower.h"

#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kube/testing/fake_api_client.h"
#include "net/testing/fake_loop.h"

namespace berth::kube {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class VersionFollowerTest : public ::testing::Test {
 protected:
  void Follow(std::optional<int> minor) {
    follower_ = std::make_unique<VersionFollower>(
        loop_, client_, minor,
        [this](const ServerVersion& server) { seen_.push_back(server.git_version); });
    follower_->Start();
  }
  // The open request is answered.
  void Answer(int minor) {
    ASSERT_EQ(client_.At(client_.Next()).Line(), "GET /version");
    client_.RespondNext(FakeApiClient::Success(
        fmt::format(R"({{"major":"1","minor":"{0}","gitVersion":"v1.{0}.0"}})", minor), kJson));
  }
  bool Asked() const { return client_.Next() != client_.Size(); }

  net::FakeLoop loop_;
  FakeApiClient client_;
  std::vector<std::string> seen_;
  std::unique_ptr<VersionFollower> follower_;
};

TEST_F(VersionFollowerTest, AsksNowAndThen) {
  Follow(36);
  EXPECT_FALSE(Asked());
  for (int i = 0; i < 3; ++i) {
    loop_.Advance(VersionFollower::kPeriod);
    Answer(36);
    EXPECT_FALSE(Asked());
  }
  EXPECT_THAT(seen_, IsEmpty());
}

TEST_F(VersionFollowerTest, AnUpgradeCountsWhenItIsAnsweredTwice) {
  Follow(36);
  loop_.Advance(VersionFollower::kPeriod);
  Answer(37);
  EXPECT_THAT(seen_, IsEmpty());
  loop_.Advance(VersionFollower::kConfirm);
  Answer(37);
  EXPECT_THAT(seen_, ElementsAre("v1.37.0"));
  loop_.Advance(VersionFollower::kPeriod);
  Answer(37);
  EXPECT_THAT(seen_, ElementsAre("v1.37.0")) << "told once";
}

TEST_F(VersionFollowerTest, ServersOfDifferentMinorsBehindOneAddressChangeNothing) {
  Follow(36);
  loop_.Advance(VersionFollower::kPeriod);
  for (int i = 0; i < 5; ++i) {
    Answer(37);
    loop_.Advance(VersionFollower::kConfirm);
    Answer(36);
    loop_.Advance(VersionFollower::kPeriod);
  }
  EXPECT_THAT(seen_, IsEmpty());
}

TEST_F(VersionFollowerTest, ALostConnectionMakesItAskSoon) {
  Follow(36);
  follower_->Reconnected();
  follower_->Reconnected();
  loop_.Advance(VersionFollower::kSoon);
  Answer(37);
  follower_->Reconnected();
  EXPECT_FALSE(Asked());
  loop_.Advance(VersionFollower::kConfirm);
  Answer(37);
  EXPECT_THAT(seen_, ElementsAre("v1.37.0"));
}

TEST_F(VersionFollowerTest, TheFirstAnswerCountsWhenThereWasNone) {
  Follow(std::nullopt);
  loop_.Advance(VersionFollower::kSoon);
  client_.RespondNext(FakeApiClient::Failure(500, "", "not yet"));
  loop_.Advance(VersionFollower::kConfirm);
  Answer(34);
  EXPECT_THAT(seen_, ElementsAre("v1.34.0"));
}

TEST_F(VersionFollowerTest, UnknownMinorsCountAsTheNearestOne) {
  Follow(37);
  loop_.Advance(VersionFollower::kPeriod);
  Answer(38);
  EXPECT_FALSE(Asked());
  loop_.Advance(VersionFollower::kPeriod);
  Answer(37);
  EXPECT_THAT(seen_, IsEmpty());
}

TEST_F(VersionFollowerTest, AsksNothingOnceItIsGone) {
  Follow(36);
  loop_.Advance(VersionFollower::kPeriod);
  follower_.reset();
  EXPECT_TRUE(client_.At(0).cancelled);
  loop_.Advance(VersionFollower::kPeriod);
  EXPECT_EQ(client_.Size(), 1u);
}

}  // namespace
}  // namespace berth::kube
