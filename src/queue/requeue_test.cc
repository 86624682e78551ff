#include "queue/requeue.h"

#include <gtest/gtest.h>

#include "cluster/cluster.h"
#include "cluster/testing/builders.h"

namespace berth::queue {
namespace {

constexpr uint64_t kA = 1, kB = 2, kC = 4;

TEST(RequeueTest, PluginsDecide) {
  struct Row {
    const char* what;
    Rejection rejected_by;
    uint64_t registered;
    uint64_t helps;  // who says so
    Requeue decision;
  };
  const Event event{{EventResource::kNode, kAdd}, {}, {}};
  for (const Row& row : std::initializer_list<Row>{
           {"nobody rejected it", {0, 0}, 0, 0, Requeue::kAfterBackoff},
           {"nobody registered", {kA, kB}, kC, kA | kB | kC, Requeue::kSkip},
           {"a hint says no", {kA, 0}, kA, kB, Requeue::kSkip},
           {"a hint says yes", {kA | kC, 0}, kA | kC, kC, Requeue::kAfterBackoff},
           {"who waits needs no backoff", {kA, kB}, kA | kB, kA | kB, Requeue::kImmediately},
           {"who waits says no", {kA, kB}, kA | kB, kA, Requeue::kAfterBackoff}}) {
    uint64_t asked = 0;
    const Requeue decision =
        DecideRequeue(row.rejected_by, "u", event, row.registered, [&](uint8_t plugin) {
          asked |= uint64_t{1} << plugin;
          return (row.helps >> plugin & 1) != 0;
        });
    EXPECT_EQ(decision, row.decision) << row.what;
    EXPECT_EQ(asked & ~(row.registered & (row.rejected_by.unschedulable | row.rejected_by.pending)),
              0u)
        << row.what << ": only who rejected the pod and registered is asked";
  }
}

TEST(RequeueTest, EventsAboutNoObject) {
  cluster::Cluster cluster;
  const auto never = [](uint8_t) { return false; };
  const Rejection rejection{kA, kB};
  Event event{kForceActivate, {}, {}};
  EXPECT_EQ(DecideRequeue(rejection, "p", event, 0, never), Requeue::kAfterBackoff);
  event.new_object = cluster.Snapshot(cluster::MakePod("p"));
  EXPECT_EQ(DecideRequeue(rejection, "p", event, 0, never), Requeue::kAfterBackoff);
  EXPECT_EQ(DecideRequeue(rejection, "other", event, 0, never), Requeue::kSkip);
}

}  // namespace
}  // namespace berth::queue
