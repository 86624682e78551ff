#include "apiserver/json/list_types.h"

#include <array>

namespace berth::apiserver {
namespace {

struct Row {
  std::string_view suffix;  // of the path, after a dot or alone
  ListType type;
};

constexpr ListType Map(std::string_view key, std::string_view second = "") {
  return {ListType::Kind::kMap, key, second};
}
constexpr ListType kSet{ListType::Kind::kSet, "", ""};

// The first row that is the end of the path counts.
constexpr std::array kRows = {
    Row{"metadata.ownerReferences", Map("uid")},
    Row{"metadata.finalizers", kSet},
    // Pod specs.
    Row{"containers.ports", Map("containerPort", "protocol")},
    Row{"initContainers.ports", Map("containerPort", "protocol")},
    Row{"ephemeralContainers.ports", Map("containerPort", "protocol")},
    Row{"ontainers.env", Map("name")},
    Row{"ontainers.volumeMounts", Map("mountPath")},
    Row{"ontainers.volumeDevices", Map("devicePath")},
    Row{"ontainers.resizePolicy", {}},
    Row{"resources.claims", Map("name")},
    Row{"spec.containers", Map("name")},
    Row{"spec.initContainers", Map("name")},
    Row{"spec.ephemeralContainers", Map("name")},
    Row{"spec.volumes", Map("name")},
    Row{"volumes.projected.sources", {}},
    Row{"spec.hostAliases", Map("ip")},
    Row{"spec.imagePullSecrets", Map("name")},
    Row{"spec.topologySpreadConstraints", Map("topologyKey", "whenUnsatisfiable")},
    Row{"spec.resourceClaims", Map("name")},
    Row{"spec.schedulingGates", Map("name")},
    // Statuses.
    Row{"status.conditions", Map("type")},
    Row{"status.podIPs", Map("ip")},
    Row{"status.hostIPs", Map("ip")},
    Row{"status.resourceClaimStatuses", Map("name")},
    Row{"status.addresses", Map("type")},
    // Others.
    Row{"spec.taints", {}},
    Row{"spec.podCIDRs", kSet},
    Row{"spec.drivers", Map("name")},
    Row{"spec.ports", Map("port", "protocol")},
    Row{"status.loadBalancer.ingress", {}},
    Row{"webhooks", Map("name")},
};

}  // namespace

ListType ListTypeOf(std::string_view path) {
  if (path == "secrets" || path == "imagePullSecrets") return Map("name");  // ServiceAccount
  for (const Row& row : kRows) {
    if (!path.ends_with(row.suffix)) continue;
    const size_t start = path.size() - row.suffix.size();
    if (start == 0 || path[start - 1] == '.' || row.suffix.starts_with("ontainers")) {
      return row.type;
    }
  }
  return {};
}

bool AtomicForApply(std::string_view path) {
  return path.ends_with("matchLabels") || path.ends_with("spec.selector") ||
         path.ends_with("nodeSelector") || path.ends_with("labelSelector");
}

}  // namespace berth::apiserver
