#include "cli/status/replica_table.h"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "base/visible.h"
#include "kube/election/lease_lock.h"
#include "kube/hands/replica_record.h"
#include "term/terminal.h"

namespace berth::cli {
namespace {

constexpr uint32_t kJsonOnly = 0;
constexpr int64_t kSecond = 1'000'000'000;
constexpr const char* kLeader = "leader";

bool Names(const std::string& joined, const std::string& identity) {
  return fmt::format(",{},", joined).find(fmt::format(",{},", identity)) != std::string::npos;
}

std::string InSyncOf(const api::Lease& election) {
  const auto found = election.metadata.annotations.find(std::string(kube::kInSyncAnnotation));
  return found == election.metadata.annotations.end() ? "" : found->second;
}

}  // namespace

const api::TypeInfo& ReplicaRow::Type() {
  static const api::TypeInfo type =
      api::Describe<ReplicaRow>("ReplicaRow")
          .Field(kJsonOnly, "identity", &ReplicaRow::identity)
          .Field(kJsonOnly, "role", &ReplicaRow::role)
          .Always(kJsonOnly, "epoch", &ReplicaRow::epoch)
          .Always(kJsonOnly, "inSync", &ReplicaRow::in_sync)
          .Field(kJsonOnly, "part", &ReplicaRow::part)
          .Always(kJsonOnly, "lag", &ReplicaRow::lag)
          .Always(kJsonOnly, "tasks", &ReplicaRow::tasks)
          .Always(kJsonOnly, "waiting", &ReplicaRow::waiting)
          .Always(kJsonOnly, "drops", &ReplicaRow::drops)
          .Field(kJsonOnly, "version", &ReplicaRow::version)
          .Field(kJsonOnly, "address", &ReplicaRow::address)
          .Always(kJsonOnly, "seenSecondsAgo", &ReplicaRow::seen_seconds_ago)
          .Build();
  return type;
}

const api::TypeInfo& ReplicaTable::Type() {
  static const api::TypeInfo type = api::Describe<ReplicaTable>("ReplicaTable")
                                        .Field(kJsonOnly, "lease", &ReplicaTable::lease)
                                        .Field(kJsonOnly, "holder", &ReplicaTable::holder)
                                        .Always(kJsonOnly, "epoch", &ReplicaTable::epoch)
                                        .Always(kJsonOnly, "replicas", &ReplicaTable::replicas)
                                        .Build();
  return type;
}

ReplicaTable TableOf(const api::Lease& election, const std::vector<api::Lease>& leases,
                     api::Time now) {
  ReplicaTable table;
  table.lease = election.metadata.namespace_ + "/" + election.metadata.name;
  table.holder = election.spec.holder_identity.value_or("");
  table.epoch = election.spec.lease_transitions.value_or(0);
  const std::string in_sync = InSyncOf(election);
  std::map<std::string, kube::HandStatus> hands;  // as the leader says
  for (const api::Lease& lease : leases) {
    const auto record = kube::RecordOf(lease);
    if (!record) continue;
    ReplicaRow row;
    row.identity = record->identity;
    row.role = record->status.role;
    row.epoch = record->status.epoch;
    row.waiting = record->status.waiting;
    row.version = record->version;
    row.address = record->address;
    row.in_sync = Names(in_sync, row.identity);
    const int64_t renewed = lease.spec.renew_time.value_or(api::MicroTime()).UnixNano();
    row.seen_seconds_ago = std::max<int64_t>(0, (now.UnixNano() - renewed) / kSecond);
    if (row.seen_seconds_ago > lease.spec.lease_duration_seconds.value_or(0)) row.role = "gone";
    if (row.identity == table.holder) {
      row.role = kLeader;
      row.epoch = table.epoch;
      for (const kube::HandStatus& hand : record->status.hands) hands[hand.id] = hand;
    } else if (row.role == kLeader) {
      row.role = "gone";  // another one holds the Lease by now
    }
    table.replicas.push_back(std::move(row));
  }
  for (ReplicaRow& row : table.replicas) {
    const auto hand = hands.find(row.identity);
    if (hand == hands.end() || row.role == kLeader) continue;
    row.part = hand->second.role;
    row.lag = hand->second.lag;
    row.tasks = hand->second.tasks;
    row.waiting = hand->second.waiting;
    row.drops = hand->second.drops;
  }
  std::sort(table.replicas.begin(), table.replicas.end(),
            [](const ReplicaRow& a, const ReplicaRow& b) {
              const bool a_leads = a.role == kLeader;
              const bool b_leads = b.role == kLeader;
              return a_leads != b_leads ? a_leads : a.identity < b.identity;
            });
  return table;
}

std::string ReplicaText(const ReplicaTable& table, bool colour) {
  if (table.replicas.empty()) {
    return fmt::format("lease {}: {}; no replicas share work\n", Visible(table.lease),
                       table.holder.empty() ? "nobody leads" : "led by " + Visible(table.holder));
  }
  term::Table text(
      {"REPLICA", "ROLE", "EPOCH", "PART", "LAG", "TASKS", "WAITING", "DROPS", "SEEN", "VERSION"});
  for (const size_t column : {2, 4, 5, 6, 7, 8}) text.Right(column);
  for (const ReplicaRow& row : table.replicas) {
    const bool leads = row.role == kLeader;
    const auto number = [&](int64_t value) { return leads ? "" : std::to_string(value); };
    text.Row({row.identity, row.role, std::to_string(row.epoch), row.in_sync ? "in sync" : row.part,
              number(row.lag), number(row.tasks), std::to_string(row.waiting), number(row.drops),
              fmt::format("{}s", row.seen_seconds_ago), row.version});
  }
  return text.Text(colour);
}

}  // namespace berth::cli
