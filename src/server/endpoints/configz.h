// The body of /configz: the configuration in use, as kube-scheduler prints it.
#pragma once

#include <string>

#include "config/behaviour.h"
#include "config/types.h"

namespace berth::server {

// {"componentconfig":{…}}, until 1.35 with the names of Go's fields, then as in configuration
// files. The private keys of extenders are left out.
std::string ConfigzText(const config::KubeSchedulerConfiguration& config,
                        const config::Behaviour& behaviour);
// One extender, with the names of Go's fields.
std::string ExtenderText(const config::Extender& extender);

}  // namespace berth::server
