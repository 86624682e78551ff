#include "kube/hands/work_sharing.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hands/wire.h"
#include "kube/hands/testing/team.h"

namespace berth::kube {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using Code = scheduler::EffectResult::Code;

scheduler::Effect Bind(uint64_t id, const std::string& pod, const std::string& node = "n1") {
  return {id, scheduler::BindPod{{"default", pod, "uid-" + pod, "7"}, node}};
}

std::string Bound(const scheduler::Effect& effect) {
  const auto* bind = std::get_if<scheduler::BindPod>(&effect.action);
  return bind == nullptr ? "" : bind->pod.name + "@" + bind->node;
}

// Requests other than those about events' API.
std::vector<std::string> Writes(const FakeApiClient& client) {
  std::vector<std::string> writes;
  for (const std::string& line : client.Lines()) {
    if (line.find("/pods/") != std::string::npos) writes.push_back(line);
  }
  return writes;
}

void AnswerWrites(FakeApiClient& client, const ApiResponse& with) {
  for (size_t i = 0; i < client.Size(); ++i) {
    if (client.At(i).Open() && client.At(i).request.path.ends_with("/binding")) {
      client.Respond(i, with);
    }
  }
}

TEST(WorkSharing, KeepsTheWorkWhenItIsAlone) {
  Team team({"a_1"});
  team.Lead("a_1", 3);
  team.Settle("a_1");
  team["a_1"].work.Run(Bind(1, "p"));
  team.loop.RunPosted();
  ASSERT_THAT(team["a_1"].carried_out, SizeIs(1));
  EXPECT_EQ(Bound(team["a_1"].carried_out[0]), "p@n1");
  EXPECT_EQ(team["a_1"].work.Outstanding(), 1u);
  team["a_1"].work.Answered({.id = 1, .code = Code::kConflict, .message = "taken"});
  team.loop.RunPosted();
  ASSERT_THAT(team["a_1"].results, SizeIs(1));
  EXPECT_EQ(team["a_1"].results[0].code, Code::kConflict);
  EXPECT_EQ(team["a_1"].work.Status().role, "leader");
}

TEST(WorkSharing, AHandBindsAndTheLeaderLearnsOfIt) {
  Team team({"a_1", "b_2"});
  team.Lead("a_1", 3);
  team.Settle("a_1");
  EXPECT_EQ(team["a_1"].in_sync, "b_2");
  EXPECT_EQ(team["b_2"].lists, 1);
  team["a_1"].work.Run(Bind(1, "p"));
  team.loop.RunPosted();
  EXPECT_THAT(team["a_1"].carried_out, IsEmpty());
  EXPECT_THAT(Writes(team["b_2"].writes),
              ElementsAre("POST /api/v1/namespaces/default/pods/p/binding"));
  EXPECT_EQ(team["b_2"].work.Status().role, "hand");
  EXPECT_EQ(team["b_2"].work.Status().waiting, 1);
  AnswerWrites(team["b_2"].writes, FakeApiClient::Success("", kJson));
  team.loop.RunPosted();
  ASSERT_THAT(team["a_1"].results, SizeIs(1));
  EXPECT_EQ(team["a_1"].results[0].id, 1u);
  EXPECT_EQ(team["a_1"].results[0].code, Code::kOk);
  EXPECT_EQ(team["a_1"].work.Outstanding(), 0u);
  const SharingStatus status = team["a_1"].work.Status();
  ASSERT_THAT(status.hands, SizeIs(1));
  EXPECT_EQ(status.hands[0].role, "in sync");
  EXPECT_EQ(status.hands[0].tasks, 1);
}

TEST(WorkSharing, RefusalsOfTheApiServerComeBack) {
  Team team({"a_1", "b_2"});
  team.Lead("a_1", 3);
  team.Settle("a_1");
  team["a_1"].work.Run(Bind(1, "p"));
  team.loop.RunPosted();
  AnswerWrites(team["b_2"].writes, FakeApiClient::Failure(409, "Conflict", "already bound"));
  team.loop.RunPosted();
  ASSERT_THAT(team["a_1"].results, SizeIs(1));
  EXPECT_EQ(team["a_1"].results[0].code, Code::kConflict);
  EXPECT_EQ(team["a_1"].results[0].message, "already bound");
}

TEST(WorkSharing, AHandIsNotUsedBeforeItHasListed) {
  Team team({"a_1", "b_2"});
  team.lists = false;
  team.Lead("a_1", 3);
  team.Settle("a_1");
  EXPECT_EQ(team["a_1"].in_sync, "");
  team["a_1"].work.Run(Bind(1, "p"));
  team.loop.RunPosted();
  EXPECT_THAT(team["a_1"].carried_out, SizeIs(1));
  EXPECT_THAT(Writes(team["b_2"].writes), IsEmpty());
}

TEST(WorkSharing, TheWorkOfASilentHandIsDoneByTheLeader) {
  Team team({"a_1", "b_2"});
  team.Lead("a_1", 3);
  team.Settle("a_1");
  team["a_1"].work.Run(Bind(1, "p"));
  team.loop.RunPosted();
  team.silent.insert("b_2");
  team["a_1"].work.Run(Bind(2, "q"));
  team.loop.Advance(seconds(3));
  EXPECT_EQ(team["a_1"].in_sync, "") << "the Lease is to be written without it";
  EXPECT_THAT(team["a_1"].carried_out, SizeIs(1)) << "the other decision is not in its log";
  team["a_1"].work.InSyncWritten("");
  team.loop.RunPosted();
  ASSERT_THAT(team["a_1"].carried_out, SizeIs(2));
  // The one that the hand may have sent has no result until nothing of it can be carried out.
  team["a_1"].work.Answered({.id = 1, .code = Code::kConflict, .message = "bound"});
  team["a_1"].work.Answered({.id = 2, .code = Code::kConflict, .message = "bound"});
  team.loop.Advance(milliseconds(200));
  ASSERT_THAT(team["a_1"].results, SizeIs(0));
  team.loop.Advance(seconds(10));
  ASSERT_THAT(team["a_1"].results, SizeIs(2));
  EXPECT_EQ(team["a_1"].results[0].code, Code::kUnknown) << "the engine reads the pod";
}

TEST(WorkSharing, AHandSendsNothingAfterItsValidity) {
  Team team({"a_1", "b_2"});
  team.Lead("a_1", 3);
  team.Settle("a_1");
  team["a_1"].work.Run(Bind(1, "p"));
  team.loop.RunPosted();
  EXPECT_FALSE(team["b_2"].fence.Passed(team.loop.Steady()));
  EXPECT_TRUE(team["b_2"].fence.Passed(team.loop.Steady() + seconds(2)));
}

TEST(WorkSharing, ANewSessionCancelsTheWorkOfTheLastOne) {
  Team team({"a_1", "b_2", "c_3"});
  team.Lead("a_1", 3);
  team.Settle("a_1");
  for (int i = 1; i <= 20; ++i) team["a_1"].work.Run(Bind(i, "p" + std::to_string(i)));
  team.loop.RunPosted();
  const size_t sent = Writes(team["b_2"].writes).size();
  ASSERT_GT(sent, 2u);
  team.replicas.at("a_1")->work.Leave([] {});
  team.silent.insert("a_1");
  team.Lead("c_3", 4);
  team.Settle("c_3");
  EXPECT_EQ(team["b_2"].work.Status().epoch, 4);
  size_t cancelled = 0;
  for (size_t i = 0; i < team["b_2"].writes.Size(); ++i) {
    cancelled += team["b_2"].writes.At(i).cancelled ? 1 : 0;
  }
  EXPECT_EQ(cancelled, sent);
  EXPECT_TRUE(team["b_2"].work.IsIdle());
}

TEST(WorkSharing, MessagesOfOneWhoDoesNotHoldTheLeaseAreRefused) {
  Team team({"a_1", "b_2"});
  team.Announce("a_1", 3);
  hands::Batch batch;
  batch.lease = "kube-system/kube-scheduler";
  batch.leader = "mallory";
  batch.epoch = 3;
  batch.session = 1;
  batch.number = 1;
  std::vector<std::string> errors;
  const auto note = [&](const Result<std::string>& answer) {
    errors.push_back(answer ? "taken" : answer.error().Message());
  };
  team["b_2"].work.Serve(false, Encode(batch), note);
  team["b_2"].work.Serve(false, "nonsense", note);
  team["b_2"].work.Serve(true, Encode(hands::Poll{"a_1", 3, 1, 0}), note);
  batch.leader = "a_1";
  team["b_2"].work.Serve(false, Encode(batch), note);
  ASSERT_THAT(errors, SizeIs(4));
  EXPECT_THAT(errors[0], HasSubstr("a_1 holds the lease"));
  EXPECT_THAT(errors[1], HasSubstr("batch"));
  EXPECT_THAT(errors[2], HasSubstr("poll: session"));
  EXPECT_EQ(errors[3], "taken");
}

TEST(WorkSharing, AHandThatTakesOverGoesOnWithTheLog) {
  Team team({"a_1", "b_2"});
  team.Lead("a_1", 3);
  team.Settle("a_1");
  team["a_1"].work.Run(Bind(1, "p"));
  team.loop.RunPosted();
  team.silent.insert("a_1");
  Team::Replica& next = team["b_2"];
  team.Announce("b_2", 4);
  next.work.SetFence(team.loop.Steady() + seconds(10));
  bool ready = false;
  const Succession succession{
      .follows_another = true, .epoch = 4, .previous_epoch = 3, .in_sync = "b_2"};
  ASSERT_TRUE(next.work.Lead(succession, [&] { ready = true; }));
  team.loop.RunPosted();
  ASSERT_THAT(next.carried_out, SizeIs(1));
  EXPECT_EQ(Bound(next.carried_out[0]), "p@n1");
  next.work.Answered({.id = next.carried_out[0].id, .code = Code::kConflict, .message = "bound"});
  team.loop.RunPosted();
  ASSERT_THAT(next.carried_out, SizeIs(2));
  ASSERT_NE(std::get_if<scheduler::ReadPod>(&next.carried_out[1].action), nullptr);
  EXPECT_FALSE(ready);
  api::Pod pod;
  pod.metadata.uid = "uid-p";
  pod.spec.node_name = "n1";
  next.work.Answered({.id = next.carried_out[1].id, .message = "", .pod = pod});
  team.loop.RunPosted();
  EXPECT_TRUE(ready);
  ASSERT_THAT(next.adopted, SizeIs(1));
  // A watch that lags shows the pod without its node.
  pod.spec.node_name.clear();
  api::Object late = pod;
  next.work.Shown(late);
  EXPECT_EQ(std::get<api::Pod>(late).spec.node_name, "n1");
}

TEST(WorkSharing, AHandForgetsWhatItsWatchHasShown) {
  Team team({"a_1", "b_2"});
  team.Lead("a_1", 3);
  team.Settle("a_1");
  team["a_1"].work.Run(Bind(1, "p"));
  team["a_1"].work.Run(Bind(2, "q"));
  team.loop.RunPosted();
  EXPECT_EQ(team["b_2"].work.Status().log, 2);
  api::Pod pod;
  pod.metadata.uid = "uid-p";
  pod.spec.node_name = "n1";
  api::Object object = pod;
  team["b_2"].work.Shown(object);
  EXPECT_EQ(team["b_2"].work.Status().log, 1);
  pod.metadata.uid = "uid-q";
  team["b_2"].work.Shown(std::as_const(pod));
  EXPECT_EQ(team["b_2"].work.Status().log, 0);
}

TEST(WorkSharing, AReplicaThatTheLeaseDoesNotNameLists) {
  Team team({"a_1", "b_2"});
  team.Lead("a_1", 3);
  team.Settle("a_1");
  const Succession succession{
      .follows_another = true, .epoch = 4, .previous_epoch = 3, .in_sync = "somebody"};
  EXPECT_FALSE(team["b_2"].work.Lead(succession, nullptr));
}

TEST(WorkSharing, AReplicaThatLeavesIsNoHandAnyMore) {
  Team team({"a_1", "b_2"});
  team.Lead("a_1", 3);
  team.Settle("a_1");
  ASSERT_EQ(team["a_1"].in_sync, "b_2");
  bool left = false;
  team["b_2"].work.Leave([&] { left = true; });
  team.Settle("a_1");
  EXPECT_TRUE(left);
  EXPECT_EQ(team["a_1"].in_sync, "");
  EXPECT_FALSE(team.leases.leases.contains("kube-scheduler-2"));
}

}  // namespace
}  // namespace berth::kube
