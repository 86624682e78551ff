// Requests that are sent again, by what differs between Kubernetes versions.
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kube/testing/fake_api_client.h"
#include "kube/write/effect_runner.h"
#include "net/testing/fake_loop.h"

namespace berth::kube {
namespace {

using scheduler::EffectResult;
using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::SizeIs;
using Code = EffectResult::Code;

const scheduler::PodRef kPod{"default", "toobig", "uid-1", "9"};

EffectRules RulesWith(bool EffectRules::*rule) {
  EffectRules rules;
  rules.*rule = true;
  return rules;
}

class EffectRetriesTest : public ::testing::Test {
 protected:
  void Run(scheduler::EffectAction action) { runner_.Run({++id_, std::move(action)}); }
  const EffectResult& Last() const { return results_.back(); }
  std::string LastLine() const { return client_.Last().Line(); }

  net::FakeLoop loop_;
  FakeApiClient client_;
  RawObjects raw_;
  EventRecorder events_{loop_, client_, "vm"};
  std::vector<EffectResult> results_;
  EffectRunner runner_{loop_, client_, events_, raw_,
                       [this](EffectResult result) { results_.push_back(std::move(result)); }};
  scheduler::EffectId id_ = 40;
};

TEST_F(EffectRetriesTest, ABindingIsRepeatedWhereTheVersionSaysSo) {
  runner_.SetRules(RulesWith(&EffectRules::binding_retries));
  Run(scheduler::BindPod{kPod, "n1"});
  client_.RespondNext(FakeApiClient::Failure(500, "InternalError", "one"));
  EXPECT_EQ(client_.CountOpen(), 0u);
  loop_.Advance(milliseconds(11));
  EXPECT_EQ(LastLine(), "POST /api/v1/namespaces/default/pods/toobig/binding");
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

TEST_F(EffectRetriesTest, ABindingWithoutAnAnswerIsNotRepeated) {
  runner_.SetRules(RulesWith(&EffectRules::binding_retries));
  for (const auto kind : {net::HttpError::Kind::kBroken, net::HttpError::Kind::kTimeout}) {
    Run(scheduler::BindPod{kPod, "n1"});
    client_.RespondNext(FakeApiClient::Broken(kind, "words"));
    EXPECT_EQ(Last().code, Code::kUnknown);
    loop_.Advance(seconds(1));
    EXPECT_EQ(client_.CountOpen(), 0u);
  }
}

TEST_F(EffectRetriesTest, AConflictAfterAServerErrorIsUnclear) {
  runner_.SetRules(RulesWith(&EffectRules::binding_retries));
  const ApiResponse conflict = FakeApiClient::Failure(409, "Conflict", "already assigned");
  Run(scheduler::BindPod{kPod, "n1"});
  client_.RespondNext(conflict);
  EXPECT_EQ(Last().code, Code::kConflict);
  Run(scheduler::BindPod{kPod, "n1"});
  client_.RespondNext(FakeApiClient::Broken(net::HttpError::Kind::kRefused, "refused"));
  loop_.Advance(milliseconds(11));
  client_.RespondNext(conflict);
  EXPECT_EQ(Last().code, Code::kConflict);  // nothing of ours can have arrived before
  Run(scheduler::BindPod{kPod, "n1"});
  client_.RespondNext(FakeApiClient::Failure(500, "InternalError", "etcd"));
  loop_.Advance(milliseconds(11));
  client_.RespondNext(conflict);
  EXPECT_EQ(Last().code, Code::kUnknown);
  EXPECT_EQ(Last().message, "already assigned");
}

TEST_F(EffectRetriesTest, AStatusPatchIsRepeatedAfterAConflictWhereTheVersionSaysSo) {
  const scheduler::PatchPodStatus patch{
      .pod = kPod, .condition = std::nullopt, .nominated_node_name = "n1"};
  const ApiResponse conflict = FakeApiClient::Failure(409, "Conflict", "modified");
  Run(patch);
  client_.RespondNext(conflict);
  EXPECT_EQ(Last().code, Code::kConflict);
  runner_.SetRules(RulesWith(&EffectRules::patches_retry_conflicts));
  Run(patch);
  client_.RespondNext(conflict);
  EXPECT_THAT(results_, SizeIs(1));
  loop_.Advance(milliseconds(11));
  client_.RespondNext(FakeApiClient::Success());
  EXPECT_EQ(Last().code, Code::kOk);
  EXPECT_EQ(client_.Size(), 3u);
}

}  // namespace
}  // namespace berth::kube
