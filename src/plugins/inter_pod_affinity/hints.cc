// Queueing hints of InterPodAffinity.
//
// As in kube-scheduler, terms are looked at by themselves: namespace selectors see no labels, and a
// pod matters for affinity only if it matches all terms at once.
#include <algorithm>

#include "plugins/common/hints.h"
#include "plugins/inter_pod_affinity/inter_pod_affinity.h"
#include "plugins/inter_pod_affinity/many_terms.h"

namespace berth::plugins::inter_pod_affinity {
namespace {

using cluster::AffinityTerm;
using framework::Hint;
using Terms = std::vector<AffinityTerm>;

// The first selector of the terms that does not parse.
Result<void> CheckSelectors(const std::vector<api::PodAffinityTerm>& terms) {
  for (const api::PodAffinityTerm& term : terms) {
    for (const auto* selector : {&term.label_selector, &term.namespace_selector}) {
      if (const auto parsed = api::Selector::From(*selector); !parsed) return Fail(parsed.error());
    }
  }
  return {};
}

template <class PodTerms>
Result<void> CheckRequired(const PodTerms& terms) {
  if (!terms) return {};
  return CheckSelectors(terms->required_during_scheduling_ignored_during_execution);
}

bool MatchesAll(const Terms& terms, const cluster::Pod& pod) {
  return !terms.empty() && std::all_of(terms.begin(), terms.end(), [&](const AffinityTerm& term) {
    return term.Matches(*pod.shape, {});
  });
}

bool MatchesAny(const Terms& terms, const cluster::Pod& pod) {
  return std::any_of(terms.begin(), terms.end(),
                     [&](const AffinityTerm& term) { return term.Matches(*pod.shape, {}); });
}

// The values of a topology key on both versions of a node, null where it has none.
struct Domain {
  const std::string* before;
  const std::string* after;

  bool Moved() const { return before != nullptr && after != nullptr && *before != *after; }
};

}  // namespace

const InterPodAffinity::HintTerms& InterPodAffinity::TermsForHints(
    const cluster::Cluster& cluster, const cluster::PodShape& shape) const {
  return hint_terms_.Get(shape, [&](const cluster::PodShape&) {
    HintTerms terms;
    cluster::OwnTerms own = cluster::CompileOwnTerms(shape, cluster.Strings());
    for (cluster::OwnTerm& term : own.terms) {
      if (term.kind == cluster::TermKind::kRequiredAffinity) {
        terms.near->push_back(std::move(term.term));
      } else if (term.kind == cluster::TermKind::kRequiredAntiAffinity) {
        terms.apart->push_back(std::move(term.term));
      }
    }
    if (own.error.empty()) return terms;
    const auto& affinity = *shape.source.spec.affinity;
    if (const auto ok = CheckRequired(affinity.pod_affinity); !ok) terms.near = Fail(ok.error());
    if (const auto ok = CheckRequired(affinity.pod_anti_affinity); !ok) {
      terms.apart = Fail(ok.error());
    }
    return terms;
  });
}

// REQUIRES: both lists parsed. A pod with very many terms waits for every event there is, so events
// of equal pods are compared with them once.
InterPodAffinity::HintTerms::Found InterPodAffinity::Matches(const HintTerms& terms,
                                                             const cluster::Pod& pod) {
  constexpr size_t kMaxShapes = 16'384;
  const auto compare = [&] {
    return HintTerms::Found{MatchesAll(*terms.near, pod), MatchesAll(*terms.apart, pod),
                            MatchesAny(*terms.apart, pod)};
  };
  if (terms.near->size() + terms.apart->size() <= kManyTerms) return compare();
  const auto known = terms.found.find(pod.shape->serial);
  if (known != terms.found.end()) return known->second;
  if (terms.found.size() >= kMaxShapes) terms.found.clear();
  return terms.found.emplace(pod.shape->serial, compare()).first->second;
}

Result<Hint> InterPodAffinity::AfterPodChange(const cluster::Cluster& cluster,
                                              const cluster::Pod& pod,
                                              const queue::Event& event) const {
  const auto* before = event.Old<cluster::Pod>();
  const auto* after = event.New<cluster::Pod>();
  if (before == nullptr && after == nullptr) return NoObject("pod");
  const bool of_others_too = behaviour_.affinity_hints_own_labels;
  if (of_others_too && before != nullptr && after != nullptr && IsAboutItself(event, *after, pod)) {
    return Hint::kQueue;  // other pods may have kept off its old labels
  }
  const auto is_off_node = [&](const cluster::Pod* other) {
    if (other == nullptr) return false;
    return behaviour_.hints_count_nominated_pods ? !HasNode(*other) : other->node_name.empty();
  };
  if (is_off_node(before) || is_off_node(after)) return Hint::kSkip;
  const HintTerms& terms = TermsForHints(cluster, *pod.shape);
  if (!terms.near) return Fail(terms.near.error());
  if (!terms.apart) return Fail(terms.apart.error());
  if (before == nullptr) return QueueIf(Matches(terms, *after).near_all);
  const auto apart = [&](const HintTerms::Found& found) {
    return behaviour_.affinity_hints_any_term ? found.apart_any : found.apart_all;
  };
  const HintTerms::Found was = Matches(terms, *before);
  if (after != nullptr) {
    const HintTerms::Found is = Matches(terms, *after);
    return QueueIf((!was.near_all && is.near_all) || (apart(was) && !apart(is)));
  }
  if (apart(was)) return Hint::kQueue;
  if (!of_others_too) return Hint::kSkip;
  const HintTerms& of_deleted = TermsForHints(cluster, *before->shape);
  if (!of_deleted.apart) return Fail(of_deleted.apart.error());
  const auto matches = behaviour_.affinity_hints_any_term ? MatchesAny : MatchesAll;
  return QueueIf(matches(*of_deleted.apart, pod));
}

Result<Hint> InterPodAffinity::AfterNodeChange(const cluster::Cluster& cluster,
                                               const cluster::Pod& pod,
                                               const queue::Event& event) const {
  const auto* before = event.Old<api::Node>();
  const auto* after = event.New<api::Node>();
  if (after == nullptr) return NoObject("node");
  const HintTerms& terms = TermsForHints(cluster, *pod.shape);
  const auto domain = [&](const AffinityTerm& term) {
    const std::string& key = cluster.Strings().Text(term.topology_key);
    return Domain{before == nullptr ? nullptr : api::FindValue(before->metadata.labels, key),
                  api::FindValue(after->metadata.labels, key)};
  };
  if (!terms.near) return Fail(terms.near.error());
  for (const AffinityTerm& term : *terms.near) {
    const Domain d = domain(term);
    if ((d.before == nullptr && d.after != nullptr) || d.Moved()) return Hint::kQueue;
  }
  if (!terms.apart) return Fail(terms.apart.error());
  for (const AffinityTerm& term : *terms.apart) {
    // Nodes outside of all domains take every pod, so any new node may help.
    if (before == nullptr) return Hint::kQueue;
    const Domain d = domain(term);
    if ((d.before != nullptr && d.after == nullptr) || d.Moved()) return Hint::kQueue;
  }
  return Hint::kSkip;
}

std::vector<framework::RegisteredEvent> InterPodAffinity::EventsToRegister(
    const config::Behaviour& behaviour) const {
  const auto after_pod = [this](const cluster::Cluster& cluster, const cluster::Pod& pod,
                                const queue::Event& event) {
    return AfterPodChange(cluster, pod, event);
  };
  std::vector<framework::RegisteredEvent> events{OnAssignedPod(
      behaviour, queue::kAdd | queue::kUpdatePodLabel | queue::kDelete,
      "isSchedulableAfterAssignedPodChange", "isSchedulableAfterPodChange", after_pod)};
  if (behaviour.pod_events_split) {
    events.push_back(On(queue::EventResource::kTargetPod, queue::kUpdatePodLabel,
                        "isSchedulableAfterTargetPodUpdateLabel", after_pod));
  }
  events.push_back(
      On(queue::EventResource::kNode, queue::kAdd | queue::kUpdateNodeLabel,
         "isSchedulableAfterNodeChange",
         [this](const cluster::Cluster& cluster, const cluster::Pod& pod,
                const queue::Event& event) { return AfterNodeChange(cluster, pod, event); }));
  return events;
}

}  // namespace berth::plugins::inter_pod_affinity
