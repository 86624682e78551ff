#include "history/feeder.h"

#include <algorithm>
#include <type_traits>
#include <utility>
#include <vector>

#include "sim/record/workload_name.h"

namespace berth::history {
namespace {

using sim::ModelApi;

bool WasPreempted(const api::Pod& pod) {
  return std::any_of(pod.status.conditions.begin(), pod.status.conditions.end(),
                     [](const api::PodCondition& condition) {
                       return condition.type == "DisruptionTarget" && condition.status == "True" &&
                              condition.reason == "PreemptionByScheduler";
                     });
}

bool IsOwnedBy(const api::Pod& pod, std::string_view kind) {
  return std::any_of(pod.metadata.owner_references.begin(), pod.metadata.owner_references.end(),
                     [&](const api::OwnerReference& owner) { return owner.kind == kind; });
}

// Stays on its node when the node is drained.
bool StaysOnDrain(const api::Pod& pod) {
  return IsOwnedBy(pod, "DaemonSet") ||
         api::FindValue(pod.metadata.annotations, "kubernetes.io/config.mirror") != nullptr;
}

// The pod as it was before a scheduler looked at it.
api::Pod Unscheduled(api::Pod pod) {
  pod.spec.node_name.clear();
  pod.status = {};
  pod.metadata.deletion_timestamp.reset();
  pod.metadata.deletion_grace_period_seconds.reset();
  return pod;
}

// What the scheduler writes to objects other than pods is left to the model's.
void DropDecisions(api::PersistentVolumeClaim& claim) {
  claim.metadata.annotations.erase(std::string("volume.kubernetes.io/selected-node"));
}
void DropDecisions(api::ResourceClaim& claim) { claim.status = {}; }
template <class T>
void DropDecisions(T&) {}

// Objects whose later versions show what the scheduler decided.
template <class T>
constexpr bool kChangedByScheduling =
    std::is_same_v<T, api::PersistentVolumeClaim> || std::is_same_v<T, api::PersistentVolume> ||
    std::is_same_v<T, api::ResourceClaim>;

// Made for a claim after the scheduler had chosen a node; the model makes its own.
template <class T>
bool IsProvisioned(const T& object) {
  if constexpr (std::is_same_v<T, api::PersistentVolume>) {
    return object.spec.claim_ref.has_value() &&
           api::FindValue(object.metadata.annotations, "pv.kubernetes.io/provisioned-by") !=
               nullptr;
  } else {
    return false;
  }
}

}  // namespace

Feeder::Feeder(sim::EventLoop& loop, sim::ModelApi& api, FeederOptions options)
    : loop_(loop), api_(api), options_(std::move(options)) {
  api_.Subscribe([this](const sim::ApiChange& change) { OnChange(change); });
}

void Feeder::Apply(const record::Record& record) {
  if (const auto* upsert = std::get_if<record::Upsert>(&record)) {
    ApplyObject(upsert->object);
  } else if (const auto* status = std::get_if<record::UpdateStatus>(&record)) {
    ApplyPod(status->pod, /*status_only=*/true);
  } else if (const auto* gone = std::get_if<record::Delete>(&record)) {
    Remove(gone->object);
  } else if (const auto* list = std::get_if<record::Replace>(&record)) {
    ApplyList(*list);
  }
}

void Feeder::Begin() {
  began_ = true;
  if (!options_.drained) return;
  std::set<std::string, std::less<>> drained;
  api_.ForEach<api::Node>([&](const api::Node& node) {
    if (options_.drained->Matches(node.metadata.labels)) drained.insert(node.metadata.name);
  });
  std::vector<api::Pod> moved;
  api_.ForEach<api::Pod>([&](const api::Pod& pod) {
    if (drained.contains(pod.spec.node_name) && !StaysOnDrain(pod)) moved.push_back(pod);
  });
  for (const api::Pod& pod : moved) {
    const std::string key = ModelApi::Key(pod.metadata.namespace_, pod.metadata.name);
    const auto history = pods_.extract(pod.metadata.uid);
    api_.Delete(api::Pod::kKind, pod.metadata.namespace_, pod.metadata.name);
    const sim::ApiAnswer made = api_.Create(Unscheduled(pod));
    Known& known = known_[key];
    known.model_uid = api::MetadataOf(*made.object)->uid;
    PodHistory& again = pods_[known.model_uid];
    if (!history.empty()) again = history.mapped();
  }
}

// --- Pods

void Feeder::ApplyPod(const api::Pod& pod, bool status_only) {
  const std::string key = ModelApi::Key(pod.metadata.namespace_, pod.metadata.name);
  auto known = known_.find(key);
  if (sim::IsFinished(pod)) {
    if (known != known_.end() && known->second.uid == pod.metadata.uid) RemovePod(key);
    return;
  }
  if (known != known_.end() && known->second.uid != pod.metadata.uid) {
    if (status_only) return;  // of a pod that is gone
    RemovePod(key);
    known = known_.end();
  }
  if (known != known_.end()) {
    ChangePod(known->second, pod, status_only);
  } else if (!status_only) {
    AddPod(pod);
  }
}

void Feeder::AddPod(const api::Pod& pod) {
  const bool bound = !pod.spec.node_name.empty();
  if (!bound && pod.metadata.deletion_timestamp) return;
  api::Pod made = bound ? pod : Unscheduled(pod);
  made.metadata.deletion_timestamp.reset();
  made.status.nominated_node_name.clear();
  if (!bound) made.status.resource_claim_statuses = pod.status.resource_claim_statuses;
  // A pod of that name that was preempted when recorded makes way for its successor.
  api_.Delete(api::Pod::kKind, pod.metadata.namespace_, pod.metadata.name);
  const sim::ApiAnswer answer = api_.Create(std::move(made));
  if (!answer.Ok()) return;
  const std::string key = ModelApi::Key(pod.metadata.namespace_, pod.metadata.name);
  Known known;
  known.uid = pod.metadata.uid;
  known.model_uid = api::MetadataOf(*answer.object)->uid;
  known.bound = bound;
  if (!bound && IsOwnedBy(pod, "Job")) runs_[known.model_uid].key = key;
  known.preempted = WasPreempted(pod);
  pods_[known.model_uid] = {key, sim::WorkloadName(pod), pod.spec.node_name, IsOurs(pod), bound};
  known_[key] = std::move(known);
}

void Feeder::ChangePod(Known& known, const api::Pod& pod, bool status_only) {
  if (WasPreempted(pod)) known.preempted = true;
  if (!known.bound && !pod.spec.node_name.empty()) {
    known.bound = true;
    known.bound_ns = loop_.Now();
    PodHistory& history = pods_[known.model_uid];
    history.node = pod.spec.node_name;
    if (!history.ours) {
      api_.Bind({pod.metadata.namespace_, pod.metadata.name, known.model_uid}, pod.spec.node_name);
    }
  }
  api_.Modify<api::Pod>(pod.metadata.namespace_, pod.metadata.name, [&](api::Pod& model) {
    if (model.metadata.uid != known.model_uid) return;
    if (!status_only) {
      std::string node = std::move(model.spec.node_name);
      model.spec = pod.spec;
      model.spec.node_name = std::move(node);
      model.metadata.labels = pod.metadata.labels;
      model.metadata.annotations = pod.metadata.annotations;
      model.metadata.owner_references = pod.metadata.owner_references;
    }
    if (model.spec.node_name.empty()) {
      model.status.resource_claim_statuses = pod.status.resource_claim_statuses;
    }
  });
}

// The pod is gone from the recording.
void Feeder::RemovePod(const std::string& key) {
  const auto it = known_.find(key);
  if (it == known_.end()) return;
  const Known known = std::move(it->second);
  known_.erase(it);
  if (known.preempted) return;
  const auto run = runs_.find(known.model_uid);
  if (run != runs_.end() && known.bound_ns >= 0) {
    run->second.length_ns = loop_.Now() - known.bound_ns;
    MayEnd(known.model_uid);
    return;
  }
  const size_t slash = key.find('/');
  const auto* pod = api_.Find<api::Pod>(key.substr(0, slash), key.substr(slash + 1));
  if (pod == nullptr || pod->metadata.uid != known.model_uid) return;
  api_.Delete(api::Pod::kKind, pod->metadata.namespace_, pod->metadata.name);
}

void Feeder::MayEnd(const std::string& model_uid) {
  const Run& run = runs_.at(model_uid);
  if (run.bound_ns < 0 || run.length_ns < 0) return;
  loop_.At(std::max(loop_.Now(), run.bound_ns + run.length_ns), [this, model_uid] {
    const auto ended = runs_.find(model_uid);
    if (ended == runs_.end()) return;  // gone before its time
    const sim::ObjectPtr pod = api_.Get(api::Pod::kKind, ended->second.key);
    if (pod == nullptr || api::MetadataOf(*pod)->uid != model_uid) return;
    const api::ObjectMeta& metadata = *api::MetadataOf(*pod);
    api_.Delete(api::Pod::kKind, metadata.namespace_, metadata.name);
  });
}

void Feeder::OnChange(const sim::ApiChange& change) {
  const auto* pod = std::get_if<api::Pod>(change.object.get());
  const auto run = pod == nullptr ? runs_.end() : runs_.find(pod->metadata.uid);
  if (run == runs_.end()) return;
  if (change.type == sim::ApiChange::Type::kDeleted) {
    runs_.erase(run);
  } else if (run->second.bound_ns < 0 && !pod->spec.node_name.empty()) {
    run->second.bound_ns = loop_.Now();
    MayEnd(pod->metadata.uid);
  }
}

// --- Other kinds

void Feeder::ApplyObject(const api::Object& object) {
  std::visit(
      [this]<class T>(const T& value) {
        if constexpr (std::is_same_v<T, api::Pod>) {
          ApplyPod(value, /*status_only=*/false);
        } else if constexpr (std::is_same_v<T, api::Node>) {
          ApplyNode(value);
        } else if constexpr (requires { T::kKind, value.metadata.namespace_; }) {
          ApplyOther(value);
        } else if constexpr (std::is_same_v<T, api::UnknownObject>) {
          ++left_out_[value.kind];
        }
      },
      object);
}

void Feeder::ApplyNode(api::Node node) {
  if (options_.drained && options_.drained->Matches(node.metadata.labels)) {
    node.spec.unschedulable = true;
  }
  ApplyOther(node);
}

template <class T>
void Feeder::ApplyOther(const T& object) {
  const std::string key = ModelApi::Key(object.metadata.namespace_, object.metadata.name);
  const bool is_new = others_[std::string(T::kKind)].insert(key).second;
  if (!is_new) {
    if constexpr (!kChangedByScheduling<T>) {
      api_.Modify<T>(object.metadata.namespace_, object.metadata.name,
                     [&](T& model) { model = object; });
    }
    return;
  }
  if (began_ && IsProvisioned(object)) return;
  T made = object;
  if (began_) DropDecisions(made);
  api_.Create(std::move(made));
}

void Feeder::Remove(const api::Object& object) {
  const api::ObjectMeta* metadata = api::MetadataOf(object);
  if (metadata == nullptr) return;
  const std::string key = ModelApi::Key(metadata->namespace_, metadata->name);
  const std::string_view kind = api::KindOf(object);
  if (kind == api::Pod::kKind) {
    const auto known = known_.find(key);
    if (known != known_.end() && known->second.uid == metadata->uid) RemovePod(key);
    return;
  }
  const auto keys = others_.find(kind);
  if (keys == others_.end() || keys->second.erase(key) == 0) return;
  api_.Delete(kind, metadata->namespace_, metadata->name);
}

// What is missing in a list is gone.
void Feeder::ApplyList(const record::Replace& list) {
  using scheduler::ListPart;
  if (list.part == ListPart::kWhole || list.part == ListPart::kFirst) listed_[list.kind].clear();
  std::set<std::string>& there = listed_[list.kind];
  for (const api::Object& object : list.objects) {
    if (api::KindOf(object) != list.kind) continue;
    there.insert(ModelApi::KeyOf(object));
    ApplyObject(object);
  }
  if (list.part != ListPart::kWhole && list.part != ListPart::kLast) return;
  std::vector<std::string> gone;
  if (list.kind == api::Pod::kKind) {
    for (const auto& [key, known] : known_) {
      if (!there.contains(key)) gone.push_back(key);
    }
    for (const std::string& key : gone) RemovePod(key);
  } else {
    std::set<std::string>& keys = others_[list.kind];
    for (const std::string& key : keys) {
      if (!there.contains(key)) gone.push_back(key);
    }
    for (const std::string& key : gone) {
      keys.erase(key);
      const size_t slash = key.find('/');
      api_.Delete(list.kind, key.substr(0, slash), key.substr(slash + 1));
    }
  }
  listed_.erase(list.kind);
}

}  // namespace berth::history
