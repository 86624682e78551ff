// What volume limits count: the CSI volumes of a pod, each by driver and handle.
//
// A volume that is not bound yet counts as one of its storage class' driver. Whether an in-tree
// volume counts as one of the CSI driver that replaces it depends on the node.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "api/storage/csi_node.h"
#include "cluster/cluster.h"
#include "cluster/pods/pod.h"
#include "framework/points/status.h"

namespace berth::plugins::node_volume_limits {

// As far as in-tree volumes are concerned, nodes are of three kinds.
enum class NodeKind : uint8_t {
  kNoCsiNode,  // nothing is migrated
  kCsiNode,    // everything but Portworx is
  kPortworx,   // Portworx too
};
inline constexpr size_t kNodeKinds = 3;

// `all_migrated`: whatever its annotation says.
NodeKind KindOf(const api::CSINode* csi_node, bool all_migrated);

struct CsiVolume {
  std::string driver;
  std::string name;  // "driver/handle": equal for equal volumes
};

// What the counted volumes of a pod depend on, as keys of the stores.
struct Dependencies {
  std::vector<std::string> claims;
  std::vector<std::string> volumes;
  std::vector<std::string> classes;
};

struct PodVolumes {
  framework::Code code = framework::Code::kSuccess;
  std::string message;             // when code is not success: no node can be judged
  std::vector<CsiVolume> volumes;  // may name one volume twice
  bool by_kind = false;            // the result may differ for another kind of node
};

// `is_new`: the pod that is to be placed. Claims it lacks keep it from running; pods that run
// already count without them. `depends` may be null.
PodVolumes VolumesOf(const cluster::Cluster& cluster, const cluster::Pod& pod, NodeKind kind,
                     bool is_new, Dependencies* depends = nullptr);

std::string UniqueName(std::string_view driver, std::string_view handle);

}  // namespace berth::plugins::node_volume_limits
