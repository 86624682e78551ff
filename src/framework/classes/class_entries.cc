// ClassCache: the classes that are held, and for how long.
#include <algorithm>

#include "framework/classes/class_cache.h"
#include "framework/runtime/cycle.h"

namespace berth::framework {
namespace {

// A class is made for its second pod: making one costs more than deciding without.
constexpr uint32_t kFirstWait = 1;
// A class that has to be rebuilt before it gave this many results was not worth it; the next one is
// put off twice as long.
constexpr uint32_t kWorthAnswers = 8;
// Classes that are remembered, made or not; half of them go when there are more.
constexpr size_t kMaxEntries = 65536;

}  // namespace

bool ClassCache::HasClaims(const cluster::PodShape& shape) {
  return (shape.parts & (cluster::kHasVolumes | cluster::kHasResourceClaims)) != 0;
}

ClassCache::Shape& ClassCache::ShapeOf(const cluster::PodShape& shape) {
  if (shape.id >= shapes_.size()) shapes_.resize(shape.id + size_t{1});
  Shape& known = shapes_[shape.id];
  if (known.serial != shape.serial) known = {.serial = shape.serial};
  return known;
}

bool ClassCache::BeginKey(Cycle& cycle) {
  const CycleContext& c = cycle.context();
  key_.clear();
  key_.push_back(static_cast<int64_t>(c.shape.kind));
  if (!HasClaims(c.shape)) return true;
  for (const auto& [plugin, index] : profile_.filter) {
    if (cycle.FilterSkipped(index)) continue;
    const Role& role = roles_[index];
    if (role.unknown) return false;
    if (role.claims == nullptr) continue;
    key_.push_back(index);
    const size_t length = key_.size();
    key_.push_back(0);
    if (!role.claims->AppendClaims(c, cycle.state(index), &key_)) return false;
    key_[length] = static_cast<int64_t>(key_.size());
  }
  return true;
}

// What the pod's labels mean. Which plugins concern a pod is decided by its kind, its claims and
// its labels, so the key need not contain it.
void ClassCache::FinishKey(Cycle& cycle) {
  const CycleContext& c = cycle.context();
  key_.push_back(-1);
  key_.push_back(reads_labels_ ? static_cast<int64_t>(c.shape.serial) : 0);
  for (const auto& [plugin, index] : aware_) {
    const LabelAwarePlugin* labels = roles_[index].labels;
    if (labels != nullptr) labels->AppendLabels(c, cycle.state(index), &key_);
  }
}

ClassCache::Entry* ClassCache::LastOf(const cluster::PodShape& shape, const Shape& known) {
  if (known.entry == nullptr || known.entry->serial != known.entry_serial) return nullptr;
  // What the claims of a pod mean may change from pod to pod.
  return HasClaims(shape) ? nullptr : known.entry;
}

// While pods of one shape come one after the other, what their labels mean may change with what is
// placed, and all that is known stays right (ClassAwarePlugin::AppendTraits): it becomes known
// under another key.
ClassCache::Entry& ClassCache::EntryFor(Shape& shape, Entry* last) {
  Entry* entry = last;
  if (last == nullptr || last->key != key_) {
    const auto it = by_key_.find(key_);
    if (it != by_key_.end()) {
      entry = it->second;
    } else if (last != nullptr && last->shape == shape.serial) {
      by_key_.erase(last->key);
      GiveKey(*last);
    } else {
      entry = &NewEntry();
    }
    shape.entry = entry;
    shape.entry_serial = entry->serial;
  }
  entry->shape = shape.serial;
  entry->last_use = ++clock_;
  return *entry;
}

void ClassCache::GiveKey(Entry& entry) {
  entry.key = key_;
  by_key_.emplace(entry.key, &entry);
}

ClassCache::Entry& ClassCache::NewEntry() {
  if (by_key_.size() >= kMaxEntries) ForgetOld();
  if (free_.empty()) free_.push_back(&entries_.emplace_back());
  Entry& entry = *free_.back();
  free_.pop_back();
  entry.serial = ++entries_made_;
  entry.wait = kFirstWait;
  GiveKey(entry);
  return entry;
}

// Is this one of the pods that are decided without a class?
bool ClassCache::Waits(Entry& entry) const {
  if (entry.nodes != nullptr || eager_ || entry.waited >= entry.wait) return false;
  ++entry.waited;
  return true;
}

// Every pod uses one entry: at most so many were used since.
void ClassCache::ForgetOld() {
  boost::unordered::erase_if(by_key_, [&](const auto& known) {
    Entry& entry = *known.second;
    if (entry.last_use + kMaxEntries / 2 >= clock_) return false;
    Drop(entry);
    return true;
  });
  for (Entry& entry : entries_) {
    if (entry.serial == 0 || entry.last_use + kMaxEntries / 2 >= clock_) continue;
    entry = Entry();
    free_.push_back(&entry);
  }
}

void ClassCache::ForgetAll() {
  by_key_.clear();
  shapes_.clear();
  free_.clear();
  entries_.clear();
  held_.clear();
  memory_used_ = 0;
}

void ClassCache::Drop(Entry& entry) {
  if (!entry.nodes) return;
  entry.nodes.reset();
  entry.verdicts.reset();
  memory_used_ -= entry.bytes;
  entry.bytes = 0;
  held_.back()->held_at = entry.held_at;
  held_[entry.held_at] = held_.back();
  held_.pop_back();
}

// The class is stale: computes how long to postpone the next one.
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
