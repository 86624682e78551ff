// Random volumes, claims and devices, for tests of pods that have some of their own.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "base/random.h"
#include "cluster/objects/object_store.h"
#include "cluster/testing/builders.h"

namespace berth::scheduler {

// --- Volumes

// What the volume behind a claim is like.
struct Flavor {
  std::string source;    // JSON of the PersistentVolume's spec; @ stands for the volume's handle
  std::string affinity;  // the same
  std::string labels;
  bool waits = false;  // for its first consumer
  std::string mode = "ReadWriteMany";
};

inline std::string VolumeAffinity(std::string_view key, std::string_view op,
                                  const std::string& value) {
  return fmt::format(
      ",'nodeAffinity':{{'required':{{'nodeSelectorTerms':[{{'matchExpressions':[{{'key':'{}',"
      "'operator':'{}','values':['{}']}}]}}]}}}}",
      key, op, value);
}

// `waiting`: most claims wait for their first consumer.
inline Flavor RandomFlavor(Random& random, const std::string& node, bool waiting = false) {
  const auto zone = [&] { return fmt::format("z{}", random.Below(3)); };
  constexpr std::string_view kSources[] = {
      "'csi':{'driver':'d0','volumeHandle':'@'}",
      "'csi':{'driver':'d1','volumeHandle':'@'}",
      "'awsElasticBlockStore':{'volumeID':'@'}",
      "'nfs':{'server':'s','path':'/'}",
  };
  Flavor flavor;
  flavor.source = kSources[random.Below(random.Below(3) == 0 ? 4 : 2)];
  switch (random.Below(8)) {
    case 0:
      flavor.affinity = VolumeAffinity("topology.kubernetes.io/zone", "In", zone());
      break;
    case 1:
      flavor.affinity = VolumeAffinity("topology.kubernetes.io/zone", "NotIn", zone());
      break;
    case 2:
      flavor.affinity = VolumeAffinity("kubernetes.io/hostname", "In", node);
      break;
    case 3:
      flavor.affinity = VolumeAffinity("generation", "Gt", fmt::format("{}", random.Below(5)));
      break;
    default:
      break;
  }
  if (random.Below(5) == 0) {
    flavor.labels =
        fmt::format("'topology.kubernetes.io/zone':'z0{}'", random.Below(2) == 0 ? "__z1" : "");
  }
  flavor.waits = random.Below(12) == 0 || (waiting && random.Below(3) != 0);
  if (random.Below(8) == 0) flavor.mode = "ReadWriteOncePod";
  return flavor;
}

inline api::PersistentVolume MakeVolume(const std::string& claim, const std::string& handle,
                                        const Flavor& flavor) {
  std::string source = flavor.source;
  if (const size_t at = source.find('@'); at != std::string::npos) source.replace(at, 1, handle);
  return cluster::FromText<api::PersistentVolume>(
      fmt::format("{{'metadata':{{'name':'pv-{}','labels':{{{}}}}},'spec':{{{}{},'capacity':"
                  "{{'storage':'1Gi'}},'accessModes':['{}'],'claimRef':{{'namespace':'ns',"
                  "'name':'{}'}}}},'status':{{'phase':'Bound'}}}}",
                  claim, flavor.labels, source, flavor.affinity, flavor.mode, claim));
}

// `owner`: the uid of the pod the claim is made for, if any.
inline api::PersistentVolumeClaim MakeClaim(const std::string& name, const Flavor& flavor,
                                            const std::string& owner) {
  auto claim = cluster::FromText<api::PersistentVolumeClaim>(fmt::format(
      "{{'metadata':{{'namespace':'ns','name':'{}','uid':'{}','resourceVersion':'1'}},'spec':"
      "{{'accessModes':['{}'],'resources':{{'requests':{{'storage':'1Gi'}}}}}},'status':"
      "{{'phase':'{}'}}}}",
      name, name, flavor.mode, flavor.waits ? "Pending" : "Bound"));
  if (flavor.waits) {
    claim.spec.storage_class_name = "waits";
  } else {
    claim.spec.volume_name = "pv-" + name;
    claim.metadata.annotations["pv.kubernetes.io/bind-completed"] = "yes";
  }
  if (!owner.empty()) {
    claim.metadata.owner_references.push_back(cluster::FromText<api::OwnerReference>(
        fmt::format("{{'kind':'Pod','name':'p','uid':'{}','controller':true}}", owner)));
  }
  return claim;
}

inline api::CSINode RandomCsiNode(Random& random, const std::string& name) {
  std::string drivers;
  for (const char* driver : {"d0", "d1", "ebs.csi.aws.com"}) {
    if (random.Below(4) == 0) continue;
    const std::string limit = fmt::format(",'allocatable':{{'count':{}}}",
                                          random.Below(12) == 0 ? 0 : 1 + random.Below(5));
    drivers += fmt::format("{}{{'name':'{}','nodeID':'x'{}}}", drivers.empty() ? "" : ",", driver,
                           random.Below(5) == 0 ? "" : limit);
  }
  auto csi_node = cluster::FromText<api::CSINode>(
      fmt::format("{{'metadata':{{'name':'{}'}},'spec':{{'drivers':[{}]}}}}", name, drivers));
  if (random.Below(2) == 0) {
    csi_node.metadata.annotations["storage.alpha.kubernetes.io/migrated-plugins"] =
        "kubernetes.io/aws-ebs";
  }
  return csi_node;
}

// Volumes of the class "waits" are made where their pod goes: in some zones, where there is room.
inline api::StorageClass RandomWaitingClass(Random& random) {
  const std::string zones = fmt::format(
      ",'allowedTopologies':[{{'matchLabelExpressions':[{{'key':'topology.kubernetes.io/zone',"
      "'values':['z0','z{}']}}]}}]",
      random.Below(3));
  return cluster::FromText<api::StorageClass>(
      fmt::format("{{'metadata':{{'name':'waits'}},'provisioner':'{}','volumeBindingMode':"
                  "'WaitForFirstConsumer'{}}}",
                  random.Below(8) == 0 ? "kubernetes.io/no-provisioner" : "d0",
                  random.Below(2) == 0 ? "" : zones));
}

inline api::CSIDriver RandomDriver(Random& random) {
  return cluster::FromText<api::CSIDriver>(fmt::format(
      "{{'metadata':{{'name':'d0'}},'spec':{{'storageCapacity':{}}}}}", random.Below(2) == 0));
}

inline api::CSIStorageCapacity RandomCapacity(Random& random) {
  const uint64_t zone = random.Below(3);
  return cluster::FromText<api::CSIStorageCapacity>(
      fmt::format("{{'metadata':{{'namespace':'ns','name':'c{}'}},'storageClassName':'waits',"
                  "'nodeTopology':{{'matchLabels':{{'topology.kubernetes.io/zone':'z{}'}}}},"
                  "'capacity':'{}'}}",
                  zone, zone, random.Below(3) == 0 ? "500Mi" : "2Gi"));
}

// One that a claim which waits may have.
inline api::PersistentVolume FreeVolume(Random& random, const std::string& node) {
  return cluster::FromText<api::PersistentVolume>(
      fmt::format("{{'metadata':{{'name':'free{}','resourceVersion':'1'}},'spec':{{"
                  "'storageClassName':'waits','capacity':{{'storage':'2Gi'}},'accessModes':"
                  "['ReadWriteMany'],'local':{{'path':'/'}}{}}},'status':{{'phase':'Available'}}}}",
                  random.Below(4), VolumeAffinity("kubernetes.io/hostname", "In", node)));
}

// Changes where volumes can be provisioned, or one comes or goes that is there already.
inline auto ProvisioningChange(Random& random, const std::string& node) {
  const api::StorageClass waits = RandomWaitingClass(random);
  const api::CSIDriver driver = RandomDriver(random);
  const api::CSIStorageCapacity capacity = RandomCapacity(random);
  const api::PersistentVolume volume = FreeVolume(random, node);
  const uint64_t what = random.Below(12);
  return [=](cluster::ObjectStore& objects) {
    if (what == 0) objects.storage_classes.Set(waits);
    if (what == 1) objects.csi_drivers.Set(driver);
    if (what > 1 && what < 7) objects.csi_storage_capacities.Set(capacity);
    if (what == 7) objects.persistent_volumes.Set(volume);
    if (what > 7) objects.persistent_volumes.Remove({}, volume.metadata.name);
  };
}

// --- Devices

inline api::DeviceClass RandomDeviceClass(Random& random, const std::string& name) {
  const std::string more =
      name == "any" ? ""
                    : fmt::format(" && device.attributes[\\'dra\\'].kind != {}", random.Below(3));
  return cluster::FromText<api::DeviceClass>(
      fmt::format("{{'metadata':{{'name':'{}'}},'spec':{{'selectors':[{{'cel':{{'expression':"
                  "'device.driver == \\'dra\\'{}'}}}}]}}}}",
                  name, more));
}

// The devices of node i, or of many.
inline api::ResourceSlice RandomSlice(Random& random, int i, bool of_many) {
  std::string devices;
  const uint64_t count = random.Below(5);
  for (uint64_t d = 0; d < count; ++d) {
    devices += fmt::format("{}{{'name':'dev{}','attributes':{{'kind':{{'int':{}}}}}}}",
                           d == 0 ? "" : ",", d, random.Below(3));
  }
  std::string where = fmt::format("'nodeName':'n{}'", i);
  if (of_many) {
    where = random.Below(2) == 0
                ? "'allNodes':true"
                : "'nodeSelector':{'nodeSelectorTerms':[{'matchExpressions':[{'key':"
                  "'topology.kubernetes.io/zone','operator':'In','values':['z0']}]}]}";
  }
  return cluster::FromText<api::ResourceSlice>(
      fmt::format("{{'metadata':{{'name':'slice{}'}},'spec':{{'driver':'dra','pool':{{'name':"
                  "'pool{}','generation':1,'resourceSliceCount':1}},{},'devices':[{}]}}}}",
                  i, i, where, devices));
}

// spec.devices of a claim.
inline std::string RandomDevices(Random& random) {
  const auto some = [&](std::string_view more) {
    return fmt::format("'deviceClassName':'{}','allocationMode':'ExactCount','count':{}{}",
                       random.Below(2) == 0 ? "gpu" : "any", 1 + random.Below(2), more);
  };
  const auto one = [&](std::string_view more) {
    return fmt::format("'requests':[{{'name':'r','exactly':{{{}}}}}]", some(more));
  };
  switch (random.Below(10)) {
    case 0: {
      const std::string first = some("");
      return fmt::format(
          "'requests':[{{'name':'r','exactly':{{{}}}}},{{'name':'s','exactly':{{{}}}}}],"
          "'constraints':[{{'matchAttribute':'dra/kind'}}]",
          first, some(""));
    }
    case 1: {
      const std::string first = some("");
      return fmt::format(
          "'requests':[{{'name':'r','firstAvailable':[{{'name':'a',{}}},{{'name':'b',{}}}]}}]",
          first, some(""));
    }
    case 2:
      return one(",'adminAccess':true");
    case 3:
      return "'requests':[{'name':'r','exactly':{'deviceClassName':'any','allocationMode':'All'}}]";
    default:
      return one("");
  }
}

inline api::ResourceClaim MakeDeviceClaim(const std::string& name, const std::string& devices,
                                          const std::string& owner) {
  return cluster::FromText<api::ResourceClaim>(fmt::format(
      "{{'metadata':{{'namespace':'ns','name':'{}','uid':'{}','ownerReferences':[{{'kind':'Pod',"
      "'name':'p','uid':'{}','controller':true}}]}},'spec':{{'devices':{{{}}}}}}}",
      name, name, owner, devices));
}

}  // namespace berth::scheduler
