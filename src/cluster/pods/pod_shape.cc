#include "cluster/pods/pod_shape.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "api/codec/json.h"
#include "api/rules/image_name.h"
#include "api/rules/pod_requests.h"
#include "api/rules/seccomp.h"
#include "cluster/pods/volume_use.h"
#include "cluster/table/resources.h"

namespace berth::cluster {
namespace {

// Appends parts so that different lists of parts give different bytes: every text carries its
// length. Has room made in advance, because a key is written for every pod that is seen or changes.
class KeyWriter {
 public:
  explicit KeyWriter(std::string* out) : out_(*out) {
    const size_t size = out_.size();
    out_.resize(std::max(out_.capacity(), size + kUsualKey));
    Reset(size);
  }
  ~KeyWriter() { out_.resize(Size()); }
  KeyWriter(const KeyWriter&) = delete;
  KeyWriter& operator=(const KeyWriter&) = delete;

  void Text(std::string_view text) {
    MakeRoom(kLongestNumber + text.size());
    at_ = Put(text.size(), at_);
    std::memcpy(at_, text.data(), text.size());
    at_ += text.size();
  }
  void Number(uint64_t n) {
    MakeRoom(kLongestNumber);
    at_ = Put(n, at_);
  }
  // Ends where it must: no length is needed.
  template <class T>
  void Json(const T& value) {
    out_.resize(Size());
    api::EncodeJson(api::TypeOf<T>(), &value, out_);
    Reset(out_.size());
  }
  void Texts(const std::vector<std::string>& texts) {
    Number(texts.size());
    for (const std::string& text : texts) Text(text);
  }
  void Map(const api::StringMap& map) {
    Number(map.size());
    for (const auto& [key, value] : map) {
      Text(key);
      Text(value);
    }
  }
  void Resources(const api::ResourceList& list) {
    Number(list.size());
    for (const auto& [name, quantity] : list) {
      Text(name);
      Text(quantity.String());
    }
  }

 private:
  static constexpr size_t kUsualKey = 512;
  static constexpr size_t kLongestNumber = 10;

  static char* Put(uint64_t n, char* at) {
    for (; n >= 0x80; n >>= 7) *at++ = static_cast<char>(n | 0x80);
    *at++ = static_cast<char>(n);
    return at;
  }
  size_t Size() const { return static_cast<size_t>(at_ - out_.data()); }
  void Reset(size_t size) {
    at_ = out_.data() + size;
    end_ = out_.data() + out_.size();
  }
  void MakeRoom(size_t bytes) {
    if (static_cast<size_t>(end_ - at_) >= bytes) return;
    const size_t size = Size();
    out_.resize(std::max(out_.capacity(), 2 * size + bytes));
    Reset(size);
  }

  std::string& out_;
  char* at_ = nullptr;   // the end of what is written; behind it is room
  char* end_ = nullptr;  // of the room
};

bool RestartsAllContainers(const api::Container& container) {
  return std::any_of(
      container.restart_policy_rules.begin(), container.restart_policy_rules.end(),
      [](const api::ContainerRestartRule& rule) { return rule.action == "RestartAllContainers"; });
}

void WriteContainers(const std::vector<api::Container>& containers, KeyWriter& key) {
  key.Number(containers.size());
  for (const api::Container& c : containers) {
    key.Text(c.name);
    key.Text(c.image);
    key.Text(c.restart_policy.value_or(""));
    key.Resources(c.resources.requests);
    key.Resources(c.resources.limits);
    const std::string* seccomp = api::LocalhostProfile(c.security_context);
    key.Number((RestartsAllContainers(c) ? 1 : 0) + (seccomp != nullptr ? 2 : 0));
    if (seccomp != nullptr) key.Text(*seccomp);
    uint64_t host_ports = 0;
    for (const api::ContainerPort& port : c.ports) host_ports += port.host_port > 0;
    key.Number(host_ports);
    for (const api::ContainerPort& port : c.ports) {
      if (port.host_port <= 0) continue;
      key.Number(static_cast<uint64_t>(port.host_port));
      key.Text(port.protocol);
      key.Text(port.host_ip);
    }
  }
}

// Volumes the scheduler looks at; the others (config maps, tokens with generated names, …) differ
// from pod to pod without meaning anything.
bool IsSchedulingVolume(const api::Volume& v) {
  return v.gce_persistent_disk || v.aws_elastic_block_store || v.iscsi ||
         v.persistent_volume_claim || v.rbd || v.cinder || v.azure_file || v.vsphere_volume ||
         v.azure_disk || v.portworx_volume || v.csi || v.ephemeral;
}

bool IsResizeCondition(const api::PodCondition& c) {
  return c.type == "PodResizePending" || c.type == "PodResizeInProgress";
}

// Requests of a pod that is resized in place also depend on what its kubelet reports.
void WriteStatus(const api::PodStatus& status, KeyWriter& key) {
  for (const auto* list : {&status.init_container_statuses, &status.container_statuses}) {
    for (const api::ContainerStatus& c : *list) {
      if (c.allocated_resources.empty() && !c.resources) continue;
      key.Text("c");
      key.Text(c.name);
      key.Resources(c.allocated_resources);
      key.Number(c.resources ? 1 : 0);
      if (c.resources) key.Resources(c.resources->requests);
    }
    key.Text("");
  }
  for (const api::PodCondition& c : status.conditions) {
    if (!IsResizeCondition(c)) continue;
    key.Text(c.type);
    key.Text(c.status);
    key.Text(c.reason);
  }
  key.Text(status.resize);
  if (status.resources || !status.allocated_resources.empty()) {
    key.Text("P");
    key.Resources(status.allocated_resources);
    key.Number(status.resources ? 1 : 0);
    if (status.resources) key.Resources(status.resources->requests);
  }
  if (status.extended_resource_claim_status) {
    key.Text("E");
    key.Json(*status.extended_resource_claim_status);
  }
}

// What WriteStatus writes.
api::PodStatus SchedulingStatus(const api::PodStatus& status) {
  api::PodStatus kept;
  const auto keep = [](const std::vector<api::ContainerStatus>& from,
                       std::vector<api::ContainerStatus>* to) {
    for (const api::ContainerStatus& c : from) {
      if (c.allocated_resources.empty() && !c.resources) continue;
      api::ContainerStatus& own = to->emplace_back();
      own.name = c.name;
      own.allocated_resources = c.allocated_resources;
      if (c.resources) own.resources.emplace().requests = c.resources->requests;
    }
  };
  keep(status.init_container_statuses, &kept.init_container_statuses);
  keep(status.container_statuses, &kept.container_statuses);
  for (const api::PodCondition& c : status.conditions) {
    if (!IsResizeCondition(c)) continue;
    api::PodCondition& own = kept.conditions.emplace_back();
    own.type = c.type;
    own.status = c.status;
    own.reason = c.reason;
  }
  kept.resize = status.resize;
  kept.allocated_resources = status.allocated_resources;
  if (status.resources) kept.resources.emplace().requests = status.resources->requests;
  kept.extended_resource_claim_status = status.extended_resource_claim_status;
  return kept;
}

// The controllers whose selectors default topology spreading looks up.
const api::OwnerReference* SpreadingController(const api::Pod& pod) {
  for (const api::OwnerReference& owner : pod.metadata.owner_references) {
    if (!owner.controller.value_or(false)) continue;
    const bool counts = owner.kind == "ReplicaSet" || owner.kind == "StatefulSet" ||
                        owner.kind == "ReplicationController";
    return counts ? &owner : nullptr;
  }
  return nullptr;
}

Amounts ToAmounts(const api::ResourceAmounts& from, ResourceNames& resources) {
  Amounts to;
  to.cpu = from.milli_cpu;
  to.memory = from.memory;
  to.ephemeral_storage = from.ephemeral_storage;
  for (const auto& [name, amount] : from.scalars) {
    to.scalars.emplace_back(resources.Intern(name), amount);
  }
  return to;
}

void AddHostPorts(const api::Container& container, Dictionary& strings,
                  std::vector<HostPort>* ports) {
  for (const api::ContainerPort& p : container.ports) {
    if (p.host_port <= 0) continue;
    ports->push_back({strings.Intern(p.host_ip.empty() ? "0.0.0.0" : std::string_view(p.host_ip)),
                      strings.Intern(p.protocol.empty() ? "TCP" : std::string_view(p.protocol)),
                      p.host_port});
  }
}

std::vector<StringId> VolumeKeys(const api::Pod& pod, Dictionary& strings) {
  std::vector<StringId> keys;
  for (const api::Volume& v : pod.spec.volumes) {
    const std::string key =
        v.persistent_volume_claim
            ? ClaimUseKey(pod.metadata.namespace_, v.persistent_volume_claim->claim_name)
            : DiskUseKey(v);
    if (!key.empty()) keys.push_back(strings.Intern(key));
  }
  return keys;
}

// The parts of a pod that scheduling reads, for plugins that compile from the API object.
api::Pod SchedulingParts(const api::Pod& pod) {
  api::Pod kept;
  kept.metadata.namespace_ = pod.metadata.namespace_;
  kept.metadata.labels = pod.metadata.labels;
  if (const auto* owner = SpreadingController(pod)) kept.metadata.owner_references = {*owner};
  kept.spec = pod.spec;
  std::erase_if(kept.spec.volumes, [](const api::Volume& v) { return !IsSchedulingVolume(v); });
  kept.spec.ephemeral_containers.clear();
  kept.spec.node_name.clear();
  kept.status = SchedulingStatus(pod.status);
  return kept;
}

uint32_t PartsOf(const PodShape& shape) {
  const api::PodSpec& spec = shape.source.spec;
  uint32_t parts = 0;
  if (!spec.volumes.empty()) parts |= kHasVolumes;
  if (!spec.resource_claims.empty()) parts |= kHasResourceClaims;
  if (!shape.host_ports.empty()) parts |= kHasHostPorts;
  const bool node_affinity = spec.affinity && spec.affinity->node_affinity;
  if (node_affinity || !spec.node_selector.empty()) parts |= kHasNodeAffinity;
  return parts;
}

void WriteSelector(const api::LabelSelector& selector, KeyWriter& key) {
  key.Map(selector.match_labels);
  key.Number(selector.match_expressions.size());
  for (const api::LabelSelectorRequirement& requirement : selector.match_expressions) {
    key.Text(requirement.key);
    key.Text(requirement.operator_);
    key.Texts(requirement.values);
  }
}

// All fields it has.
void WriteConstraint(const api::TopologySpreadConstraint& constraint, KeyWriter& key) {
  key.Number(static_cast<uint32_t>(constraint.max_skew));
  key.Text(constraint.topology_key);
  key.Text(constraint.when_unsatisfiable);
  key.Number(constraint.label_selector ? 1 : 0);
  if (constraint.label_selector) WriteSelector(*constraint.label_selector, key);
  key.Number(constraint.min_domains ? 1 + uint64_t{static_cast<uint32_t>(*constraint.min_domains)}
                                    : 0);
  for (const auto* policy : {&constraint.node_affinity_policy, &constraint.node_taints_policy}) {
    key.Number(*policy ? 1 : 0);
    if (*policy) key.Text(**policy);
  }
  key.Texts(constraint.match_label_keys);
}

void WriteClaims(const api::PodSpec& spec, KeyWriter& key) {
  for (const auto& claim : spec.resource_claims) {
    key.Text("C");
    key.Json(claim);
  }
  for (const api::Volume& volume : spec.volumes) {
    if (!IsSchedulingVolume(volume)) continue;
    key.Text("V");
    key.Json(volume);
  }
}

// All but what is often one pod's own: labels, volumes and claims.
void WriteKind(const api::Pod& pod, KeyWriter& key) {
  const api::PodSpec& spec = pod.spec;
  key.Text(pod.metadata.namespace_);
  key.Text(spec.scheduler_name);
  key.Number(static_cast<uint32_t>(spec.priority.value_or(0)));
  key.Text(spec.preemption_policy ? *spec.preemption_policy : std::string());
  WriteContainers(spec.init_containers, key);
  WriteContainers(spec.containers, key);
  key.Resources(spec.overhead);
  key.Map(spec.node_selector);
  key.Number(spec.tolerations.size());
  for (const api::Toleration& t : spec.tolerations) {
    for (const std::string* part : {&t.key, &t.operator_, &t.value, &t.effect}) key.Text(*part);
    key.Number(t.toleration_seconds ? 1 : 0);
    if (t.toleration_seconds) key.Number(static_cast<uint64_t>(*t.toleration_seconds));
  }
  key.Number(spec.scheduling_gates.size());
  for (const api::PodSchedulingGate& gate : spec.scheduling_gates) key.Text(gate.name);
  // What most pods lack comes last, each behind a letter of its own.
  if (spec.affinity) {
    key.Text("A");
    key.Json(*spec.affinity);
  }
  for (const auto& constraint : spec.topology_spread_constraints) {
    key.Text("T");
    WriteConstraint(constraint, key);
  }
  if (spec.resources) {
    key.Text("R");
    key.Json(*spec.resources);
  }
  if (spec.host_network && spec.host_users == false) key.Text("U");
  if (const std::string* seccomp = api::LocalhostProfile(spec.security_context)) {
    key.Text("L");
    key.Text(*seccomp);
  }
  if (!spec.priority_class_name.empty()) {
    key.Text("pc");
    key.Text(spec.priority_class_name);
  }
  for (const api::Volume& volume : spec.volumes) {
    if (!volume.image) continue;
    key.Text("I");
    key.Text(volume.image->reference);
  }
  if (const auto* owner = SpreadingController(pod)) {
    key.Text("O");
    for (const std::string* part : {&owner->api_version, &owner->kind, &owner->name})
      key.Text(*part);
  }
  if (spec.scheduling_group) {
    key.Text("G");
    key.Json(*spec.scheduling_group);
  }
  key.Text("S");
  WriteStatus(pod.status, key);
}

}  // namespace

void AppendKindKey(const api::Pod& pod, std::string* out) {
  KeyWriter key(out);
  WriteKind(pod, key);
}

void AppendOwnKey(const api::Pod& pod, std::string* out) {
  KeyWriter key(out);
  key.Map(pod.metadata.labels);
  WriteClaims(pod.spec, key);
}

void AppendAnnotationsKey(const api::Pod& pod, const std::vector<std::string>& keys,
                          std::string* out) {
  KeyWriter key(out);
  for (const std::string& name : keys) {
    const std::string* value = api::FindValue(pod.metadata.annotations, name);
    if (value == nullptr) continue;
    key.Text("N");
    key.Text(name);
    key.Text(*value);
  }
}

bool HasStatusOf(const PodShape& shape, const api::PodStatus& status) {
  return SchedulingStatus(status) == shape.source.status;
}

PodShape CompileShape(const api::Pod& pod, const api::RequestRules& rules, Dictionary& strings,
                      ResourceNames& resources) {
  PodShape shape;
  shape.namespace_ = pod.metadata.namespace_;
  shape.priority = pod.spec.priority.value_or(0);
  shape.never_preempts = pod.spec.preemption_policy && *pod.spec.preemption_policy == "Never";

  const api::PodResources amounts = api::PodResources::Of(pod, rules);
  shape.fit = ToAmounts(amounts.filter, resources);
  shape.on_node = ToAmounts(amounts.node, resources);
  shape.nonzero_cpu = amounts.nonzero_milli_cpu;
  shape.nonzero_memory = amounts.nonzero_memory;
  shape.fit_score = ToAmounts(amounts.fit_score, resources);

  for (const api::Container& c : pod.spec.init_containers) {
    // Only sidecars keep their ports for as long as the pod runs.
    if (c.restart_policy == "Always") AddHostPorts(c, strings, &shape.host_ports);
    shape.images.push_back(strings.Intern(api::NormalizedImageName(c.image)));
  }
  for (const api::Container& c : pod.spec.containers) {
    AddHostPorts(c, strings, &shape.host_ports);
    shape.images.push_back(strings.Intern(api::NormalizedImageName(c.image)));
  }
  for (const api::Volume& volume : pod.spec.volumes) {
    if (!volume.image) continue;
    shape.image_volumes.push_back(
        strings.Intern(api::NormalizedImageName(volume.image->reference)));
  }
  for (const api::PodSchedulingGate& gate : pod.spec.scheduling_gates) {
    shape.scheduling_gates.push_back(gate.name);
  }
  shape.volume_keys = VolumeKeys(pod, strings);
  shape.source = SchedulingParts(pod);
  shape.parts = PartsOf(shape);
  return shape;
}

}  // namespace berth::cluster
