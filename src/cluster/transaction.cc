#include "cluster/transaction.h"

#include "base/check.h"
#include "cluster/objects/object_store.h"

namespace berth::cluster {

Transaction::Transaction(Cluster& cluster)
    : cluster_(cluster), log_(*cluster.undo_log_), mark_(log_.Now()), depth_(++log_.depth) {
  if (depth_ > 1) return;
  cluster_.undo_ = &log_;
  cluster_.nominations_.set_log(&log_.nominations);
  cluster_.objects_->resource_claims.set_log(&log_.objects);
  cluster_.objects_->in_flight_claims.set_log(&log_.objects);
}

void Transaction::Close() {
  depth_ = 0;
  if (--log_.depth > 0) return;
  log_.placements.clear();
  log_.freed.clear();
  log_.ports.clear();
  log_.nominations.clear();
  log_.objects.clear();
  cluster_.undo_ = nullptr;
  cluster_.nominations_.set_log(nullptr);
  cluster_.objects_->resource_claims.set_log(nullptr);
  cluster_.objects_->in_flight_claims.set_log(nullptr);
}

void Transaction::Commit() {
  BERTH_DCHECK(depth_ != 0 && depth_ == log_.depth);
  Close();
}

void Transaction::Rollback() {
  BERTH_DCHECK(depth_ != 0 && depth_ == log_.depth);
  for (; log_.objects.size() > mark_.objects; log_.objects.pop_back()) log_.objects.back()();
  for (; log_.nominations.size() > mark_.nominations; log_.nominations.pop_back()) {
    cluster_.nominations_.Undo(log_.nominations.back());
  }
  for (; log_.ports.size() > mark_.ports; log_.ports.pop_back()) {
    const UndoLog::Port& change = log_.ports.back();
    change.taken ? cluster_.host_ports_.Release(change.node, change.port)
                 : cluster_.host_ports_.Take(change.node, change.port);
  }
  if (log_.placements.size() > mark_.placements) UndoPlacements();
  Close();
}

// Counts first, by pod: only those that are not where they were have to be counted again. Then the
// lists of pods, change by change.
void Transaction::UndoPlacements() {
  const size_t end = log_.placements.size();
  if (log_.seen.size() < cluster_.pods_.size()) log_.seen.resize(cluster_.pods_.size());
  if (++log_.rollbacks == 0) {
    log_.seen.assign(log_.seen.size(), 0);
    log_.rollbacks = 1;
  }
  for (size_t i = mark_.placements; i < end; ++i) {
    const UndoLog::Placement& first = log_.placements[i];
    if (log_.seen[first.pod] == log_.rollbacks) continue;
    log_.seen[first.pod] = log_.rollbacks;
    const Pod& pod = cluster_.pods_[first.pod];
    const NodeIndex before = first.placed ? kNoNode : first.node;
    if (pod.node == before) continue;
    if (pod.node != kNoNode) cluster_.CountOff(pod, pod.node);
    if (before != kNoNode) cluster_.CountOn(pod, before);
  }
  for (; log_.placements.size() > mark_.placements; log_.placements.pop_back()) {
    UndoPlacement(log_.placements.back());
  }
}

void Transaction::UndoPlacement(const UndoLog::Placement& change) {
  const NodeIndex n = change.node;
  Pod& pod = cluster_.pods_[change.pod];
  NodeRecord& record = cluster_.records_[n];
  cluster_.changes_.Note(n);
  if (change.placed) {
    BERTH_DCHECK(pod.node == n && record.pods.back() == change.pod);
    record.pods.pop_back();
    pod.node = kNoNode;
    pod.assumed = false;
    if (change.named) pod.node_name.clear();
    return;
  }
  if (change.freed) {
    const UndoLog::Row& row = log_.freed.back();
    BERTH_DCHECK(row.row == n && cluster_.free_rows_.back() == n);
    cluster_.free_rows_.pop_back();
    cluster_.row_of_name_.emplace(row.name, n);
    record.name = row.name;
    log_.freed.pop_back();
  }
  auto& list = record.pods;
  if (change.position == list.size()) {
    list.push_back(change.pod);
  } else {  // the last pod had taken its place
    const PodId last = list[change.position];
    cluster_.pods_[last].position = static_cast<uint32_t>(list.size());
    list.push_back(last);
    list[change.position] = change.pod;
  }
  pod.node = n;
  pod.position = change.position;
  pod.assumed = change.assumed;
  if (change.named) pod.node_name = cluster_.NodeName(n);
}

}  // namespace berth::cluster
