#include "kube/election/leader_elector.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/codec/proto.h"
#include "api/codec/protozero.h"
#include "api/coordination/lease.h"
#include "api/object.h"
#include "kube/election/lease_lock.h"
#include "kube/election/lease_times.h"
#include "kube/hex.h"
#include "kube/testing/fake_api_client.h"
#include "net/testing/fake_loop.h"

namespace berth::kube {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr const char* kMe = "vm_a322311d-24f0-491d-99cf-51595c5a7341";
constexpr const char* kOther = "vm_other";
constexpr const char* kPath =
    "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/kube-scheduler?timeout=5s";
constexpr const char* kCollection =
    "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases?timeout=5s";

config::LeaderElectionConfiguration Config() {
  config::LeaderElectionConfiguration config;
  config.lease_duration.ns = net::Nanoseconds(seconds(15)).count();
  config.renew_deadline.ns = net::Nanoseconds(seconds(10)).count();
  config.retry_period.ns = net::Nanoseconds(seconds(2)).count();
  config.resource_lock = "leases";
  config.resource_namespace = "kube-system";
  config.resource_name = "kube-scheduler";
  return config;
}

class LeaderElectorTest : public ::testing::Test {
 protected:
  LeaderElectorTest() : loop_(*api::Time::Parse("2026-11-15T19:39:42.929294Z")) {
    LeaderCallbacks callbacks;
    callbacks.started_leading = [this](const Succession& succession) {
      told_.push_back("started");
      succession_ = succession;
    };
    callbacks.is_silent = [this] { return silent_; };
    callbacks.stopped_leading = [this] { told_.push_back("stopped"); };
    callbacks.held_until = [this](net::Nanoseconds until) { held_until_ = until; };
    callbacks.new_leader = [this](std::string_view who) {
      told_.push_back("leader " + std::string(who));
    };
    callbacks.in_sync_written = [this](const std::string& in_sync) { in_sync_ = in_sync; };
    callbacks.record = [this](std::string_view uid, std::string_view version,
                              std::string_view message) {
      told_.push_back("event " + std::string(uid) + "@" + std::string(version) + " " +
                      std::string(message));
    };
    elector_ = std::move(*LeaderElector::Make(loop_, client_, Config(), kMe, std::move(callbacks)));
  }

  std::string LastLine() const { return client_.Last().Line(); }
  api::Lease LastSent() const {
    auto object = api::DecodeObjectProto(client_.Last().request.body);
    return object ? std::get<api::Lease>(*object) : api::Lease{};
  }
  // The server takes what was sent, and gives it a version.
  void Accept() {
    api::Lease lease = LastSent();
    lease.metadata.uid = "uid-1";
    lease.metadata.resource_version = std::to_string(++version_);
    client_.RespondNext(FakeApiClient::Success(api::ToEnvelope(lease)));
  }
  // What a GET finds.
  void Find(std::string holder, int renewals = 0, int transitions = 0, int duration = 15) {
    api::Lease lease;
    lease.metadata.name = "kube-scheduler";
    lease.metadata.namespace_ = "kube-system";
    lease.metadata.uid = "uid-1";
    lease.metadata.resource_version = std::to_string(++version_);
    lease.spec.holder_identity = std::move(holder);
    lease.spec.lease_duration_seconds = duration;
    lease.spec.lease_transitions = transitions;
    lease.spec.renew_time = api::MicroTime::FromUnixNano(1'000'000'000'000 + renewals * 1000);
    client_.RespondNext(FakeApiClient::Success(api::ToEnvelope(lease)));
  }
  void NotFound() {
    client_.RespondNext(FakeApiClient::Failure(
        404, "NotFound", "leases.coordination.k8s.io \"kube-scheduler\" not found"));
  }
  void Conflict() { client_.RespondNext(FakeApiClient::Failure(409, "Conflict", "modified")); }
  void Lead() {
    elector_->Start();
    NotFound();
    Accept();
    Accept();
    told_.clear();
  }

  net::FakeLoop loop_;
  FakeApiClient client_;
  std::vector<std::string> told_;
  net::Nanoseconds held_until_{0};
  Succession succession_;
  std::string in_sync_;
  bool silent_ = true;
  std::unique_ptr<LeaderElector> elector_;
  int version_ = 207;
};

TEST_F(LeaderElectorTest, WithoutALeaseItIsCreatedAndRenewedAtOnceAndEveryRetryPeriod) {
  elector_->Start();
  EXPECT_FALSE(elector_->IsLeader());
  EXPECT_EQ(LastLine(), std::string("GET ") + kPath);
  EXPECT_EQ(client_.Last().request.timeout, seconds(5));
  NotFound();
  EXPECT_EQ(LastLine(), std::string("POST ") + kCollection);
  EXPECT_EQ(Hex(client_.Last().request.body),
            "6b3873000a1f0a16636f6f7264696e6174696f6e2e6b38732e696f2f763112054c6561736512760a290a0e"
            "6b7562652d7363686564756c657212001a0b6b7562652d73797374656d22002a003200380042001249"
            "0a27766d5f61333232333131642d323466302d343931642d393963662d353135393563356137333431"
            "100f1a0c08fe94e8d70610b0cd8fbb03220c08fe94e8d70610b0cd8fbb0328001a002200");
  Accept();
  EXPECT_TRUE(elector_->IsLeader());
  EXPECT_EQ(elector_->Leader(), kMe);
  EXPECT_EQ(LastLine(), std::string("PUT ") + kPath);
  EXPECT_THAT(told_,
              ElementsAre(std::string("leader ") + kMe,
                          std::string("event uid-1@208 ") + kMe + " became leader", "started"));
  Accept();
  for (int i = 0; i < 5; ++i) {
    const size_t before = client_.Size();
    loop_.Advance(milliseconds(1999));
    EXPECT_EQ(client_.Size(), before);
    loop_.Advance(milliseconds(1));
    EXPECT_EQ(LastLine(), std::string("PUT ") + kPath);
    EXPECT_EQ(LastSent().spec.acquire_time->Format(), "2026-11-15T19:39:42.929294Z");
    EXPECT_EQ(LastSent().metadata.resource_version, std::to_string(version_));
    Accept();
  }
  EXPECT_EQ(LastSent().spec.renew_time->Format(), "2026-11-15T19:39:52.929294Z");
}

TEST_F(LeaderElectorTest, AStandbyPollsUntilTheLeaseIsFree) {
  elector_->Start();
  Find(kOther, 0, 3);
  EXPECT_EQ(held_until_, seconds(0));
  EXPECT_THAT(told_, ElementsAre(std::string("leader ") + kOther));
  EXPECT_FALSE(elector_->IsLeader());
  loop_.Advance(milliseconds(549));
  EXPECT_EQ(client_.CountOpen(), 0u);
  loop_.Advance(milliseconds(1));
  EXPECT_EQ(LastLine(), std::string("GET ") + kPath);
  Find("", 1, 3);
  EXPECT_EQ(LastLine(), std::string("PUT ") + kPath);
  EXPECT_EQ(LastSent().spec.lease_transitions, 4);
  EXPECT_EQ(LastSent().spec.holder_identity, kMe);
  EXPECT_EQ(LastSent().spec.acquire_time, LastSent().spec.renew_time);
  Accept();
  EXPECT_TRUE(elector_->IsLeader());
}

TEST_F(LeaderElectorTest, ALeaseExpiresByOurClockSinceItLastChanged) {
  elector_->Start();
  Find(kOther, 0);
  for (int i = 1; i <= 40; ++i) {  // signs of life: 22 s of them
    loop_.Advance(milliseconds(550));
    Find(kOther, i);
  }
  const net::Nanoseconds last_change = loop_.Steady();
  while (loop_.Steady() < last_change + seconds(15)) {
    EXPECT_EQ(client_.Last().request.method, "GET");
    loop_.Advance(milliseconds(1));
    if (client_.CountOpen() > 0) Find(kOther, 40);
  }
  EXPECT_EQ(LastLine(), std::string("PUT ") + kPath) << "at once when it has expired";
  Accept();
  EXPECT_TRUE(elector_->IsLeader());
  EXPECT_TRUE(succession_.follows_another);
  EXPECT_EQ(succession_.silent_from, last_change + seconds(15));
  EXPECT_EQ(succession_.epoch, 1);
}

TEST_F(LeaderElectorTest, AStandbyThatLosesTheRaceGoesOnWaiting) {
  elector_->Start();
  Find("");
  Conflict();
  EXPECT_FALSE(elector_->IsLeader());
  loop_.Advance(seconds(5));
  EXPECT_EQ(LastLine(), std::string("GET ") + kPath);
}

TEST_F(LeaderElectorTest, WithoutPermissionItKeepsTrying) {
  elector_->Start();
  for (int i = 0; i < 4; ++i) {
    client_.RespondNext(FakeApiClient::Failure(403, "Forbidden", "forbidden"));
    loop_.Advance(seconds(5));
    EXPECT_EQ(client_.Size(), static_cast<size_t>(i + 2));
  }
  EXPECT_THAT(told_, IsEmpty());
}

TEST_F(LeaderElectorTest, L1AStolenLeaseIsLostAtOnce) {
  Lead();
  loop_.Advance(seconds(2));
  Conflict();
  EXPECT_EQ(LastLine(), std::string("GET ") + kPath);
  Find(kOther, 1);
  EXPECT_THAT(told_,
              ElementsAre(std::string("leader ") + kOther,
                          "event uid-1@210 " + std::string(kMe) + " stopped leading", "stopped"));
  EXPECT_FALSE(elector_->IsLeader());
  loop_.Advance(seconds(60));
  EXPECT_EQ(client_.CountOpen(), 0u);
  EXPECT_EQ(loop_.Timers(), 0u);
}

TEST_F(LeaderElectorTest, L1AProcessThatWasStoppedBeyondItsLeaseLosesItWithoutAsking) {
  Lead();
  loop_.Advance(seconds(1));
  const size_t asked = client_.Size();
  loop_.Freeze(seconds(14));
  loop_.Advance(seconds(0));
  EXPECT_THAT(told_, ElementsAre(HasSubstr("stopped leading"), "stopped"));
  EXPECT_EQ(client_.Size(), asked);
  EXPECT_EQ(loop_.Timers(), 0u);
}

TEST_F(LeaderElectorTest, L1AnAnswerThatComesAfterTheLeaseIsNoRenewal) {
  Lead();
  loop_.Advance(seconds(2));  // a renewal is on its way
  loop_.Freeze(seconds(15));
  Accept();
  EXPECT_THAT(told_, ElementsAre(HasSubstr("stopped leading"), "stopped"));
}

TEST_F(LeaderElectorTest, L1ABriefStopKeepsTheLead) {
  Lead();
  loop_.Advance(seconds(1));
  loop_.Freeze(seconds(8));
  loop_.Advance(seconds(0));
  EXPECT_EQ(LastLine(), std::string("PUT ") + kPath);
  Accept();
  EXPECT_THAT(told_, IsEmpty());
  EXPECT_TRUE(elector_->IsLeader());
}

TEST_F(LeaderElectorTest, WritesMayBeSentUntilTheRenewDeadlineAfterTheAttemptBegan) {
  elector_->Start();
  NotFound();
  loop_.Advance(seconds(1));
  Accept();
  EXPECT_EQ(held_until_, seconds(10));
  Accept();  // of the renewal that follows at once
  EXPECT_EQ(held_until_, seconds(11));
  loop_.Advance(seconds(2));
  loop_.Advance(milliseconds(300));
  Accept();
  EXPECT_EQ(held_until_, seconds(13));
}

TEST_F(LeaderElectorTest, L1ALeaseThatAnotherHoldsIsNotReleased) {
  Lead();
  bool released = false;
  elector_->Release([&] { released = true; });
  Find(kOther, 1);
  EXPECT_TRUE(released);
  EXPECT_EQ(LastLine(), std::string("GET ") + kPath);
}

TEST_F(LeaderElectorTest, ADeletedLeaseIsMadeAgain) {
  Lead();
  loop_.Advance(seconds(2));
  const std::string acquired = LastSent().spec.acquire_time->Format();
  Conflict();
  NotFound();
  EXPECT_EQ(LastLine(), std::string("POST ") + kCollection);
  EXPECT_EQ(LastSent().spec.acquire_time->Format(), acquired);
  Accept();
  EXPECT_THAT(told_, IsEmpty());
  loop_.Advance(seconds(2));
  EXPECT_EQ(LastLine(), std::string("PUT ") + kPath);
}

TEST_F(LeaderElectorTest, AShortOutageIsSurvived) {
  Lead();
  loop_.Advance(seconds(2));
  for (int i = 0; i < 4; ++i) {
    client_.RespondNext(FakeApiClient::Broken(net::HttpError::Kind::kRefused, "refused"));  // PUT
    client_.RespondNext(FakeApiClient::Broken(net::HttpError::Kind::kRefused, "refused"));  // GET
    EXPECT_EQ(client_.CountOpen(), 0u);
    loop_.Advance(seconds(2));
    EXPECT_EQ(LastLine(), std::string("PUT ") + kPath);
  }
  Accept();
  EXPECT_THAT(told_, IsEmpty());
  EXPECT_TRUE(elector_->IsLeader());
}

TEST_F(LeaderElectorTest, AnOutagePastTheDeadlineIsNot) {
  Lead();
  loop_.Advance(seconds(2));
  loop_.Advance(seconds(10));  // the PUT is never answered
  EXPECT_EQ(LastLine(), std::string("GET ") + kPath);
  EXPECT_EQ(client_.CountOpen(), 1u);
  EXPECT_THAT(told_, IsEmpty());
  client_.RespondNext(FakeApiClient::Broken(net::HttpError::Kind::kTimeout, "timeout"));
  EXPECT_THAT(told_, ElementsAre(HasSubstr("stopped leading"), "stopped"));
}

TEST_F(LeaderElectorTest, ALeaseIsNotGivenUpWhileRequestsAreUnderWay) {
  Lead();
  loop_.Advance(seconds(2));
  silent_ = false;
  loop_.Advance(seconds(10));  // the PUT is never answered
  EXPECT_EQ(client_.CountOpen(), 0u);
  EXPECT_THAT(told_, ElementsAre(HasSubstr("stopped leading"), "stopped"));
}

TEST_F(LeaderElectorTest, AFirstLeaderFollowsNobody) {
  elector_->Start();
  NotFound();
  Accept();
  EXPECT_FALSE(succession_.follows_another);
  EXPECT_EQ(succession_.silent_from, seconds(0));
  EXPECT_EQ(succession_.epoch, 0);
}

TEST_F(LeaderElectorTest, ALeaseThatWasGivenUpNeedsNoWaiting) {
  elector_->Start();
  Find(kOther, 0, 3);
  loop_.Advance(seconds(1));
  Find("", 1, 3, 1);
  Accept();
  EXPECT_TRUE(succession_.follows_another);
  EXPECT_EQ(succession_.silent_from, seconds(0));
  EXPECT_EQ(succession_.epoch, 4);
}

TEST_F(LeaderElectorTest, AHolderThatWasRemovedByHandMayStillGoOn) {
  elector_->Start();
  Find(kOther, 0, 3);
  loop_.Advance(seconds(1));
  Find("", 1, 3, 15);
  Accept();
  EXPECT_EQ(succession_.silent_from, seconds(15));
}

TEST_F(LeaderElectorTest, AHolderWhoseLeaseWasDeletedMayStillGoOn) {
  elector_->Start();
  Find(kOther, 0, 3);
  loop_.Advance(seconds(1));
  NotFound();
  Accept();
  EXPECT_TRUE(elector_->IsLeader());
  EXPECT_TRUE(succession_.follows_another);
  EXPECT_EQ(succession_.silent_from, seconds(15));
}

TEST_F(LeaderElectorTest, ReleaseHandsTheLeaseOver) {
  Lead();
  loop_.Advance(milliseconds(500));
  bool released = false;
  elector_->Release([&] { released = true; });
  EXPECT_EQ(LastLine(), std::string("GET ") + kPath);
  Find(kMe, 0, 6);
  EXPECT_EQ(LastLine(), std::string("PUT ") + kPath);
  const api::LeaseSpec spec = LastSent().spec;
  EXPECT_EQ(spec.holder_identity, "");
  EXPECT_EQ(spec.lease_duration_seconds, 1);
  EXPECT_EQ(spec.lease_transitions, 6);
  EXPECT_EQ(spec.acquire_time->Format(), "2026-11-15T19:39:43.429294Z");
  EXPECT_EQ(spec.acquire_time, spec.renew_time);
  EXPECT_FALSE(released);
  Accept();
  EXPECT_TRUE(released);
  EXPECT_FALSE(elector_->IsLeader());
  EXPECT_THAT(told_, IsEmpty());
  EXPECT_EQ(loop_.Timers(), 0u);
}

TEST_F(LeaderElectorTest, ReleaseDoesNotWaitForeverNorAskAsAStandby) {
  bool released = false;
  elector_->Start();
  Find(kOther);
  elector_->Release([&] { released = true; });
  EXPECT_EQ(client_.CountOpen(), 0u);
  loop_.Advance(milliseconds(1));
  EXPECT_TRUE(released);
  loop_.Advance(seconds(60));
  EXPECT_EQ(client_.Size(), 1u);
}

TEST_F(LeaderElectorTest, ReleaseWithoutAnAnswerEndsAtTheDeadline) {
  Lead();
  int released = 0;
  elector_->Release([&] { ++released; });
  elector_->Release([&] { ++released; });
  loop_.Advance(seconds(10));
  EXPECT_EQ(released, 2);
  EXPECT_EQ(client_.CountOpen(), 0u);
}

TEST_F(LeaderElectorTest, UnknownFieldsOfTheLeaseAreKept) {
  elector_->Start();
  api::Lease lease;
  lease.metadata.name = "kube-scheduler";
  lease.metadata.namespace_ = "kube-system";
  lease.metadata.resource_version = "9";
  std::string message = api::ToProto(lease);
  protozero::pbf_writer(message).add_message(99, std::string("unknown"));
  client_.RespondNext(
      FakeApiClient::Success(api::WrapEnvelope("coordination.k8s.io/v1", "Lease", message)));
  EXPECT_EQ(LastLine(), std::string("PUT ") + kPath);
  EXPECT_THAT(client_.Last().request.body, HasSubstr("unknown"));
  EXPECT_EQ(LastSent().metadata.resource_version, "9");
}

TEST_F(LeaderElectorTest, HealthFailsWhenRenewalIsOverdue) {
  EXPECT_TRUE(elector_->Check(seconds(20)));
  Lead();
  loop_.Advance(seconds(2));
  EXPECT_TRUE(elector_->Check(seconds(20)));
  EXPECT_FALSE(elector_->Check(seconds(-14)));
  EXPECT_EQ(elector_->Check(seconds(-14)).error().Message(),
            "failed election to renew leadership on lease kube-scheduler");
}

TEST(LeaseTimes, EverythingSentIsOverBeforeTheLeaseRunsOut) {
  for (const auto& [lease, deadline] : {std::pair(15000, 10000), {4000, 3000}, {60000, 59000}}) {
    const LeaseTimes times{milliseconds(lease), milliseconds(deadline), seconds(1)};
    EXPECT_LE(times.renew_deadline + 2 * times.WriteTimeout(), times.lease);
    EXPECT_GT(times.WriteTimeout(), seconds(0));
  }
  const LeaseTimes usual{seconds(15), seconds(10), seconds(2)};
  EXPECT_EQ(usual.WriteTimeout(), milliseconds(2500));
  EXPECT_EQ(usual.StandbyPause(0), milliseconds(500));
  EXPECT_EQ(usual.StandbyPause(0.5), milliseconds(550));
}

TEST(LeaderElectorMake, RefusesDurationsThatCannotWork) {
  struct Row {
    int lease, renew, retry;
    const char* error;
  };
  const Row rows[] = {
      {5, 10, 2, "leaseDuration must be greater than renewDeadline"},
      {10, 10, 2, "leaseDuration must be greater than renewDeadline"},
      {15, 10, 9, "renewDeadline must be greater than retryPeriod*JitterFactor"},
      {15, 0, 0, "renewDeadline must be greater than retryPeriod*JitterFactor"},
      {15, 10, 0, "retryPeriod must be greater than zero"},
      {15, 10, 2, ""},
  };
  net::FakeLoop loop;
  FakeApiClient client;
  for (const Row& row : rows) {
    config::LeaderElectionConfiguration config = Config();
    config.lease_duration.ns = net::Nanoseconds(seconds(row.lease)).count();
    config.renew_deadline.ns = net::Nanoseconds(seconds(row.renew)).count();
    config.retry_period.ns = net::Nanoseconds(seconds(row.retry)).count();
    const auto made = LeaderElector::Make(loop, client, config, kMe, {});
    EXPECT_EQ(made ? "" : made.error().Message(), row.error);
  }
}

// ---- Replicas in sync

std::string InSyncOf(const api::Lease& lease) {
  const auto found = lease.metadata.annotations.find(std::string(kInSyncAnnotation));
  return found == lease.metadata.annotations.end() ? "" : found->second;
}

TEST_F(LeaderElectorTest, ReplicasInSyncAreWrittenAtOnceAndWithEveryRenewal) {
  Lead();
  EXPECT_EQ(InSyncOf(LastSent()), "");
  elector_->SetInSync("a,b");
  EXPECT_EQ(InSyncOf(LastSent()), "a,b");
  EXPECT_EQ(in_sync_, "") << "it is not written yet";
  elector_->SetInSync("a");
  Accept();
  EXPECT_EQ(in_sync_, "a,b");
  EXPECT_EQ(InSyncOf(LastSent()), "a") << "the next attempt follows at once";
  Accept();
  EXPECT_EQ(in_sync_, "a");
  loop_.Advance(seconds(2));
  EXPECT_EQ(InSyncOf(LastSent()), "a");
  Accept();
  elector_->SetInSync("");
  EXPECT_EQ(InSyncOf(LastSent()), "");
}

TEST_F(LeaderElectorTest, AStandbySetsNoReplicasInSync) {
  elector_->Start();
  Find(kOther);
  const std::string line = LastLine();
  elector_->SetInSync("a");
  EXPECT_EQ(LastLine(), line);
}

}  // namespace
}  // namespace berth::kube
