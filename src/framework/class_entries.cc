// ClassCache: the classes that are held, and for how long.
#include <algorithm>

#include "cluster/common_key.h"
#include "framework/class_cache.h"
#include "framework/cycle.h"

namespace berth::framework {
namespace {

// A class is made for the second pod of a shape: making one costs more than deciding without.
constexpr uint32_t kFirstWait = 1;
// A class that has to be made anew before it gave this many answers was not worth it; the next one
// is put off twice as long.
constexpr uint32_t kWorthAnswers = 8;
// Kinds of claims that are remembered; half of them go when there are more.
constexpr size_t kMaxKindsOfClaims = 4096;

}  // namespace

bool ClassCache::HasClaims(const cluster::PodShape& shape) {
  const api::PodSpec& spec = shape.source.spec;
  return !spec.volumes.empty() || !spec.resource_claims.empty();
}

ClassCache::Entry* ClassCache::EntryOf(Cycle& cycle) {
  const cluster::PodShape& shape = cycle.context().shape;
  Entry* entry = HasClaims(shape) ? EntryForClaims(cycle) : &EntryFor(shape);
  if (entry != nullptr) entry->last_use = ++clock_;
  return entry;
}

// The entry of pods that agree in all but their claims, and whose claims mean the same.
ClassCache::Entry* ClassCache::EntryForClaims(Cycle& cycle) {
  const CycleContext& c = cycle.context();
  claims_.clear();
  for (const auto& [plugin, index] : profile_.filter) {
    if (cycle.FilterSkipped(index)) continue;
    const Role& role = roles_[index];
    if (role.unknown) return nullptr;
    if (role.claims == nullptr) continue;
    claims_.push_back(index);
    const size_t length = claims_.size();
    claims_.push_back(0);
    if (!role.claims->AppendClaims(c, cycle.state(index), &claims_)) return nullptr;
    claims_[length] = static_cast<int64_t>(claims_.size());
  }
  claims_.push_back(-1);
  key_.assign(reinterpret_cast<const char*>(claims_.data()), claims_.size() * sizeof(int64_t));
  cluster::AppendCommonKey(c.shape.source, &key_);
  const auto it = with_claims_.find(key_);
  if (it != with_claims_.end()) return it->second.get();
  if (with_claims_.size() >= kMaxKindsOfClaims) ForgetClaims();
  auto entry = std::make_unique<Entry>();
  entry->wait = kFirstWait;
  return with_claims_.emplace(key_, std::move(entry)).first->second.get();
}

// Every pod uses one entry: at most so many were used since.
void ClassCache::ForgetClaims() {
  boost::unordered::erase_if(with_claims_, [&](const auto& known) {
    Entry& entry = *known.second;
    if (entry.last_use + kMaxKindsOfClaims / 2 >= clock_) return false;
    Drop(entry);
    return true;
  });
}

void ClassCache::ForgetAll() {
  entries_.clear();
  with_claims_.clear();
  held_.clear();
  memory_used_ = 0;
}

ClassCache::Entry& ClassCache::EntryFor(const cluster::PodShape& shape) {
  if (shape.id >= entries_.size()) entries_.resize(shape.id + size_t{1});
  Entry& entry = entries_[shape.id];
  if (entry.serial != shape.serial) {
    Drop(entry);
    entry = Entry();
    entry.serial = shape.serial;
    entry.wait = kFirstWait;
  }
  return entry;
}

void ClassCache::Drop(Entry& entry) {
  if (!entry.nodes) return;
  entry.nodes.reset();
  entry.verdicts.reset();
  memory_used_ -= entry.bytes;
  entry.bytes = 0;
  std::erase(held_, &entry);
}

// Its class is not good any more: how long to wait until the next one is made.
void ClassCache::PutOff(Entry& entry) {
  entry.wait = entry.answers >= kWorthAnswers
                   ? 0
                   : std::min(kLongestWait, 2 * std::max(entry.wait, uint32_t{1}));
  entry.waited = 0;
}

void ClassCache::LimitMemory(Entry& keep) {
  const size_t bytes = keep.MemoryBytes();
  memory_used_ += bytes - keep.bytes;
  keep.bytes = bytes;
  while (memory_used_ > memory_limit_ && held_.size() > 1) {
    Entry* oldest = nullptr;
    for (Entry* entry : held_) {
      if (entry == &keep) continue;
      if (oldest == nullptr || entry->last_use < oldest->last_use) oldest = entry;
    }
    PutOff(*oldest);
    Drop(*oldest);
    ++statistics_.evictions;
  }
}

}  // namespace berth::framework
