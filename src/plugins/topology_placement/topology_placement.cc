#include "plugins/topology_placement/topology_placement.h"

#include <map>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "cluster/pods/group_state.h"

namespace berth::plugins::topology_placement {
namespace {

using cluster::Cluster;
using cluster::LabelColumn;
using cluster::NodeIndex;
using framework::Status;

const std::string* KeyOf(const api::PodGroup& group) {
  const auto& constraints = group.spec.scheduling_constraints;
  return constraints && !constraints->topology.empty() ? &constraints->topology.front().key
                                                       : nullptr;
}

// The domain of the pods that have a node already; nothing: there are none.
Result<std::optional<std::string>> DomainOfPlaced(const Cluster& cluster,
                                                  const api::PodGroup& group,
                                                  const LabelColumn& labels) {
  std::optional<std::string> domain;
  for (const cluster::PodId id : cluster::PlacedMembers(cluster, group)) {
    const cluster::Pod& pod = cluster.GetPod(id);
    if (!cluster.Nodes().Contains(pod.node)) {
      return Fail(fmt::format("getting node for pod {}: nodeinfo not found for node name \"{}\"",
                              pod.Key(), pod.node_name));
    }
    const uint32_t code = labels.codes[pod.node];
    if (code == LabelColumn::kAbsent) {
      return Fail(fmt::format("no topology domain found for pod {}", pod.Key()));
    }
    const std::string& own = cluster.Strings().Text(labels.values[code]);
    if (domain && !domain->empty() && *domain != own) {
      return Fail(fmt::format("more than 1 domain found for pod group: {}, {}", *domain, own));
    }
    domain = own;
  }
  return domain;
}

}  // namespace

Status TopologyPlacement::GeneratePlacements(const Cluster& cluster,
                                             const framework::PodGroupInfo& info,
                                             const framework::Placement& parent,
                                             std::vector<framework::Placement>* out) const {
  const std::string* key = KeyOf(info.group);
  if (key == nullptr) {
    out->push_back(parent);
    return {};
  }
  const LabelColumn& labels = cluster.Labels(cluster.Strings().Intern(*key));
  const auto required = DomainOfPlaced(cluster, info.group, labels);
  if (!required) {
    return Status::Error("cannot determine domain for already scheduled pods: " +
                         required.error().Message());
  }
  std::map<std::string_view, framework::NodeSet> domains;
  std::vector<framework::NodeSet*> by_code(labels.values.size());
  parent.nodes.ForEach([&](NodeIndex n) {
    const uint32_t code = labels.codes[n];
    if (code == LabelColumn::kAbsent) return;
    const std::string& domain = cluster.Strings().Text(labels.values[code]);
    if (*required && **required != domain) return;
    if (by_code[code] == nullptr) {
      by_code[code] = &domains[domain];
      by_code[code]->Resize(cluster.Rows());
    }
    by_code[code]->Insert(n);
  });
  for (auto& [domain, nodes] : domains) out->push_back({std::string(domain), std::move(nodes)});
  return {};
}

Result<std::unique_ptr<framework::Plugin>> Make(const config::PluginArgs&,
                                                const framework::PluginHandle&) {
  return std::make_unique<TopologyPlacement>();
}

}  // namespace berth::plugins::topology_placement
