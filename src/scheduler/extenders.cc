#include "scheduler/extenders.h"

#include <algorithm>
#include <bit>

#include <fmt/format.h>

namespace berth::scheduler {

Result<ExtenderSet> ExtenderSet::Make(const config::KubeSchedulerConfiguration& config,
                                      const config::Behaviour& behaviour) {
  ExtenderSet set;
  if (config.extenders.empty()) return set;
  if (config.extenders.size() > kMax) {
    return Fail(fmt::format("extenders: there are {}, and no more than {} can be used",
                            config.extenders.size(), kMax));
  }
  config::ResolveOptions options;
  options.behaviour = behaviour;
  auto resolved = config::Resolve(config, options);
  if (!resolved) return Fail(resolved.error());
  set.extenders_ = std::move(resolved->extenders);
  for (size_t i = 0; i < set.extenders_.size(); ++i) {
    const config::Extender& extender = set.extenders_[i];
    const std::string* const verbs[] = {&extender.filter_verb, &extender.prioritize_verb,
                                        &extender.preempt_verb, &extender.bind_verb};
    for (size_t v = 0; v < std::size(verbs); ++v) {
      if (!verbs[v]->empty()) set.verbs_[v] |= ExtenderMask{1} << i;
    }
  }
  return set;
}

namespace {

bool Asks(const std::vector<api::Container>& containers, const config::Extender& extender) {
  const auto managed = [&](const auto& list) {
    return std::any_of(list.begin(), list.end(), [&](const auto& entry) {
      return std::any_of(extender.managed_resources.begin(), extender.managed_resources.end(),
                         [&](const auto& resource) { return resource.name == entry.first; });
    });
  };
  return std::any_of(containers.begin(), containers.end(), [&](const api::Container& container) {
    return managed(container.resources.requests) || managed(container.resources.limits);
  });
}

}  // namespace

ExtenderMask ExtenderSet::InterestedIn(const api::Pod& pod) const {
  ExtenderMask mask = 0;
  for (size_t i = 0; i < extenders_.size(); ++i) {
    const config::Extender& extender = extenders_[i];
    if (extender.managed_resources.empty() || Asks(pod.spec.containers, extender) ||
        Asks(pod.spec.init_containers, extender)) {
      mask |= ExtenderMask{1} << i;
    }
  }
  return mask;
}

int NextExtender(ExtenderMask mask, size_t from) {
  if (from >= ExtenderSet::kMax) return -1;
  mask &= ~ExtenderMask{0} << from;
  return mask == 0 ? -1 : std::countr_zero(mask);
}

}  // namespace berth::scheduler
