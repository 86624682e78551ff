#include "framework/classes/class_store.h"

#include "base/check.h"
#include "framework/classes/class_key.h"

namespace berth::framework {
namespace {

// A class is built for its second pod: building one costs more than a scan.
constexpr uint32_t kFirstWait = 1;
// The longest that a class is put off, in pods.
constexpr uint32_t kLongestWait = 1024;
// A class that went stale before it gave this many answers was not worth building; the next one is
// put off twice as long.
constexpr uint32_t kWorthAnswers = 8;
// Entries that are remembered, with a class or not. When there are more, half of them go.
constexpr size_t kMaxEntries = 65536;

}  // namespace

ClassStore::Shape& ClassStore::ShapeOf(const cluster::PodShape& shape) {
  if (shape.id >= shapes_.size()) shapes_.resize(shape.id + size_t{1});
  Shape& known = shapes_[shape.id];
  if (known.serial != shape.serial) known = {.serial = shape.serial};
  return known;
}

ClassEntry* ClassStore::LastOf(const cluster::PodShape& shape) {
  const Shape& known = ShapeOf(shape);
  if (known.entry == nullptr || known.entry->serial != known.entry_serial) return nullptr;
  return ClassKey::HasClaims(shape) ? nullptr : known.entry;
}

ClassEntry& ClassStore::EntryFor(const cluster::PodShape& shape, ClassEntry* last,
                                 const std::vector<int64_t>& key) {
  Shape& known = ShapeOf(shape);
  ClassEntry* entry = last;
  if (last == nullptr || last->key != key) {
    const auto it = by_key_.find(key);
    if (it != by_key_.end()) {
      entry = it->second;
    } else if (last != nullptr && last->shape == known.serial) {
      by_key_.erase(last->key);
      SetKey(*last, key);
    } else {
      entry = &NewEntry(key);
    }
    known.entry = entry;
    known.entry_serial = entry->serial;
  }
  entry->shape = known.serial;
  entry->last_use = ++clock_;
  return *entry;
}

void ClassStore::SetKey(ClassEntry& entry, const std::vector<int64_t>& key) {
  entry.key = key;
  by_key_.emplace(entry.key, &entry);
}

ClassEntry& ClassStore::NewEntry(const std::vector<int64_t>& key) {
  if (by_key_.size() >= kMaxEntries) ForgetOld();
  if (free_.empty()) free_.push_back(&entries_.emplace_back());
  ClassEntry& entry = *free_.back();
  free_.pop_back();
  entry.serial = ++entries_made_;
  entry.wait = kFirstWait;
  SetKey(entry, key);
  return entry;
}

bool ClassStore::Waits(ClassEntry& entry) const {
  if (entry.nodes != nullptr || eager_ || entry.waited >= entry.wait) return false;
  ++entry.waited;
  return true;
}

void ClassStore::Hold(ClassEntry& entry, size_t rows) {
  BERTH_DCHECK(entry.nodes == nullptr);
  entry.nodes = std::make_unique<PodClass>();
  entry.nodes->Reset(rows);
  entry.held_at = held_.size();
  held_.push_back(&entry);
}

void ClassStore::Drop(ClassEntry& entry) {
  if (!entry.nodes) return;
  entry.nodes.reset();
  entry.verdicts.reset();
  memory_used_ -= entry.bytes;
  entry.bytes = 0;
  held_.back()->held_at = entry.held_at;
  held_[entry.held_at] = held_.back();
  held_.pop_back();
}

// Every pod uses one entry, so at most kMaxEntries / 2 were used since.
void ClassStore::ForgetOld() {
  boost::unordered::erase_if(by_key_, [&](const auto& known) {
    ClassEntry& entry = *known.second;
    if (entry.last_use + kMaxEntries / 2 >= clock_) return false;
    Drop(entry);
    return true;
  });
  for (ClassEntry& entry : entries_) {
    if (entry.serial == 0 || entry.last_use + kMaxEntries / 2 >= clock_) continue;
    entry = ClassEntry();
    free_.push_back(&entry);
  }
}

void ClassStore::Clear() {
  by_key_.clear();
  shapes_.clear();
  free_.clear();
  entries_.clear();
  held_.clear();
  memory_used_ = 0;
}

void ClassStore::PutOff(ClassEntry& entry) {
  entry.wait = entry.answers >= kWorthAnswers
                   ? 0
                   : std::min(kLongestWait, 2 * std::max(entry.wait, uint32_t{1}));
  entry.waited = 0;
}

void ClassStore::PutOffLong(ClassEntry& entry) {
  entry.wait = kLongestWait;
  entry.waited = 0;
}

void ClassStore::LimitMemory(ClassEntry& keep) {
  const size_t bytes = keep.MemoryBytes();
  memory_used_ += bytes - keep.bytes;
  keep.bytes = bytes;
  while (memory_used_ > memory_limit_ && held_.size() > 1) {
    ClassEntry* oldest = nullptr;
    for (ClassEntry* entry : held_) {
      if (entry == &keep) continue;
      if (oldest == nullptr || entry->last_use < oldest->last_use) oldest = entry;
    }
    PutOff(*oldest);
    Drop(*oldest);
    ++evictions_;
  }
}

}  // namespace berth::framework
