#include "kube/kinds.h"

#include <algorithm>
#include <array>

namespace berth::kube {

namespace {

constexpr std::string_view kUnfinishedPods =
    "status.phase%21%3DSucceeded%2Cstatus.phase%21%3DFailed";

constexpr std::array kWatched{
    Kind{"Pod", "v1", "pods", true, kUnfinishedPods},
    Kind{"Node", "v1", "nodes", false},
    Kind{"Namespace", "v1", "namespaces", false},
    Kind{"Service", "v1", "services"},
    Kind{"PersistentVolume", "v1", "persistentvolumes", false},
    Kind{"PersistentVolumeClaim", "v1", "persistentvolumeclaims"},
    Kind{"ReplicationController", "v1", "replicationcontrollers"},
    Kind{"ReplicaSet", "apps/v1", "replicasets"},
    Kind{"StatefulSet", "apps/v1", "statefulsets"},
    Kind{"PodDisruptionBudget", "policy/v1", "poddisruptionbudgets"},
    Kind{"StorageClass", "storage.k8s.io/v1", "storageclasses", false},
    Kind{"CSINode", "storage.k8s.io/v1", "csinodes", false},
    Kind{"CSIDriver", "storage.k8s.io/v1", "csidrivers", false},
    Kind{"CSIStorageCapacity", "storage.k8s.io/v1", "csistoragecapacities"},
    Kind{"VolumeAttachment", "storage.k8s.io/v1", "volumeattachments", false},
    Kind{"ResourceClaim", "resource.k8s.io/v1", "resourceclaims"},
    Kind{"ResourceSlice", "resource.k8s.io/v1", "resourceslices", false},
    Kind{"DeviceClass", "resource.k8s.io/v1", "deviceclasses", false},
};

// Where rules of device taints are followed, by release.
constexpr Kind TaintRules(std::string_view api_version) {
  return {"DeviceTaintRule", api_version, "devicetaintrules", false};
}
constexpr std::array kTaintRules{
    TaintRules("resource.k8s.io/v1alpha3"),
    TaintRules("resource.k8s.io/v1alpha3"),
    TaintRules("resource.k8s.io/v1beta2"),
    TaintRules("resource.k8s.io/v1"),
};

constexpr std::array kWritten{
    Kind{"Lease", "coordination.k8s.io/v1", "leases"},
    Kind{"Event", "events.k8s.io/v1", "events"},
    Kind{"Binding", "v1", "bindings"},
};

constexpr std::string_view kHex = "0123456789ABCDEF";
constexpr size_t kPathRoom = 96;  // of most

constexpr std::array<bool, 256> kUnreserved = [] {
  std::array<bool, 256> is{};
  for (char c = 'a'; c <= 'z'; ++c) is[static_cast<unsigned char>(c)] = true;
  for (char c = 'A'; c <= 'Z'; ++c) is[static_cast<unsigned char>(c)] = true;
  for (char c = '0'; c <= '9'; ++c) is[static_cast<unsigned char>(c)] = true;
  for (const char c : std::string_view("-_.~")) is[static_cast<unsigned char>(c)] = true;
  return is;
}();

bool IsUnreserved(char c) { return kUnreserved[static_cast<unsigned char>(c)]; }

void AppendEscaped(std::string& out, std::string_view value, bool plus) {
  if (std::all_of(value.begin(), value.end(), IsUnreserved)) {
    out += value;
    return;
  }
  for (const char c : value) {
    if (IsUnreserved(c)) {
      out += c;
    } else if (c == ' ' && plus) {
      out += '+';
    } else {
      const auto byte = static_cast<uint8_t>(c);
      out += '%';
      out += kHex[byte >> 4];
      out += kHex[byte & 15];
    }
  }
}

void AppendSegment(std::string& path, std::string_view segment) {
  path += '/';
  AppendEscaped(path, segment, false);
}

std::string Root(const Kind& kind) {
  const bool core = kind.api_version.find('/') == std::string_view::npos;
  std::string path;
  path.reserve(kPathRoom);
  path += core ? "/api/" : "/apis/";
  path += kind.api_version;
  return path;
}

}  // namespace

std::vector<const Kind*> WatchedKinds(const config::Behaviour& behaviour) {
  std::vector<const Kind*> kinds;
  for (const Kind& kind : kWatched) {
    const bool devices = kind.api_version.starts_with("resource.k8s.io/");
    if (!devices || behaviour.dynamic_resources) kinds.push_back(&kind);
  }
  if (behaviour.dra.taint_rules) {
    kinds.push_back(&kTaintRules.at(static_cast<size_t>(behaviour.release)));
  }
  return kinds;
}

const Kind* FindKind(std::string_view kind) {
  const auto is = [&](const Kind& row) { return row.kind == kind; };
  if (auto it = std::find_if(kWatched.begin(), kWatched.end(), is); it != kWatched.end()) {
    return &*it;
  }
  const auto it = std::find_if(kWritten.begin(), kWritten.end(), is);
  return it != kWritten.end() ? &*it : nullptr;
}

std::string CollectionPath(const Kind& kind) {
  std::string path = Root(kind);
  AppendSegment(path, kind.plural);
  return path;
}

std::string NamespacePath(const Kind& kind, std::string_view namespace_) {
  std::string path = Root(kind);
  if (kind.namespaced && !namespace_.empty()) {
    path += "/namespaces";
    AppendSegment(path, namespace_);
  }
  AppendSegment(path, kind.plural);
  return path;
}

std::string ObjectPath(const Kind& kind, std::string_view namespace_, std::string_view name,
                       std::string_view subresource) {
  std::string path = NamespacePath(kind, namespace_);
  AppendSegment(path, name);
  if (!subresource.empty()) AppendSegment(path, subresource);
  return path;
}

std::string QueryEscape(std::string_view value) {
  std::string out;
  out.reserve(value.size());
  AppendEscaped(out, value, true);
  return out;
}

}  // namespace berth::kube
