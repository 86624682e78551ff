#include "kube/rbac.h"

#include <fmt/format.h>

#include "kube/hands/work_sharing.h"

namespace berth::kube {
namespace {

constexpr std::string_view kHead = R"(apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata:
  name: berth
rules:
)";

// The secure port asks the API server about its callers.
constexpr cluster::KindRights kDelegated[] = {
    {"authentication.k8s.io", "tokenreviews", "", "create"},
    {"authorization.k8s.io", "subjectaccessreviews", "", "create"},
};

constexpr cluster::KindRights kMetrics = {"metrics.k8s.io", "nodes", "", "get, list"};

std::string Rule(const cluster::KindRights& rights) {
  return fmt::format("- apiGroups: [\"{}\"]\n  resources: [{}{}{}]\n  verbs: [{}]\n", rights.group,
                     rights.plural, rights.subresource.empty() ? "" : "/", rights.subresource,
                     rights.verbs);
}

}  // namespace

std::string ClusterRole(const config::Behaviour& behaviour,
                        std::span<const cluster::CustomKind> custom, bool reads_metrics,
                        bool shares_work) {
  std::string role(kHead);
  for (const cluster::KindRights& rights : cluster::RightsOf(behaviour, custom)) {
    role += Rule(rights);
  }
  if (reads_metrics) role += Rule(kMetrics);
  for (const cluster::KindRights& rights : kDelegated) role += Rule(rights);
  if (shares_work) {
    role += fmt::format("- nonResourceURLs: [\"{}/*\"]\n  verbs: [post]\n", kHandsPath);
  }
  return role;
}

std::string ReplicasRole(std::string_view namespace_) {
  constexpr cluster::KindRights kLeases = {"coordination.k8s.io", "leases", "",
                                           "create, delete, get, list, update"};
  return fmt::format(
      "apiVersion: rbac.authorization.k8s.io/v1\n"
      "kind: Role\n"
      "metadata:\n"
      "  name: berth-replicas\n"
      "  namespace: {}\n"
      "rules:\n{}",
      namespace_, Rule(kLeases));
}

}  // namespace berth::kube
