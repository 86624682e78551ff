#include "api/core/affinity.h"

namespace berth::api {

const TypeInfo& NodeAffinity::Type() {
  static const TypeInfo type =
      Describe<NodeAffinity>("NodeAffinity")
          .Field(1, "requiredDuringSchedulingIgnoredDuringExecution",
                 &NodeAffinity::required_during_scheduling_ignored_during_execution)
          .Field(2, "preferredDuringSchedulingIgnoredDuringExecution",
                 &NodeAffinity::preferred_during_scheduling_ignored_during_execution)
          .Build();
  return type;
}

const TypeInfo& PodAffinityTerm::Type() {
  static const TypeInfo type =
      Describe<PodAffinityTerm>("PodAffinityTerm")
          .Field(1, "labelSelector", &PodAffinityTerm::label_selector)
          .Field(2, "namespaces", &PodAffinityTerm::namespaces)
          .Always(3, "topologyKey", &PodAffinityTerm::topology_key)
          .Field(4, "namespaceSelector", &PodAffinityTerm::namespace_selector)
          .Field(5, "matchLabelKeys", &PodAffinityTerm::match_label_keys)
          .Field(6, "mismatchLabelKeys", &PodAffinityTerm::mismatch_label_keys)
          .Build();
  return type;
}

const TypeInfo& WeightedPodAffinityTerm::Type() {
  static const TypeInfo type =
      Describe<WeightedPodAffinityTerm>("WeightedPodAffinityTerm")
          .Always(1, "weight", &WeightedPodAffinityTerm::weight)
          .Always(2, "podAffinityTerm", &WeightedPodAffinityTerm::pod_affinity_term)
          .Build();
  return type;
}

const TypeInfo& PodAffinity::Type() {
  static const TypeInfo type =
      Describe<PodAffinity>("PodAffinity")
          .Field(1, "requiredDuringSchedulingIgnoredDuringExecution",
                 &PodAffinity::required_during_scheduling_ignored_during_execution)
          .Field(2, "preferredDuringSchedulingIgnoredDuringExecution",
                 &PodAffinity::preferred_during_scheduling_ignored_during_execution)
          .Build();
  return type;
}

const TypeInfo& PodAntiAffinity::Type() {
  static const TypeInfo type =
      Describe<PodAntiAffinity>("PodAntiAffinity")
          .Field(1, "requiredDuringSchedulingIgnoredDuringExecution",
                 &PodAntiAffinity::required_during_scheduling_ignored_during_execution)
          .Field(2, "preferredDuringSchedulingIgnoredDuringExecution",
                 &PodAntiAffinity::preferred_during_scheduling_ignored_during_execution)
          .Build();
  return type;
}

const TypeInfo& Affinity::Type() {
  static const TypeInfo type = Describe<Affinity>("Affinity")
                                   .Field(1, "nodeAffinity", &Affinity::node_affinity)
                                   .Field(2, "podAffinity", &Affinity::pod_affinity)
                                   .Field(3, "podAntiAffinity", &Affinity::pod_anti_affinity)
                                   .Build();
  return type;
}

const TypeInfo& Toleration::Type() {
  static const TypeInfo type = Describe<Toleration>("Toleration")
                                   .Field(1, "key", &Toleration::key)
                                   .Field(2, "operator", &Toleration::operator_)
                                   .Field(3, "value", &Toleration::value)
                                   .Field(4, "effect", &Toleration::effect)
                                   .Field(5, "tolerationSeconds", &Toleration::toleration_seconds)
                                   .Build();
  return type;
}

const TypeInfo& TopologySpreadConstraint::Type() {
  static const TypeInfo type =
      Describe<TopologySpreadConstraint>("TopologySpreadConstraint")
          .Always(1, "maxSkew", &TopologySpreadConstraint::max_skew)
          .Always(2, "topologyKey", &TopologySpreadConstraint::topology_key)
          .Always(3, "whenUnsatisfiable", &TopologySpreadConstraint::when_unsatisfiable)
          .Field(4, "labelSelector", &TopologySpreadConstraint::label_selector)
          .Field(5, "minDomains", &TopologySpreadConstraint::min_domains)
          .Field(6, "nodeAffinityPolicy", &TopologySpreadConstraint::node_affinity_policy)
          .Field(7, "nodeTaintsPolicy", &TopologySpreadConstraint::node_taints_policy)
          .Field(8, "matchLabelKeys", &TopologySpreadConstraint::match_label_keys)
          .Build();
  return type;
}

}  // namespace berth::api
