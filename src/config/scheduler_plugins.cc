#include "config/scheduler_plugins.h"

#include <array>
#include <vector>

#include "config/args/coscheduling_args.h"
#include "config/args/gpu_args.h"
#include "config/args/load_aware_args.h"
#include "config/args/network_aware_args.h"
#include "config/args/node_metadata_args.h"
#include "config/args/node_resource_topology_args.h"
#include "config/args/node_resources_allocatable_args.h"
#include "config/args/preemption_toleration_args.h"
#include "config/args/sy_sched_args.h"
#include "config/args/trimaran_args.h"

namespace berth::config {
namespace {

constexpr uint16_t Bit(ExtensionPoint point) { return static_cast<uint16_t>(1U << Index(point)); }
constexpr uint16_t kQueueSort = Bit(ExtensionPoint::kQueueSort);
constexpr uint16_t kPreFilter = Bit(ExtensionPoint::kPreFilter);
constexpr uint16_t kFilter = Bit(ExtensionPoint::kFilter);
constexpr uint16_t kPostFilter = Bit(ExtensionPoint::kPostFilter);
constexpr uint16_t kPreScore = Bit(ExtensionPoint::kPreScore);
constexpr uint16_t kScore = Bit(ExtensionPoint::kScore);
constexpr uint16_t kReserve = Bit(ExtensionPoint::kReserve);
constexpr uint16_t kPostBind = Bit(ExtensionPoint::kPostBind);
constexpr uint16_t kPermit = Bit(ExtensionPoint::kPermit);

struct Row {
  InTreePlugin plugin;
  const ArgsRow& (*args)() = nullptr;  // null: it takes none
};

constexpr std::array kRows = {
    Row{{"CapacityScheduling", 0, kPreFilter | kPostFilter | kReserve}},
    Row{{"Coscheduling", 0, kQueueSort | kPreFilter | kPostFilter | kReserve | kPermit},
        &ArgsRowOf<CoschedulingArgs>},
    Row{{"EnergyAware", 0, kScore}, &ArgsRowOf<EnergyAwareArgs>},
    Row{{"GpuFragmentation", 0, kPreFilter | kFilter | kScore}, &ArgsRowOf<GpuFragmentationArgs>},
    Row{{"LoadAware", 0, kFilter | kScore}, &ArgsRowOf<LoadAwareArgs>},
    Row{{"LoadVariationRiskBalancing", 0, kScore}, &ArgsRowOf<LoadVariationRiskBalancingArgs>},
    Row{{"LowRiskOverCommitment", 0, kPreScore | kScore}, &ArgsRowOf<LowRiskOverCommitmentArgs>},
    Row{{"NetworkOverhead", 0, kPreFilter | kFilter | kScore}, &ArgsRowOf<NetworkOverheadArgs>},
    Row{{"NodeMetadata", 0, kScore}, &ArgsRowOf<NodeMetadataArgs>},
    Row{{"NodeResourceTopologyMatch", 0, kFilter | kScore | kReserve | kPostBind},
        &ArgsRowOf<NodeResourceTopologyMatchArgs>},
    Row{{"NodeResourcesAllocatable", 0, kScore}, &ArgsRowOf<NodeResourcesAllocatableArgs>},
    Row{{"Peaks", 0, kScore}, &ArgsRowOf<PeaksArgs>},
    Row{{"PodState", 0, kScore}},
    Row{{"PreemptionToleration", 0, kPostFilter}, &ArgsRowOf<PreemptionTolerationArgs>},
    Row{{"QOSSort", 0, kQueueSort}},
    Row{{"SySched", 0, kScore}, &ArgsRowOf<SySchedArgs>},
    Row{{"TargetLoadPacking", 0, kScore}, &ArgsRowOf<TargetLoadPackingArgs>},
    Row{{"TopologicalSort", 0, kQueueSort}, &ArgsRowOf<TopologicalSortArgs>},
};

std::array<InTreePlugin, kRows.size()> PluginsOf() {
  std::array<InTreePlugin, kRows.size()> plugins;
  for (size_t i = 0; i < kRows.size(); ++i) plugins[i] = kRows[i].plugin;
  return plugins;
}

}  // namespace

std::span<const InTreePlugin> SchedulerPlugins() {
  static const auto kPlugins = PluginsOf();
  return kPlugins;
}

const ArgsRow* SchedulerPluginArgs(std::string_view plugin) {
  for (const Row& row : kRows) {
    if (row.plugin.name == plugin) return row.args == nullptr ? nullptr : &row.args();
  }
  return nullptr;
}

}  // namespace berth::config
