// ClassStore: the classes that are kept, which pod uses which, and for how long.
//
// An entry stands for a class that pods asked for; it holds a PodClass once making one pays. A
// class is built for the second pod of its key. One that had to be rebuilt too early is put off for
// longer each time. Beyond the memory limit the least recently used class is evicted.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <vector>

#include <boost/container_hash/hash.hpp>
#include <boost/unordered/unordered_flat_map.hpp>

#include "cluster/pods/pod_shape.h"
#include "framework/classes/class_verdicts.h"
#include "framework/classes/pod_class.h"

namespace berth::framework {

// What is known of the pods of one class.
struct ClassEntry {
  uint64_t serial = 0;  // never reused. 0: the entry is free
  std::vector<int64_t> key;
  uint64_t shape = 0;  // serial of the shape of its last pod
  uint64_t last_use = 0;
  uint32_t answers = 0;  // since the class was built
  uint32_t wait = 0;     // pods decided by a scan before a class is built
  uint32_t waited = 0;
  size_t held_at = 0;  // position among the entries with a class
  size_t bytes = 0;
  uint64_t position = 0;            // in the cluster's row log
  std::vector<uint64_t> positions;  // in the row logs of plugins
  std::vector<int64_t> premises;
  std::unique_ptr<PodClass> nodes;
  std::unique_ptr<ClassVerdicts> verdicts;  // null until a pod of the class fits nowhere

  size_t MemoryBytes() const {
    return nodes->MemoryBytes() + (verdicts ? verdicts->MemoryBytes() : 0);
  }
};

class ClassStore {
 public:
  explicit ClassStore(size_t memory_limit) : memory_limit_(memory_limit) {}

  // The entry that the last pod of this shape used; null when there is none, and for pods with
  // claims, whose meaning may change from pod to pod.
  ClassEntry* LastOf(const cluster::PodShape& shape);
  // The entry for `key`. `last` is what LastOf returned for the same shape. While pods of one shape
  // follow each other the entry moves to their new key: what it knows stays valid
  // (ClassAwarePlugin::AppendTraits).
  ClassEntry& EntryFor(const cluster::PodShape& shape, ClassEntry* last,
                       const std::vector<int64_t>& key);

  // True: this pod is decided by a scan, because a class is not worth building yet.
  bool Waits(ClassEntry& entry) const;
  // Gives the entry an empty class of `rows` rows. REQUIRES: it has none.
  void Hold(ClassEntry& entry, size_t rows);
  // Takes the entry's class away.
  void Drop(ClassEntry& entry);
  // The entry's class became stale: how long to wait before the next one is built.
  static void PutOff(ClassEntry& entry);
  // Wait as long as possible before building a class for this entry again.
  static void PutOffLong(ClassEntry& entry);
  // Accounts for the memory of `keep`, and evicts others beyond the limit.
  void LimitMemory(ClassEntry& keep);
  void Clear();

  // For tests: build a class for every pod that may have one, whether it pays or not.
  void set_eager(bool eager) { eager_ = eager; }
  bool eager() const { return eager_; }
  uint64_t Evictions() const { return evictions_; }
  size_t MemoryBytes() const { return memory_used_; }

 private:
  // The entry that the last pod of a shape used.
  struct Shape {
    uint64_t serial = 0;
    ClassEntry* entry = nullptr;
    uint64_t entry_serial = 0;
  };
  using Key = std::span<const int64_t>;
  struct KeyHash {
    size_t operator()(Key key) const { return boost::hash_range(key.begin(), key.end()); }
  };
  struct KeyEqual {
    bool operator()(Key a, Key b) const {
      return std::equal(a.begin(), a.end(), b.begin(), b.end());
    }
  };

  Shape& ShapeOf(const cluster::PodShape& shape);
  ClassEntry& NewEntry(const std::vector<int64_t>& key);
  void SetKey(ClassEntry& entry, const std::vector<int64_t>& key);
  void ForgetOld();

  const size_t memory_limit_;
  bool eager_ = false;
  std::deque<ClassEntry> entries_;  // a deque: entries never move
  std::vector<ClassEntry*> free_;
  boost::unordered_flat_map<Key, ClassEntry*, KeyHash, KeyEqual> by_key_;  // keys are the entries'
  std::vector<Shape> shapes_;                                              // by id
  std::vector<ClassEntry*> held_;                                          // those with a class
  uint64_t entries_made_ = 0;
  uint64_t clock_ = 0;  // pods that used an entry
  size_t memory_used_ = 0;
  uint64_t evictions_ = 0;
};

}  // namespace berth::framework
