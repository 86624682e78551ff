// TopologyCounters: how many pods of a kind there are on each node and in each topology domain.
//
// Two kinds of things are counted: pods that a predicate matches (selectors of affinity terms and
// spread constraints of pods to be placed), and terms of placed pods (which repel or attract pods
// to be placed). A predicate is counted from the first time it is used; whether it matches is
// decided once per pod shape. From then on every placed or removed pod costs the counters it
// belongs to, and a scheduling cycle reads finished counts.
//
// Changes of nodes (their labels, their coming and going) are not followed one by one: they make
// domain counts stale, and those are made again from the counts per node when they are next used.
//
// Threads: as the cluster's; reading a counter may make it, so only the cycle's own thread may.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "cluster/pods/affinity_term.h"
#include "cluster/pods/pod.h"
#include "cluster/pods/pod_predicate.h"
#include "cluster/table/dictionary.h"
#include "cluster/table/index_counts.h"
#include "cluster/table/label_columns.h"
#include "cluster/table/node_set.h"

namespace berth::cluster {

// The nodes whose pods count. Whoever made it keeps it up to date: `nodes` must be right for
// `generation` when it is handed to Domains().
struct NodeMask {
  NodeSet nodes;
  uint64_t generation = 0;  // of TopologyCounters
};

// What is known about one kind of pods.
class PodCounter {
 public:
  // Matching pods by row, also on rows whose node is gone.
  const IndexCounts& Rows() const { return rows_; }
  IndexCounts& MutableRows() { return rows_; }
  // All matching pods that are placed somewhere.
  int64_t Total() const { return total_; }

 private:
  friend class TopologyCounters;

  struct View {
    const LabelColumn* column;
    std::shared_ptr<const NodeMask> mask;  // null: all nodes
    uint64_t generation = 0;
    uint64_t last_use = 0;
    IndexCounts domains;
  };

  IndexCounts rows_;
  int64_t total_ = 0;
  std::vector<std::unique_ptr<View>> views_;
};

// Names a counter or a term; stale once what it named was dropped.
struct CounterHandle {
  uint32_t id = 0;
  uint64_t serial = 0;  // 0: names nothing
};

// A term that placed pods have, and where those pods are.
struct PlacedTerm {
  OwnTerm own;
  PodCounter counter;  // a pod that has the term twice counts twice
};

class TopologyCounters {
 public:
  explicit TopologyCounters(Dictionary& strings) : strings_(strings) {}

  // --- Events, told by the cluster.
  void PodPlaced(const Pod& pod, NodeIndex node) { Change(pod, node, +1); }
  void PodUnplaced(const Pod& pod, NodeIndex node) { Change(pod, node, -1); }
  // A node came, went, or changed its labels or taints.
  void NodesChanged() { ++generation_; }
  // How many rows there are.
  void SetRows(size_t rows) { row_count_ = rows; }

  // Changes with every NodesChanged().
  uint64_t Generation() const { return generation_; }

  // --- Counts of pods that match a predicate.
  // The counter of `predicate`; `handle` remembers it. The reference holds until some thousand
  // other counters have been asked for.
  PodCounter& Use(const PodPredicate& predicate, CounterHandle& handle);

  // --- Terms of placed pods.
  // The number of the last term that appeared.
  uint64_t LastTerm() const { return last_term_serial_; }
  // Calls f(CounterHandle, const OwnTerm&) for every term numbered after `since` that may speak
  // about pods in `namespace_`; returns the number to ask with the next time.
  template <class F>
  uint64_t ForEachTerm(const std::string& namespace_, uint64_t since, F&& f) const {
    const auto visit = [&](const std::vector<uint32_t>& ids) {
      for (size_t i = ids.size(); i-- > 0;) {
        const TermSlot& slot = *terms_[ids[i]];
        if (slot.serial <= since) return;
        f(CounterHandle{ids[i], slot.serial}, slot.placed.own);
      }
    };
    const auto it = terms_by_namespace_.find(namespace_);
    if (it != terms_by_namespace_.end()) visit(it->second);
    visit(wide_terms_);
    return last_term_serial_;
  }
  // Null when no pod has the term any more.
  PlacedTerm* FindTerm(const CounterHandle& handle) {
    TermSlot& slot = *terms_[handle.id];
    return slot.serial == handle.serial ? &slot.placed : nullptr;
  }
  // The terms of a pod of this shape.
  const std::vector<OwnTerm>& TermsOf(const PodShape& shape) { return ShapeFor(shape).own; }

  // Pods of `counter` by code of `column`, over the nodes in `mask` (null: all). Code 0 stands for
  // nodes without the label. Valid until the next call or event.
  const IndexCounts& Domains(PodCounter& counter, const LabelColumn& column,
                             const std::shared_ptr<const NodeMask>& mask = nullptr);

  size_t CounterCount() const { return by_key_.size(); }
  size_t TermCount() const { return term_of_key_.size(); }

 private:
  struct CounterSlot {
    uint64_t serial = 0;  // 0: free
    uint64_t last_use = 0;
    PodPredicate predicate;
    std::string key;
    PodCounter counter;
  };
  struct TermSlot {
    uint64_t serial = 0;  // 0: free
    uint32_t shapes = 0;  // that have it
    std::string key;
    PlacedTerm placed;
  };
  struct TermUse {
    uint32_t id;
    int32_t times;
  };
  // What is known of the pods of one shape. `shape` may be looked at only while placed > 0.
  struct ShapeSlot {
    uint64_t serial = 0;
    const PodShape* shape = nullptr;
    std::string namespace_;
    uint32_t position = 0;  // in shapes_by_namespace_
    int64_t placed = 0;
    IndexCounts live;                // by row
    IndexCounts terminating;         // by row
    std::vector<uint32_t> counters;  // that count pods of this shape
    uint64_t checked = 0;  // counters up to this serial have been asked. REQUIRES: placed > 0
    std::vector<OwnTerm> own;
    std::vector<TermUse> terms;
  };

  void Change(const Pod& pod, NodeIndex node, int32_t delta);
  void Bump(PodCounter& counter, NodeIndex node, int32_t delta);
  ShapeSlot& ShapeFor(const PodShape& shape);
  void FillShape(ShapeSlot& slot, const PodShape& shape);
  void ForgetShape(ShapeSlot& slot);
  void CatchUp(ShapeSlot& slot);
  uint32_t AcquireTerm(const OwnTerm& own);
  void ReleaseTerm(uint32_t id);
  uint32_t NewCounter(const PodPredicate& predicate, std::string key);
  void CountExisting(uint32_t id, ShapeSlot& shape);
  void DropUnused();
  void Rebuild(PodCounter& counter, PodCounter::View& view);

  Dictionary& strings_;
  uint64_t generation_ = 1;
  size_t row_count_ = 0;
  uint64_t clock_ = 0;  // one tick per use of a counter

  std::vector<std::unique_ptr<CounterSlot>> counters_;  // by id
  std::vector<uint32_t> free_counters_;
  boost::unordered_flat_map<std::string, uint32_t> by_key_;
  // Counters that can only match pods of one namespace, and all others; each in order of serial.
  boost::unordered_flat_map<std::string, std::vector<uint32_t>> by_namespace_;
  std::vector<uint32_t> wide_;
  uint64_t last_counter_serial_ = 0;
  size_t drop_at_ = 1024;  // counters; from then on unused ones are dropped

  std::vector<std::unique_ptr<TermSlot>> terms_;  // by id
  std::vector<uint32_t> free_terms_;
  boost::unordered_flat_map<std::string, uint32_t> term_of_key_;
  boost::unordered_flat_map<std::string, std::vector<uint32_t>> terms_by_namespace_;
  std::vector<uint32_t> wide_terms_;  // with a namespace selector
  uint64_t last_term_serial_ = 0;

  std::vector<std::unique_ptr<ShapeSlot>> shapes_;  // by shape id
  boost::unordered_flat_map<std::string, std::vector<uint32_t>> shapes_by_namespace_;
};

}  // namespace berth::cluster
