// The options of lists and watches, checked as the API server checks them. Private to this folder.
#pragma once

#include "apiserver/http/call.h"
#include "apiserver/status.h"

namespace berth::apiserver {

Answer<void> CheckListOptions(const server::Request& request, bool watch);

}  // namespace berth::apiserver
