// For tests only: everything that can be read from a cluster, as lines to compare.
#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cluster/cluster.h"
#include "cluster/objects/object_store.h"

namespace berth::cluster {

inline std::string DumpCounts(const IndexCounts& counts) {
  std::map<uint32_t, int32_t> sorted;
  counts.ForEach([&](uint32_t index, int32_t count) { sorted.emplace(index, count); });
  std::string text;
  for (const auto& [index, count] : sorted) text += fmt::format(" {}:{}", index, count);
  return text;
}

// Rows and columns, pods and their order, nominations, ports and volumes of all pods, claims, terms
// of placed pods, and the counts of `predicates` by row and by domain of `key`.
inline std::string Dump(Cluster& cluster, const std::vector<PodPredicate>& predicates = {},
                        const std::string& key = "topology.kubernetes.io/zone") {
  std::string out;
  const LabelColumn& column = cluster.Labels(cluster.Strings().Intern(key));
  for (NodeIndex n = 0; n < cluster.Rows(); ++n) {
    const NodeRecord& record = cluster.Record(n);
    out +=
        fmt::format("row {} {} exists={} found={} pods={} count={} nonzero={}/{}", n,
                    record.name == kNoString ? "" : cluster.NodeName(n), record.exists,
                    record.name == kNoString ? kNoNode : cluster.FindNode(record.name), record.pods,
                    cluster.PodCount()[n], cluster.NonzeroCpu()[n], cluster.NonzeroMemory()[n]);
    for (ResourceId id = 0; id < cluster.Resources().Size(); ++id) {
      const ResourceColumn* resource = cluster.Resource(id);
      if (resource == nullptr) continue;
      out += fmt::format(" {}={}/{}", id, resource->requested[n], resource->allocatable[n]);
    }
    out += '\n';
  }
  std::vector<std::string> uses;
  for (PodId id = 0; id < cluster.PodIdLimit(); ++id) {
    if (!cluster.PodExists(id)) continue;
    const Pod& pod = cluster.GetPod(id);
    const StringId nominated = cluster.Nominated().NodeOf(id);
    out += fmt::format("pod {} node={} position={} assumed={} spec={} nominated={}\n", pod.name,
                       pod.node, pod.node == kNoNode ? 0 : pod.position, pod.assumed, pod.node_name,
                       nominated == kNoString ? "" : cluster.Strings().Text(nominated));
    if (nominated != kNoString) {
      out += fmt::format("  nominated there: {}\n", *cluster.Nominated().On(nominated));
    }
    for (const HostPort& port : pod.shape->host_ports) {
      out += fmt::format("  port {} taken on", port.port);
      for (NodeIndex n = 0; n < cluster.Rows(); ++n) {
        if (cluster.HostPorts().Holds(n, port)) out += fmt::format(" {}", n);
      }
      out += '\n';
    }
    for (const StringId volume : pod.shape->volume_keys) {
      std::vector<std::pair<NodeIndex, PodId>> users;
      for (const auto& use : cluster.VolumeUse().UsesOf(volume)) {
        users.emplace_back(use.node, use.pod);
      }
      std::sort(users.begin(), users.end());
      out += fmt::format("  volume {} used by {}\n", volume, users);
    }
  }
  for (const auto* store :
       {&cluster.Objects().resource_claims, &cluster.Objects().in_flight_claims}) {
    store->ForEach([&](const api::ResourceClaim& claim) {
      out += fmt::format("claim {} version={} allocated={}\n", claim.metadata.name,
                         claim.metadata.resource_version, claim.status.allocation.has_value());
    });
    out += "--\n";
  }
  for (const PodPredicate& predicate : predicates) {
    CounterHandle handle;
    PodCounter& counter = cluster.Topology().Use(predicate, handle);
    out += fmt::format("counter total={} rows{}", counter.Total(), DumpCounts(counter.Rows()));
    out += fmt::format(" domains{}\n", DumpCounts(cluster.Topology().Domains(counter, column)));
  }
  cluster.Topology().ForEachTerm("ns", 0, [&](const CounterHandle& handle, const OwnTerm&) {
    PlacedTerm* term = cluster.Topology().FindTerm(handle);
    if (term == nullptr || term->counter.Total() == 0) return;
    out += fmt::format("term {} rows{}", handle.serial, DumpCounts(term->counter.Rows()));
    out +=
        fmt::format(" domains{}\n", DumpCounts(cluster.Topology().Domains(term->counter, column)));
  });
  return out;
}

}  // namespace berth::cluster
