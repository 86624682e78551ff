// Pods with volumes and resource claims of their own get from their classes the decisions of a look
// at every node: random histories of pods, claims, volumes, attachments, CSINodes, slices and
// devices are lived without classes, with a class for every pod, and with classes where they pay.
// Decisions, what is reserved for them and what preemption proposes are compared.
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/random.h"
#include "cluster/objects/object_store.h"
#include "cluster/testing/builders.h"
#include "scheduler/testing/claims.h"
#include "scheduler/testing/classes.h"

namespace berth::scheduler {
namespace {

using cluster::FromText;
using cluster::MakeNode;
using cluster::MakePod;
using cluster::PodId;

// What pods of a template look like: all have equal needs, and each has claims of its own.
struct Template {
  api::Pod pod;
  std::vector<Flavor> own;  // volumes behind claims that are made for the pod
  bool ephemeral = false;   // those claims are made for the pod by a controller
  int shared = 0;           // claims that others use too
  std::vector<std::string> inlined;
  std::vector<std::string> devices;  // specs of resource claims, made for the pod
  bool generated = false;            // those claims are made from a template
  bool shares_devices = false;       // a claim that others use too
};

constexpr config::DraFeatures kGates{
    .partitionable = true, .taints = true, .consumable_capacity = true};

// Taints, counters, shares and places of their own for the devices of a slice.
void AddGated(Random& random, bool of_many, api::ResourceSlice* slice) {
  api::ResourceSliceSpec& spec = slice->spec;
  spec.shared_counters.push_back(
      FromText<api::CounterSet>("{'name':'s','counters':{'c':{'value':'3'}}}"));
  if (of_many && random.Below(2) == 0) {
    spec.all_nodes.reset();
    spec.node_selector = {};
    spec.per_device_node_selection = true;
  }
  for (api::Device& device : spec.devices) {
    if (spec.per_device_node_selection) {
      device.node_name = fmt::format("n{}", random.Below(20));
      if (random.Below(3) == 0) {
        device.node_name = {};
        device.all_nodes = true;
      }
    }
    if (random.Below(4) == 0) {
      device.taints.push_back(FromText<api::DeviceTaint>(
          fmt::format("{{'key':'k{}','effect':'NoSchedule'}}", random.Below(2))));
    }
    if (random.Below(4) == 0) {
      device.consumes_counters.push_back(FromText<api::DeviceCounterConsumption>(fmt::format(
          "{{'counterSet':'s','counters':{{'c':{{'value':'{}'}}}}}}", 1 + random.Below(3))));
    }
    if (random.Below(3) == 0) {
      device.allow_multiple_allocations = true;
      device.capacity["m"] = FromText<api::DeviceCapacity>("{'value':'6'}");
      if (random.Below(2) == 0) {
        device.capacity["m"] = FromText<api::DeviceCapacity>(
            "{'value':'6','requestPolicy':{'default':'1','validValues':['1','2','4']}}");
      }
    }
  }
}

// Tolerations and amounts for the requests of a claim.
std::string AskGated(Random& random, std::string devices) {
  constexpr std::string_view kMode = "'allocationMode'";
  for (size_t at = 0; (at = devices.find(kMode, at)) != std::string::npos; at += kMode.size()) {
    std::string more;
    if (random.Below(3) == 0) {
      more += fmt::format("'tolerations':[{{'key':'k{}','operator':'Exists'}}],", random.Below(2));
    }
    if (random.Below(4) == 0) {
      more += fmt::format("'capacity':{{'requests':{{'m':'{}'}}}},", 1 + random.Below(3));
    }
    devices.insert(at, more);
    at += more.size();
  }
  return devices;
}

class History : LabHistory {
 public:
  History(uint64_t seed, bool volumes, bool devices, bool gated)
      : LabHistory(seed, gated ? kGates : config::DraFeatures{}),
        volumes_(volumes),
        devices_(devices),
        gated_(gated) {
    SetClasses();
    next_node_ = static_cast<int>(2 + random_.Below(OneIn(3) ? 150 : 20));
    for (int i = 0; i < next_node_; ++i) SetNode(i);
    for (int i = 0; i < next_node_; ++i) SetCsiNode(i);
    for (int i = 0; i < next_node_; ++i) SetSlice(i);
    for (int i = 0; i < kShared; ++i) SetShared(i);
    const auto count = static_cast<int>(1 + random_.Below(4));
    for (int i = 0; i < count; ++i) templates_.push_back(MakeTemplate());
  }

  void Live(int steps) {
    for (int i = 0; i < steps && !::testing::Test::HasFailure(); ++i) Step();
  }

  framework::ClassCache::Statistics Seen(size_t lab) const {
    return labs_[lab]->cycle->classes().statistics();
  }
  uint64_t scheduled() const { return scheduled_; }

 private:
  static constexpr int kShared = 4;
  static constexpr int kSharedSlices = 3;  // with many devices a search may take for ever

  std::string SomeNode() { return Of("n", static_cast<uint64_t>(next_node_)); }
  template <class F>
  void Objects(F&& change) {
    for (auto& lab : labs_) change(lab->cluster.MutableObjects());
  }

  // --- Nodes

  void SetNode(int i) {
    MakeNode node(fmt::format("n{}", i));
    node.Cpu(fmt::format("{}", 2 + random_.Below(3))).Memory("2Gi");
    node.Pods(fmt::format("{}", 3 + random_.Below(8)));
    if (!OneIn(8)) node.Zone(Of("z", 3));
    if (OneIn(8)) node.Label("failure-domain.beta.kubernetes.io/zone", Of("z", 3));
    node.Label("kubernetes.io/hostname", fmt::format("n{}", i));
    if (OneIn(2)) node.Label("generation", Of("", 9));
    if (OneIn(6)) node.Taint("t", OneIn(2) ? "NoSchedule" : "PreferNoSchedule");
    Everywhere([&](Lab& lab) { lab.cluster.SetNode(node); });
  }

  void SetCsiNode(int i) {
    const std::string name = fmt::format("n{}", i);
    const bool gone = OneIn(6);
    const api::CSINode csi_node = RandomCsiNode(random_, name);
    Objects([&](auto& objects) {
      gone ? void(objects.csi_nodes.Remove({}, name)) : objects.csi_nodes.Set(csi_node);
    });
  }

  // --- Volumes

  void SetClasses() {
    const api::StorageClass waits = RandomWaitingClass(random_);
    Objects([&](auto& objects) { objects.storage_classes.Set(waits); });
    for (const char* driver : {"gpu", "any"}) SetDeviceClass(driver);
  }

  Flavor MakeFlavor() { return RandomFlavor(random_, SomeNode(), waiting_); }

  // `handle`: what the storage calls the volume. `owner`: uid of the pod the claim is made for.
  void SetClaim(const std::string& name, const std::string& handle, const Flavor& flavor,
                const std::string& owner = "") {
    const bool missing = OneIn(60);
    Objects([&](auto& objects) {
      if (!flavor.waits && !missing)
        objects.persistent_volumes.Set(MakeVolume(name, handle, flavor));
      objects.persistent_volume_claims.Set(MakeClaim(name, flavor, owner));
    });
  }

  // Mostly of one kind, so that which of them it is makes the only difference.
  void SetShared(int i) {
    Flavor flavor;
    flavor.source = "'csi':{'driver':'d0','volumeHandle':'@'}";
    if (OneIn(3)) flavor = MakeFlavor();
    SetClaim(fmt::format("shared{}", i), Of("handle", 3), flavor);
  }

  void SetAttachment() {
    const std::string name = Of("attachment", 20);
    if (OneIn(3)) {
      Objects([&](auto& objects) { objects.volume_attachments.Remove({}, name); });
      return;
    }
    const std::string claim =
        OneIn(2) ? Of("shared", kShared) : Of("own-p", static_cast<uint64_t>(next_pod_) + 1) + "-0";
    const auto attachment = FromText<api::VolumeAttachment>(
        fmt::format("{{'metadata':{{'name':'{}'}},'spec':{{'attacher':'d0','nodeName':'{}',"
                    "'source':{{'persistentVolumeName':'pv-{}'}}}}}}",
                    name, SomeNode(), claim));
    Objects([&](auto& objects) { objects.volume_attachments.Set(attachment); });
  }

  // The volume behind a claim of a pod that is there becomes another.
  void ChangeClaim() {
    const std::string name =
        OneIn(3) ? Of("shared", kShared) : Of("own-p", static_cast<uint64_t>(next_pod_) + 1) + "-0";
    if (First().Objects().persistent_volume_claims.Find("ns", name) == nullptr) return;
    if (OneIn(4)) {
      Objects([&](auto& objects) { objects.persistent_volume_claims.Remove("ns", name); });
    } else if (OneIn(2)) {
      const api::PersistentVolume volume = MakeVolume(name, name, MakeFlavor());
      Objects([&](auto& objects) { objects.persistent_volumes.Set(volume); });
    } else {
      SetClaim(name, OneIn(2) ? name : Of("handle", 2), MakeFlavor());
    }
  }

  // --- Devices

  void SetDeviceClass(const std::string& name) {
    const api::DeviceClass device_class = RandomDeviceClass(random_, name);
    Objects([&](auto& objects) { objects.device_classes.Set(device_class); });
  }

  void SetSlice(int i) {
    const bool gone = OneIn(8);
    const bool of_many = shared_slices_ && i < kSharedSlices && OneIn(2);
    api::ResourceSlice slice = RandomSlice(random_, i, of_many);
    if (gated_) AddGated(random_, of_many, &slice);
    Objects([&](auto& objects) {
      gone ? void(objects.resource_slices.Remove({}, slice.metadata.name))
           : objects.resource_slices.Set(slice);
    });
  }

  std::string MakeDevices() {
    const std::string devices = RandomDevices(random_);
    return gated_ ? AskGated(random_, devices) : devices;
  }

  void SetDeviceClaim(const std::string& name, const std::string& devices,
                      const std::string& owner) {
    api::ResourceClaim claim = MakeDeviceClaim(name, devices, owner);
    if (OneIn(15)) {  // allocated already, for use on some nodes
      claim.status.allocation = FromText<api::AllocationResult>(
          fmt::format("{{'nodeSelector':{{'nodeSelectorTerms':[{{'matchExpressions':[{{'key':"
                      "'kubernetes.io/hostname','operator':'{}','values':['{}']}}]}}]}}}}",
                      OneIn(2) ? "In" : "NotIn", SomeNode()));
    }
    Objects([&](auto& objects) { objects.resource_claims.Set(claim); });
  }

  // What Reserve decided is seen as written.
  void WriteClaims() {
    std::vector<std::string> names;
    First().Objects().in_flight_claims.ForEach(
        [&](const api::ResourceClaim& claim) { names.push_back(claim.metadata.name); });
    for (const std::string& name : names) {
      if (OneIn(2)) continue;
      Objects([&](auto& objects) {
        objects.resource_claims.Set(*objects.in_flight_claims.Find("ns", name));
        objects.in_flight_claims.Remove("ns", name);
      });
    }
  }

  // A claim is gone though its pod is not, or somebody else takes devices.
  void FreeClaim() {
    std::string name = "devices";
    if (!placed_.empty() && !OneIn(3)) {
      name = fmt::format("dev-{}-0", placed_[random_.Below(placed_.size())]);
    }
    Objects([&](auto& objects) {
      objects.in_flight_claims.Remove("ns", name);
      objects.resource_claims.Remove("ns", name);
    });
  }

  void TakeDevice() {
    const std::string name = Of("foreign", 10);
    const auto node = random_.Below(static_cast<uint64_t>(next_node_));
    const auto claim = FromText<api::ResourceClaim>(fmt::format(
        "{{'metadata':{{'namespace':'ns','name':'{}','uid':'{}'}},'spec':{{}},'status':{{"
        "'allocation':{{'devices':{{'results':[{{'request':'r','driver':'dra','pool':'pool{}',"
        "'device':'dev{}'}}]}}}}}}}}",
        name, name, node, random_.Below(3)));
    Objects([&](auto& objects) { objects.resource_claims.Set(claim); });
  }

  // --- Pods

  Template MakeTemplate() {
    Template made;
    MakePod pod("template");
    pod.Label("app", Of("a", 2))
        .Label("tier", Of("a", 2))
        .Priority(static_cast<int32_t>(random_.Below(3)) * 10);
    pod.Requests("cpu", Of("", 8) + "00m").Requests("memory", Of("", 400) + "Mi");
    if (OneIn(3)) pod.Tolerates("t");
    if (OneIn(8)) {
      pod.Get().spec.topology_spread_constraints.push_back(FromText<api::TopologySpreadConstraint>(
          "{'maxSkew':2,'topologyKey':'topology.kubernetes.io/zone','whenUnsatisfiable':"
          "'ScheduleAnyway','labelSelector':{'matchLabels':{'app':'a0'}}}"));
    }
    if (OneIn(6)) {
      pod.Get().spec.affinity = FromText<api::Affinity>(
          "{'podAntiAffinity':{'preferredDuringSchedulingIgnoredDuringExecution':[{'weight':3,"
          "'podAffinityTerm':{'labelSelector':{'matchLabels':{'app':'a0'}},'topologyKey':"
          "'kubernetes.io/hostname'}}]}}");
    }
    made.pod = pod.Get();
    if (volumes_) {
      const uint64_t own = random_.Below(3);
      for (uint64_t i = 0; i < own; ++i) made.own.push_back(MakeFlavor());
      made.ephemeral = OneIn(3);
      made.shared = own == 0 || OneIn(3) ? 1 : 0;
      if (OneIn(10)) {
        made.inlined.push_back(OneIn(2) ? "'awsElasticBlockStore':{'volumeID':'handle0'}"
                                        : "'azureDisk':{'diskName':'handle','diskURI':'/x/y'}");
      }
    }
    if (devices_) {
      const uint64_t claims = random_.Below(3);
      for (uint64_t i = 0; i < claims; ++i) made.devices.push_back(MakeDevices());
      made.generated = OneIn(2);
      made.shares_devices = claims == 0 || OneIn(8);
    }
    return made;
  }

  api::Pod NewPod() {
    const Template& from = templates_[random_.Below(templates_.size())];
    api::Pod pod = from.pod;
    pod.metadata.name = fmt::format("p{}", ++next_pod_);
    pod.metadata.uid = pod.metadata.name;
    if (own_labels_) {
      pod.metadata.labels["pod-name"] = pod.metadata.name;
      if (OneIn(8)) pod.metadata.labels["app"] = Of("a", 2);
    }
    for (size_t i = 0; i < from.own.size(); ++i) AddOwnVolume(from, i, &pod);
    const auto add = [&](const std::string& source) {
      pod.spec.volumes.push_back(FromText<api::Volume>(
          fmt::format("{{'name':'v{}',{}}}", pod.spec.volumes.size(), source)));
    };
    for (int i = 0; i < from.shared; ++i) {
      add(fmt::format("'persistentVolumeClaim':{{'claimName':'{}'}}", Of("shared", kShared)));
    }
    for (const std::string& source : from.inlined) add(source);
    for (size_t i = 0; i < from.devices.size(); ++i) AddDevices(from, i, &pod);
    if (from.shares_devices) {
      if (First().Objects().resource_claims.Find("ns", "devices") == nullptr) {
        SetDeviceClaim("devices", MakeDevices(), "nobody");
      }
      pod.spec.resource_claims.push_back(
          FromText<api::PodResourceClaim>("{'name':'shared','resourceClaimName':'devices'}"));
    }
    return pod;
  }

  void AddOwnVolume(const Template& from, size_t i, api::Pod* pod) {
    const std::string name = fmt::format("own-{}-{}", pod->metadata.name, i);
    // One in a while is like no other, or is not there.
    const Flavor flavor = OneIn(30) ? MakeFlavor() : from.own[i];
    const std::string handle = OneIn(40) ? Of("handle", 2) : name;
    if (from.ephemeral) {
      const std::string claim = fmt::format("{}-e{}", pod->metadata.name, i);
      if (!OneIn(40)) SetClaim(claim, handle, flavor, pod->metadata.uid);
      pod->spec.volumes.push_back(
          FromText<api::Volume>(fmt::format("{{'name':'e{}','ephemeral':{{}}}}", i)));
      return;
    }
    if (!OneIn(40)) SetClaim(name, handle, flavor);
    pod->spec.volumes.push_back(FromText<api::Volume>(
        fmt::format("{{'name':'o{}','persistentVolumeClaim':{{'claimName':'{}'}}}}", i, name)));
  }

  void AddDevices(const Template& from, size_t i, api::Pod* pod) {
    const std::string name = fmt::format("dev-{}-{}", pod->metadata.name, i);
    SetDeviceClaim(name, OneIn(30) ? MakeDevices() : from.devices[i], pod->metadata.uid);
    pod->spec.resource_claims.push_back(FromText<api::PodResourceClaim>(
        from.generated ? fmt::format("{{'name':'c{}','resourceClaimTemplateName':'t'}}", i)
                       : fmt::format("{{'name':'c{}','resourceClaimName':'{}'}}", i, name)));
    if (!from.generated) return;
    pod->status.resource_claim_statuses.push_back(FromText<api::PodResourceClaimStatus>(
        fmt::format("{{'name':'c{}','resourceClaimName':'{}'}}", i, name)));
  }

  // With a service, pods without constraints spread by default.
  void SetService() {
    const bool by_app = OneIn(2);
    const auto service = FromText<api::Service>(fmt::format(
        "{{'metadata':{{'name':'{}','namespace':'ns'}},'spec':{{'selector':{{'{}':'{}'}}}}}}",
        by_app ? "s" : "t", by_app ? "app" : "tier", Of("a", 2)));
    Objects([&](auto& objects) { objects.services.Set(service); });
  }

  PodId SomePlaced() {
    if (placed_.empty()) return cluster::kNoPod;
    return First().FindPod(placed_[random_.Below(placed_.size())]);
  }

  void RemovePod() {
    const PodId id = SomePlaced();
    if (id == cluster::kNoPod) return;
    const std::string name = First().GetPod(id).name;
    Everywhere([&](Lab& lab) { lab.cluster.RemovePod(id); });
    Objects([&](auto& objects) {
      objects.in_flight_claims.Remove("ns", fmt::format("dev-{}-0", name));
      objects.resource_claims.Remove("ns", fmt::format("dev-{}-0", name));
    });
  }

  // A pod that is there gets other volumes and claims.
  void UpdatePod() {
    const PodId id = SomePlaced();
    if (id == cluster::kNoPod) return;
    api::Pod pod = NewPod();
    pod.metadata.name = First().GetPod(id).name;
    pod.metadata.uid = First().GetPod(id).uid;
    pod.spec.node_name = First().GetPod(id).node_name;
    Everywhere([&](Lab& lab) { lab.cluster.UpdatePod(id, pod); });
  }

  void AddPlaced() {
    api::Pod pod = NewPod();
    pod.spec.node_name = Of("n", static_cast<uint64_t>(next_node_) + 2);  // perhaps not there
    placed_.push_back(pod.metadata.uid);
    Everywhere([&](Lab& lab) { lab.cluster.AddPod(pod); });
  }

  void ToggleNomination() {
    if (nominated_ != cluster::kNoPod) {
      const std::string uid = First().GetPod(nominated_).uid;
      if (First().FindPod(uid) == nominated_) {
        Everywhere([&](Lab& lab) { lab.cluster.RemovePod(nominated_); });
      }
      nominated_ = cluster::kNoPod;
      return;
    }
    const api::Pod pod = NewPod();
    const std::string node = SomeNode();
    Everywhere([&](Lab& lab) {
      nominated_ = lab.cluster.AddPod(pod);
      lab.cluster.MutableNominations().Set(nominated_, lab.cluster.Strings().Intern(node));
    });
  }

  // --- What happens

  void Step() {
    const int node = static_cast<int>(random_.Below(static_cast<uint64_t>(next_node_)));
    switch (random_.Below(30)) {
      case 0:
        if (OneIn(3)) SetNode(node);
        break;
      case 1:
        if (OneIn(4)) SetNode(next_node_++);
        break;
      case 2:
        if (OneIn(4)) {
          Everywhere([&](Lab& lab) { lab.cluster.RemoveNode(fmt::format("n{}", node)); });
        }
        break;
      case 3:
      case 4:
        RemovePod();
        break;
      case 5:
        AddPlaced();
        break;
      case 6:
        if (OneIn(6)) templates_[random_.Below(templates_.size())] = MakeTemplate();
        break;
      case 7:
        if (OneIn(3)) ToggleNomination();
        break;
      case 8:
      case 9:
        if (volumes_) SetCsiNode(node);
        break;
      case 10:
      case 11:
        if (volumes_) SetAttachment();
        break;
      case 12:
        if (volumes_) OneIn(2) ? ChangeClaim() : Objects(ProvisioningChange(random_, SomeNode()));
        break;
      case 13:
        if (devices_ && OneIn(3)) SetSlice(node);
        break;
      case 14:
        if (devices_ && OneIn(10)) SetDeviceClass("gpu");
        break;
      case 15:
        if (devices_) WriteClaims();
        break;
      case 18:
        if (OneIn(2)) UpdatePod();
        break;
      case 17:
        if (OneIn(4)) SetService();
        break;
      case 16:
        if (devices_) OneIn(2) ? FreeClaim() : TakeDevice();
        break;
      default:
        Schedule();
    }
  }

  void Schedule() {
    const api::Pod pod = NewPod();
    PodId id = cluster::kNoPod;
    Everywhere([&](Lab& lab) { id = lab.cluster.AddPod(pod); });
    if (!Fits(id, 3)) return;
    ++scheduled_;
    const bool take_back = OneIn(10);
    const std::string expected = Commit(*labs_[0], id, take_back);
    for (size_t i = 1; i < labs_.size(); ++i) {
      ASSERT_EQ(Commit(*labs_[i], id, take_back), expected) << "way " << i;
    }
    placed_.push_back(pod.metadata.uid);
  }

  // Reserves what the pod needs on its node; what was reserved, in words.
  static std::string Commit(Lab& lab, PodId id, bool take_back) {
    lab.Place(id);
    const framework::CycleContext& context = lab.cycle->context();
    std::string line;
    for (const auto& [plugin, index] : lab.cycle->profile().reserve) {
      const auto status = plugin->Reserve(context, lab.cycle->state(index), lab.decision.node);
      line += fmt::format("{} {} ", static_cast<int>(status.code()), status.Message());
      take_back = take_back || !status.Ok();
    }
    lab.cluster.Objects().in_flight_claims.ForEach(
        [&](const api::ResourceClaim& claim) { line += api::ToJson(claim) + "\n"; });
    for (const auto& [plugin, index] : lab.cycle->profile().pre_bind) {
      const auto task = plugin->PreparePreBind(context, lab.cycle->state(index), lab.decision.node);
      line += task ? " writes" : " -";
    }
    if (!take_back) return line;
    for (const auto& [plugin, index] : lab.cycle->profile().reserve) {
      plugin->Unreserve(context, lab.cycle->state(index), lab.decision.node);
    }
    lab.cluster.RemovePod(id);
    return line;
  }

  const bool volumes_;
  const bool devices_;
  const bool gated_;
  const bool shared_slices_ = OneIn(3);
  const bool own_labels_ = OneIn(2);  // as pods of a StatefulSet have them
  const bool waiting_ = OneIn(3);     // most claims wait for their first consumer
  std::vector<Template> templates_;
  std::vector<std::string> placed_;  // uids, also of pods that are gone
  PodId nominated_ = cluster::kNoPod;
  int next_node_ = 0;
  int next_pod_ = 0;
  uint64_t scheduled_ = 0;
};

struct Case {
  const char* name;
  bool volumes;
  bool devices;
  bool gated = false;  // with the feature gates about devices
};

class ClaimsProperty : public ::testing::TestWithParam<Case> {};

TEST_P(ClaimsProperty, DecisionsAreThoseOfAScan) {
  uint64_t answers = 0;
  uint64_t rows = 0;
  uint64_t lazy = 0;
  uint64_t scheduled = 0;
  const char* more = std::getenv("BERTH_SEEDS");  // for a longer look
  const uint64_t seeds = more == nullptr ? 60 : std::strtoull(more, nullptr, 10);
  for (uint64_t seed = 1; seed <= seeds; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    History history(seed, GetParam().volumes, GetParam().devices, GetParam().gated);
    history.Live(250);
    if (HasFailure()) return;
    answers += history.Seen(1).answers;
    rows += history.Seen(1).rows;
    lazy += history.Seen(2).answers;
    scheduled += history.scheduled();
  }
  // The comparison means something only if classes are used, kept and caught up.
  EXPECT_GT(scheduled, 20 * seeds);
  EXPECT_GT(answers, 15 * seeds);
  EXPECT_GT(rows, 15 * seeds);
  EXPECT_GT(lazy, 5 * seeds);
}

INSTANTIATE_TEST_SUITE_P(Claims, ClaimsProperty,
                         ::testing::Values(Case{"volumes", true, false},
                                           Case{"devices", false, true}, Case{"both", true, true},
                                           Case{"gated", false, true, true}),
                         [](const auto& which) { return which.param.name; });

}  // namespace
}  // namespace berth::scheduler
