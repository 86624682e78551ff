#include "plugins/dynamic_resources/dynamic_resources.h"

#include <algorithm>
#include <utility>

#include "cluster/objects/object_store.h"
#include "plugins/dynamic_resources/binding_conditions.h"
#include "plugins/dynamic_resources/pod_claims.h"
#include "plugins/dynamic_resources/state.h"

namespace berth::plugins::dynamic_resources {

using cluster::NodeIndex;
using framework::Code;
using framework::CycleContext;
using framework::PluginState;
using framework::Status;

namespace {

// Reason ids. From kFirstError on: an error, at node (id - kFirstError).
enum Reason : uint32_t {
  kCannotAllocate,
  kNotAvailable,
  kOutOfTime,
  kInvalidPools,
  kOldExtendedClaim,
  kCannotFit,
  kFirstError
};

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

}  // namespace

DynamicResources::DynamicResources(cluster::Cluster& cluster, int64_t max_steps,
                                   const config::Behaviour& behaviour, const BindingRules& binding)
    : cluster_(cluster),
      max_steps_(max_steps),
      behaviour_(behaviour),
      features_(behaviour.dra),
      binding_(binding),
      inventory_(features_),
      pools_(features_) {}
DynamicResources::~DynamicResources() = default;

std::unique_ptr<PluginState> DynamicResources::NewState() const {
  auto state = std::make_unique<State>();
  state->features = &features_;
  return state;
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
  if (features_.extended_resource) {
    state.extended = ExtendedResourcesOf(features_, context.cluster, context.pod);
  }
  const bool extended = !state.extended.of_devices.empty();
  if (context.shape.source.spec.resource_claims.empty() && !extended) return Status::Skip();
  const cluster::ObjectStore& objects = context.cluster.Objects();
  const auto claims = PodClaims(objects, context.pod);
  if (!claims) return Unresolvable(claims.error().Message());
  if (claims->empty() && !extended) return Status::Skip();
  for (const api::ResourceClaim* claim : *claims) {
    Status status = AddClaim(context, *claim, &state);
    if (status.Ok()) continue;
    // As if the pod had no claims: that is what PostFilter is to see.
    state.claims.clear();
    return status;
  }
  if (extended) AddExtendedClaim(context, &state);
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
  if (features_.binding_conditions) {
    const Result<bool> ready = IsReadyForBinding(claim, binding_);
    info.nowhere = !ready || (!*ready && IsBindingOverdue(claim, binding_, now_));
    state->restricted |= info.nowhere;
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

void DynamicResources::AddExtendedClaim(const CycleContext& context, State* state) const {
  const api::ResourceClaim* old = FindExtendedClaim(context.cluster.Objects(), context.pod);
  state->old_extended_claim = old != nullptr;
  state->new_extended_claim = old == nullptr;
  ClaimInfo& info = state->claims.emplace_back();
  info.claim = old;  // a new one is in the variants
  // With the old one no node is good enough, and nothing has to be allocated to know that.
  state->to_allocate = old == nullptr;
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
  AddVariant(context, 0, state);
  // In 1.34 the claim is the same everywhere.
  if (!state->new_extended_claim || !features_.resources_by_class) return;
  // With one resource and no other claim a node provides all or nothing.
  if (state->claims.size() == 1 && state->extended.of_devices.size() == 1) return;
  context.cluster.Nodes().ForEach([&](NodeIndex n) {
    if (state->LeftToNode(context.cluster, n)) return;
    const uint64_t provided = state->ProvidedBy(context.cluster, n);
    const bool known =
        std::ranges::find(state->variants, provided, &Variant::provided) != state->variants.end();
    if (!known) AddVariant(context, provided, state);
  });
}

void DynamicResources::AddVariant(const CycleContext& context, uint64_t provided,
                                  State* state) const {
  Variant& variant = state->variants.emplace_back();
  variant.provided = provided;
  std::vector<const api::ResourceClaim*> claims;
  for (const ClaimInfo& info : state->claims) {
    if (info.claim != nullptr && !info.claim->status.allocation) claims.push_back(info.claim);
  }
  std::vector<cluster::ResourceId> resources;
  for (size_t i = 0; i < state->extended.of_devices.size(); ++i) {
    if ((provided >> i & 1) == 0) resources.push_back(state->extended.of_devices[i]);
  }
  if (state->new_extended_claim && !resources.empty()) {
    variant.extended_claim = MakeExtendedClaim(features_, context.cluster, context.pod, resources);
    claims.push_back(variant.extended_claim.get());
  }
  variant.plan = MakePlan(claims, context.cluster.Objects(), selectors_, features_);
  for (ClaimPlan& claim : variant.plan.claims) {
    for (PlannedRequest& request : claim.requests) {
      if (request.chain) request.chain->Sync(inventory_);
    }
  }
  variant.verdicts = FindVerdicts(context, variant.plan.signature);
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
  std::vector<std::optional<Search>> searches(state.variants.size());
  PoolList pools;
  for (size_t w = batch.FirstWord(); w < batch.EndWord(); ++w) {
    if (batch.Word(w) != 0) FilterWord(context, state, w, &searches, &pools, batch);
  }
}

Search::Outcome DynamicResources::Decide(NodeIndex node, Search* search, PoolList* pools) const {
  pools->clear();
  pools_.Append(node, pools);
  Search::Outcome outcome = Search::Outcome::kImpossible;
  if (search->Count(*pools, &outcome)) return outcome;
  return search->Run(*pools);
}

// Filters those of `nodes`, bits of the word, that the variant is for.
void DynamicResources::FilterVariant(const CycleContext& context, const State& state,
                                     size_t variant, size_t word, uint64_t nodes,
                                     std::optional<Search>* search, PoolList* pools,
                                     framework::FilterBatch& batch) const {
  const auto fail = [&](NodeIndex n, const std::string& error) {
    state.notes[word].errors.emplace_back(n, error);
    batch.Reject(n, Code::kError, kFirstError + n);
  };
  if (state.variants.size() > 1) {
    cluster::NodeSet::ForEachBit(nodes, word, [&](NodeIndex n) {
      if (state.VariantOf(context.cluster, n) == variant) return;
      nodes &= ~(uint64_t{1} << (n % cluster::NodeSet::kWordBits));
    });
  }
  const Variant& kind = state.variants[variant];
  uint64_t& possible = kind.verdicts->possible.MutableWords()[word];
  uint64_t& impossible = kind.verdicts->impossible.MutableWords()[word];
  cluster::NodeSet::ForEachBit(nodes & ~(possible | impossible), word, [&](NodeIndex n) {
    const uint64_t bit = uint64_t{1} << (n % cluster::NodeSet::kWordBits);
    if (!pools_.Error().empty()) return fail(n, pools_.Error());
    if (!*search) search->emplace(inventory_, kind.plan, max_steps_);
    switch (Decide(n, &**search, pools)) {
      case Search::Outcome::kAllocated:
        possible |= bit;
        break;
      case Search::Outcome::kImpossible:
        impossible |= bit;
        break;
      case Search::Outcome::kOutOfSteps:
        if (features_.timeout_is_error) {
          fail(n, "node " + context.cluster.NodeName(n) + ": timed out trying to allocate devices");
        } else {
          batch.Reject(n, Code::kUnschedulableAndUnresolvable, kOutOfTime);
        }
        break;
      case Search::Outcome::kInvalidPools:
        batch.Reject(n, Code::kUnschedulableAndUnresolvable, kInvalidPools);
        break;
      case Search::Outcome::kError:
        fail(n, (*search)->error());
        break;
    }
  });
  batch.RejectWord(word, impossible & nodes, Code::kUnschedulableAndUnresolvable, kCannotAllocate);
}

void DynamicResources::FilterWord(const CycleContext& context, const State& state, size_t word,
                                  std::vector<std::optional<Search>>* searches, PoolList* pools,
                                  framework::FilterBatch& batch) const {
  if (!state.extended.of_devices.empty()) FilterExtended(context, state, word, batch);
  WordNotes& notes = state.notes[word];
  for (size_t i = 0; i < state.variants.size(); ++i) {
    const uint64_t nodes = batch.Word(word) & ~LeftToNode(context, state, word, batch);
    FilterVariant(context, state, i, word, nodes, &(*searches)[i], pools, batch);
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

// Nodes on which the extended resources of the pod cannot be had, whatever devices there are.
void DynamicResources::FilterExtended(const CycleContext& context, const State& state, size_t word,
                                      framework::FilterBatch& batch) const {
  const auto reject = [&](NodeIndex n, Reason reason) {
    batch.Reject(n, Code::kUnschedulableAndUnresolvable, reason);
  };
  cluster::NodeSet::ForEachBit(batch.Word(word), word, [&](NodeIndex n) {
    if (state.old_extended_claim) return reject(n, kOldExtendedClaim);
    for (const cluster::ResourceId id : state.extended.of_nodes) {
      if (!NodeHas(context.cluster, n, id)) return reject(n, kCannotFit);
    }
  });
}

uint64_t DynamicResources::LeftToNode(const CycleContext& context, const State& state, size_t word,
                                      const framework::FilterBatch& batch) const {
  uint64_t left = 0;
  if (!state.new_extended_claim) return left;
  cluster::NodeSet::ForEachBit(batch.Word(word), word, [&](NodeIndex n) {
    if (state.LeftToNode(context.cluster, n)) {
      left |= uint64_t{1} << (n % cluster::NodeSet::kWordBits);
    }
  });
  return left;
}

bool DynamicResources::AppendClaims(const CycleContext&, PluginState* plugin_state,
                                    std::vector<int64_t>* out) const {
  const State& state = *static_cast<const State*>(plugin_state);
  if (!state.extended.of_devices.empty()) return false;
  if (!state.to_allocate) return !state.restricted;
  if (state.restricted || !pools_.Error().empty()) return false;
  out->push_back(static_cast<int64_t>(state.variants.front().verdicts->serial));
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
    case kInvalidPools:
      out->emplace_back("invalid resource pools were encountered");
      return;
    case kOldExtendedClaim:
      out->emplace_back("cannot schedule extended resource claim");
      return;
    case kCannotFit:
      out->emplace_back("cannot fit resource");
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

Result<std::unique_ptr<framework::Plugin>> Make(const config::PluginArgs& args,
                                                const framework::PluginHandle& handle) {
  int64_t max_steps = 0;
  BindingRules binding;
  binding.release = handle.behaviour.release;
  if (const auto* own = std::get_if<config::DynamicResourcesArgs>(&args)) {
    if (own->filter_timeout) {
      max_steps = std::max<int64_t>(own->filter_timeout->ns, 0) / (1'000'000'000 / kStepsPerSecond);
      if (own->filter_timeout->ns > 0) max_steps = std::max<int64_t>(max_steps, 1);
    }
    if (own->binding_timeout) binding.timeout_ns = own->binding_timeout->ns;
  }
  return std::make_unique<DynamicResources>(handle.cluster, max_steps, handle.behaviour, binding);
}

}  // namespace berth::plugins::dynamic_resources
