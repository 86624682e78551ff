#include "api/coordination/lease.h"

namespace berth::api {

const TypeInfo& LeaseSpec::Type() {
  static const TypeInfo type =
      Describe<LeaseSpec>("LeaseSpec")
          .Field(1, "holderIdentity", &LeaseSpec::holder_identity)
          .Field(2, "leaseDurationSeconds", &LeaseSpec::lease_duration_seconds)
          .Field(3, "acquireTime", &LeaseSpec::acquire_time)
          .Field(4, "renewTime", &LeaseSpec::renew_time)
          .Field(5, "leaseTransitions", &LeaseSpec::lease_transitions)
          .Field(6, "strategy", &LeaseSpec::strategy)
          .Field(7, "preferredHolder", &LeaseSpec::preferred_holder)
          .Build();
  return type;
}

const TypeInfo& Lease::Type() {
  static const TypeInfo type = Describe<Lease>("Lease")
                                   .Always(1, "metadata", &Lease::metadata)
                                   .Always(2, "spec", &Lease::spec)
                                   .Object(kApiVersion, kKind)
                                   .Build();
  return type;
}

}  // namespace berth::api
