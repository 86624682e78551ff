// Fields of objects that features are about which are switched off.
#pragma once

#include "api/core/pod.h"
#include "config/behaviour.h"

namespace berth::config {

// Clears the fields of `pod` that this kube-scheduler does not read.
void HideDisabledFields(const Behaviour& behaviour, api::Pod& pod);

}  // namespace berth::config
