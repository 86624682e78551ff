#include "api/core/service.h"

namespace berth::api {

const TypeInfo& ServicePort::Type() {
  static const TypeInfo type = Describe<ServicePort>("ServicePort")
                                   .Field(1, "name", &ServicePort::name)
                                   .Field(2, "protocol", &ServicePort::protocol)
                                   .Field(6, "appProtocol", &ServicePort::app_protocol)
                                   .Always(3, "port", &ServicePort::port)
                                   .Always(4, "targetPort", &ServicePort::target_port)
                                   .Field(5, "nodePort", &ServicePort::node_port)
                                   .Build();
  return type;
}

const TypeInfo& ServiceSpec::Type() {
  static const TypeInfo type =
      Describe<ServiceSpec>("ServiceSpec")
          .Field(1, "ports", &ServiceSpec::ports)
          .Field(2, "selector", &ServiceSpec::selector)
          .Field(3, "clusterIP", &ServiceSpec::cluster_ip)
          .Field(4, "type", &ServiceSpec::type)
          .Ignore({"clusterIPs", "externalIPs", "sessionAffinity", "loadBalancerIP",
                   "loadBalancerSourceRanges", "externalName", "externalTrafficPolicy",
                   "healthCheckNodePort", "publishNotReadyAddresses", "sessionAffinityConfig",
                   "ipFamilies", "ipFamilyPolicy", "allocateLoadBalancerNodePorts",
                   "loadBalancerClass", "internalTrafficPolicy", "trafficDistribution"})
          .Build();
  return type;
}

const TypeInfo& Service::Type() {
  static const TypeInfo type = Describe<Service>("Service")
                                   .Always(1, "metadata", &Service::metadata)
                                   .Always(2, "spec", &Service::spec)
                                   .Object(kApiVersion, kKind)
                                   .Ignore({"status"})
                                   .Build();
  return type;
}

}  // namespace berth::api
