#include "plugins/dynamic_resources/search.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <utility>

#include "base/wrap.h"
#include "plugins/dynamic_resources/capacity.h"

namespace berth::plugins::dynamic_resources {
namespace {

// The API allows far less; more would only be a way to exhaust the stack.
constexpr int kMaxDepth = 4096;

// The value of an attribute, also when its domain is left out because it is the driver's.
const api::DeviceAttribute* FindAttribute(const api::Device& device, std::string_view driver,
                                          std::string_view name) {
  if (const auto it = device.attributes.find(name); it != device.attributes.end()) {
    return &it->second;
  }
  const size_t slash = name.find('/');
  if (slash == std::string_view::npos || name.substr(0, slash) != driver) return nullptr;
  const auto it = device.attributes.find(name.substr(slash + 1));
  return it == device.attributes.end() ? nullptr : &it->second;
}

bool HasValue(const api::DeviceAttribute& attribute) {
  return attribute.string || attribute.int_ || attribute.bool_ || attribute.version;
}

bool SameValue(const api::DeviceAttribute& a, const api::DeviceAttribute& b) {
  if (a.string) return b.string && *a.string == *b.string;
  if (a.int_) return b.int_ && *a.int_ == *b.int_;
  if (a.bool_) return b.bool_ && *a.bool_ == *b.bool_;
  return a.version && b.version && *a.version == *b.version;
}

// All four parts must fit; what a toleration does not say fits everything.
bool Tolerates(const api::DeviceToleration& toleration, const api::DeviceTaint& taint) {
  if (!toleration.effect.empty() && toleration.effect != taint.effect) return false;
  if (!toleration.key.empty() && toleration.key != taint.key) return false;
  if (toleration.operator_ == "Exists") return true;
  return (toleration.operator_.empty() || toleration.operator_ == "Equal") &&
         toleration.value == taint.value;
}

bool ToleratesAll(const std::vector<api::DeviceToleration>& tolerations,
                  const std::vector<api::DeviceTaint>& taints, bool only_known_effects) {
  return std::all_of(taints.begin(), taints.end(), [&](const api::DeviceTaint& taint) {
    if (only_known_effects && taint.effect != "NoSchedule" && taint.effect != "NoExecute") {
      return true;
    }
    return std::any_of(tolerations.begin(), tolerations.end(),
                       [&](const api::DeviceToleration& t) { return Tolerates(t, taint); });
  });
}

}  // namespace

Search::Search(const Inventory& inventory, const Plan& plan, int64_t max_steps)
    : inventory_(inventory),
      plan_(plan),
      max_steps_(max_steps),
      claims_(plan.claims.size()),
      counters_(inventory) {
  for (size_t i = 0; i < claims_.size(); ++i) {
    claims_[i].requests.resize(plan.claims[i].requests.size());
    claims_[i].constraints.resize(plan.claims[i].constraints.size());
    claims_[i].alternative.resize(plan.claims[i].groups.size());
  }
}

bool Search::Stop(std::string error) {
  outcome_ = Outcome::kError;
  error_ = std::move(error);
  return false;
}

std::string Search::SelectorText(const ClaimPlan& claim, const PlannedRequest& request,
                                 const SelectorError& error) const {
  const std::string owner =
      error.in_class ? "class " + request.device_class->metadata.name : "claim " + claim.key;
  const std::string device = error.device.empty() ? "" : " on device " + error.device;
  return owner + ": selector #" + std::to_string(error.index) + device + ": " + error.message;
}

bool Search::Count(const PoolList& pools, Outcome* outcome) const {
  // Where capacities count, a device is not simply free or taken.
  if (!plan_.countable || plan_.features.consumable_capacity) return false;
  const bool partitionable = plan_.features.partitionable;
  const bool tainted = plan_.features.taints;
  const PlannedRequest& request = plan_.claims[0].requests[0];
  const uint64_t* matching = request.chain->Matching().data();
  const uint64_t* failing = request.chain->Failing().data();
  const uint64_t* in_use = inventory_.InUse().data();
  const uint64_t* counters = inventory_.Counters().data();
  int64_t available = 0;
  int64_t tried = 0;
  for (const Pool* pool : pools) {
    if (!pool->invalid_reason.empty() || !pool->reach.empty()) return false;
    for (const SliceId id : pool->slices) {
      const SliceRecord& slice = inventory_.Slices()[id];
      for (uint32_t w = slice.first_word; w < slice.first_word + slice.words; ++w) {
        if ((failing[w] & ~in_use[w]) != 0) return false;
        if (partitionable && (matching[w] & ~in_use[w] & counters[w]) != 0) return false;
        if (tainted && (matching[w] & ~in_use[w] & inventory_.Tainted()[w]) != 0) return false;
        available += std::popcount(matching[w] & ~in_use[w] & ~counters[w]);
        tried += std::popcount(matching[w] & ~in_use[w]);
      }
    }
  }
  if (available >= request.count) {
    *outcome = Outcome::kAllocated;
  } else {
    *outcome = RunsOut(available, tried) ? Outcome::kOutOfSteps : Outcome::kImpossible;
  }
  return true;
}

// The search would try all `tried` devices after every sequence of some of the `available` ones.
bool Search::RunsOut(int64_t available, int64_t tried) const {
  if (max_steps_ <= 0) return false;
  int64_t sequences = 1;  // of as many devices as were taken
  int64_t steps = tried;
  for (int64_t left = available; left > 0 && steps <= max_steps_; --left) {
    sequences *= left;
    if (sequences > max_steps_) return true;
    steps += sequences * tried;
  }
  return steps > max_steps_;
}

Search::Outcome Search::Run(const PoolList& pools) {
  pools_ = &pools;
  steps_ = 0;
  taken_.clear();
  counters_.Clear();
  shared_.clear();
  outcome_ = Outcome::kImpossible;
  if (!Prepare(pools)) return outcome_;
  switch (Allocate({}, false, 0)) {
    case Step::kDone:
      return Outcome::kAllocated;
    case Step::kStop:
      return outcome_;
    case Step::kDeadEnd:
      // Where pools are checked as a whole, invalid ones are passed over and named in the end.
      if (plan_.features.checks_whole_pools &&
          std::any_of(pools.begin(), pools.end(),
                      [](const Pool* pool) { return !pool->invalid_reason.empty(); })) {
        return Outcome::kInvalidPools;
      }
      return Outcome::kImpossible;
    case Step::kTooMany:
      break;
  }
  Stop("allocation max size exceeded");
  return outcome_;
}

// --- what each request wants on this node

bool Search::Prepare(const PoolList& pools) {
  for (size_t i = 0; i < claims_.size(); ++i) {
    if (!PrepareClaim(i, pools)) return false;
  }
  return true;
}

bool Search::PrepareClaim(size_t index, const PoolList& pools) {
  const ClaimPlan& claim = plan_.claims[index];
  ClaimState& state = claims_[index];
  state.found.clear();
  int64_t minimum = 0;
  for (const RequestGroup& group : claim.groups) {
    if (!group.error.empty()) return Stop(group.error);
    int64_t least = group.prioritized ? std::numeric_limits<int64_t>::max() : 0;
    for (size_t i = group.first; i < group.first + group.count; ++i) {
      if (!PrepareRequest(claim, claim.requests[i], pools, &state.requests[i])) return false;
      const int64_t devices = state.requests[i].devices;
      least = group.prioritized ? std::min(least, devices) : devices;
    }
    if (plan_.features.capacity_errors_fail && least > kMaxDevicesPerClaim - minimum) {
      return Stop("claim " + claim.key + ", request " + claim.requests[group.first].BaseName() +
                  ": adding " + std::to_string(least) + " devices exceeds the claim limit of " +
                  std::to_string(kMaxDevicesPerClaim) + ", with " + std::to_string(minimum) +
                  " already accounted for");
    }
    minimum = WrapAdd(minimum, least);
  }
  if (minimum > kMaxDevicesPerClaim) {
    return Stop("claim " + claim.key + ": number of requested devices " + std::to_string(minimum) +
                " exceeds the claim limit of " + std::to_string(kMaxDevicesPerClaim));
  }
  if (!claim.constraint_error.empty()) return Stop(claim.constraint_error);
  for (ConstraintState& constraint : state.constraints) {
    constraint.attribute = nullptr;
    constraint.devices = 0;
    constraint.holders.clear();
  }
  return true;
}

bool Search::PrepareRequest(const ClaimPlan& claim, const PlannedRequest& request,
                            const PoolList& pools, RequestState* state) {
  if (!request.error.empty()) return Stop(request.error);
  state->all.clear();
  state->devices = request.count;
  if (!request.all) return true;
  if (!CollectAll(claim, request, pools, &state->all)) return false;
  state->devices = static_cast<int64_t>(state->all.size());
  return true;
}

bool Search::CollectAll(const ClaimPlan& claim, const PlannedRequest& request,
                        const PoolList& pools, std::vector<Slot>* slots) {
  const SelectorChain& chain = *request.all_chain;
  for (const Pool* pool : pools) {
    const char* problem = nullptr;
    if (pool->incomplete) {
      problem = "being updated";
    } else if (!pool->invalid_reason.empty()) {
      problem = "invalid";
    }
    if (problem != nullptr) {
      return Stop("claim " + claim.key + ", request " + request.name +
                  ": asks for all devices, but resource pool " + pool->Id() + " is currently " +
                  problem);
    }
    for (size_t i = 0; i < pool->slices.size(); ++i) {
      const SliceRecord& slice = inventory_.Slices()[pool->slices[i]];
      for (uint32_t w = slice.first_word; w < slice.first_word + slice.words; ++w) {
        // Selectors are asked before it is looked where the device is.
        uint64_t bits =
            (chain.Matching()[w] & pool->Reachable(i, w - slice.first_word)) | chain.Failing()[w];
        for (; bits != 0; bits &= bits - 1) {
          const auto slot = w * kWordBits + static_cast<Slot>(std::countr_zero(bits));
          if ((chain.Failing()[w] >> (slot % kWordBits) & 1) != 0) {
            return Stop(SelectorText(claim, request, chain.ErrorAt(slot)));
          }
          // From 1.37 on what is left counts later: a device that is used up keeps the request
          // from having all.
          std::string error;
          const bool fits = !plan_.features.consumable_capacity ||
                            (plan_.features.capacity_errors_fail
                                 ? HasCapacityFor(inventory_.DeviceAt(slot), request.capacity,
                                                  nullptr, nullptr, plan_.features, &error)
                                 : HasCapacity(request, slot, &error));
          if (!error.empty()) {
            return StopForCapacity(claim, request, inventory_.DeviceAt(slot).name, error);
          }
          if (fits) slots->push_back(slot);
        }
      }
    }
  }
  return true;
}

// --- the search

Search::Step Search::Allocate(Position at, bool inside_alternative, int depth) {
  if (depth > kMaxDepth) {
    Stop("the claims need more devices than can be searched for");
    return Step::kStop;
  }
  if (at.claim >= plan_.claims.size()) return Step::kDone;
  const ClaimPlan& claim = plan_.claims[at.claim];
  if (at.group >= claim.groups.size()) {
    const Step step = Allocate({at.claim + 1, 0, 0, 0}, false, depth + 1);
    // Another choice for this claim may leave the next one an alternative with fewer devices.
    return step == Step::kTooMany ? Step::kDeadEnd : step;
  }
  if (!inside_alternative && claim.groups[at.group].prioritized) return TryAlternatives(at, depth);

  const PlannedRequest& request = RequestAt(at);
  const RequestState& state = StateAt(at);
  if (request.all && state.all.empty()) return Step::kDeadEnd;
  if (at.device >= state.devices) {
    return Allocate({at.claim, at.group + 1, 0, 0}, false, depth + 1);
  }
  const auto held = static_cast<int64_t>(claims_[at.claim].found.size());
  if (held + state.devices - at.device > kMaxDevicesPerClaim) return Step::kTooMany;
  return request.all ? TakeAll(at, inside_alternative, depth)
                     : TakeOne(at, inside_alternative, depth);
}

Search::Step Search::TryAlternatives(Position at, int depth) {
  bool all_too_many = true;
  const size_t count = plan_.claims[at.claim].groups[at.group].count;
  for (size_t i = 0; i < count; ++i) {
    at.alternative = i;
    const Step step = Allocate(at, true, depth + 1);
    if (step == Step::kTooMany) continue;
    all_too_many = false;
    if (step == Step::kDone) claims_[at.claim].alternative[at.group] = i;
    if (step != Step::kDeadEnd) return step;
  }
  return all_too_many ? Step::kTooMany : Step::kDeadEnd;
}

Search::Step Search::TakeAll(const Position& at, bool inside_alternative, int depth) {
  const Slot slot = StateAt(at).all[static_cast<size_t>(at.device)];
  bool failed = false;
  if (!Take(at, slot, true, &failed)) return failed ? Step::kStop : Step::kDeadEnd;
  // As in kube-scheduler before 1.36, the alternative is forgotten after the first device: the
  // rest is taken for the first one.
  const size_t alternative = plan_.features.sorted_pools ? at.alternative : 0;
  const Step step =
      Allocate({at.claim, at.group, alternative, at.device + 1}, inside_alternative, depth + 1);
  if (step != Step::kDone) Release(at, slot);
  return step;
}

Search::Step Search::TakeOne(const Position& at, bool inside_alternative, int depth) {
  const PlannedRequest& request = RequestAt(at);
  const SelectorChain& chain = *request.chain;
  for (size_t p = at.start.pool; p < pools_->size(); ++p) {
    const Pool* pool = (*pools_)[p];
    if (plan_.features.checks_whole_pools) {
      if (pool->incomplete || !pool->invalid_reason.empty()) continue;
    } else if (!pool->invalid_reason.empty()) {
      Stop("pool " + pool->name + " is invalid: " + pool->invalid_reason);
      return Step::kStop;
    }
    for (size_t i = p == at.start.pool ? at.start.slice : 0; i < pool->slices.size(); ++i) {
      const SliceRecord& slice = inventory_.Slices()[pool->slices[i]];
      const uint32_t first =
          p == at.start.pool && i == at.start.slice ? at.start.device : uint32_t{0};
      for (uint32_t w = slice.first_word; w < slice.first_word + slice.words; ++w) {
        uint64_t bits =
            (chain.Matching()[w] & pool->Reachable(i, w - slice.first_word)) | chain.Failing()[w];
        if (!request.admin_access) bits &= ~inventory_.InUse()[w];
        for (; bits != 0; bits &= bits - 1) {
          const auto slot = w * kWordBits + static_cast<Slot>(std::countr_zero(bits));
          const uint32_t device = slot - slice.first_word * kWordBits;
          if (device < first) continue;
          const Step step = TryDevice(at, slot, {p, i, device + 1}, inside_alternative, depth);
          if (step != Step::kDeadEnd) return step;
        }
      }
    }
  }
  return Step::kDeadEnd;
}

Search::Step Search::TryDevice(const Position& at, Slot slot, const Place& next_place,
                               bool inside_alternative, int depth) {
  const PlannedRequest& request = RequestAt(at);
  if (max_steps_ > 0 && ++steps_ > max_steps_) {
    outcome_ = Outcome::kOutOfSteps;
    return Step::kStop;
  }
  if (request.admin_access ? TakenBy(slot, at.claim) : Taken(slot)) return Step::kDeadEnd;
  if ((request.chain->Failing()[slot / kWordBits] >> (slot % kWordBits) & 1) != 0) {
    Stop(SelectorText(plan_.claims[at.claim], request, request.chain->ErrorAt(slot)));
    return Step::kStop;
  }
  std::string error;
  if (!HasCapacity(request, slot, &error)) {
    if (error.empty()) return Step::kDeadEnd;
    StopForCapacity(plan_.claims[at.claim], request, inventory_.DeviceId(slot), error);
    return Step::kStop;
  }
  bool failed = false;
  if (!Take(at, slot, false, &failed)) return Step::kDeadEnd;
  Position next = at;
  ++next.device;
  if (plan_.features.sorted_pools) next.start = next_place;
  const Step step = Allocate(next, inside_alternative, depth + 1);
  if (step != Step::kDone) Release(at, slot);
  return step;
}

// --- one device

bool Search::Taken(Slot slot) const {
  return std::any_of(taken_.begin(), taken_.end(), [&](const auto& t) { return t.first == slot; });
}

bool Search::TakenBy(Slot slot, size_t claim) const {
  return std::find(taken_.begin(), taken_.end(), std::pair(slot, claim)) != taken_.end();
}

bool Search::Take(const Position& at, Slot slot, bool must, bool* failed) {
  const PlannedRequest& request = RequestAt(at);
  const uint32_t word = slot / kWordBits;
  const uint64_t bit = uint64_t{1} << (slot % kWordBits);
  if (request.admin_access) {
    if (!MayShare(slot) && TakenBy(slot, at.claim)) return false;
  } else if ((inventory_.InUse()[word] & bit) != 0 || Taken(slot)) {
    return false;
  }
  // Before 1.36, as in kube-scheduler, what was noted of a device that is refused below stays
  // noted.
  const bool rolls_back = plan_.features.sorted_pools;
  bool drew = false;
  if ((inventory_.Counters()[word] & bit) != 0 && !DrawCounters(slot, &drew)) return false;
  const auto refuse = [&] {
    if (rolls_back && drew) GiveCountersBack(slot);
    return false;
  };
  if (plan_.features.taints && (inventory_.Tainted()[word] & bit) != 0 &&
      !ToleratesAll(*request.tolerations, inventory_.DeviceAt(slot).taints,
                    plan_.features.only_known_taint_effects)) {
    return refuse();
  }

  const ClaimPlan& claim = plan_.claims[at.claim];
  for (size_t i = 0; i < claim.constraints.size(); ++i) {
    if (AddToConstraint(at.claim, i, request, slot)) continue;
    if (must) {
      *failed = true;
      Stop("claim " + claim.key + ", request " + request.name + ": cannot add device " +
           inventory_.DeviceId(slot) + " because a claim constraint would not be satisfied");
      return refuse();
    }
    for (size_t e = 0; e < i; ++e) RemoveFromConstraint(at.claim, e, request);
    return refuse();
  }
  if (!MayShare(slot)) taken_.emplace_back(slot, at.claim);
  bool first_share = false;
  if (plan_.features.consumable_capacity && !SharesCapacity(at, slot, &first_share)) {
    if (!rolls_back) return false;
    for (size_t i = 0; i < claim.constraints.size(); ++i) {
      RemoveFromConstraint(at.claim, i, request);
    }
    if (!MayShare(slot)) taken_.pop_back();
    return refuse();
  }
  claims_[at.claim].found.push_back(
      {claim.groups[at.group].first + at.alternative, slot, drew, first_share});
  return true;
}

void Search::Release(const Position& at, Slot slot) {
  const PlannedRequest& request = RequestAt(at);
  for (size_t i = 0; i < plan_.claims[at.claim].constraints.size(); ++i) {
    RemoveFromConstraint(at.claim, i, request);
  }
  const Found found = claims_[at.claim].found.back();
  claims_[at.claim].found.pop_back();
  const bool shared = MayShare(slot);
  if (shared) {
    SubtractCapacity(ConsumedCapacity(inventory_.DeviceAt(slot), request.capacity, plan_.features),
                     &shared_[slot]);
    if (found.first_share) shared_.erase(slot);
  } else {
    taken_.erase(std::find(taken_.begin(), taken_.end(), std::pair(slot, at.claim)));
  }
  // Before 1.36 shared devices keep what they drew.
  if (found.drew && (!shared || plan_.features.sorted_pools)) GiveCountersBack(slot);
}

// --- counters

bool Search::DrawCounters(Slot slot, bool* drew) {
  if (!plan_.features.partitionable) return false;
  const bool counted = plan_.features.sorted_pools && MayShare(slot) &&
                       (inventory_.Consumed(slot) != nullptr || shared_.contains(slot));
  if (counted) return true;  // by an earlier share
  *drew = counters_.Draw(slot, WholePool(slot));
  return *drew;
}

void Search::GiveCountersBack(Slot slot) { counters_.GiveBack(slot, WholePool(slot)); }

const std::vector<SliceId>* Search::WholePool(Slot slot) const {
  if (!plan_.features.checks_whole_pools) return nullptr;
  const SliceId id = inventory_.SliceOf(slot);
  for (const Pool* pool : *pools_) {
    if (std::find(pool->slices.begin(), pool->slices.end(), id) != pool->slices.end()) {
      return pool->whole;
    }
  }
  return nullptr;
}

// --- devices that several claims share

bool Search::MayShare(Slot slot) const {
  return plan_.features.consumable_capacity && IsShared(inventory_.DeviceAt(slot));
}

bool Search::HasCapacity(const PlannedRequest& request, Slot slot, std::string* error) const {
  if (!plan_.features.consumable_capacity) return true;
  const auto it = shared_.find(slot);
  return HasCapacityFor(inventory_.DeviceAt(slot), request.capacity, inventory_.Consumed(slot),
                        it == shared_.end() ? nullptr : &it->second, plan_.features, error);
}

bool Search::StopForCapacity(const ClaimPlan& claim, const PlannedRequest& request,
                             const std::string& device, const std::string& error) {
  return Stop("claim " + claim.key + ", request " + request.name +
              ": checking capacity for device " + device + ": " + error);
}

// A last look, and the share is given. As in kube-scheduler before 1.36 the look is at another
// device: the one whose position in the slice is that of `slot` in the request. (It crashes where
// there is none.)
bool Search::SharesCapacity(const Position& at, Slot slot, bool* first_share) {
  const PlannedRequest& request = RequestAt(at);
  std::string error;  // whoever chose the device has asked already
  const SliceRecord& record = inventory_.Slices()[inventory_.SliceOf(slot)];
  if (plan_.features.sorted_pools) {
    if (!HasCapacity(request, slot, &error)) return false;
  } else if (static_cast<size_t>(at.device) < record.object->spec.devices.size()) {
    const auto other =
        static_cast<Slot>(record.first_word * kWordBits + static_cast<uint64_t>(at.device));
    if (!HasCapacity(request, other, &error)) return false;
  }
  if (MayShare(slot)) {
    *first_share = plan_.features.sorted_pools && !shared_.contains(slot);
    AddCapacity(ConsumedCapacity(inventory_.DeviceAt(slot), request.capacity, plan_.features),
                &shared_[slot]);
  }
  return true;
}

// --- constraints

bool Search::AddToConstraint(size_t claim, size_t constraint, const PlannedRequest& request,
                             Slot slot) {
  const PlannedConstraint& planned = plan_.claims[claim].constraints[constraint];
  ConstraintState& state = claims_[claim].constraints[constraint];
  if (!planned.AppliesTo(request)) return true;
  const api::DeviceAttribute* attribute = FindAttribute(
      inventory_.DeviceAt(slot), inventory_.SliceObject(slot).spec.driver, planned.attribute);
  if (attribute == nullptr) return false;
  if (planned.distinct) {
    // kube-scheduler compares where values are stored, so that two devices always differ and only
    // a shared device, taken again, does not. A value of an unknown type is refused, while some
    // request holds one.
    const std::string& name = request.BaseName();
    auto holder = state.holders.end();
    for (auto it = state.holders.begin(); it != state.holders.end(); ++it) {
      if (*it->first == name) holder = it;
      if (state.devices > 0 && (it->second == attribute || !HasValue(*attribute))) return false;
    }
    if (holder == state.holders.end()) {
      state.holders.emplace_back(&name, attribute);
    } else {
      holder->second = attribute;
    }
  } else if (state.devices == 0) {
    state.attribute = attribute;
  } else if (!SameValue(*attribute, *state.attribute)) {
    return false;
  }
  ++state.devices;
  return true;
}

void Search::RemoveFromConstraint(size_t claim, size_t constraint, const PlannedRequest& request) {
  const PlannedConstraint& planned = plan_.claims[claim].constraints[constraint];
  ConstraintState& state = claims_[claim].constraints[constraint];
  if (!planned.AppliesTo(request)) return;
  std::erase_if(state.holders,
                [&](const auto& holder) { return *holder.first == request.BaseName(); });
  --state.devices;
}

}  // namespace berth::plugins::dynamic_resources
