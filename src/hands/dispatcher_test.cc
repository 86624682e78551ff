#include "hands/dispatcher.h"

#include <algorithm>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hands/testing/office.h"

namespace berth::hands {
namespace {

using scheduler::EffectResult;
using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using Code = EffectResult::Code;
using Role = Dispatcher::Role;

std::string NodeOf(const scheduler::EffectAction& action) {
  const auto* bind = std::get_if<scheduler::BindPod>(&action);
  return bind == nullptr ? "" : bind->pod.name + "@" + bind->node;
}

EffectResult Done(scheduler::EffectId id, Code code = Code::kOk) {
  EffectResult result;
  result.id = id;
  result.code = code;
  return result;
}

// The bindings that hands have sent, by hand.
std::vector<std::string> Sent(const Office& office) {
  std::vector<std::string> sent;
  for (const auto& [hand, work] : office.sent) {
    if (!NodeOf(work.action).empty()) sent.push_back(NodeOf(work.action));
  }
  std::sort(sent.begin(), sent.end());
  return sent;
}

std::vector<std::string> Local(const Office& office) {
  std::vector<std::string> local;
  for (const auto& effect : office.local) local.push_back(NodeOf(effect.action));
  return local;
}

void FinishAll(Office& office, TaskResult::Code code = TaskResult::Code::kOk) {
  for (const auto& [hand, work] : office.sent) office.hands.at(hand).Finish(work.key, code, "");
  office.sent.clear();
  office.Settle();
}

TEST(Dispatcher, WorkStaysHereWhenItIsAlone) {
  Office office({});
  office.dispatcher.Run(Bind(1, "p"));
  office.Settle();
  EXPECT_THAT(Local(office), ElementsAre("p@n1"));
  EXPECT_EQ(office.dispatcher.Outstanding(), 1u);
  office.dispatcher.OnLocal(Done(1, Code::kConflict), office.now);
  office.Settle();
  ASSERT_THAT(office.results, SizeIs(1));
  EXPECT_EQ(office.results[0].code, Code::kConflict);
  EXPECT_EQ(office.dispatcher.Outstanding(), 0u);
}

TEST(Dispatcher, HandsJoinWhenTheyHaveListedAndTheLeaseNamesThem) {
  Office office({"a", "b"});
  office.lists = false;
  office.Join();
  EXPECT_EQ(office.RoleOf("a"), Role::kListing);
  office.lists = true;
  office.writes_lease = false;
  for (auto& [name, hand] : office.hands) hand.Listed();
  office.Join();
  EXPECT_EQ(office.RoleOf("a"), Role::kJoining);
  EXPECT_THAT(office.lease, ElementsAre("a", "b"));
  office.dispatcher.Run(Bind(1, "p"));
  office.Settle();
  EXPECT_THAT(office.sent, IsEmpty()) << "they carry nothing yet";
  office.dispatcher.OnLeaseWritten({"a", "b"});
  EXPECT_EQ(office.RoleOf("a"), Role::kInSync);
}

TEST(Dispatcher, HandsCarryBindingsPatchesAndEvents) {
  Office office({"a", "b"});
  office.Join();
  ASSERT_EQ(office.RoleOf("b"), Role::kInSync);
  for (int i = 1; i <= 20; ++i) office.dispatcher.Run(Bind(i, "p" + std::to_string(i)));
  office.dispatcher.Run(Patch(21, "q", "no node fits"));
  scheduler::RecordEvent event;
  event.regarding = {"default", "p1", "uid-p1"};
  office.dispatcher.Run({0, event});
  office.Settle();
  EXPECT_THAT(office.sent, SizeIs(22));
  EXPECT_THAT(office.local, IsEmpty());
  FinishAll(office);
  EXPECT_THAT(office.results, SizeIs(21));
  EXPECT_EQ(office.dispatcher.Outstanding(), 0u);
  for (const auto& state : office.dispatcher.Hands()) {
    EXPECT_GT(state.tasks, 3u);
    EXPECT_EQ(state.waiting, 0u);
    EXPECT_EQ(state.lag, 0u);
  }
}

TEST(Dispatcher, WhatOnlyTheLeaderCanDoStaysHere) {
  Office office({"a"});
  office.Join();
  office.dispatcher.Run({1, scheduler::DeletePod{{"default", "p", "uid-p"}}});
  office.dispatcher.Run({2, scheduler::ReadPod{{"default", "q", "uid-q"}}});
  office.Settle();
  EXPECT_THAT(office.local, SizeIs(2));
}

TEST(Dispatcher, ABindingWaitsForTheOtherHandsLog) {
  Office office({"a", "b"});
  office.Join();
  office.silent = {"b"};
  office.dispatcher.Run(Bind(1, "p1"));
  office.dispatcher.Run(Bind(2, "p2"));
  office.dispatcher.Run(Bind(3, "p3"));
  office.dispatcher.Run(Bind(4, "p4"));
  office.writes_lease = false;
  office.Settle();
  EXPECT_THAT(office.sent, IsEmpty()) << "b has not acknowledged, and the Lease still names it";
  EXPECT_EQ(office.RoleOf("b"), Role::kLeaving);
  EXPECT_THAT(office.lease, ElementsAre("a"));
  EXPECT_THAT(office.local, IsEmpty());
  office.dispatcher.OnLeaseWritten({"a"});
  office.Settle();
  EXPECT_EQ(office.sent.size() + office.local.size(), 4u);
}

TEST(Dispatcher, ASilentHandsWorkIsDoneHere) {
  Office office({"a"});
  office.Join();
  office.dispatcher.Run(Bind(1, "p"));
  office.dispatcher.Run(Patch(2, "q", "no node fits"));
  office.Settle();
  ASSERT_THAT(office.sent, SizeIs(2));
  office.silent = {"a"};
  office.Pass(milliseconds(400));
  EXPECT_THAT(Local(office), ElementsAre("p@n1")) << "the same binding, at once";
  office.dispatcher.OnLocal(Done(1, Code::kConflict), office.now);
  office.Settle();
  EXPECT_THAT(office.results, IsEmpty()) << "the hand may still have sent it";
  office.Pass(seconds(9));
  ASSERT_THAT(office.results, SizeIs(1));
  EXPECT_EQ(office.results[0].code, Code::kUnknown) << "the engine reads the pod";
  EXPECT_THAT(office.local, SizeIs(2)) << "the patch follows";
}

TEST(Dispatcher, ABindingThatSucceedsElsewhereIsDone) {
  Office office({"a"});
  office.Join();
  office.dispatcher.Run(Bind(1, "p"));
  office.Settle();
  office.silent = {"a"};
  office.Pass(milliseconds(400));
  office.dispatcher.OnLocal(Done(1), office.now);
  office.Settle();
  ASSERT_THAT(office.results, SizeIs(1));
  EXPECT_EQ(office.results[0].code, Code::kOk);
}

TEST(Dispatcher, RequestsAboutOnePodStayInOrder) {
  Office office({"a"});
  office.Join();
  office.dispatcher.Run(Patch(1, "p", "no node fits"));
  office.dispatcher.Run({2, scheduler::DeletePod{{"default", "p", "uid-p"}}});
  office.dispatcher.Run(Bind(3, "p"));
  office.Settle();
  EXPECT_THAT(office.sent, SizeIs(1));
  EXPECT_THAT(office.local, IsEmpty());
  FinishAll(office);
  EXPECT_THAT(office.local, SizeIs(1));
  EXPECT_THAT(office.sent, IsEmpty());
  office.dispatcher.OnLocal(Done(2), office.now);
  office.Settle();
  EXPECT_THAT(Sent(office), ElementsAre("p@n1"));
}

TEST(Dispatcher, AHandThatDoesNotReachTheApiServerIsLeftAlone) {
  Office office({"a"});
  office.Join();
  for (int i = 1; i <= 6; ++i) office.dispatcher.Run(Bind(i, "p" + std::to_string(i)));
  office.Settle();
  FinishAll(office, TaskResult::Code::kError);
  EXPECT_NE(office.RoleOf("a"), Role::kInSync);
  office.Pass(seconds(2));
  EXPECT_EQ(office.RoleOf("a"), Role::kDown);
}

TEST(Dispatcher, ADecisionThatWasNotCarriedOutLeavesTheLogs) {
  Office office({"a"});
  office.Join();
  for (const auto code : {TaskResult::Code::kConflict, TaskResult::Code::kUnknown}) {
    office.dispatcher.Run(Bind(1, "p"));
    office.Settle();
    EXPECT_TRUE(office.hands.at("a").Has("uid-p", "n1"));
    FinishAll(office, code);
    office.Pass(milliseconds(350));
    EXPECT_EQ(office.hands.at("a").Has("uid-p", "n1"), code == TaskResult::Code::kUnknown);
  }
  office.dispatcher.Run({2, scheduler::ReadPod{{"default", "p", "uid-p"}}});
  office.Settle();
  EffectResult read = Done(2);
  read.pod.emplace();  // it has no node
  office.dispatcher.OnLocal(std::move(read), office.now);
  office.Pass(milliseconds(350));
  EXPECT_FALSE(office.hands.at("a").Has("uid-p", "n1"));
}

TEST(Dispatcher, AnUndescribedWriteIsLoggedAndForbidsAdoption) {
  Office office({"a"});
  office.Join();
  EXPECT_TRUE(office.hands.at("a").Adopt(3, {"a"}));
  scheduler::WriteObject write;
  office.dispatcher.Run({1, std::move(write)});
  office.Settle();
  EXPECT_THAT(office.local, SizeIs(1));
  EXPECT_FALSE(office.hands.at("a").Adopt(3, {"a"}));
}

TEST(Dispatcher, ABindingByAnExtenderForbidsAdoptionToo) {
  Office office({"a"});
  office.Join();
  scheduler::CallExtender call;
  call.verb = scheduler::CallExtender::Verb::kBind;
  call.pod = {"default", "p", "uid-p"};
  office.dispatcher.Run({1, std::move(call)});
  office.Settle();
  EXPECT_THAT(office.local, SizeIs(1));
  EXPECT_FALSE(office.hands.at("a").Adopt(3, {"a"}));
}

TEST(Dispatcher, AdoptedDecisionsAreSentAgainAndRead) {
  Office office({});
  Dispatcher next(Office::Options(Mistake::kNone));
  next.Begin(4, {{1, "uid-p", "default", "p", "n2"}});
  next.SetFence(office.now + seconds(5));
  auto out = next.Take(office.now);
  ASSERT_THAT(out.local, SizeIs(1));
  EXPECT_EQ(NodeOf(out.local[0].action), "p@n2");
  const auto id = out.local[0].id;
  next.OnLocal(Done(id, Code::kConflict), office.now);
  out = next.Take(office.now);
  ASSERT_THAT(out.local, SizeIs(1));
  EXPECT_TRUE(std::holds_alternative<scheduler::ReadPod>(out.local[0].action));
  EXPECT_FALSE(next.Adopted());
  EffectResult read = Done(id);
  read.pod.emplace().spec.node_name = "n2";
  next.OnLocal(std::move(read), office.now);
  out = next.Take(office.now);
  ASSERT_THAT(out.adopted, SizeIs(1));
  EXPECT_EQ(out.adopted[0].spec.node_name, "n2");
  EXPECT_TRUE(next.Adopted());
  EXPECT_THAT(out.results, IsEmpty());
}

// --- The hand

Batch FirstBatch() {
  return {.lease = Office::kLease, .leader = "leader", .epoch = 3, .session = 1, .number = 1};
}

TEST(Hand, TakesBatchesOfTheLeasesHolderOnly) {
  Hand hand(Office::kLease, "a");
  EXPECT_THAT(hand.Take(FirstBatch(), seconds(1)).error().Message(), HasSubstr("batch: leader: "));
  hand.SawLeader("leader", 4);
  EXPECT_THAT(hand.Take(FirstBatch(), seconds(1)).error().Message(),
              HasSubstr("leader in epoch 3, but leader holds the lease in epoch 4"));
  hand.SawLeader("leader", 3);
  EXPECT_TRUE(hand.Take(FirstBatch(), seconds(1)));
  Batch other = FirstBatch();
  other.lease = "kube-system/other";
  EXPECT_THAT(hand.Take(other, seconds(1)).error().Message(), HasSubstr("batch: lease: "));
}

TEST(Hand, RefusesBatchesOutOfOrder) {
  Hand hand(Office::kLease, "a");
  hand.SawLeader("leader", 3);
  Batch batch = FirstBatch();
  batch.session = 2;
  EXPECT_TRUE(hand.Take(batch, seconds(1)));
  EXPECT_TRUE(hand.Take(batch, seconds(1))) << "its answer was lost";
  EXPECT_THAT(hand.Take(FirstBatch(), seconds(1)).error().Message(), HasSubstr("session: 1"));
  batch.number = 3;
  EXPECT_THAT(hand.Take(batch, seconds(1)).error().Message(),
              HasSubstr("number: 3 does not follow 1"));
  batch.number = 2;
  batch.echo = Nanoseconds(seconds(9)).count();
  EXPECT_THAT(hand.Take(batch, seconds(1)).error().Message(), HasSubstr("batch: echo: "));
}

TEST(Hand, SendsNothingThatCameTooLate) {
  Hand hand(Office::kLease, "a");
  hand.SawLeader("leader", 3);
  EXPECT_TRUE(hand.Take(FirstBatch(), seconds(1)));
  Batch batch = FirstBatch();
  batch.number = 2;
  batch.echo = Nanoseconds(seconds(1)).count();
  batch.valid_ns = Nanoseconds(seconds(2)).count();
  batch.committed = 1;
  batch.entries = {{1, "uid-p", "default", "p", "n1"}};
  batch.tasks = {{.id = 5, .sequence = 1}};
  EXPECT_TRUE(hand.Take(batch, milliseconds(2900)));
  EXPECT_THAT(hand.TakeWork(seconds(3)), IsEmpty());
  const auto answer = hand.Take(Poll{"leader", 3, 1, 0}, seconds(3));
  ASSERT_TRUE(answer);
  ASSERT_THAT(answer->results, SizeIs(1));
  EXPECT_EQ(answer->results[0].code, TaskResult::Code::kNotSent);
}

TEST(Hand, ALateResultDoesNotCountForTheNextLeadersSession) {
  Hand hand(Office::kLease, "a");
  hand.SawLeader("leader", 3);
  Batch batch = FirstBatch();
  batch.echo = 1;
  batch.valid_ns = Nanoseconds(seconds(9)).count();
  batch.committed = 1;
  batch.entries = {{1, "uid-p", "default", "p", "n1"}};
  batch.tasks = {{.id = 5, .sequence = 1}};
  EXPECT_TRUE(hand.Take(batch, seconds(1)));
  const auto work = hand.TakeWork(seconds(1));
  ASSERT_THAT(work, SizeIs(1));
  hand.SawLeader("next", 4);
  Batch other = FirstBatch();
  other.leader = "next";
  other.epoch = 4;
  EXPECT_TRUE(hand.Take(other, seconds(1))) << "a session of the same number";
  hand.Finish(work[0].key, TaskResult::Code::kOk, "");
  EXPECT_FALSE(hand.HasResults());
  EXPECT_EQ(hand.Waiting(), 0u);
}

TEST(Hand, AnAnswerFitsIntoAMessage) {
  Hand hand(Office::kLease, "a");
  hand.SawLeader("leader", 3);
  Batch batch = FirstBatch();
  batch.echo = 1;
  batch.valid_ns = Nanoseconds(seconds(9)).count();
  batch.committed = 100;
  for (uint64_t i = 1; i <= 100; ++i) {
    const std::string name = "p" + std::to_string(i);
    batch.entries.push_back({i, "uid-" + name, "default", name, "n1"});
    batch.tasks.push_back({.id = i, .sequence = i});
  }
  EXPECT_TRUE(hand.Take(batch, seconds(1)));
  for (const auto& work : hand.TakeWork(seconds(1))) {
    hand.Finish(work.key, TaskResult::Code::kError, std::string(20'000, 'x'));
  }
  uint64_t received = 0;
  while (hand.HasResults()) {
    const auto answer = hand.Take(Poll{"leader", 3, 1, received}, seconds(1));
    ASSERT_TRUE(answer);
    ASSERT_TRUE(DecodeAnswer(Encode(*answer)));
    if (answer->results.empty()) break;
    EXPECT_EQ(answer->first_result, received);
    received += answer->results.size();
  }
  EXPECT_EQ(received, 100u);
}

TEST(Hand, AdoptsOnlyWhenTheLeaseNamesIt) {
  Hand hand(Office::kLease, "a");
  hand.SawLeader("leader", 3);
  Batch batch = FirstBatch();
  batch.entries = {{1, "uid-p", "default", "p", "n1"}, {2, "uid-q", "default", "q", "n1"}};
  EXPECT_TRUE(hand.Take(batch, seconds(1)));
  EXPECT_FALSE(hand.Adopt(3, {"b"}));
  EXPECT_FALSE(hand.Adopt(4, {"a"})) << "the log is of another epoch";
  hand.SawSettled("uid-p");
  const auto adopted = hand.Adopt(3, {"b", "a"});
  ASSERT_TRUE(adopted);
  ASSERT_THAT(*adopted, SizeIs(1));
  EXPECT_EQ((*adopted)[0].name, "q");
}

}  // namespace
}  // namespace berth::hands
