#include "cli/status/replica_table.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/codec/json.h"
#include "kube/hands/replica_record.h"

namespace berth::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

constexpr int64_t kNow = 1'700'000'100'000'000'000;

api::Lease Replica(const std::string& identity, kube::SharingStatus status, int64_t age = 3) {
  api::Lease lease;
  kube::PutRecord({.identity = identity,
                   .address = "10.0.0.1:10259",
                   .server_name = "localhost",
                   .certificate = "PEM",
                   .version = "1.2",
                   .status = std::move(status)},
                  "kube-scheduler", lease);
  lease.spec.lease_duration_seconds = 15;
  lease.spec.renew_time = api::MicroTime::FromUnixNano(kNow - age * 1'000'000'000);
  return lease;
}

api::Lease Election(const std::string& holder, const std::string& in_sync) {
  api::Lease lease;
  lease.metadata.namespace_ = "kube-system";
  lease.metadata.name = "kube-scheduler";
  lease.metadata.annotations["berth.dev/in-sync-replicas"] = in_sync;
  lease.spec.holder_identity = holder;
  lease.spec.lease_transitions = 4;
  return lease;
}

kube::SharingStatus Does(const std::string& role) {
  kube::SharingStatus status;
  status.role = role;
  status.epoch = 4;
  return status;
}

std::vector<api::Lease> Three() {
  kube::HandStatus hand;
  hand.id = "b";
  hand.role = "in sync";
  hand.lag = 2;
  hand.tasks = 90;
  kube::SharingStatus leader = Does("leader");
  leader.waiting = 7;
  leader.hands.push_back(hand);
  return {Replica("c", Does("standby"), 40), Replica("b", Does("hand")), Replica("a", leader)};
}

TEST(ReplicaTable, ShowsWhoDoesWhat) {
  const ReplicaTable table = TableOf(Election("a", "b"), Three(), api::Time::FromUnixNano(kNow));
  EXPECT_EQ(table.lease, "kube-system/kube-scheduler");
  ASSERT_THAT(table.replicas, SizeIs(3));
  EXPECT_EQ(table.replicas[0].identity, "a");
  EXPECT_EQ(table.replicas[0].role, "leader");
  EXPECT_EQ(table.replicas[0].waiting, 7);
  EXPECT_EQ(table.replicas[1].role, "hand");
  EXPECT_TRUE(table.replicas[1].in_sync);
  EXPECT_EQ(table.replicas[1].lag, 2);
  EXPECT_EQ(table.replicas[1].tasks, 90);
  EXPECT_EQ(table.replicas[2].role, "gone") << "its Lease has run out";
  const std::string text = ReplicaText(table, false);
  EXPECT_THAT(text, HasSubstr("in sync"));
  EXPECT_THAT(api::ToJson(table), HasSubstr("\"inSync\":true"));
}

TEST(ReplicaTable, AReplicaThatSaysItLeadsAndDoesNotIsGone) {
  const ReplicaTable table = TableOf(Election("b", ""), Three(), api::Time::FromUnixNano(kNow));
  EXPECT_EQ(table.replicas[0].identity, "b");
  EXPECT_EQ(table.replicas[0].role, "leader");
  EXPECT_EQ(table.replicas[1].role, "gone");
}

TEST(ReplicaTable, NamesOfInSyncReplicasAreComparedAsAWhole) {
  const ReplicaTable table =
      TableOf(Election("a", "bb,ab"), Three(), api::Time::FromUnixNano(kNow));
  EXPECT_FALSE(table.replicas[1].in_sync);
}

TEST(ReplicaTable, SaysWhenNobodySharesWork) {
  const ReplicaTable table = TableOf(Election("a", ""), {}, api::Time::FromUnixNano(kNow));
  EXPECT_EQ(ReplicaText(table, false),
            "lease kube-system/kube-scheduler: led by a; no replicas share work\n");
}

}  // namespace
}  // namespace berth::cli
