#include "kube/client/read_only_client.h"

#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kube/testing/fake_api_client.h"

namespace berth::kube {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class NoSink final : public WatchSink {
 public:
  void OnStarted(std::string_view) override {}
  void OnFrame(std::string_view) override {}
  void OnEnd(const ApiResponse& why) override { end = why; }

  std::optional<ApiResponse> end;
};

class ReadOnlyClientTest : public ::testing::Test {
 protected:
  std::optional<ApiResponse> Send(const std::string& method, const std::string& body = "") {
    ApiRequest request;
    request.method = method;
    request.path = "/api/v1/pods";
    request.body = body;
    std::optional<ApiResponse> answer;
    client_.Send(std::move(request), [&](ApiResponse response) { answer = std::move(response); });
    return answer;
  }

  FakeApiClient* sent_ = new FakeApiClient;  // owned by client_
  ReadOnlyClient client_{std::unique_ptr<ApiClient>(sent_)};
};

TEST_F(ReadOnlyClientTest, ReadsPass) {
  EXPECT_FALSE(Send("GET").has_value()) << "nothing has answered yet";
  NoSink sink;
  ApiRequest watch;
  watch.path = "/api/v1/nodes";
  watch.query = "watch=true";
  const auto id = client_.Watch(watch, &sink);
  EXPECT_THAT(sent_->Lines(), ElementsAre("GET /api/v1/pods", "WATCH /api/v1/nodes?watch=true"));
  client_.Cancel(id);
  EXPECT_TRUE(sent_->At(1).cancelled);
}

TEST_F(ReadOnlyClientTest, NothingElseIsSent) {
  for (const char* method : {"POST", "PUT", "PATCH", "DELETE", "get", ""}) {
    const auto answer = Send(method);
    ASSERT_TRUE(answer.has_value()) << method;
    EXPECT_EQ(answer->code, 0) << method;
    EXPECT_THAT(answer->message, HasSubstr("only reads")) << method;
  }
  EXPECT_TRUE(Send("GET", "{}").has_value()) << "a body";
  NoSink sink;
  ApiRequest watch;
  watch.method = "POST";
  client_.Watch(watch, &sink);
  EXPECT_TRUE(sink.end.has_value());
  EXPECT_EQ(sent_->Size(), 0u);
}

}  // namespace
}  // namespace berth::kube
