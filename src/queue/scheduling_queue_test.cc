#include "queue/scheduling_queue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "queue/testing/fake_queue_host.h"

namespace berth::queue {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

constexpr PluginId kGate = 0, kFit = 1, kPorts = 2, kClaims = 3;
constexpr ClusterEvent kNodeAdd{EventResource::kNode, kAdd};
constexpr ClusterEvent kPodDelete{EventResource::kAssignedPod, kDelete};
constexpr ClusterEvent kClaimUpdate{EventResource::kResourceClaim, kUpdate};
constexpr ClusterEvent kGatesGone{EventResource::kUnschedulablePod,
                                  kUpdatePodSchedulingGatesEliminated};
constexpr ClusterEvent kShrunk{EventResource::kUnschedulablePod, kUpdatePodScaleDown};

api::Time At(double seconds) {
  return api::Time::FromUnixNano(1'700'000'000'000'000'000 + static_cast<int64_t>(seconds * 1e9));
}

class SchedulingQueueTest : public ::testing::Test {
 protected:
  SchedulingQueueTest() {
    host_.registrations = {{kGate, kGatesGone}, {kFit, kNodeAdd},   {kFit, kPodDelete},
                           {kFit, kShrunk},     {kPorts, kNodeAdd}, {kClaims, kClaimUpdate}};
    queue_.emplace(host_, 1, QueueOptions{});
  }
  void Restart(const QueueOptions& options, size_t profiles = 1) {
    queue_.emplace(host_, profiles, options);
  }
  // A pod that was tried at `at` and rejected.
  void AddRejected(PodId pod, PluginMask rejected, PluginMask pending, double at) {
    queue_->Add(pod, 0, At(at));
    ASSERT_EQ(queue_->Pop(At(at)), pod);
    queue_->AddUnschedulable(pod, rejected, pending, At(at));
  }
  void Happens(const ClusterEvent& what, double at) { queue_->Move({what, {}, {}}, At(at)); }
  std::string Where(PodId pod) const { return std::string(queue_->WhereIs(pod)); }
  std::vector<PodId> PopAll(double at) {
    std::vector<PodId> pods;
    while (auto pod = queue_->Pop(At(at))) pods.push_back(*pod);
    return pods;
  }
  std::vector<std::string> TakeIncoming() { return std::exchange(host_.incoming, {}); }

  FakeQueueHost host_;
  std::optional<SchedulingQueue> queue_;
};

TEST_F(SchedulingQueueTest, PodsComeOutByPriorityThenAgeThenOrderOfAdding) {
  host_.priority = {{1, 0}, {2, 10}, {3, 10}, {4, 10}, {5, 0}};
  queue_->Add(5, 0, At(0));
  queue_->Add(1, 0, At(0));
  queue_->Add(3, 0, At(1));
  queue_->Add(2, 0, At(2));
  queue_->Add(4, 0, At(2));
  EXPECT_THAT(PopAll(3), ElementsAre(3, 2, 4, 5, 1));
  EXPECT_FALSE(queue_->CanPop());
  EXPECT_EQ(queue_->InFlightCount(), 5u);
}

TEST_F(SchedulingQueueTest, TimeThatGoesBackCountsAsTheLatestSeen) {
  queue_->Add(1, 0, At(10));
  queue_->Add(2, 0, At(5));
  EXPECT_EQ(queue_->Find(2)->timestamp, At(10));
}

TEST_F(SchedulingQueueTest, PopCountsTheAttemptAndForgetsWhoRejected) {
  AddRejected(1, MaskOf(kFit), MaskOf(kClaims), 0);
  EXPECT_EQ(queue_->Find(1)->unschedulable_plugins, MaskOf(kFit));
  EXPECT_EQ(queue_->Find(1)->pending_plugins, MaskOf(kClaims));
  EXPECT_EQ(queue_->Find(1)->initial_attempt, At(0));
  queue_->Activate(1, At(1));
  ASSERT_EQ(queue_->Pop(At(2)), 1u);
  const QueuedPod* info = queue_->FindInFlight(1);
  ASSERT_NE(info, nullptr);
  EXPECT_EQ(info->attempts, 2);
  EXPECT_EQ(info->unschedulable_plugins, 0u);
  EXPECT_EQ(info->pending_plugins, 0u);
  EXPECT_EQ(info->initial_attempt, At(0));
}

TEST_F(SchedulingQueueTest, CountsOfFailures) {
  struct Attempt {
    const char* what;
    PluginMask rejected, pending;
    int unschedulable, errors;
  };
  const Attempt attempts[] = {
      {"an error counts as one", 0, 0, 0, 1},
      {"another error adds up", 0, 0, 0, 2},
      {"a rejection ends the row of errors", MaskOf(kFit), 0, 1, 0},
      {"a pending plugin is a rejection", 0, MaskOf(kClaims), 2, 0},
      {"an error leaves the rejections", 0, 0, 2, 1},
  };
  queue_->Add(1, 0, At(0));
  double now = 0;
  for (const Attempt& a : attempts) {
    queue_->Activate(1, At(now));
    ASSERT_EQ(queue_->Pop(At(now)), 1u) << a.what;
    queue_->AddUnschedulable(1, a.rejected, a.pending, At(++now));
    EXPECT_EQ(queue_->Find(1)->unschedulable_count, a.unschedulable) << a.what;
    EXPECT_EQ(queue_->Find(1)->consecutive_errors_count, a.errors) << a.what;
    EXPECT_EQ(queue_->Find(1)->timestamp, At(now)) << a.what;
  }
}

TEST_F(SchedulingQueueTest, WhereAnEventSendsARejectedPod) {
  struct Row {
    const char* what;
    PluginMask rejected, pending;
    ClusterEvent event;
    double at;
    PluginMask helps;
    const char* where;
  };
  const PluginMask all = ~PluginMask{0};
  const Row rows[] = {
      {"a plugin that may be helped: after the backoff", MaskOf(kFit), 0, kNodeAdd, 0.5, all,
       "backoff"},
      {"in the second where the backoff ends it still waits", MaskOf(kFit), 0, kNodeAdd, 1.9, all,
       "backoff"},
      {"the backoff is over: at once", MaskOf(kFit), 0, kNodeAdd, 2, all, "active"},
      {"the hint says no", MaskOf(kFit), 0, kNodeAdd, 0.5, 0, "unschedulable"},
      {"the plugin did not register", MaskOf(kClaims), 0, kNodeAdd, 0.5, all, "unschedulable"},
      {"one of two is enough", MaskOf(kFit) | MaskOf(kPorts), 0, kNodeAdd, 0.5, MaskOf(kPorts),
       "backoff"},
      {"a pending plugin does not wait", 0, MaskOf(kClaims), kClaimUpdate, 0.5, all, "active"},
      {"pending, but another one is helped", MaskOf(kFit), MaskOf(kClaims), kNodeAdd, 0.5, all,
       "backoff"},
      {"the timeout concerns all", MaskOf(kFit), 0, kUnschedulableTimeout, 0.5, 0, "backoff"},
  };
  for (const Row& row : rows) {
    Restart({});
    host_.helps = [&](PodId, PluginId plugin, const Event&) {
      return (row.helps & MaskOf(plugin)) != 0;
    };
    AddRejected(1, row.rejected, row.pending, 0);
    ASSERT_EQ(Where(1), "unschedulable") << row.what;
    Happens(row.event, row.at);
    EXPECT_EQ(Where(1), row.where) << row.what;
    EXPECT_EQ(queue_->InFlightEvents(), 0u) << row.what;
  }
}

TEST_F(SchedulingQueueTest, AnEventAsksOnlyPluginsThatRejectedAndRegistered) {
  host_.helps = [](PodId, PluginId, const Event&) { return false; };
  AddRejected(1, MaskOf(kFit) | MaskOf(kPorts), 0, 0);
  AddRejected(2, MaskOf(kClaims), 0, 0);
  AddRejected(3, MaskOf(kFit), 0, 0);
  host_.hints_asked.clear();
  Happens(kNodeAdd, 1);
  EXPECT_THAT(host_.hints_asked, ElementsAre(Pair(1, kFit), Pair(1, kPorts), Pair(3, kFit)));
}

TEST_F(SchedulingQueueTest, RegistrationsAreOfTheProfile) {
  host_.registrations.push_back({kClaims, kNodeAdd, 1});
  Restart({}, 2);
  AddRejected(1, MaskOf(kClaims), 0, 0);
  queue_->Add(2, 1, At(0));
  ASSERT_EQ(queue_->Pop(At(0)), 2u);
  queue_->AddUnschedulable(2, MaskOf(kClaims), 0, At(0));
  Happens(kNodeAdd, 5);
  EXPECT_EQ(Where(1), "unschedulable");
  EXPECT_EQ(Where(2), "active");
}

TEST_F(SchedulingQueueTest, MoveSparesPodsThatAreTooImportantOrFilteredOut) {
  host_.priority = {{1, 5}, {2, 6}};
  AddRejected(1, MaskOf(kFit), 0, 0);
  AddRejected(2, MaskOf(kFit), 0, 0);
  AddRejected(3, MaskOf(kFit), 0, 0);
  queue_->Move({kPodDelete, {}, {}}, At(1), 5);
  EXPECT_EQ(Where(1), "backoff");
  EXPECT_EQ(Where(2), "unschedulable");
  EXPECT_EQ(Where(3), "backoff");
  queue_->MoveIf({kPodDelete, {}, {}}, At(1), [](const QueuedPod& pod) { return pod.pod != 2; });
  EXPECT_EQ(Where(2), "unschedulable");
  queue_->MoveIf({kPodDelete, {}, {}}, At(1), [](const QueuedPod& pod) { return pod.pod == 2; });
  EXPECT_EQ(Where(2), "backoff");
}

TEST_F(SchedulingQueueTest, AWildCardWithAPodIsForThatPodOnly) {
  AddRejected(1, MaskOf(kFit), 0, 0);
  AddRejected(2, MaskOf(kFit), 0, 0);
  auto pod = std::make_shared<cluster::Pod>();
  pod->uid = "uid-2";
  queue_->Move({kForceActivate, {}, PodSnapshot(pod)}, At(9));
  EXPECT_EQ(Where(1), "unschedulable");
  EXPECT_EQ(Where(2), "active");
  queue_->Move({kForceActivate, {}, std::make_shared<const api::Node>()}, At(9));
  EXPECT_EQ(Where(1), "unschedulable");
}

// --- Backoff

TEST_F(SchedulingQueueTest, BackoffEndsAtTheTickAfterItsWindow) {
  struct Row {
    const char* what;
    double rejected_at;
    int attempts;
    double wake;
  };
  const Row rows[] = {
      {"one second, ended in second 1, flushed at 2", 0, 1, 2},
      {"the fraction is cut: 0.9 + 1 is in second 1", 0.9, 1, 2},
      {"two seconds after the second failure", 0.5, 2, 3},
      {"ten seconds at most", 0, 7, 11},
  };
  for (const Row& row : rows) {
    Restart({});
    queue_->Add(1, 0, At(row.rejected_at));
    for (int i = 0; i < row.attempts; ++i) {
      queue_->Activate(1, At(row.rejected_at));
      ASSERT_EQ(queue_->Pop(At(row.rejected_at)), 1u);
      queue_->AddUnschedulable(1, 0, 0, At(row.rejected_at));
    }
    EXPECT_EQ(Where(1), "error-backoff") << row.what;
    EXPECT_EQ(queue_->NextWake(), At(row.wake)) << row.what;
    queue_->Advance(At(row.wake - 0.001));
    EXPECT_EQ(Where(1), "error-backoff") << row.what;
    queue_->Advance(At(row.wake));
    EXPECT_EQ(Where(1), "active") << row.what;
    EXPECT_EQ(queue_->NextWake(), std::nullopt) << row.what;
  }
}

TEST_F(SchedulingQueueTest, WithoutAlignmentTicksAreCountedFromTheBeginning) {
  QueueOptions options;
  options.backoff.align_to_second = false;
  options.pop_from_backoff = false;
  Restart(options);
  AddRejected(1, 0, 0, 0.25);
  queue_->Add(2, 0, At(0.5));
  ASSERT_EQ(queue_->Pop(At(0.5)), 2u);
  queue_->AddUnschedulable(2, 0, 0, At(0.5));
  EXPECT_EQ(queue_->NextWake(), At(2.25));
  queue_->Advance(At(2.25));
  EXPECT_EQ(Where(1), "active");
  EXPECT_EQ(Where(2), "active");
}

TEST_F(SchedulingQueueTest, BackoffIsPoppedWhenActiveIsEmptyButNeverErrors) {
  host_.priority = {{2, 1}};
  AddRejected(1, MaskOf(kFit), 0, 0);
  AddRejected(2, MaskOf(kFit), 0, 0.5);
  AddRejected(3, 0, 0, 0.5);
  Happens(kNodeAdd, 0.6);
  EXPECT_EQ(queue_->Count(QueueName::kBackoff), 3u);
  TakeIncoming();
  EXPECT_THAT(PopAll(0.7), ElementsAre(2, 1)) << "one window: by priority";
  EXPECT_THAT(TakeIncoming(), ElementsAre("active PopFromBackoffQ", "active PopFromBackoffQ"));
  EXPECT_EQ(Where(3), "error-backoff");
  EXPECT_FALSE(queue_->CanPop());
}

TEST_F(SchedulingQueueTest, BackoffIsLeftAloneWhenTheOptionIsOff) {
  QueueOptions options;
  options.pop_from_backoff = false;
  Restart(options);
  AddRejected(1, MaskOf(kFit), 0, 0);
  Happens(kNodeAdd, 0);
  EXPECT_EQ(Where(1), "backoff");
  EXPECT_FALSE(queue_->CanPop());
  host_.gates[1] = MaskOf(kGate);
  queue_->Advance(At(2));
  EXPECT_EQ(Where(1), "gated") << "the gates are asked after the wait";
}

TEST_F(SchedulingQueueTest, NoBackoffAtAll) {
  QueueOptions options;
  options.backoff.max_ns = 0;
  Restart(options);
  AddRejected(1, 0, 0, 0);
  EXPECT_EQ(Where(1), "active");
}

TEST_F(SchedulingQueueTest, LeftoversAreTriedAtTicksOfThirtySeconds) {
  queue_->Advance(At(10));  // the first moment: ticks are at 10, 40, 70, ...
  AddRejected(1, MaskOf(kFit), 0, 10);
  AddRejected(2, MaskOf(kFit), 0, 11);
  AddRejected(3, MaskOf(kFit), 0, 9.5);
  EXPECT_EQ(queue_->NextWake(), At(340)) << "310 is not more than five minutes after 10";
  queue_->Advance(At(339));
  EXPECT_EQ(queue_->Count(QueueName::kUnschedulable), 3u);
  TakeIncoming();
  queue_->Advance(At(340));
  EXPECT_EQ(queue_->Count(QueueName::kActive), 3u) << "the backoff is long over";
  EXPECT_EQ(TakeIncoming().front(), "active UnschedulableTimeout");
  EXPECT_EQ(queue_->NextWake(), std::nullopt);
}

TEST_F(SchedulingQueueTest, ALateAdvanceRunsTheTicksInOrder) {
  AddRejected(1, MaskOf(kFit), 0, 0);
  AddRejected(2, 0, 0, 0);
  TakeIncoming();
  queue_->Advance(At(100'000));
  EXPECT_THAT(TakeIncoming(), ElementsAre("active BackoffComplete", "active UnschedulableTimeout"));
}

// --- Gates

TEST_F(SchedulingQueueTest, AGatedPodWaitsForItsPlugin) {
  host_.gates[1] = MaskOf(kGate);
  queue_->Add(1, 0, At(0));
  EXPECT_EQ(Where(1), "gated");
  EXPECT_THAT(TakeIncoming(), ElementsAre("unschedulable UnschedulablePodAdd"));
  EXPECT_EQ(queue_->Count(QueueName::kGated), 1u);
  EXPECT_EQ(queue_->Count(QueueName::kUnschedulable), 0u);
  EXPECT_EQ(queue_->Find(1)->unschedulable_plugins, MaskOf(kGate));
  EXPECT_EQ(queue_->Find(1)->initial_attempt, std::nullopt);
  EXPECT_EQ(queue_->NextWake(), std::nullopt) << "a timeout does not open gates";
  host_.gates_asked.clear();

  Happens(kNodeAdd, 1);
  Happens(kUnschedulableTimeout, 1);
  EXPECT_THAT(host_.gates_asked, IsEmpty());
  Happens(kGatesGone, 2);
  EXPECT_THAT(host_.gates_asked, ElementsAre(Pair(1, kGate))) << "the gating plugin first";
  EXPECT_EQ(Where(1), "gated");
  host_.gates.clear();
  const ClusterEvent changes[] = {kShrunk, kGatesGone};
  TakeIncoming();
  queue_->Update(1, changes, nullptr, nullptr, At(3));
  EXPECT_EQ(Where(1), "active");
  EXPECT_EQ(queue_->Count(QueueName::kGated), 0u);
  EXPECT_EQ(queue_->Find(1)->initial_attempt, At(3));
  EXPECT_THAT(TakeIncoming(),
              ElementsAre("active UnschedulablePodUpdatePodSchedulingGatesEliminated"));
}

TEST_F(SchedulingQueueTest, ARejectedPodCanBecomeGatedOnItsWayBack) {
  AddRejected(1, MaskOf(kFit), 0, 0);
  host_.gates[1] = MaskOf(kGate);
  Happens(kNodeAdd, 0.1);
  EXPECT_EQ(Where(1), "gated");
  EXPECT_EQ(queue_->Find(1)->unschedulable_plugins, MaskOf(kFit) | MaskOf(kGate));
  host_.hints_asked.clear();
  Happens(kNodeAdd, 0.2);
  EXPECT_THAT(host_.hints_asked, IsEmpty()) << "only the gating plugin's events matter now";
  host_.gates.clear();
  Happens(kGatesGone, 0.3);
  EXPECT_EQ(Where(1), "backoff");
}

TEST_F(SchedulingQueueTest, GatesAreNotAskedAgainAfterBackoff) {
  AddRejected(1, MaskOf(kFit), 0, 0);
  Happens(kNodeAdd, 0);
  host_.gates[1] = MaskOf(kGate);
  queue_->Advance(At(2));
  EXPECT_EQ(Where(1), "active");
}

TEST_F(SchedulingQueueTest, AnErrorMeetsAGateAndIsNoErrorAfterwards) {
  queue_->Add(1, 0, At(0));
  ASSERT_EQ(queue_->Pop(At(0)), 1u);
  host_.gates[1] = MaskOf(kGate);
  queue_->AddUnschedulable(1, 0, 0, At(0));
  EXPECT_EQ(Where(1), "gated");
  host_.gates.clear();
  Happens(kGatesGone, 0.5);
  EXPECT_EQ(Where(1), "backoff");
}

TEST_F(SchedulingQueueTest, AGateWhosePluginHearsEverythingIsTriedAtEveryTick) {
  host_.registrations.push_back({kGate, kUnschedulableTimeout});
  host_.gates[1] = MaskOf(kGate);
  queue_->Add(1, 0, At(0));
  EXPECT_EQ(queue_->NextWake(), At(330));
  queue_->Advance(At(330));
  EXPECT_EQ(Where(1), "gated");
  EXPECT_EQ(queue_->NextWake(), At(360));
}

// --- In flight

TEST_F(SchedulingQueueTest, EventsDuringTheAttemptAreReplayed) {
  struct Row {
    const char* what;
    PluginMask rejected, pending;
    std::vector<ClusterEvent> before, during;
    const char* where;
  };
  const Row rows[] = {
      {"nothing happened", MaskOf(kFit), 0, {}, {}, "unschedulable"},
      {"before the attempt does not count", MaskOf(kFit), 0, {kNodeAdd}, {}, "unschedulable"},
      {"during the attempt does", MaskOf(kFit), 0, {}, {kNodeAdd}, "backoff"},
      {"for who registered", MaskOf(kClaims), 0, {}, {kNodeAdd}, "unschedulable"},
      {"the best of several",
       MaskOf(kFit),
       MaskOf(kClaims),
       {},
       {kNodeAdd, kClaimUpdate},
       "active"},
      {"a timeout of others", MaskOf(kFit), 0, {}, {kUnschedulableTimeout}, "backoff"},
      {"an error needs no event", 0, 0, {}, {}, "error-backoff"},
  };
  for (const Row& row : rows) {
    Restart({});
    queue_->Add(1, 0, At(0));
    queue_->Add(2, 0, At(0));
    ASSERT_EQ(queue_->Pop(At(0)), 1u);  // keeps the events of `before` alive
    for (const ClusterEvent& event : row.before) Happens(event, 0.1);
    ASSERT_EQ(queue_->Pop(At(0.2)), 2u);
    for (const ClusterEvent& event : row.during) Happens(event, 0.3);
    EXPECT_EQ(queue_->InFlightEvents(), row.before.size() + row.during.size()) << row.what;
    queue_->AddUnschedulable(2, row.rejected, row.pending, At(0.4));
    EXPECT_EQ(Where(2), row.where) << row.what;
    queue_->Done(1);
    EXPECT_EQ(queue_->InFlightEvents(), 0u) << row.what;
  }
}

TEST_F(SchedulingQueueTest, EventsGoWhenNobodyOlderIsInFlight) {
  for (PodId pod = 1; pod <= 3; ++pod) queue_->Add(pod, 0, At(pod));
  queue_->Pop(At(4));
  Happens(kNodeAdd, 4);
  queue_->Pop(At(4));
  Happens(kNodeAdd, 4);
  Happens({EventResource::kCSIDriver, kAdd}, 4);  // nobody registered: not kept
  queue_->Pop(At(4));
  EXPECT_EQ(queue_->InFlightEvents(), 2u);
  queue_->Done(2);
  EXPECT_EQ(queue_->InFlightEvents(), 2u);
  queue_->Done(1);
  EXPECT_EQ(queue_->InFlightEvents(), 0u);
  Happens(kNodeAdd, 5);
  EXPECT_EQ(queue_->InFlightEvents(), 1u);
  queue_->Done(3);
  queue_->Done(3);
  EXPECT_EQ(queue_->InFlightEvents(), 0u);
  Happens(kNodeAdd, 6);
  EXPECT_EQ(queue_->InFlightEvents(), 0u) << "nobody in flight";
}

TEST_F(SchedulingQueueTest, AnUpdateOrActivationInFlightCountsOnReturn) {
  const ClusterEvent changes[] = {kShrunk};
  queue_->Add(1, 0, At(0));
  queue_->Add(2, 0, At(0));
  queue_->Pop(At(0));
  queue_->Pop(At(0));
  queue_->Update(1, changes, nullptr, nullptr, At(0));
  EXPECT_EQ(Where(1), "in-flight");
  queue_->AddUnschedulable(1, MaskOf(kFit), 0, At(0));
  EXPECT_EQ(Where(1), "backoff");
  queue_->Activate(1, At(1));
  queue_->Pop(At(1));
  queue_->Activate(1, At(1));
  queue_->AddUnschedulable(2, MaskOf(kClaims), 0, At(1));
  EXPECT_EQ(Where(2), "unschedulable") << "the activation is of another pod";
  queue_->AddUnschedulable(1, MaskOf(kClaims), 0, At(1));
  EXPECT_EQ(Where(1), "backoff");
}

TEST_F(SchedulingQueueTest, ReportsAboutPodsThatAreNotInFlightDoNothing) {
  queue_->Add(1, 0, At(0));
  queue_->AddUnschedulable(1, 0, 0, At(0));
  queue_->Done(1);
  queue_->AddUnschedulable(9, 0, 0, At(0));
  queue_->Delete(9);
  queue_->Activate(9, At(0));
  queue_->Update(9, {}, nullptr, nullptr, At(0));
  EXPECT_EQ(Where(1), "active");
  EXPECT_EQ(Where(9), "");
  EXPECT_EQ(queue_->Find(9), nullptr);
  EXPECT_EQ(queue_->FindInFlight(1), nullptr);
  EXPECT_EQ(queue_->Find(1)->attempts, 0);
}

TEST_F(SchedulingQueueTest, APodWhoseBindingFailedComesBackAfterDone) {
  queue_->Add(1, 0, At(0));
  queue_->Pop(At(0));
  const QueuedPod info = *queue_->FindInFlight(1);
  queue_->AddFailed(info, At(1));
  EXPECT_EQ(Where(1), "in-flight") << "not Done yet: the report is ignored";
  queue_->Done(1);
  queue_->AddFailed(info, At(1));
  EXPECT_EQ(Where(1), "error-backoff");
  EXPECT_EQ(queue_->Find(1)->attempts, 1);
  EXPECT_EQ(queue_->Find(1)->consecutive_errors_count, 1);
  EXPECT_EQ(queue_->Find(1)->timestamp, At(1));
  EXPECT_EQ(queue_->InFlightCount(), 0u);
}

TEST_F(SchedulingQueueTest, APodDeletedInFlightDoesNotComeBack) {
  queue_->Add(1, 0, At(0));
  queue_->Pop(At(0));
  queue_->Delete(1);
  EXPECT_EQ(Where(1), "in-flight");
  queue_->AddUnschedulable(1, MaskOf(kFit), 0, At(1));
  EXPECT_EQ(Where(1), "");
  EXPECT_EQ(queue_->InFlightCount(), 0u);
}

TEST_F(SchedulingQueueTest, DeleteTakesAPodOutOfWhereverItIs) {
  host_.gates[5] = MaskOf(kGate);
  AddRejected(1, MaskOf(kFit), 0, 0);
  Happens(kNodeAdd, 0);
  AddRejected(2, 0, 0, 0);
  queue_->Delete(1);
  AddRejected(3, MaskOf(kFit), 0, 0);
  queue_->Add(4, 0, At(0));
  queue_->Add(5, 0, At(0));
  for (PodId pod = 2; pod <= 5; ++pod) queue_->Delete(pod);
  for (PodId pod = 1; pod <= 5; ++pod) EXPECT_EQ(Where(pod), "") << pod;
  for (size_t i = 0; i < kQueueNames; ++i) EXPECT_EQ(queue_->Count(QueueName(i)), 0u);
  EXPECT_EQ(queue_->NextWake(), std::nullopt);
  EXPECT_FALSE(queue_->CanPop());
}

// --- Update and Activate

TEST_F(SchedulingQueueTest, AnUpdateInPlaceSortsAgain) {
  queue_->Add(1, 0, At(0));
  queue_->Add(2, 0, At(1));
  host_.priority[2] = 7;
  TakeIncoming();
  queue_->Update(2, {}, nullptr, nullptr, At(2));
  EXPECT_THAT(TakeIncoming(), IsEmpty());
  EXPECT_THAT(PopAll(2), ElementsAre(2, 1));
}

TEST_F(SchedulingQueueTest, AnUpdateOfAnUnschedulablePodIsJudgedByHints) {
  const ClusterEvent changes[] = {{EventResource::kUnschedulablePod, kUpdatePodLabel}, kShrunk};
  AddRejected(1, MaskOf(kPorts), 0, 0);
  queue_->Update(1, changes, nullptr, nullptr, At(0));
  EXPECT_EQ(Where(1), "unschedulable");
  AddRejected(2, MaskOf(kFit), 0, 0);
  queue_->Update(2, changes, nullptr, nullptr, At(0));
  EXPECT_EQ(Where(2), "backoff");
}

TEST_F(SchedulingQueueTest, ActivateTriesAtOnceUnlessGated) {
  AddRejected(1, MaskOf(kFit), 0, 0);
  AddRejected(2, 0, 0, 0);
  host_.gates[3] = MaskOf(kGate);
  queue_->Add(3, 0, At(0));
  AddRejected(4, 0, 0, 0);
  host_.gates[4] = MaskOf(kGate);
  TakeIncoming();
  for (PodId pod = 1; pod <= 4; ++pod) queue_->Activate(pod, At(0));
  EXPECT_EQ(Where(1), "active");
  EXPECT_EQ(Where(2), "active");
  EXPECT_EQ(Where(3), "gated");
  EXPECT_EQ(Where(4), "gated");
  EXPECT_THAT(TakeIncoming(), ElementsAre("active ForceActivate", "active ForceActivate",
                                          "unschedulable ForceActivate"));
}

}  // namespace
}  // namespace berth::queue
