#include "config/args/network_aware_args.h"

#include "config/config.h"

namespace berth::config {

const api::TypeInfo& NetworkOverheadArgs::Type() {
  using T = NetworkOverheadArgs;
  static const api::TypeInfo type = api::Describe<T>("NetworkOverheadArgs")
                                        .Object(kApiVersion, "NetworkOverheadArgs")
                                        .Field(0, "namespaces", &T::namespaces)
                                        .Always(0, "weightsName", &T::weights_name)
                                        .Always(0, "networkTopologyName", &T::network_topology_name)
                                        .Build();
  return type;
}

void NetworkOverheadArgs::SetDefaults() {
  if (namespaces.empty()) namespaces = {"default"};
}

const api::TypeInfo& TopologicalSortArgs::Type() {
  using T = TopologicalSortArgs;
  static const api::TypeInfo type = api::Describe<T>("TopologicalSortArgs")
                                        .Object(kApiVersion, "TopologicalSortArgs")
                                        .Field(0, "namespaces", &T::namespaces)
                                        .Build();
  return type;
}

void TopologicalSortArgs::SetDefaults() {
  if (namespaces.empty()) namespaces = {"default"};
}

}  // namespace berth::config
