// The body of /configz: the configuration in use, as kube-scheduler prints its internal form.
#pragma once

#include <string>

#include "config/types.h"

namespace berth::server {

// {"componentconfig":{…}} with the names of Go's fields. The private keys of extenders are left
// out.
std::string ConfigzText(const config::KubeSchedulerConfiguration& config);
// One extender, likewise.
std::string ExtenderText(const config::Extender& extender);

}  // namespace berth::server
