#include "kube/hands/replica_leases.h"

#include <algorithm>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kube/hands/testing/lease_server.h"
#include "net/testing/fake_loop.h"

namespace berth::kube {
namespace {

using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

ReplicaRecord Record(const std::string& identity) {
  return {.identity = identity,
          .address = "10.0.0.7:10259",
          .server_name = "localhost",
          .certificate = "PEM",
          .version = "1.2",
          .status = {.role = "leader",
                     .epoch = 4,
                     .hands = {{.id = "b", .role = "in sync", .lag = 1, .tasks = 2}}}};
}

TEST(ReplicaRecord, SurvivesItsLease) {
  api::Lease lease;
  lease.metadata.name = "kube-scheduler-1";
  PutRecord(Record("host_1"), "kube-scheduler", lease);
  const auto record = RecordOf(lease);
  ASSERT_TRUE(record) << record.error().Message();
  EXPECT_EQ(*record, Record("host_1"));
  EXPECT_EQ(lease.metadata.labels.at(std::string(kReplicaLabel)), "kube-scheduler");
}

TEST(ReplicaRecord, RefusesWhatCannotBeReached) {
  struct Row {
    const char* name;
    void (*spoil)(ReplicaRecord& record);
    const char* error;
  };
  const Row rows[] = {
      {"no address", [](auto& r) { r.address = ""; }, "is not HOST:PORT"},
      {"no port", [](auto& r) { r.address = "host"; }, "host is not HOST:PORT"},
      {"a path", [](auto& r) { r.address = "host:1/x"; }, "is not HOST:PORT"},
      {"a user", [](auto& r) { r.address = "u@host:1"; }, "is not HOST:PORT"},
      {"no certificate", [](auto& r) { r.certificate = ""; }, "no berth.dev/certificate"},
      {"no identity", [](auto& r) { r.identity = ""; }, "no holderIdentity"},
      {"two identities", [](auto& r) { r.identity = "a,b"; }, "a comma in holderIdentity"},
  };
  for (const Row& row : rows) {
    ReplicaRecord record = Record("host_1");
    row.spoil(record);
    api::Lease lease;
    PutRecord(record, "kube-scheduler", lease);
    const auto read = RecordOf(lease);
    ASSERT_FALSE(read) << row.name;
    EXPECT_THAT(read.error().Message(), HasSubstr(row.error)) << row.name;
  }
}

TEST(ReplicaRecord, AStatusOfALaterVersionIsNoObstacle) {
  api::Lease lease;
  PutRecord(Record("host_1"), "kube-scheduler", lease);
  lease.metadata.annotations[std::string(kStatusAnnotation)] = "[new]";
  const auto record = RecordOf(lease);
  ASSERT_TRUE(record);
  EXPECT_EQ(record->status.role, "");
}

class ReplicaLeasesTest : public ::testing::Test {
 protected:
  std::unique_ptr<ReplicaLeases> Make(const std::string& identity) {
    auto leases =
        std::make_unique<ReplicaLeases>(loop_, server_, "kube-system", "kube-scheduler", identity);
    leases->Start([identity] { return Record(identity); });
    loop_.RunPosted();
    return leases;
  }
  ReplicaLeases::Seen Note() {
    return [this](const std::vector<ReplicaRecord>& records) {
      seen_.clear();
      for (const ReplicaRecord& record : records) seen_.push_back(record.identity);
    };
  }

  net::FakeLoop loop_;
  LeaseServer server_{loop_};
  std::vector<std::string> seen_;
};

TEST_F(ReplicaLeasesTest, KeepsItsOwn) {
  const auto leases = Make("host_1");
  ASSERT_TRUE(server_.leases.contains("kube-scheduler-1"));
  const auto first = server_.leases.at("kube-scheduler-1").spec.renew_time;
  loop_.Advance(seconds(6));
  EXPECT_NE(server_.leases.at("kube-scheduler-1").spec.renew_time, first);
  server_.leases.clear();
  loop_.Advance(seconds(7));
  EXPECT_TRUE(server_.leases.contains("kube-scheduler-1")) << "somebody had removed it";
  server_.Touch("kube-scheduler-1");
  loop_.Advance(seconds(12));
  EXPECT_EQ(server_.leases.at("kube-scheduler-1").spec.holder_identity, "host_1");
  const size_t writes = server_.lines.size();
  loop_.Advance(seconds(5));
  EXPECT_LE(server_.lines.size() - writes, 2u) << "it goes on at its pace after a conflict";
}

TEST_F(ReplicaLeasesTest, GoesOnAfterAnOutage) {
  server_.down = true;
  const auto leases = Make("host_1");
  loop_.Advance(seconds(3));
  server_.down = false;
  loop_.Advance(seconds(2));
  EXPECT_TRUE(server_.leases.contains("kube-scheduler-1"));
}

TEST_F(ReplicaLeasesTest, FollowsOthersWhileTheyGiveSignsOfLife) {
  const auto own = Make("host_1");
  auto other = Make("host_2");
  own->Follow(Note());
  loop_.Advance(seconds(1));
  EXPECT_THAT(seen_, ElementsAre("host_2"));
  loop_.Advance(seconds(30));
  EXPECT_THAT(seen_, ElementsAre("host_2"));
  other.reset();  // as after kill -9
  loop_.Advance(seconds(21));
  EXPECT_THAT(seen_, IsEmpty());
  EXPECT_TRUE(server_.leases.contains("kube-scheduler-2"));
  loop_.Advance(seconds(60));
  EXPECT_FALSE(server_.leases.contains("kube-scheduler-2")) << "it is forgotten";
}

TEST_F(ReplicaLeasesTest, LeavesOutWhatIsNoReplica) {
  const auto own = Make("host_1");
  api::Lease strange;
  strange.metadata.name = "strange";
  strange.metadata.resource_version = "5";
  server_.leases["strange"] = strange;
  own->Follow(Note());
  loop_.Advance(seconds(2));
  EXPECT_THAT(seen_, IsEmpty());
}

TEST_F(ReplicaLeasesTest, RemovesItsOwnWhenItLeaves) {
  const auto leases = Make("host_1");
  bool left = false;
  leases->Leave(seconds(1), [&] { left = true; });
  loop_.RunPosted();
  EXPECT_TRUE(left);
  EXPECT_THAT(server_.leases, IsEmpty());
  loop_.Advance(seconds(20));
  EXPECT_THAT(server_.leases, IsEmpty());
}

}  // namespace
}  // namespace berth::kube
