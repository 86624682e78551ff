#include "plugins/node_resources/device_totals.h"

#include <memory>
#include <tuple>
#include <utility>

#include "cel/program.h"
#include "plugins/common/extended_resource.h"
#include "plugins/common/node_matcher.h"

namespace berth::plugins::node_resources {
namespace {

using cluster::Cluster;
using cluster::NodeIndex;

std::string KeyOf(const std::string& driver, const std::string& pool, const std::string& device) {
  return driver + "/" + pool + "/" + device;
}

// The devices that claims hold, alone or with others.
std::unordered_set<std::string> TakenDevices(const cluster::ObjectStore& objects) {
  std::unordered_set<std::string> taken;
  const auto add = [&](const api::ResourceClaim& claim) {
    if (!claim.status.allocation) return;
    for (const auto& result : claim.status.allocation->devices.results) {
      if (result.admin_access.value_or(false)) continue;
      taken.insert(KeyOf(result.driver, result.pool, result.device));
    }
  };
  objects.resource_claims.ForEach(add);
  objects.in_flight_claims.ForEach(add);
  return taken;
}

// Calls f(row) for the nodes that a slice or a device is for. False: the selector is invalid.
template <class F>
bool ForEachNode(const Cluster& cluster, bool all, const std::string* name,
                 const api::NodeSelector* selector, const F& f) {
  if (all) {
    cluster.Nodes().ForEach(f);
    return true;
  }
  if (name != nullptr && !name->empty()) {
    if (const NodeIndex n = cluster.FindNode(*name); n != cluster::kNoNode) f(n);
    return true;
  }
  if (selector == nullptr) return true;
  const auto parsed = api::NodeSelectorMatcher::Strict(*selector);
  if (!parsed) return false;
  NodeMatcher matcher(cluster, *parsed);
  matcher.Prepare(cluster);
  cluster.Nodes().ForEach([&](NodeIndex n) {
    if (matcher.Matches(cluster, n)) f(n);
  });
  return true;
}

}  // namespace

const DeviceTotals::Selection& DeviceTotals::Select(const Cluster& cluster, cluster::ResourceId id,
                                                    const api::DeviceClass& device_class) {
  const cluster::ObjectStore& objects = cluster.Objects();
  Selection& selection = selections_[id];
  const std::pair now{objects.resource_slices.Generation(), objects.device_classes.Generation()};
  if (!selection.matches.empty() && now == std::pair{selection.slices, selection.classes}) {
    return selection;
  }
  std::tie(selection.slices, selection.classes) = now;
  selection.matches.clear();
  std::vector<std::unique_ptr<cel::Program>> programs;
  bool compiles = true;
  for (const api::DeviceSelector& selector : device_class.spec.selectors) {
    if (!selector.cel) continue;
    auto program = cel::Program::Compile(selector.cel->expression);
    compiles = compiles && program;
    if (program) programs.push_back(std::move(*program));
  }
  const auto match = [&](const std::string& driver, api::Device device) {
    if (!compiles) return Match::kError;
    device.allow_multiple_allocations.reset();  // kube-scheduler does not pass it on here
    const auto value = cel::MakeDevice(driver, device);
    for (const auto& program : programs) {
      if (!value) return Match::kError;
      const auto matches = program->Matches(*value);
      if (!matches) return Match::kError;
      if (!*matches) return Match::kNo;
    }
    return Match::kYes;
  };
  objects.resource_slices.ForEach([&](const api::ResourceSlice& slice) {
    auto& matches = selection.matches.emplace_back();
    for (const api::Device& device : slice.spec.devices) {
      matches.push_back(match(slice.spec.driver, device));
    }
  });
  return selection;
}

void DeviceTotals::CountDevices(const Cluster& cluster, const Selection& selection,
                                std::vector<Count>* counts) const {
  const std::unordered_set<std::string> taken = TakenDevices(cluster.Objects());
  size_t position = 0;
  cluster.Objects().resource_slices.ForEach([&](const api::ResourceSlice& slice) {
    const std::vector<Match>& matches = selection.matches[position++];
    const auto& spec = slice.spec;
    const auto count = [&](size_t i) {
      const bool yes = matches[i] == Match::kYes;
      const bool used =
          yes && taken.contains(KeyOf(spec.driver, spec.pool.name, spec.devices[i].name));
      return Count{yes, used, matches[i] == Match::kError};
    };
    const auto add = [&](const Count& more, NodeIndex n) {
      Count& sum = (*counts)[n];
      sum.devices += more.devices;
      sum.taken += more.taken;
      sum.failed = sum.failed || more.failed;
    };
    const auto place = [&](const Count& more, bool all, const std::string* name,
                           const api::NodeSelector* selector) {
      const auto at = [&](NodeIndex n) { add(more, n); };
      if (ForEachNode(cluster, all, name, selector, at)) return;
      cluster.Nodes().ForEach([&](NodeIndex n) { (*counts)[n].failed = true; });
    };
    if (spec.per_device_node_selection.value_or(false)) {
      for (size_t i = 0; i < spec.devices.size(); ++i) {
        const api::Device& device = spec.devices[i];
        place(count(i), device.all_nodes.value_or(false),
              device.node_name ? &*device.node_name : nullptr,
              device.node_selector ? &*device.node_selector : nullptr);
      }
      return;
    }
    Count sum;
    for (size_t i = 0; i < spec.devices.size(); ++i) {
      const Count one = count(i);
      sum = {sum.devices + one.devices, sum.taken + one.taken, sum.failed || one.failed};
    }
    place(sum, spec.all_nodes.value_or(false), spec.node_name ? &*spec.node_name : nullptr,
          spec.node_selector ? &*spec.node_selector : nullptr);
  });
}

void DeviceTotals::Apply(const Cluster& cluster, std::vector<ScoredResource>* scored,
                         std::vector<Columns>* columns) {
  columns->clear();
  if (!features_.extended_resource || !features_.resources_by_class) return;
  columns->reserve(scored->size());  // the resources refer to them
  for (ScoredResource& resource : *scored) {
    if (resource.id < cluster::kFirstScalar) continue;
    const std::string& name = cluster.Resources().Name(resource.id);
    if (!IsDeviceResource(features_, name)) continue;
    const auto* device_class = FindClassOfResource(features_, cluster.Objects(), name);
    if (device_class == nullptr) continue;
    const cluster::ResourceColumn& own = *cluster.Resource(resource.id);
    Columns& column = columns->emplace_back(Columns{own.allocatable, own.requested});
    std::vector<Count> counts(cluster.Rows());
    CountDevices(cluster, Select(cluster, resource.id, *device_class), &counts);
    for (NodeIndex n = 0; n < counts.size(); ++n) {
      const Count& count = counts[n];
      if (column.allocatable[n] != 0 || count.failed || count.devices == 0) continue;
      column.allocatable[n] = count.devices;
      column.used[n] = count.taken;
    }
    resource.allocatable = column.allocatable.data();
    resource.used = column.used.data();
  }
}

}  // namespace berth::plugins::node_resources
