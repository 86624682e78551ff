// berth explain podgroup: why a pod group waits, and what would help.
#pragma once

#include <string>

#include "explain/groups/report.h"

namespace berth::cli {

struct GroupTextOptions {
  bool colour = false;
  bool all = false;  // every pod and domain, not the first ones
};

// As text for people, on 80 columns.
std::string GroupText(const berth::explain::GroupView& view, const GroupTextOptions& options);

}  // namespace berth::cli
