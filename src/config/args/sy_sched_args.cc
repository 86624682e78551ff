#include "config/args/sy_sched_args.h"

#include "config/config.h"

namespace berth::config {

const api::TypeInfo& SySchedArgs::Type() {
  using T = SySchedArgs;
  static const api::TypeInfo type =
      api::Describe<T>("SySchedArgs")
          .Object(kApiVersion, "SySchedArgs")
          .Always(0, "defaultProfileNamespace", &T::default_profile_namespace)
          .Always(0, "defaultProfileName", &T::default_profile_name)
          .Build();
  return type;
}

}  // namespace berth::config
