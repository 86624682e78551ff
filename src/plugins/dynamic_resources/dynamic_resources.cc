#include "plugins/dynamic_resources/dynamic_resources.h"

#include <algorithm>
#include <utility>

#include "cluster/object_store.h"
#include "framework/cycle.h"
#include "framework/diagnosis.h"
#include "plugins/dynamic_resources/allocation.h"
#include "plugins/dynamic_resources/pod_claims.h"
#include "plugins/dynamic_resources/pre_bind.h"

namespace berth::plugins::dynamic_resources {

using cluster::NodeIndex;
using framework::Code;
using framework::CycleContext;
using framework::PluginState;
using framework::Status;

namespace {

// Reason ids. From kFirstError on: an error, at node (id - kFirstError).
enum Reason : uint32_t { kCannotAllocate, kNotAvailable, kOutOfTime, kFirstError };

// There is no clock here: a second of kube-scheduler's filterTimeout is what it looks at in about
// that time.
constexpr int64_t kStepsPerSecond = 1'000'000;
// Answers are kept for this many kinds of claims.
constexpr size_t kMaxSignatures = 64;

Status Unresolvable(std::string reason) { return Status::Unresolvable(std::move(reason)); }

std::string Key(const api::ResourceClaim& claim) {
  return claim.metadata.namespace_ + "/" + claim.metadata.name;
}

// The name if the selector asks for one node by name and for nothing else, as allocations of local
// devices do.
const std::string* OnlyNodeName(const api::NodeSelector& selector) {
  if (selector.node_selector_terms.size() != 1) return nullptr;
  const api::NodeSelectorTerm& term = selector.node_selector_terms[0];
  if (!term.match_expressions.empty() || term.match_fields.size() != 1) return nullptr;
  const api::NodeSelectorRequirement& field = term.match_fields[0];
  const bool by_name =
      field.key == "metadata.name" && field.operator_ == "In" && field.values.size() == 1;
  return by_name ? &field.values[0] : nullptr;
}

// One claim of the pod.
struct ClaimInfo {
  const api::ResourceClaim* claim = nullptr;
  // Where an allocated claim can be used: everywhere, on one node, or where the selector says.
  bool anywhere = true;
  NodeIndex only_node = cluster::kNoNode;
  std::optional<NodeMatcher> matcher;

  bool AvailableOn(const cluster::Cluster& cluster, NodeIndex n) const {
    return anywhere || (matcher ? matcher->Matches(cluster, n) : n == only_node);
  }
};

// What Filter notes down about 64 nodes.
struct WordNotes {
  std::vector<size_t> unavailable;  // allocated claims that were out of reach of some node
  std::vector<std::pair<NodeIndex, std::string>> errors;

  void Clear() {
    unavailable.clear();
    errors.clear();
  }
};

}  // namespace

// The answers for one kind of claims on all nodes, kept from pod to pod: a node is decided again
// only after something about its devices has changed.
struct DynamicResources::Verdicts {
  uint64_t serial = 0;  // of the kind: never used for two of them
  uint64_t pools_version = 0;
  uint64_t use_generation = 0;
  uint64_t last_use = 0;
  cluster::NodeSet possible;
  cluster::NodeSet impossible;
};

struct DynamicResources::State final : PluginState {
  bool began = false;  // PreFilter ran in this cycle
  std::vector<ClaimInfo> claims;
  bool restricted = false;  // some claim is not available everywhere
  bool to_allocate = false;
  Plan plan;
  std::shared_ptr<Verdicts> verdicts;
  mutable std::vector<WordNotes> notes;  // by word of nodes

  // By Reserve.
  std::vector<std::shared_ptr<const api::ResourceClaim>> reserved;

  void Clear() {
    began = false;
    claims.clear();
    restricted = false;
    to_allocate = false;
    verdicts = nullptr;
    reserved.clear();
  }
};

DynamicResources::DynamicResources(cluster::Cluster& cluster, int64_t max_steps,
                                   const config::DraFeatures& features)
    : cluster_(cluster),
      max_steps_(max_steps),
      features_(features),
      inventory_(features),
      pools_(features.partitionable) {}
DynamicResources::~DynamicResources() = default;

std::unique_ptr<PluginState> DynamicResources::NewState() const {
  return std::make_unique<State>();
}

void DynamicResources::BeginCycle(const CycleContext&, PluginState* state) const {
  static_cast<State*>(state)->Clear();
}

Status DynamicResources::PreEnqueue(const cluster::Cluster& cluster,
                                    const cluster::Pod& pod) const {
  if (pod.shape->source.spec.resource_claims.empty()) return {};
  const auto claims = PodClaims(cluster.Objects(), pod);
  return claims ? Status() : Unresolvable(claims.error().Message());
}

// --- PreFilter

Status DynamicResources::PreFilter(const CycleContext& context, PluginState* plugin_state,
                                   framework::PreFilterResult*) const {
  State& state = *static_cast<State*>(plugin_state);
  state.Clear();
  state.began = true;
  if (context.shape.source.spec.resource_claims.empty()) return Status::Skip();
  const cluster::ObjectStore& objects = context.cluster.Objects();
  const auto claims = PodClaims(objects, context.pod);
  if (!claims) return Unresolvable(claims.error().Message());
  if (claims->empty()) return Status::Skip();
  for (const api::ResourceClaim* claim : *claims) {
    Status status = AddClaim(context, *claim, &state);
    if (status.Ok()) continue;
    // As if the pod had no claims: that is what PostFilter is to see.
    state.claims.clear();
    return status;
  }
  if (state.to_allocate) Synchronize(context, &state);
  const size_t words = context.cluster.Nodes().Words().size();
  if (state.notes.size() < words) state.notes.resize(words);
  for (WordNotes& notes : state.notes) notes.Clear();
  return {};
}

Status DynamicResources::AddClaim(const CycleContext& context, const api::ResourceClaim& claim,
                                  State* state) const {
  ClaimInfo& info = state->claims.emplace_back();
  info.claim = &claim;
  if (!claim.status.allocation) {
    state->to_allocate = true;
    return CheckClaim(context.cluster.Objects(), claim);
  }
  if (!claim.status.allocation->node_selector) return {};
  const api::NodeSelector& selector = *claim.status.allocation->node_selector;
  info.anywhere = false;
  state->restricted = true;
  if (const std::string* name = OnlyNodeName(selector)) {
    info.only_node = context.cluster.FindNode(*name);
    return {};
  }
  const auto parsed = api::NodeSelectorMatcher::Strict(selector);
  if (!parsed) return Status::Error(parsed.error().Message());
  info.matcher.emplace(context.cluster, *parsed);
  info.matcher->Prepare(context.cluster);
  return {};
}

// Can the claim be allocated at all?
Status DynamicResources::CheckClaim(const cluster::ObjectStore& objects,
                                    const api::ResourceClaim& claim) const {
  if (objects.in_flight_claims.Find(claim.metadata.namespace_, claim.metadata.name) != nullptr) {
    return Unresolvable("resource claim " + Key(claim) + " is in the process of being allocated");
  }
  const auto check_class = [&](const std::string& request, const std::string& name) {
    if (name.empty()) return Status::Error("request " + request + ": unsupported request type");
    if (objects.device_classes.Find(name) != nullptr) return Status();
    return Unresolvable("request " + request + ": device class " + name + " does not exist");
  };
  for (const api::DeviceRequest& request : claim.spec.devices.requests) {
    if (request.exactly) {
      Status status = check_class(request.name, request.exactly->device_class_name);
      if (!status.Ok()) return status;
      continue;
    }
    if (request.first_available.empty()) {
      return Unresolvable("resource claim " + Key(claim) + ", request " + request.name +
                          ": unknown request type");
    }
    if (!features_.prioritized_list) {
      return Unresolvable("resource claim " + Key(claim) + ", request " + request.name +
                          ": has subrequests, but the DRAPrioritizedList feature is disabled");
    }
    for (const api::DeviceSubRequest& alternative : request.first_available) {
      Status status =
          check_class(request.name + "/" + alternative.name, alternative.device_class_name);
      if (!status.Ok()) return status;
    }
  }
  return {};
}

// Brings all tables up to date and plans the allocation.
void DynamicResources::Synchronize(const CycleContext& context, State* state) const {
  const cluster::ObjectStore& objects = context.cluster.Objects();
  inventory_.Sync(objects);
  pools_.Sync(context.cluster, inventory_);
  FollowDevices(context.cluster);
  std::vector<const api::ResourceClaim*> claims;
  for (const ClaimInfo& info : state->claims) {
    if (!info.claim->status.allocation) claims.push_back(info.claim);
  }
  state->plan = MakePlan(claims, objects, selectors_, features_);
  for (ClaimPlan& claim : state->plan.claims) {
    for (PlannedRequest& request : claim.requests) {
      if (request.chain) request.chain->Sync(inventory_);
    }
  }
  state->verdicts = FindVerdicts(context, state->plan.signature);
}

// A device of one node concerns that node; a shared one may concern any.
void DynamicResources::FollowDevices(const cluster::Cluster& cluster) const {
  const auto& changes = inventory_.UseChanges();
  changed_rows_.SetRows(cluster.Rows());
  const bool known = changes.ForEachSince(use_generation_, [&](SliceId id) {
    const NodeIndex node = pools_.OnlyNode(id);
    if (node == cluster::kNoNode) {
      ++shared_changes_;
    } else {
      changed_rows_.Note(node);
    }
  });
  if (!known) ++shared_changes_;
  use_generation_ = changes.Generation();
}

std::shared_ptr<DynamicResources::Verdicts> DynamicResources::FindVerdicts(
    const CycleContext& context, const std::string& signature) const {
  if (verdicts_.size() >= kMaxSignatures && !verdicts_.contains(signature)) {
    const auto oldest = std::min_element(
        verdicts_.begin(), verdicts_.end(),
        [](const auto& a, const auto& b) { return a.second->last_use < b.second->last_use; });
    verdicts_.erase(oldest);
  }
  std::shared_ptr<Verdicts>& slot = verdicts_[signature];
  if (!slot) {
    slot = std::make_shared<Verdicts>();
    slot->serial = ++signatures_;
  }
  Verdicts& verdicts = *slot;
  verdicts.last_use = ++uses_;
  bool valid = verdicts.pools_version == pools_.Version();
  // A device of one node concerns that node; a shared one may concern any.
  valid = valid && inventory_.UseChanges().ForEachSince(verdicts.use_generation, [&](SliceId id) {
    const NodeIndex node = pools_.OnlyNode(id);
    if (node == cluster::kNoNode) {
      valid = false;
      return;
    }
    verdicts.possible.Erase(node);
    verdicts.impossible.Erase(node);
  }) && valid;
  if (!valid) {
    verdicts.possible = cluster::NodeSet(context.cluster.Rows());
    verdicts.impossible = cluster::NodeSet(context.cluster.Rows());
  }
  verdicts.pools_version = pools_.Version();
  verdicts.use_generation = inventory_.UseChanges().Generation();
  return slot;
}

// --- Filter

void DynamicResources::Filter(const CycleContext& context, const PluginState* plugin_state,
                              framework::FilterBatch& batch) const {
  const State& state = *static_cast<const State*>(plugin_state);
  if (state.claims.empty()) return;
  std::optional<Search> search;
  PoolList pools;
  for (size_t w = batch.FirstWord(); w < batch.EndWord(); ++w) {
    if (batch.Word(w) != 0) FilterWord(context, state, w, &search, &pools, batch);
  }
}

Search::Outcome DynamicResources::Decide(const State& state, NodeIndex node, Search* search,
                                         PoolList* pools) const {
  (void)state;
  pools->clear();
  pools_.Append(node, pools);
  Search::Outcome outcome = Search::Outcome::kImpossible;
  if (search->Count(*pools, &outcome)) return outcome;
  return search->Run(*pools);
}

void DynamicResources::FilterWord(const CycleContext& context, const State& state, size_t word,
                                  std::optional<Search>* search, PoolList* pools,
                                  framework::FilterBatch& batch) const {
  WordNotes& notes = state.notes[word];
  const auto fail = [&](NodeIndex n, const std::string& error) {
    notes.errors.emplace_back(n, error);
    batch.Reject(n, Code::kError, kFirstError + n);
  };
  if (state.to_allocate) {
    uint64_t& possible = state.verdicts->possible.MutableWords()[word];
    uint64_t& impossible = state.verdicts->impossible.MutableWords()[word];
    cluster::NodeSet::ForEachBit(
        batch.Word(word) & ~(possible | impossible), word, [&](NodeIndex n) {
          const uint64_t bit = uint64_t{1} << (n % cluster::NodeSet::kWordBits);
          if (!pools_.Error().empty()) return fail(n, pools_.Error());
          if (!*search) search->emplace(inventory_, state.plan, max_steps_);
          switch (Decide(state, n, &**search, pools)) {
            case Search::Outcome::kAllocated:
              possible |= bit;
              break;
            case Search::Outcome::kImpossible:
              impossible |= bit;
              break;
            case Search::Outcome::kOutOfSteps:
              batch.Reject(n, Code::kUnschedulableAndUnresolvable, kOutOfTime);
              break;
            case Search::Outcome::kError:
              fail(n, (*search)->error());
              break;
          }
        });
    batch.RejectWord(word, impossible, Code::kUnschedulableAndUnresolvable, kCannotAllocate);
  }
  if (!state.restricted) return;
  cluster::NodeSet::ForEachBit(batch.Word(word), word, [&](NodeIndex n) {
    bool available = true;
    for (size_t i = 0; i < state.claims.size(); ++i) {
      if (state.claims[i].AvailableOn(context.cluster, n)) continue;
      available = false;
      if (std::find(notes.unavailable.begin(), notes.unavailable.end(), i) ==
          notes.unavailable.end()) {
        notes.unavailable.push_back(i);
      }
    }
    if (!available) batch.Reject(n, Code::kUnschedulableAndUnresolvable, kNotAvailable);
  });
}

bool DynamicResources::AppendClaims(const CycleContext&, PluginState* plugin_state,
                                    std::vector<int64_t>* out) const {
  const State& state = *static_cast<const State*>(plugin_state);
  if (!state.to_allocate) return !state.restricted;
  if (state.restricted || !pools_.Error().empty()) return false;
  out->push_back(static_cast<int64_t>(state.verdicts->serial));
  return true;
}

bool DynamicResources::AppendPremises(const CycleContext&, PluginState* plugin_state,
                                      std::vector<int64_t>* out) const {
  const State& state = *static_cast<const State*>(plugin_state);
  if (!state.to_allocate) return true;
  out->push_back(static_cast<int64_t>(pools_.Version()));
  out->push_back(static_cast<int64_t>(shared_changes_));
  return true;
}

void DynamicResources::Reasons(const CycleContext&, const PluginState* plugin_state,
                               const framework::Verdict& verdict,
                               std::vector<std::string>* out) const {
  switch (verdict.reason) {
    case kCannotAllocate:
      out->emplace_back("cannot allocate all claims");
      return;
    case kNotAvailable:
      out->emplace_back("resourceclaim not available on the node");
      return;
    case kOutOfTime:
      out->emplace_back("timed out trying to allocate devices");
      return;
    default:
      break;
  }
  const State& state = *static_cast<const State*>(plugin_state);
  const NodeIndex node = verdict.reason - kFirstError;
  const size_t word = node / cluster::NodeSet::kWordBits;
  if (word >= state.notes.size()) return;
  const auto& errors = state.notes[word].errors;
  const auto it = std::find_if(errors.rbegin(), errors.rend(),
                               [&](const auto& error) { return error.first == node; });
  if (it != errors.rend()) out->push_back(it->second);
}

// --- PostFilter

Status DynamicResources::PostFilter(framework::Cycle& cycle, cluster::Cluster&,
                                    const framework::Diagnosis&,
                                    framework::PostFilterResult* result) {
  const State* state = nullptr;
  const auto plugins = cycle.profile().Plugins();
  for (size_t i = 0; i < plugins.size(); ++i) {
    if (plugins[i].get() == static_cast<framework::Plugin*>(this)) {
      state = static_cast<const State*>(cycle.state(static_cast<uint8_t>(i)));
    }
  }
  // An earlier plugin's PreFilter ended the cycle: kube-scheduler then misses its state, and so do
  // we.
  if (state == nullptr || !state->began) return Status::Error("not found");
  if (state->claims.empty()) return Status::Unschedulable("no new claims to deallocate");
  std::vector<bool> unavailable(state->claims.size());
  for (const WordNotes& notes : state->notes) {
    for (const size_t i : notes.unavailable) unavailable[i] = true;
  }
  const std::string& uid = cycle.context().pod.uid;
  for (size_t i = 0; i < state->claims.size(); ++i) {
    const api::ResourceClaim& claim = *state->claims[i].claim;
    const auto& users = claim.status.reserved_for;
    if (!unavailable[i] || users.size() > 1 || (users.size() == 1 && users[0].uid != uid)) continue;
    api::ResourceClaim freed = claim;
    freed.status = {};
    result->deallocated_claim = std::make_shared<const api::ResourceClaim>(std::move(freed));
    return Status::Unschedulable("deallocation of ResourceClaim completed");
  }
  return Status::Unschedulable("still not schedulable");
}

// --- Reserve and after

Status DynamicResources::Reserve(const CycleContext& context, PluginState* plugin_state,
                                 NodeIndex node) {
  State& state = *static_cast<State*>(plugin_state);
  if (!state.to_allocate || state.claims.empty()) return {};
  // The same search as in Filter, on the same tables, finds the same devices.
  Search search(inventory_, state.plan, max_steps_);
  PoolList pools;
  pools_.Append(node, &pools);
  if (!pools_.Error().empty() || search.Run(pools) != Search::Outcome::kAllocated) {
    return Status::Error("claim allocation not found for node");
  }
  const std::string& node_name = context.cluster.NodeName(node);
  for (size_t i = 0; i < state.plan.claims.size(); ++i) {
    auto allocation = MakeAllocation(inventory_, state.plan, search, i, node_name);
    if (!allocation) return Status::Error(allocation.error().Message());
    auto claim = std::make_shared<api::ResourceClaim>(*state.plan.claims[i].claim);
    auto& finalizers = claim->metadata.finalizers;
    if (std::find(finalizers.begin(), finalizers.end(), kFinalizer) == finalizers.end()) {
      finalizers.emplace_back(kFinalizer);
    }
    claim->status.allocation = std::move(*allocation);
    claim->status.reserved_for.push_back(PodReference(context.pod.uid, context.pod.name));
    cluster_.MutableObjects().in_flight_claims.Set(claim);
    state.reserved.push_back(std::move(claim));
  }
  return {};
}

void DynamicResources::Unreserve(const CycleContext& context, PluginState* plugin_state,
                                 NodeIndex) {
  ReleaseInFlight(cluster_, context.pod.uid);
  if (plugin_state != nullptr) static_cast<State*>(plugin_state)->reserved.clear();
}

std::unique_ptr<framework::PreBindTask> DynamicResources::PreparePreBind(
    const CycleContext& context, PluginState* plugin_state, NodeIndex) {
  const State& state = *static_cast<const State*>(plugin_state);
  if (state.claims.empty()) return nullptr;
  std::vector<ClaimToBind> claims;
  auto reserved = state.reserved.begin();
  for (const ClaimInfo& info : state.claims) {
    ClaimToBind& claim = claims.emplace_back(ClaimToBind{*info.claim, {}});
    // Those without an allocation were reserved, in the same order.
    if (!info.claim->status.allocation && reserved != state.reserved.end()) {
      claim.allocation = (*reserved++)->status.allocation;
    }
  }
  return MakePreBindTask(cluster_, std::move(claims), context.pod.uid, context.pod.name);
}

std::vector<std::string> DynamicResources::ReservedDevices(const PluginState* plugin_state) {
  std::vector<std::string> devices;
  for (const auto& claim : static_cast<const State*>(plugin_state)->reserved) {
    for (const auto& device : claim->status.allocation->devices.results) {
      if (device.admin_access.value_or(false)) continue;
      devices.push_back(device.driver + "/" + device.pool + "/" + device.device);
    }
  }
  std::sort(devices.begin(), devices.end());
  devices.erase(std::unique(devices.begin(), devices.end()), devices.end());
  return devices;
}

Result<std::unique_ptr<framework::Plugin>> Make(const config::PluginArgs& args,
                                                const framework::PluginHandle& handle) {
  int64_t max_steps = 0;
  config::DraFeatures features;
  if (const auto* own = std::get_if<config::DynamicResourcesArgs>(&args)) {
    features = own->features;
    if (own->filter_timeout) {
      max_steps = std::max<int64_t>(own->filter_timeout->ns, 0) / (1'000'000'000 / kStepsPerSecond);
      if (own->filter_timeout->ns > 0) max_steps = std::max<int64_t>(max_steps, 1);
    }
  }
  return std::make_unique<DynamicResources>(handle.cluster, max_steps, features);
}

}  // namespace berth::plugins::dynamic_resources
