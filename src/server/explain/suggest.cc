#include "server/explain/suggest.h"

#include <fmt/format.h>

#include "explain/suggestions.h"
#include "explain/views.h"

namespace berth::server {

Result<explain::SuggestionList> SuggestOnCopy(const explain::ClusterCopy& copy,
                                              const config::KubeSchedulerConfiguration& config,
                                              const config::Behaviour& behaviour,
                                              std::span<const scheduler::ExtraPlugin> plugins,
                                              std::string_view namespace_, std::string_view name) {
  const auto inputs = scheduler::InputsOf(config, behaviour, plugins);
  if (!inputs) return Fail(inputs.error());
  cluster::Cluster cluster;
  cluster.Track(*inputs);
  explain::LoadCopy(copy, &cluster);
  auto profiles = scheduler::ProfileSet::Make(config, behaviour, cluster, nullptr, 0, plugins);
  if (!profiles) return Fail(profiles.error());
  scheduler::NodeObjects nodes;
  for (const auto& node : copy.nodes) nodes[node->metadata.name] = node;
  scheduler::Source source;
  source.cluster = &cluster;
  source.nodes = &nodes;
  for (const auto& profile : profiles->Profiles()) source.profiles.push_back(profile.get());
  const cluster::PodId pod = explain::FindPod(source, namespace_, name);
  if (pod == cluster::kNoPod) return Fail(fmt::format("no pod {}/{}", namespace_, name));
  return explain::Suggest(source, pod);
}

}  // namespace berth::server
