// Inhabitants: the nodes, pods and other objects of a simulated cluster.
#pragma once

#include <cstdint>
#include <string>

#include "api/object.h"
#include "sim/chaos/dice.h"
#include "sim/chaos/profile.h"

namespace berth::sim {

inline constexpr char kNamespace[] = "default";
inline constexpr char kOurScheduler[] = "default-scheduler";
inline constexpr char kOtherScheduler[] = "other-scheduler";
inline constexpr char kGroupLabel[] = "group";
inline constexpr char kProvisionedClass[] =
    "provisioned";                              // volumes are provisioned for a chosen node
inline constexpr char kLocalClass[] = "local";  // volumes exist, on one node each
inline constexpr char kDeviceDriver[] = "device.example.com";

// Which API a pod group is of.
enum class GroupApi : uint8_t { kKubernetes, kSchedulerPlugins, kVolcano };

// The template of a controller's pods.
struct GroupTemplate {
  std::string name;
  int64_t replicas = 1;
  std::string storage_class;  // empty: no claim
  bool devices = false;
  int32_t min_count = 0;  // of the pod group that bears its name; 0: there is none
  GroupApi group_api = GroupApi::kKubernetes;
  api::Pod pod;  // without a name
};

api::Node MakeNode(const std::string& name, Dice& dice);
// With devices of its own for some of the nodes.
bool HasDevices(Dice& dice);
api::ResourceSlice MakeSlice(const std::string& node);
api::PersistentVolume MakeLocalVolume(const std::string& name, const std::string& node);
// Storage classes, device class, namespace.
std::vector<api::Object> MakeClasses();

GroupTemplate MakeGroup(const std::string& name, const ChaosProfile& profile, Dice& dice);
// Makes the group's pods a gang, which has no claims: their writes could fail one by one.
void MakeGang(const ChaosProfile& profile, Dice& dice, GroupTemplate* group);
// With min_count: its object.
api::Object MakePodGroup(const GroupTemplate& group, bool evicted_whole);
api::Pod MakePodOf(const GroupTemplate& group, const std::string& name);
api::PersistentVolumeClaim MakeVolumeClaim(const std::string& name,
                                           const std::string& storage_class);
api::ResourceClaim MakeDeviceClaim(const std::string& name);
api::PodDisruptionBudget MakeBudget(const std::string& group, Dice& dice);

}  // namespace berth::sim
