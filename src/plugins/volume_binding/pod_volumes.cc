#include "plugins/volume_binding/pod_volumes.h"

#include <algorithm>

#include <fmt/format.h>

#include "api/go/go_text.h"
#include "cluster/objects/object_store.h"
#include "plugins/common/volume_claims.h"

namespace berth::plugins::volume_binding {
namespace {

using cluster::NodeIndex;
using framework::Status;

constexpr std::string_view kNoProvisioner = "kubernetes.io/no-provisioner";
// Up to this many groups of volumes are searched before the nodes are looked at.
constexpr size_t kFewGroups = 64;

std::string KeyOf(const api::ObjectMeta& metadata) {
  return metadata.namespace_ + "/" + metadata.name;
}

const api::Quantity* StorageRequest(const api::PersistentVolumeClaim& claim) {
  const auto it = claim.spec.resources.requests.find("storage");
  return it == claim.spec.resources.requests.end() ? nullptr : &it->second;
}

template <class List>
bool IsIn(const List& list, const api::PersistentVolume* volume) {
  return std::find(list.begin(), list.end(), volume) != list.end();
}

}  // namespace

const cluster::NodeSet& MigratedNodes::Of(const cluster::Cluster& cluster, InTreeKind kind) {
  Known& known = by_kind_[static_cast<size_t>(kind)];
  const auto& store = cluster.Objects().csi_nodes;
  if (known.valid && known.node_generation == cluster.NodeGeneration() &&
      known.csi_node_generation == store.Generation()) {
    return known.nodes;
  }
  known.valid = true;
  known.node_generation = cluster.NodeGeneration();
  known.csi_node_generation = store.Generation();
  before_ = known.nodes;
  before_.Resize(cluster.Rows());
  known.nodes.Resize(cluster.Rows());
  known.nodes.Clear();
  store.ForEach([&](const api::CSINode& csi_node) {
    const auto it = csi_node.metadata.annotations.find(kMigratedPluginsAnnotation);
    if (it == csi_node.metadata.annotations.end() || !ListsPlugin(it->second, kind)) return;
    const NodeIndex n = cluster.FindNode(csi_node.metadata.name);
    if (n != cluster::kNoNode) known.nodes.Insert(n);
  });
  changes_.SetRows(cluster.Rows());
  for (size_t w = 0; w < before_.Words().size(); ++w) {
    cluster::NodeSet::ForEachBit(before_.Words()[w] ^ known.nodes.Words()[w], w,
                                 [&](NodeIndex n) { changes_.Note(n); });
  }
  return known.nodes;
}

void VolumeView::Sync(const cluster::Cluster& cluster) {
  index.Sync(cluster, volumes);
  capacities.Sync(cluster);
  const auto& store = cluster.Objects().persistent_volume_claims;
  if (claim_generation == store.Generation()) return;
  const bool known = store.Changes().ForEachSince(
      claim_generation, [&](const std::string& key) { claims.Forget(store, key); });
  if (!known) claims.ForgetAll(store);
  claim_generation = store.Generation();
}

// --- Once per cycle

uint32_t PodVolumes::AddError(std::string text) {
  errors_.push_back(std::move(text));
  return static_cast<uint32_t>(errors_.size());
}

// Are the claims there and usable at all?
Status PodVolumes::CheckClaims(const cluster::Cluster& cluster, const cluster::Pod& pod) {
  const auto& store = cluster.Objects().persistent_volume_claims;
  for (const api::Volume& volume : pod.shape->source.spec.volumes) {
    const VolumeClaim volume_claim = ClaimOf(pod, volume);
    if (volume_claim.kind == VolumeClaim::Kind::kNone) continue;
    const bool ephemeral = volume_claim.kind == VolumeClaim::Kind::kEphemeral;
    const auto* claim = store.Find(pod.namespace_(), volume_claim.name);
    if (claim == nullptr && ephemeral) {
      return Status::Unresolvable(
          fmt::format("waiting for ephemeral volume controller to create the "
                      "persistentvolumeclaim {}",
                      api::GoQuote(volume_claim.name)));
    }
    if (claim == nullptr) return Status::Unresolvable(NotFound(kClaimResource, volume_claim.name));
    const std::string name = api::GoQuote(claim->metadata.name);
    if (claim->status.phase == "Lost") {
      return Status::Unresolvable(
          fmt::format("persistentvolumeclaim {} bound to non-existent persistentvolume {}", name,
                      api::GoQuote(claim->spec.volume_name)));
    }
    if (claim->metadata.deletion_timestamp) {
      return Status::Unresolvable(fmt::format("persistentvolumeclaim {} is being deleted", name));
    }
    if (ephemeral && !IsControlledBy(*claim, pod)) {
      return Status::Unresolvable(NotMadeForPod(*claim, pod));
    }
    claims_.push_back(claim);
  }
  return {};
}

Status PodVolumes::Prepare(const cluster::Cluster& cluster, const cluster::Pod& pod,
                           VolumeView& view) {
  trivial_ = true;
  claims_.clear();
  bound_.clear();
  unbound_.clear();
  by_size_.clear();
  errors_.clear();
  if (Status status = CheckClaims(cluster, pod); !status.Ok()) return status;
  if (claims_.empty()) return Status::Skip();

  view.Sync(cluster);
  const cluster::ObjectStore& objects = cluster.Objects();
  bool waits_for_controller = false;
  for (const api::PersistentVolumeClaim* stored : claims_) {
    const api::PersistentVolumeClaim& claim =
        *view.claims.Latest(objects.persistent_volume_claims, KeyOf(stored->metadata));
    if (IsFullyBound(claim)) {
      AddBound(cluster, claim, view);
      continue;
    }
    const std::string_view name = ClassOf(claim);
    const auto* storage_class = name.empty() ? nullptr : objects.storage_classes.Find(name);
    if (storage_class != nullptr && !storage_class->volume_binding_mode) {
      return Status::Error(
          fmt::format("VolumeBindingMode not set for StorageClass {}", api::GoQuote(name)));
    }
    const bool delayed =
        storage_class != nullptr && *storage_class->volume_binding_mode == kWaitForFirstConsumer;
    if (delayed && claim.spec.volume_name.empty()) {
      AddUnbound(cluster, claim, *storage_class, view);
    } else {
      waits_for_controller = true;
    }
  }
  if (waits_for_controller) {
    return Status::Unresolvable("pod has unbound immediate PersistentVolumeClaims");
  }
  OrderBySize();
  return {};
}

void PodVolumes::AddBound(const cluster::Cluster& cluster, const api::PersistentVolumeClaim& claim,
                          VolumeView& view) {
  Bound& bound = bound_.emplace_back();
  const auto* volume =
      view.volumes.Latest(cluster.Objects().persistent_volumes, "/" + claim.spec.volume_name);
  if (volume == nullptr) {
    bound.missing = true;
    trivial_ = false;
    return;
  }
  const auto& affinity = volume->spec.node_affinity;
  if (affinity) bound.terms = LabelTerms::OfVolume(cluster, affinity->required);
  const InTreeKind in_tree = InTreeKindOf(volume->spec);
  if (IsMigrated(in_tree)) {
    bound.in_tree = in_tree;
    bound.migrated = &view.migrated.Of(cluster, in_tree);
    if (const auto translated = TranslatedAffinity(*volume)) {
      bound.translated = LabelTerms::OfVolume(cluster, *translated);
    } else {
      bound.error = AddError("could not translate pv: " + translated.error().Message());
    }
  }
  trivial_ = trivial_ && bound.terms.MatchesAll() && bound.migrated == nullptr;
}

void PodVolumes::AddUnbound(const cluster::Cluster& cluster,
                            const api::PersistentVolumeClaim& claim,
                            const api::StorageClass& storage_class, VolumeView& view) {
  trivial_ = false;
  Unbound& unbound = unbound_.emplace_back();
  unbound.demand = VolumeDemand(claim, std::nullopt);
  const api::Quantity* request = StorageRequest(claim);

  const auto selected = claim.metadata.annotations.find(kSelectedNodeAnnotation);
  if (selected != claim.metadata.annotations.end()) {
    unbound.selected = cluster.FindNode(selected->second);
  } else {
    FindClaimed(cluster, view.index, &unbound);
    FindBest(&unbound);
  }

  const std::string& provisioner = storage_class.provisioner;
  unbound.provisioner = !provisioner.empty() && provisioner != kNoProvisioner;
  if (!unbound.provisioner) return;
  unbound.topology = LabelTerms::OfClass(cluster, storage_class.allowed_topologies);
  const auto* driver = cluster.Objects().csi_drivers.Find(provisioner);
  unbound.limited =
      request != nullptr && driver != nullptr && driver->spec.storage_capacity.value_or(false);
  if (!unbound.limited) return;
  unbound.storage_class = cluster.Strings().Intern(storage_class.metadata.name);
  unbound.size = request->Value();
  unbound.capacities = view.capacities.Find(storage_class.metadata.name);
}

// Volumes that exist for this claim, and those that anyone may have.
void PodVolumes::FindClaimed(const cluster::Cluster& cluster, const VolumeIndex& index,
                             Unbound* unbound) {
  const api::PersistentVolumeClaim& claim = *unbound->demand.claim();
  if (claim.spec.selector) {
    auto selector = api::Selector::From(*claim.spec.selector);
    if (!selector) {
      unbound->error =
          AddError(fmt::format("error creating internal label selector for claim: {}: {}",
                               KeyOf(claim.metadata), selector.error().Message()));
      return;
    }
    unbound->demand = VolumeDemand(claim, std::move(*selector));
  }
  const std::string_view storage_class = ClassOf(claim);
  for (const auto* volume : index.ClaimedBy(claim.metadata.namespace_, claim.metadata.name)) {
    if (ClassOf(*volume) != storage_class || !IsBoundTo(*volume, claim) ||
        !unbound->demand.Accepts(*volume)) {
      continue;
    }
    LabelTerms terms;
    if (volume->spec.node_affinity) {
      terms = LabelTerms::OfVolume(cluster, volume->spec.node_affinity->required);
    }
    unbound->claimed.push_back({volume, std::move(terms)});
  }
  unbound->available = index.Find(storage_class);
}

void PodVolumes::FindBest(Unbound* unbound) {
  if (unbound->available == nullptr || unbound->available->groups.size() > kFewGroups) return;
  // The pod's other claims can take away all but one of them.
  const size_t enough = claims_.size();
  for (const VolumeIndex::Group& group : unbound->available->groups) {
    auto& best = unbound->best.emplace_back();
    for (const VolumeIndex::Available& available : group.volumes) {
      if (best.size() == enough) break;
      if (unbound->demand.Accepts(available)) best.push_back(available);
    }
  }
}

void PodVolumes::OrderBySize() {
  for (uint32_t i = 0; i < unbound_.size(); ++i) {
    if (!unbound_[i].selected) by_size_.push_back(i);
  }
  std::stable_sort(by_size_.begin(), by_size_.end(), [&](uint32_t a, uint32_t b) {
    return unbound_[a].demand.size() < unbound_[b].demand.size();
  });
}

bool PodVolumes::IsLimited() const {
  return std::any_of(unbound_.begin(), unbound_.end(),
                     [](const Unbound& unbound) { return unbound.limited; });
}

// Claims for which nothing is there that they could be bound to ask only where a volume can be
// provisioned. Of volumes that are there, which one a node would get changes with every pod.
bool PodVolumes::AppendNumbers(std::vector<int64_t>* out) const {
  out->push_back(static_cast<int64_t>(unbound_.size()));
  for (const Unbound& unbound : unbound_) {
    if (unbound.selected || unbound.error != 0) return false;
    if (!unbound.claimed.empty() || unbound.available != nullptr) return false;
    out->push_back(unbound.provisioner);
    if (!unbound.topology.AppendNumbers(out)) return false;
    out->push_back(unbound.limited);
    if (!unbound.limited) continue;
    out->push_back(unbound.storage_class);
    out->push_back(unbound.size);
  }
  for (const Bound& bound : bound_) {
    if (bound.missing || bound.error != 0) return false;
    if (bound.migrated == nullptr && bound.terms.MatchesAll()) continue;
    out->push_back(static_cast<int64_t>(bound.in_tree));
    if (!bound.terms.AppendNumbers(out)) return false;
    if (bound.migrated != nullptr && !bound.translated.AppendNumbers(out)) return false;
  }
  return true;
}

// --- Once per node

PodVolumes::Answer PodVolumes::CheckBound(const cluster::Cluster& cluster, NodeIndex n) const {
  for (const Bound& bound : bound_) {
    if (bound.missing) return {kVolumeMissingBit, 0};
    const bool migrated = bound.migrated != nullptr && bound.migrated->Contains(n);
    if (migrated && bound.error != 0) return {0, bound.error};
    const LabelTerms& terms = migrated ? bound.translated : bound.terms;
    if (!terms.Matches(cluster, n)) return {kNodeConflictBit, 0};
  }
  return {};
}

const api::PersistentVolume* PodVolumes::FindVolume(const cluster::Cluster& cluster,
                                                    const Unbound& unbound, NodeIndex n,
                                                    const Chosen& chosen) const {
  for (const Unbound::Claimed& claimed : unbound.claimed) {
    if (IsIn(chosen, claimed.volume)) continue;
    return claimed.terms.Matches(cluster, n) ? claimed.volume : nullptr;
  }
  if (unbound.available == nullptr) return nullptr;
  const VolumeIndex::Available* smallest = nullptr;
  const auto consider = [&](const VolumeIndex::Available& available) {
    if (smallest == nullptr || VolumeIndex::Before(available, *smallest)) smallest = &available;
  };
  unbound.available->index.ForEach(n, [&](uint32_t slot) {
    const VolumeIndex::Group& group = unbound.available->groups[slot];
    if (!group.terms.Matches(cluster, n)) return;
    if (!unbound.best.empty()) {
      for (const VolumeIndex::Available& available : unbound.best[slot]) {
        if (!IsIn(chosen, available.volume)) return consider(available);
      }
      return;
    }
    for (const VolumeIndex::Available& available : group.volumes) {
      if (!IsIn(chosen, available.volume) && unbound.demand.Accepts(available)) {
        return consider(available);
      }
    }
  });
  return smallest == nullptr ? nullptr : smallest->volume;
}

uint32_t PodVolumes::CheckProvision(const cluster::Cluster& cluster, const Unbound& unbound,
                                    NodeIndex n, std::optional<int64_t>* capacity) const {
  if (!unbound.provisioner || !unbound.topology.Matches(cluster, n)) return kBindConflictBit;
  if (!unbound.limited) return 0;
  const CapacityIndex::Segment* room =
      unbound.capacities == nullptr
          ? nullptr
          : CapacityIndex::FindRoom(cluster, *unbound.capacities, unbound.size, n);
  if (room == nullptr) return kNotEnoughSpaceBit;
  *capacity = room->capacity;
  return 0;
}

PodVolumes::Answer PodVolumes::Check(const cluster::Cluster& cluster, NodeIndex n,
                                     Decision* decision) const {
  Answer answer = CheckBound(cluster, n);
  if (answer.error != 0 || unbound_.empty()) return answer;
  for (const Unbound& unbound : unbound_) {
    if (unbound.selected && *unbound.selected != n) {
      answer.reasons |= kBindConflictBit;
      return answer;
    }
  }
  Chosen chosen;
  boost::container::small_vector<uint32_t, 8> unmatched;
  for (const uint32_t i : by_size_) {
    if (unbound_[i].error != 0) return {0, unbound_[i].error};
    const api::PersistentVolume* volume = FindVolume(cluster, unbound_[i], n, chosen);
    if (volume == nullptr) {
      unmatched.push_back(i);
      continue;
    }
    chosen.push_back(volume);
    if (decision != nullptr) decision->bindings.push_back({unbound_[i].demand.claim(), volume});
  }
  // Of the claims to provision, those with a selected node come first; the first that fails
  // decides.
  const auto provision = [&](const Unbound& unbound) {
    std::optional<int64_t> capacity;
    const uint32_t failed = CheckProvision(cluster, unbound, n, &capacity);
    answer.reasons |= failed;
    if (decision != nullptr) decision->provisions.push_back({unbound.demand.claim(), capacity});
    return failed == 0;
  };
  for (const Unbound& unbound : unbound_) {
    if (unbound.selected && !provision(unbound)) return answer;
  }
  for (const uint32_t i : unmatched) {
    if (!provision(unbound_[i])) return answer;
  }
  return answer;
}

}  // namespace berth::plugins::volume_binding
