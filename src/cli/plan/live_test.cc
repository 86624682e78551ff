#include "cli/plan/live.h"

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kube/testing/fake_api_client.h"
#include "kube/testing/reflector.h"

namespace berth::cli {
namespace {

using kube::FakeApiClient;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class LiveReaderTest : public ::testing::Test {
 protected:
  void Start() {
    reader_.Start([this](Result<void> result) { outcome_ = std::move(result); });
  }

  // Answers everything that is asked with empty lists, except for paths that `special` knows.
  void AnswerAll(
      const std::function<std::optional<kube::ApiResponse>(const std::string&)>& special) {
    while (client_.Next() < client_.Size()) {
      const FakeApiClient::Call& call = client_.At(client_.Next());
      auto answer = special(call.Line());
      const std::string empty = EmptyList(call.request.path);
      client_.RespondNext(answer ? *answer : FakeApiClient::Success(empty, kube::kJson));
    }
  }

  static std::string EmptyList(const std::string& path) {
    for (const kube::Kind& kind : PlannedKinds({})) {
      if (kube::CollectionPath(kind) != path) continue;
      return fmt::format(R"({{"kind":"{}List","apiVersion":"{}","metadata":{{}},"items":[]}})",
                         kind.kind, kind.api_version);
    }
    ADD_FAILURE() << "nobody needs " << path;
    return "";
  }

  FakeApiClient client_;
  std::vector<std::string> names_;
  const api::ObjectConsumer consume_ = [this](api::Object object) -> Result<void> {
    names_.push_back(api::MetadataOf(object)->name);
    return {};
  };
  LiveReader reader_{client_, PlannedKinds({}), consume_};
  std::optional<Result<void>> outcome_;
};

TEST_F(LiveReaderTest, ReadsPagesAndOnlyReads) {
  Start();
  AnswerAll([](const std::string& line) -> std::optional<kube::ApiResponse> {
    if (line == "GET /api/v1/nodes?limit=500") {
      return FakeApiClient::Success(
          kube::List<api::Node>("7", {kube::Make<api::Node>("a", "3")}, "more/"));
    }
    if (line == "GET /api/v1/nodes?continue=more%2F&limit=500") {
      return FakeApiClient::Success(kube::List<api::Node>("7", {kube::Make<api::Node>("b", "4")}));
    }
    return std::nullopt;
  });
  ASSERT_TRUE(outcome_.has_value());
  EXPECT_TRUE(outcome_->has_value());
  EXPECT_THAT(names_, ElementsAre("a", "b"));
  const std::vector<std::string> lines = client_.Lines();
  for (const std::string& line : lines) EXPECT_THAT(line, StartsWith("GET ")) << "not a read";
  for (const char* path :
       {"/api/v1/pods", "/apis/apps/v1/deployments", "/apis/apps/v1/daemonsets",
        "/apis/apps/v1/replicasets", "/apis/apps/v1/statefulsets", "/apis/batch/v1/jobs",
        "/apis/policy/v1/poddisruptionbudgets", "/apis/scheduling.k8s.io/v1/priorityclasses"}) {
    EXPECT_THAT(lines, Contains(StartsWith(std::string("GET ") + path + "?"))) << path;
  }
}

TEST_F(LiveReaderTest, WhatMayNotBeReadIsAnErrorOrANote) {
  Start();
  AnswerAll([](const std::string& line) -> std::optional<kube::ApiResponse> {
    if (line.find("/jobs") == std::string::npos) return std::nullopt;
    return FakeApiClient::Failure(403, "Forbidden", "jobs is forbidden");
  });
  ASSERT_TRUE(outcome_.has_value());
  EXPECT_TRUE(outcome_->has_value());
  EXPECT_THAT(reader_.Notes(), ElementsAre(HasSubstr("jobs is forbidden")));
}

TEST_F(LiveReaderTest, WithoutPodsThereIsNoPlan) {
  Start();
  AnswerAll([](const std::string& line) -> std::optional<kube::ApiResponse> {
    if (line.find("/api/v1/pods") == std::string::npos) return std::nullopt;
    return FakeApiClient::Failure(403, "Forbidden", "pods is forbidden");
  });
  ASSERT_TRUE(outcome_.has_value());
  ASSERT_FALSE(outcome_->has_value());
  EXPECT_EQ(outcome_->error().Message(), "cannot list pods: pods is forbidden");
}

TEST_F(LiveReaderTest, AnObjectThatCannotBeReadIsNamed) {
  Start();
  AnswerAll([](const std::string& line) -> std::optional<kube::ApiResponse> {
    if (line.find("/jobs") == std::string::npos) return std::nullopt;
    return FakeApiClient::Success(
        R"({"kind":"JobList","apiVersion":"batch/v1","metadata":{},"items":[{"metadata":)"
        R"({"name":"j","namespace":"n"},"spec":{"parallelism":"x"}}]})",
        kube::kJson);
  });
  ASSERT_TRUE(outcome_.has_value());
  ASSERT_FALSE(outcome_->has_value());
  EXPECT_THAT(outcome_->error().Message(), HasSubstr("Job n/j"));
}

}  // namespace
}  // namespace berth::cli
