#include "server/explain/suggest.h"

#include <optional>
#include <utility>

#include <fmt/format.h>

#include "explain/groups/view.h"
#include "explain/suggestions.h"
#include "explain/views.h"

namespace berth::server {
namespace {

// A cluster of its own with the objects of a copy, and the profiles to try things with.
class Bench {
 public:
  Result<void> Load(const explain::ClusterCopy& copy,
                    const config::KubeSchedulerConfiguration& config,
                    const config::Behaviour& behaviour,
                    std::span<const scheduler::ExtraPlugin> plugins) {
    const auto inputs = scheduler::InputsOf(config, behaviour, plugins);
    if (!inputs) return Fail(inputs.error());
    cluster_.Track(*inputs);
    explain::LoadCopy(copy, &cluster_);
    auto profiles = scheduler::ProfileSet::Make(config, behaviour, cluster_, nullptr, 0, plugins);
    if (!profiles) return Fail(profiles.error());
    profiles_.emplace(std::move(*profiles));
    for (const auto& node : copy.nodes) nodes_[node->metadata.name] = node;
    source_.cluster = &cluster_;
    source_.nodes = &nodes_;
    for (const auto& profile : profiles_->Profiles()) source_.profiles.push_back(profile.get());
    return {};
  }

  const scheduler::Source& source() const { return source_; }

 private:
  cluster::Cluster cluster_;
  std::optional<scheduler::ProfileSet> profiles_;
  scheduler::NodeObjects nodes_;
  scheduler::Source source_;
};

}  // namespace

Result<explain::SuggestionList> SuggestOnCopy(const explain::ClusterCopy& copy,
                                              const config::KubeSchedulerConfiguration& config,
                                              const config::Behaviour& behaviour,
                                              std::span<const scheduler::ExtraPlugin> plugins,
                                              std::string_view namespace_, std::string_view name) {
  Bench bench;
  if (auto ok = bench.Load(copy, config, behaviour, plugins); !ok) return Fail(ok.error());
  const cluster::PodId pod = explain::FindPod(bench.source(), namespace_, name);
  if (pod == cluster::kNoPod) return Fail(fmt::format("no pod {}/{}", namespace_, name));
  return explain::Suggest(bench.source(), pod);
}

Result<explain::GroupView> ExplainGroupOnCopy(const explain::ClusterCopy& copy,
                                              const config::KubeSchedulerConfiguration& config,
                                              const config::Behaviour& behaviour,
                                              std::span<const scheduler::ExtraPlugin> plugins,
                                              std::string_view namespace_, std::string_view name) {
  Bench bench;
  if (auto ok = bench.Load(copy, config, behaviour, plugins); !ok) return Fail(ok.error());
  return explain::ExplainGroup(bench.source(), namespace_, name);
}

}  // namespace berth::server
