// Search: finds devices for all claims of a plan on one node, or shows that there are none.
//
// Depth first: claim by claim, request by request, device by device, in the order of the node's
// pools; the first complete solution wins. Decides as kube-scheduler's allocator does, odd corners
// included (docs/quirks.md). The allocator of 1.36 is the one of DraFeatures::sorted_pools, that of
// 1.37 the one of capacity_errors_fail.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "plugins/dynamic_resources/counters.h"
#include "plugins/dynamic_resources/inventory.h"
#include "plugins/dynamic_resources/node_pools.h"
#include "plugins/dynamic_resources/plan.h"

namespace berth::plugins::dynamic_resources {

class Search {
 public:
  enum class Outcome : uint8_t { kAllocated, kImpossible, kOutOfSteps, kInvalidPools, kError };

  struct Found {
    size_t request = 0;  // in ClaimPlan::requests
    Slot slot = 0;
    bool drew = false;         // from counters
    bool first_share = false;  // no share of the device was given before
  };

  // `max_steps`: limit of devices tried; 0: none. The arguments outlive the search.
  Search(const Inventory& inventory, const Plan& plan, int64_t max_steps);

  // May be called for one node after the other.
  Outcome Run(const PoolList& pools);

  // After kError.
  const std::string& error() const { return error_; }
  // After kAllocated: the devices of a claim, and which alternative was taken for each of its
  // request groups.
  const std::vector<Found>& Devices(size_t claim) const { return claims_[claim].found; }
  size_t Alternative(size_t claim, size_t group) const { return claims_[claim].alternative[group]; }

  // The result of Run(), found by counting. False: Run() is needed.
  bool Count(const PoolList& pools, Outcome* outcome) const;

 private:
  enum class Step : uint8_t {
    kDone,
    kDeadEnd,
    kTooMany,  // more devices than a claim may hold
    kStop,     // see outcome_
  };

  // A device among those of the node's pools.
  struct Place {
    size_t pool = 0;
    size_t slice = 0;
    uint32_t device = 0;
  };
  // Where the search is.
  struct Position {
    size_t claim = 0;
    size_t group = 0;
    size_t alternative = 0;
    int64_t device = 0;
    // The first device to try. From 1.36 on, devices of one request are not tried in all orders.
    Place start = {};
  };

  // What is being tried for a constraint.
  struct ConstraintState {
    const api::DeviceAttribute* attribute = nullptr;
    int64_t devices = 0;
    // Distinct: requests that hold a value, and the last one of each.
    std::vector<std::pair<const std::string*, const api::DeviceAttribute*>> holders;
  };

  struct RequestState {
    int64_t devices = 0;  // wanted
    std::vector<Slot> all;
  };

  struct ClaimState {
    std::vector<RequestState> requests;
    std::vector<ConstraintState> constraints;
    std::vector<Found> found;
    std::vector<size_t> alternative;
  };

  bool RunsOut(int64_t available, int64_t tried) const;
  bool Prepare(const PoolList& pools);
  bool PrepareClaim(size_t index, const PoolList& pools);
  bool PrepareRequest(const ClaimPlan& claim, const PlannedRequest& request, const PoolList& pools,
                      RequestState* state);
  bool CollectAll(const ClaimPlan& claim, const PlannedRequest& request, const PoolList& pools,
                  std::vector<Slot>* slots);

  Step Allocate(Position at, bool inside_alternative, int depth);
  Step TryAlternatives(Position at, int depth);
  Step TakeAll(const Position& at, bool inside_alternative, int depth);
  Step TakeOne(const Position& at, bool inside_alternative, int depth);
  Step TryDevice(const Position& at, Slot slot, const Place& next, bool inside_alternative,
                 int depth);

  // Marks the device as taken if it can be. With `must`, a constraint that forbids it is an error.
  bool Take(const Position& at, Slot slot, bool must, bool* failed);
  void Release(const Position& at, Slot slot);
  // For one more share of the device, besides those that the search has given already. Always for
  // devices that are not shared, where capacity is not counted.
  // `error` is set where the request itself is at fault.
  bool HasCapacity(const PlannedRequest& request, Slot slot, std::string* error) const;
  bool StopForCapacity(const ClaimPlan& claim, const PlannedRequest& request,
                       const std::string& device, const std::string& error);
  bool MayShare(Slot slot) const;
  bool SharesCapacity(const Position& at, Slot slot, bool* first_share);
  // Draws the device's counters, if there are any to draw; false: they do not suffice.
  bool DrawCounters(Slot slot, bool* drew);
  void GiveCountersBack(Slot slot);
  // All slices of the device's pool, where counters count for the whole pool.
  const std::vector<SliceId>* WholePool(Slot slot) const;
  bool AddToConstraint(size_t claim, size_t constraint, const PlannedRequest& request, Slot slot);
  void RemoveFromConstraint(size_t claim, size_t constraint, const PlannedRequest& request);
  bool Taken(Slot slot) const;
  bool TakenBy(Slot slot, size_t claim) const;

  const PlannedRequest& RequestAt(const Position& at) const {
    const ClaimPlan& claim = plan_.claims[at.claim];
    return claim.requests[claim.groups[at.group].first + at.alternative];
  }
  const RequestState& StateAt(const Position& at) const {
    const RequestGroup& group = plan_.claims[at.claim].groups[at.group];
    return claims_[at.claim].requests[group.first + at.alternative];
  }
  bool Stop(std::string error);
  std::string SelectorText(const ClaimPlan& claim, const PlannedRequest& request,
                           const SelectorError& error) const;

  const Inventory& inventory_;
  const Plan& plan_;
  const int64_t max_steps_;
  const PoolList* pools_ = nullptr;
  std::vector<ClaimState> claims_;
  std::vector<std::pair<Slot, size_t>> taken_;  // device and claim
  CounterBook counters_;
  boost::unordered_flat_map<Slot, api::ResourceList> shared_;  // allocated by the search
  int64_t steps_ = 0;
  Outcome outcome_ = Outcome::kImpossible;
  std::string error_;
};

}  // namespace berth::plugins::dynamic_resources
