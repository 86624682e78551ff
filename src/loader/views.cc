#include "loader/views.h"

#include <fmt/format.h>

#include "api/codec/json.h"
#include "cluster/table/label_columns.h"
#include "cluster/table/load_metrics.h"

namespace berth::loader {
namespace {

using cluster::NodeRecord;
using cluster::ResourceId;

constexpr size_t kMaxText = 1024;

const NodeRecord& RecordOf(const berth_node* node) { return node->cluster.Record(node->node); }

int Give(std::string_view text, berth_string* out) {
  *out = ToAbi(text);
  return 1;
}

berth_string PodNamespace(const berth_pod* pod) { return ToAbi(pod->pod.namespace_()); }
berth_string PodName(const berth_pod* pod) { return ToAbi(pod->pod.name); }
berth_string PodUid(const berth_pod* pod) { return ToAbi(pod->pod.uid); }
int32_t PodPriority(const berth_pod* pod) { return pod->pod.shape->priority; }

const api::StringMap& LabelsOf(const berth_pod* pod) {
  return pod->pod.shape->source.metadata.labels;
}
int PodLabel(const berth_pod* pod, berth_string key, berth_string* value) {
  const std::string* found = api::FindValue(LabelsOf(pod), FromAbi(key));
  return found == nullptr ? 0 : Give(*found, value);
}
size_t PodLabelCount(const berth_pod* pod) { return LabelsOf(pod).size(); }
int PodLabelAt(const berth_pod* pod, size_t index, berth_string* key, berth_string* value) {
  const api::StringMap& labels = LabelsOf(pod);
  if (index >= labels.size()) return 0;
  const auto& [k, v] = *labels.nth(index);
  Give(k, key);
  return Give(v, value);
}

int64_t PodRequest(const berth_pod* pod, berth_string resource) {
  const std::string_view name = FromAbi(resource);
  if (name == "pods") return 1;
  return pod->pod.shape->fit.Get(pod->cluster.Resources().Find(name));
}

void PodJson(const berth_pod* pod, berth_take_text take, void* to) {
  api::Pod object = pod->pod.shape->source;
  object.metadata.namespace_ = pod->pod.namespace_();
  object.metadata.name = pod->pod.name;
  object.metadata.uid = pod->pod.uid;
  object.metadata.creation_timestamp = pod->pod.creation_timestamp;
  object.spec.node_name = pod->pod.node_name;
  const std::string json = api::ToJson(object);
  take(to, ToAbi(json));
}

berth_string NodeName(const berth_node* node) { return ToAbi(node->cluster.NodeName(node->node)); }

int NodeLabel(const berth_node* node, berth_string key, berth_string* value) {
  const auto& strings = node->cluster.Strings();
  const cluster::StringId id = strings.Find(FromAbi(key));
  if (id == cluster::kNoString) return 0;
  const cluster::StringId found = cluster::LabelValue(RecordOf(node).labels, id);
  return found == cluster::kNoString ? 0 : Give(strings.Text(found), value);
}
size_t NodeLabelCount(const berth_node* node) { return RecordOf(node).labels.size(); }
int NodeLabelAt(const berth_node* node, size_t index, berth_string* key, berth_string* value) {
  const auto& labels = RecordOf(node).labels;
  if (index >= labels.size()) return 0;
  Give(node->cluster.Strings().Text(labels[index].first), key);
  return Give(node->cluster.Strings().Text(labels[index].second), value);
}

int64_t NodeAllocatable(const berth_node* node, berth_string resource) {
  const std::string_view name = FromAbi(resource);
  if (name == "pods") return node->cluster.AllowedPods()[node->node];
  const ResourceId id = node->cluster.Resources().Find(name);
  if (id == cluster::kNoResource) return 0;
  if (const auto* column = node->cluster.Resource(id)) return column->allocatable[node->node];
  for (const auto& [scalar, amount] : RecordOf(node).scalar_allocatable) {
    if (scalar == id) return amount;
  }
  return 0;
}
int64_t NodeRequested(const berth_node* node, berth_string resource) {
  const std::string_view name = FromAbi(resource);
  if (name == "pods") return node->cluster.PodCount()[node->node];
  const ResourceId id = node->cluster.Resources().Find(name);
  const auto* column = id == cluster::kNoResource ? nullptr : node->cluster.Resource(id);
  return column == nullptr ? 0 : column->requested[node->node];
}
int64_t NodePodCount(const berth_node* node) { return node->cluster.PodCount()[node->node]; }
int NodeUnschedulable(const berth_node* node) {
  return node->cluster.Unschedulable().Contains(node->node) ? 1 : 0;
}

const std::vector<api::Taint>& TaintsOf(const berth_node* node) {
  return node->cluster.Taints().Get(node->cluster.TaintSetOf()[node->node]);
}
size_t NodeTaintCount(const berth_node* node) { return TaintsOf(node).size(); }
int NodeTaintAt(const berth_node* node, size_t index, berth_string* key, berth_string* value,
                berth_string* effect) {
  const std::vector<api::Taint>& taints = TaintsOf(node);
  if (index >= taints.size()) return 0;
  Give(taints[index].key, key);
  Give(taints[index].value, value);
  return Give(taints[index].effect, effect);
}

int PodAnnotation(const berth_pod* pod, berth_string key, berth_string* value) {
  const auto& annotations = pod->pod.shape->source.metadata.annotations;
  const std::string* found = api::FindValue(annotations, FromAbi(key));
  return found == nullptr ? 0 : Give(*found, value);
}
int NodeAnnotation(const berth_node* node, berth_string key, berth_string* value) {
  const std::string* found = node->cluster.NodeAnnotation(node->node, FromAbi(key));
  return found == nullptr ? 0 : Give(*found, value);
}

// Keys are "load@SOURCE:00/CPU/AVG"; the end of the window is "load@SOURCE:end".
int NodeLoad(const berth_node* node, berth_string type, berth_string operation, double* percent,
             int64_t* window_end) {
  const cluster::NodeMetrics* metrics = node->cluster.Metrics(node->node);
  if (metrics == nullptr) return 0;
  const std::string wanted = fmt::format("/{}/{}", FromAbi(type), FromAbi(operation));
  for (const auto& [key, value] : metrics->values) {
    if (!key.starts_with("load") || !key.ends_with(wanted)) continue;
    const std::string source = key.substr(0, key.size() - wanted.size());
    const auto end = metrics->values.find(source.substr(0, source.rfind(':') + 1) +
                                          std::string(cluster::kLoadEnd));
    *percent = value;
    *window_end = end == metrics->values.end() ? 0 : static_cast<int64_t>(end->second);
    return 1;
  }
  return 0;
}

void NodeEachPod(const berth_node* node, berth_take_pod take, void* to) {
  for (const cluster::PodId id : RecordOf(node).pods) {
    const berth_pod pod{node->cluster, node->cluster.GetPod(id)};
    if (take(to, &pod) == 0) return;
  }
}

void SetReason(berth_answer* answer, berth_string reason) { answer->reason = CleanText(reason); }

// The length of the character at the front of `text`, 0 when it is not one.
size_t CharacterLength(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  const size_t length = lead < 0x80   ? 1
                        : lead < 0xc2 ? 0
                        : lead < 0xe0 ? 2
                        : lead < 0xf0 ? 3
                        : lead < 0xf5 ? 4
                                      : 0;
  if (length > text.size() || (lead < 0x20 && lead != '\t') || lead == 0x7f) return 0;
  for (size_t i = 1; i < length; ++i) {
    if ((static_cast<unsigned char>(text[i]) & 0xc0) != 0x80) return 0;
  }
  // Not the shortest form, a surrogate, or beyond the last character.
  const auto second = length > 2 ? static_cast<unsigned char>(text[1]) : 0;
  if ((lead == 0xe0 && second < 0xa0) || (lead == 0xed && second > 0x9f) ||
      (lead == 0xf0 && second < 0x90) || (lead == 0xf4 && second > 0x8f)) {
    return 0;
  }
  return length;
}

}  // namespace

std::string CleanText(berth_string text) {
  std::string_view rest = FromAbi(text);
  std::string clean;
  while (!rest.empty()) {
    const size_t length = CharacterLength(rest);
    if (clean.size() + length > kMaxText) break;
    if (length == 0) {
      clean += '?';
    } else {
      clean += rest.substr(0, length);
    }
    rest.remove_prefix(length == 0 ? 1 : length);
    if (clean.size() >= kMaxText) break;
  }
  return clean;
}

void FillViews(berth_host& host) {
  host.pod_namespace = &PodNamespace;
  host.pod_name = &PodName;
  host.pod_uid = &PodUid;
  host.pod_priority = &PodPriority;
  host.pod_label = &PodLabel;
  host.pod_label_count = &PodLabelCount;
  host.pod_label_at = &PodLabelAt;
  host.pod_request = &PodRequest;
  host.pod_json = &PodJson;
  host.node_name = &NodeName;
  host.node_label = &NodeLabel;
  host.node_label_count = &NodeLabelCount;
  host.node_label_at = &NodeLabelAt;
  host.node_allocatable = &NodeAllocatable;
  host.node_requested = &NodeRequested;
  host.node_pod_count = &NodePodCount;
  host.node_unschedulable = &NodeUnschedulable;
  host.node_taint_count = &NodeTaintCount;
  host.node_taint_at = &NodeTaintAt;
  host.node_each_pod = &NodeEachPod;
  host.pod_annotation = &PodAnnotation;
  host.node_annotation = &NodeAnnotation;
  host.node_load = &NodeLoad;
  host.set_reason = &SetReason;
}

}  // namespace berth::loader
