#include "server/hands/hands_mount.h"

#include <functional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hands/wire.h"
#include "kube/hands/testing/team.h"

namespace berth::server {
namespace {

using ::testing::HasSubstr;

class HandsMountTest : public ::testing::Test {
 protected:
  Response Ask(const std::string& method, const std::string& path, const std::string& body) {
    Request request;
    request.method = method;
    request.path = path;
    request.body = body;
    Response answer;
    answer.status = 0;
    mount_.handle(
        std::move(request), [&](Response response) { answer = std::move(response); },
        [](const std::function<void()>& task) { task(); });
    team_.loop.RunPosted();
    return answer;
  }

  kube::Team team_{{"a_1"}};
  Mount mount_ = HandsMount(team_.loop, team_["a_1"].work);
};

TEST_F(HandsMountTest, TakesBatchesOfTheLeader) {
  team_.Announce("leader", 3);
  const hands::Batch batch{.lease = "kube-system/kube-scheduler",
                           .leader = "leader",
                           .epoch = 3,
                           .session = 1,
                           .number = 1};
  const Response response = Ask("POST", "/apis/hands/v1/batches", Encode(batch));
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.Get("Content-Type"), "application/octet-stream");
  const auto answer = hands::DecodeAnswer(response.body);
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->session, 1u);
}

TEST_F(HandsMountTest, RefusesEverythingElse) {
  struct Row {
    const char* method;
    const char* path;
    int status;
    const char* text;
  };
  const Row rows[] = {
      {"POST", "/apis/hands/v1/batches", 409, "batch: "},
      {"POST", "/apis/hands/v1/polls", 409, "poll: "},
      {"GET", "/apis/hands/v1/polls", 405, "only POST"},
      {"POST", "/apis/hands/v1", 404, "not found"},
      {"POST", "/apis/hands/v1/batches/", 404, "not found"},
  };
  for (const Row& row : rows) {
    const Response response = Ask(row.method, row.path, "nonsense");
    EXPECT_EQ(response.status, row.status) << row.path;
    EXPECT_THAT(response.body, HasSubstr(row.text)) << row.path;
  }
}

TEST_F(HandsMountTest, IsNotOpenToStrangers) { EXPECT_FALSE(mount_.open); }

}  // namespace
}  // namespace berth::server
