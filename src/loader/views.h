// Pods and nodes as plugins in shared objects see them: the implementation of berth_pod, berth_node
// and the functions of berth_host that read them.
#pragma once

#include <string>
#include <string_view>

#include "berth/plugin_abi.h"
#include "cluster/cluster.h"

// The opaque types of the interface, created on the stack for the duration of a call.
struct berth_pod {
  const berth::cluster::Cluster& cluster;
  const berth::cluster::Pod& pod;
};
struct berth_node {
  const berth::cluster::Cluster& cluster;
  berth::cluster::NodeIndex node;
};
struct berth_answer {
  std::string reason;
};

namespace berth::loader {

// The string, truncated, with everything that is not printable UTF-8 replaced.
std::string CleanText(berth_string text);

inline berth_string ToAbi(std::string_view text) { return {text.data(), text.size()}; }
// Null pointers count as empty.
inline std::string_view FromAbi(berth_string text) {
  return text.data == nullptr ? std::string_view() : std::string_view(text.data, text.size);
}

// The functions of berth_host that read pods and nodes; the caller sets the others.
void FillViews(berth_host& host);

}  // namespace berth::loader
