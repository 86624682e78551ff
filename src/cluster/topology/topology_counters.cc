#include "cluster/topology/topology_counters.h"

#include <algorithm>
#include <utility>

namespace berth::cluster {
namespace {

// From this many counters on, a new one first makes room by dropping those unused for long.
constexpr size_t kKeepCounters = 1024;
// A counter is unused for long after so many uses of counters. At most twice as many are kept.
constexpr uint64_t kLongAgo = 32768;
// Domain counts of one counter (by key and mask) that are kept at once.
constexpr size_t kKeepViews = 32;

// The one namespace a predicate's pods are in, or null.
const std::string* OnlyNamespace(const PodPredicate& predicate) {
  for (const PodPredicate::Part& part : predicate.parts) {
    if (!part.all_namespaces && part.namespaces.size() == 1) return &part.namespaces[0];
  }
  return nullptr;
}

void EraseId(std::vector<uint32_t>& ids, uint32_t id) {
  ids.erase(std::remove(ids.begin(), ids.end(), id), ids.end());
}

template <class Map>
void EraseFrom(Map& map, const std::string& name, uint32_t id) {
  const auto it = map.find(name);
  if (it == map.end()) return;
  EraseId(it->second, id);
  if (it->second.empty()) map.erase(it);
}

}  // namespace

// --- Events

void TopologyCounters::Change(const Pod& pod, NodeIndex node, int32_t delta) {
  ShapeSlot& slot = ShapeFor(*pod.shape);
  if (slot.placed == 0) CatchUp(slot);
  slot.placed += delta;
  (pod.terminating ? slot.terminating : slot.live).Add(node, delta, row_count_);
  for (const uint32_t id : slot.counters) {
    CounterSlot& counter = *counters_[id];
    if (pod.terminating && !counter.predicate.count_terminating) continue;
    Bump(counter.counter, node, delta);
  }
  for (const TermUse& use : slot.terms) {
    Bump(terms_[use.id]->placed.counter, node, delta * use.times);
  }
}

void TopologyCounters::Bump(PodCounter& counter, NodeIndex node, int32_t delta) {
  counter.rows_.Add(node, delta, row_count_);
  counter.total_ += delta;
  for (const auto& view : counter.views_) {
    if (view->generation != generation_) continue;  // made again when it is next used
    if (view->mask && (node >= view->mask->nodes.Capacity() || !view->mask->nodes.Contains(node))) {
      continue;
    }
    view->domains.Add(view->column->codes[node], delta, view->column->values.size());
  }
}

// --- Shapes

TopologyCounters::ShapeSlot& TopologyCounters::ShapeFor(const PodShape& shape) {
  if (shape.id >= shapes_.size()) shapes_.resize(shape.id + size_t{1});
  auto& slot = shapes_[shape.id];
  if (!slot) slot = std::make_unique<ShapeSlot>();
  if (slot->serial != shape.serial) {
    if (slot->serial != 0) ForgetShape(*slot);
    FillShape(*slot, shape);
  }
  return *slot;
}

void TopologyCounters::FillShape(ShapeSlot& slot, const PodShape& shape) {
  slot.serial = shape.serial;
  slot.shape = &shape;
  slot.namespace_ = shape.namespace_;
  slot.own = CompileOwnTerms(shape, strings_).terms;
  boost::unordered_flat_map<uint32_t, size_t> position;  // in slot.terms; a pod may have thousands
  for (const OwnTerm& own : slot.own) {
    const uint32_t id = AcquireTerm(own);
    const auto [it, is_new] = position.try_emplace(id, slot.terms.size());
    if (is_new) {
      slot.terms.push_back({id, 1});
    } else {
      ++slot.terms[it->second].times;
      --terms_[id]->shapes;
    }
  }
  auto& siblings = shapes_by_namespace_[slot.namespace_];
  slot.position = static_cast<uint32_t>(siblings.size());
  siblings.push_back(shape.id);
}

void TopologyCounters::ForgetShape(ShapeSlot& slot) {
  const auto siblings = shapes_by_namespace_.find(slot.namespace_);
  siblings->second[slot.position] = siblings->second.back();
  shapes_[siblings->second.back()]->position = slot.position;
  siblings->second.pop_back();
  if (siblings->second.empty()) shapes_by_namespace_.erase(siblings);
  for (const TermUse& use : slot.terms) ReleaseTerm(use.id);
  slot = ShapeSlot();
}

// Asks the counters made while no pod of the shape was placed.
void TopologyCounters::CatchUp(ShapeSlot& slot) {
  const auto ask = [&](const std::vector<uint32_t>& ids) {
    for (size_t i = ids.size(); i-- > 0;) {
      const CounterSlot& counter = *counters_[ids[i]];
      if (counter.serial <= slot.checked) return;
      if (counter.predicate.Matches(*slot.shape)) slot.counters.push_back(ids[i]);
    }
  };
  const auto it = by_namespace_.find(slot.namespace_);
  if (it != by_namespace_.end()) ask(it->second);
  ask(wide_);
  slot.checked = last_counter_serial_;
}

// --- Terms of placed pods

uint32_t TopologyCounters::AcquireTerm(const OwnTerm& own) {
  std::string key;
  AppendTermKey(own, &key);
  const auto known = term_of_key_.find(key);
  if (known != term_of_key_.end()) {
    ++terms_[known->second]->shapes;
    return known->second;
  }
  uint32_t id;
  if (free_terms_.empty()) {
    id = static_cast<uint32_t>(terms_.size());
    terms_.push_back(std::make_unique<TermSlot>());
  } else {
    id = free_terms_.back();
    free_terms_.pop_back();
  }
  TermSlot& slot = *terms_[id];
  slot.serial = ++last_term_serial_;
  slot.shapes = 1;
  slot.key = key;
  slot.placed.own = own;
  term_of_key_.emplace(std::move(key), id);
  if (own.term.namespace_selector.MatchesNothing()) {
    for (const std::string& name : own.term.namespaces) terms_by_namespace_[name].push_back(id);
  } else {
    wide_terms_.push_back(id);
  }
  return id;
}

void TopologyCounters::ReleaseTerm(uint32_t id) {
  TermSlot& slot = *terms_[id];
  if (--slot.shapes > 0) return;
  const AffinityTerm& term = slot.placed.own.term;
  if (term.namespace_selector.MatchesNothing()) {
    for (const std::string& name : term.namespaces) EraseFrom(terms_by_namespace_, name, id);
  } else {
    EraseId(wide_terms_, id);
  }
  term_of_key_.erase(slot.key);
  slot = TermSlot();
  free_terms_.push_back(id);
}

// --- Counters

PodCounter& TopologyCounters::Use(const PodPredicate& predicate, CounterHandle& handle) {
  ++clock_;
  if (handle.serial == 0 || counters_[handle.id]->serial != handle.serial) {
    std::string key = predicate.Key();
    const auto it = by_key_.find(key);
    handle.id = it != by_key_.end() ? it->second : NewCounter(predicate, std::move(key));
    handle.serial = counters_[handle.id]->serial;
  }
  CounterSlot& slot = *counters_[handle.id];
  slot.last_use = clock_;
  return slot.counter;
}

uint32_t TopologyCounters::NewCounter(const PodPredicate& predicate, std::string key) {
  if (by_key_.size() >= drop_at_) DropUnused();
  uint32_t id;
  if (free_counters_.empty()) {
    id = static_cast<uint32_t>(counters_.size());
    counters_.push_back(std::make_unique<CounterSlot>());
  } else {
    id = free_counters_.back();
    free_counters_.pop_back();
  }
  CounterSlot& slot = *counters_[id];
  slot.serial = ++last_counter_serial_;
  slot.predicate = predicate;
  slot.key = key;
  by_key_.emplace(std::move(key), id);
  if (const std::string* only = OnlyNamespace(predicate)) {
    by_namespace_[*only].push_back(id);
    const auto it = shapes_by_namespace_.find(*only);
    if (it == shapes_by_namespace_.end()) return id;
    for (const uint32_t shape : it->second) CountExisting(id, *shapes_[shape]);
  } else {
    wide_.push_back(id);
    for (const auto& shape : shapes_) {
      if (shape) CountExisting(id, *shape);
    }
  }
  return id;
}

// Counts the pods of a shape that were placed before the counter was made.
void TopologyCounters::CountExisting(uint32_t id, ShapeSlot& shape) {
  if (shape.placed == 0) return;
  CounterSlot& slot = *counters_[id];
  shape.checked = slot.serial;
  if (!slot.predicate.Matches(*shape.shape)) return;
  shape.counters.push_back(id);
  const auto add = [&](uint32_t row, int32_t count) { Bump(slot.counter, row, count); };
  shape.live.ForEach(add);
  if (slot.predicate.count_terminating) shape.terminating.ForEach(add);
}

void TopologyCounters::DropUnused() {
  const auto is_old = [&](uint32_t id) { return counters_[id]->last_use + kLongAgo < clock_; };
  for (const auto& shape : shapes_) {
    if (shape) std::erase_if(shape->counters, is_old);
  }
  std::erase_if(wide_, is_old);
  boost::unordered::erase_if(by_namespace_, [&](auto& entry) {
    std::erase_if(entry.second, is_old);
    return entry.second.empty();
  });
  for (uint32_t id = 0; id < counters_.size(); ++id) {
    if (counters_[id]->serial == 0 || !is_old(id)) continue;
    by_key_.erase(counters_[id]->key);
    *counters_[id] = CounterSlot();
    free_counters_.push_back(id);
  }
  drop_at_ = std::max(kKeepCounters, 2 * by_key_.size());
}

// --- Domains

const IndexCounts& TopologyCounters::Domains(PodCounter& counter, const LabelColumn& column,
                                             const std::shared_ptr<const NodeMask>& mask) {
  PodCounter::View* found = nullptr;
  for (const auto& view : counter.views_) {
    if (view->column == &column && view->mask == mask) found = view.get();
  }
  if (found == nullptr) {
    if (counter.views_.size() >= kKeepViews) {
      const auto oldest =
          std::min_element(counter.views_.begin(), counter.views_.end(),
                           [](const auto& a, const auto& b) { return a->last_use < b->last_use; });
      counter.views_.erase(oldest);
    }
    counter.views_.push_back(std::make_unique<PodCounter::View>());
    found = counter.views_.back().get();
    found->column = &column;
    found->mask = mask;
  }
  found->last_use = ++clock_;
  if (found->generation != generation_) Rebuild(counter, *found);
  return found->domains;
}

void TopologyCounters::Rebuild(PodCounter& counter, PodCounter::View& view) {
  view.generation = generation_;
  view.domains.Clear();
  counter.rows_.ForEach([&](uint32_t row, int32_t count) {
    if (view.mask && (row >= view.mask->nodes.Capacity() || !view.mask->nodes.Contains(row))) {
      return;
    }
    view.domains.Add(view.column->codes[row], count, view.column->values.size());
  });
}

}  // namespace berth::cluster
