#include "plugins/node_resources_allocatable/node_resources_allocatable.h"

#include <map>
#include <string>

#include "api/rules/resource_name.h"
#include "base/wrap.h"
#include "plugins/common/min_max.h"

namespace berth::plugins::node_resources_allocatable {
namespace {

bool IsCounted(std::string_view resource) {
  return resource == "cpu" || resource == "memory" || resource == "ephemeral-storage" ||
         api::IsScalarResource(resource);
}

// Of a resource that is named twice, the last weight counts.
std::map<std::string, int64_t> WeightsOf(const config::NodeResourcesAllocatableArgs& args) {
  std::map<std::string, int64_t> weights;
  for (const auto& resource : args.resources) weights[resource.name] = resource.weight;
  return weights;
}

int64_t SumOfWeights(const config::NodeResourcesAllocatableArgs& args) {
  int64_t sum = 0;
  for (const auto& [name, weight] : WeightsOf(args)) sum = WrapAdd(sum, weight);
  return sum;
}

}  // namespace

NodeResourcesAllocatable::NodeResourcesAllocatable(const config::NodeResourcesAllocatableArgs& args,
                                                   cluster::Cluster& cluster)
    : most_(args.mode == "Most"), sum_of_weights_(SumOfWeights(args)) {
  for (const auto& [name, weight] : WeightsOf(args)) {
    if (!IsCounted(name)) continue;
    const cluster::ResourceId id = cluster.Resources().Intern(name);
    cluster.TrackResource(id);
    weights_.emplace_back(id, weight);
  }
}

void NodeResourcesAllocatable::Score(const framework::CycleContext& c,
                                     const framework::PluginState*,
                                     framework::ScoreBatch& batch) const {
  int64_t* scores = batch.Scores();
  batch.ForEach([&](cluster::NodeIndex n) { scores[n] = 0; });
  for (const auto& [id, weight] : weights_) {
    const int64_t* allocatable = c.cluster.Resource(id)->allocatable.data();
    const int64_t factor = most_ ? weight : WrapSub(0, weight);
    batch.ForEach([&](cluster::NodeIndex n) {
      scores[n] = WrapAdd(scores[n], WrapMul(allocatable[n], factor));
    });
  }
  batch.ForEach([&](cluster::NodeIndex n) { scores[n] = WrapDiv(scores[n], sum_of_weights_); });
}

void NodeResourcesAllocatable::Normalize(const framework::CycleContext&,
                                         const framework::PluginState*,
                                         const framework::NodeSet& feasible,
                                         framework::ScoreColumn& column) const {
  MinMaxNormalize(feasible, column);
}

Result<std::unique_ptr<framework::Plugin>> Make(const config::PluginArgs& args,
                                                const framework::PluginHandle& handle) {
  config::NodeResourcesAllocatableArgs own;
  if (const auto* given = config::OwnArgsAs<config::NodeResourcesAllocatableArgs>(args)) {
    own = *given;
  }
  own.SetDefaults();
  // The original divides by it.
  if (SumOfWeights(own) == 0) return Fail("resources: the sum of the weights overflows to 0");
  return std::make_unique<NodeResourcesAllocatable>(own, handle.cluster);
}

}  // namespace berth::plugins::node_resources_allocatable
