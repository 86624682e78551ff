#include "framework/classes/class_cache.h"

#include "framework/runtime/cycle.h"

namespace berth::framework {
namespace {

// Answers of a class after which its memory is measured again.
constexpr uint32_t kMeasureEvery = 1024;

}  // namespace

ClassCache::ClassCache(const Profile& profile, size_t memory_bytes)
    : plan_(profile), store_(memory_bytes), refresh_(plan_, store_), evaluator_(plan_, refresh_) {}

const ClassAnswer* ClassCache::Find(Cycle& cycle, cluster::Cluster& cluster) {
  const CycleContext& c = cycle.context();
  if (!c.pod.node_name.empty() || !cycle.restriction().all_nodes) return nullptr;
  if (cluster_ != &c.cluster) {
    store_.Clear();
    cluster_ = &c.cluster;
  }
  ClassEntry* const last = store_.LastOf(c.shape);
  if (last != nullptr && store_.Waits(*last)) return nullptr;
  if (!key_.Begin(plan_, cycle)) return nullptr;
  WatchedPoint pre_score(cycle.watch(), Point::kPreScore);
  if (!plan_.Classify(cycle) || !key_.CollectPremises(plan_, cycle)) return nullptr;
  key_.Finish(plan_, cycle);
  ClassEntry& entry = store_.EntryFor(c.shape, last, key_.key());
  if (&entry != last && store_.Waits(entry)) return nullptr;
  pre_score.End(Code::kSuccess);

  ClassAnswer& answer = cycle.mutable_class_answer();
  WatchedPoint filter(cycle.watch(), Point::kFilter);
  if (!refresh_.Refresh(cycle, key_, entry)) return nullptr;
  if (!evaluator_.Filter(cycle, cluster, entry, cycle.within(), &answer)) return nullptr;
  filter.End(Code::kSuccess);

  WatchedPoint score(cycle.watch(), Point::kScore);
  if (!evaluator_.Decide(cycle, entry, &answer)) return nullptr;
  if (answer.scored) score.End(Code::kSuccess);
  evaluator_.CountCalls(cycle, answer);
  if (++entry.answers % kMeasureEvery == 0) store_.LimitMemory(entry);
  ++answers_;
  return &answer;
}

}  // namespace berth::framework
