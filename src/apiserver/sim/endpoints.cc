// Endpoints and EndpointSlices of services: the addresses of the pods their selectors choose.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "apiserver/sim/world.h"

namespace berth::apiserver {
namespace {

using std::chrono::milliseconds;
constexpr std::string_view kServiceName = "kubernetes.io/service-name";
constexpr size_t kMaxAddresses = 1000;  // more are left out, as Kubernetes does in Endpoints

class Endpoints {
 public:
  explicit Endpoints(World& world)
      : world_(world),
        services_(world.catalog().Core("services")),
        endpoints_(world.catalog().Core("endpoints")),
        slices_(world.catalog().Named("discovery.k8s.io", "endpointslices")) {}

  void OnService(const Change& change) {
    if (change.type == ChangeType::kDeleted) {
      selecting_.erase(change.object->uid);
      // The slices are the service's own; Endpoints have its name only.
      (void)world_.registry().Delete(endpoints_, change.object->namespace_, change.object->name);
      return;
    }
    const bool selects = !change.object->Value()["spec"]["selector"].Empty();
    if (!selects) {
      selecting_.erase(change.object->uid);
      return;
    }
    selecting_[change.object->uid] = {change.object->namespace_, change.object->name};
    Enqueue(change.object->namespace_, change.object->name, milliseconds(0));
  }

  void OnPod(const Change& change) {
    const StoredObject& pod = *change.object;
    // Looking costs what the cluster has: a large one is looked at less often.
    const size_t pods = world_.store().All(world_.pods().storage_id).size();
    const milliseconds delay(std::min<size_t>(10'000, 100 + pods / 10));
    for (const auto& [uid, service] : selecting_) {
      if (service.first == pod.namespace_) Enqueue(service.first, service.second, delay);
    }
  }

 private:
  void Enqueue(const std::string& namespace_, const std::string& name, milliseconds delay) {
    world_.Soon(fmt::format("endpoints/{}/{}", namespace_, name), delay,
                [this, namespace_, name] { Sync(namespace_, name); });
  }

  static bool Selected(const Json& selector, const StoredObject& pod) {
    const auto& members = selector.Members();
    return std::all_of(members.begin(), members.end(), [&](const Json::Member& member) {
      const std::string* label = api::FindValue(pod.labels, member.name);
      return label && *label == member.value.Str();
    });
  }

  std::vector<Json> ReadyPods(const Json& service, const std::string& namespace_) const {
    std::vector<Json> pods;
    const auto [begin, end] = world_.store().Range(world_.pods().storage_id, namespace_);
    for (auto at = begin; at != end && pods.size() < kMaxAddresses; ++at) {
      const StoredObject& pod = *at->second;
      if (!pod.ready || !world_.index().Active(pod)) continue;
      if (Selected(service["spec"]["selector"], pod)) pods.push_back(pod.Value());
    }
    return pods;
  }

  // A port by name is that of the first pod: they are of one kind.
  static Json Ports(const Json& service, const std::vector<Json>& pods) {
    Json ports = Json::MakeArray();
    for (const Json& port : service["spec"]["ports"].Items()) {
      Json number = port["targetPort"].IsNull() ? port["port"] : port["targetPort"];
      if (number.IsString()) {
        const std::string wanted(number.Str());
        number = port["port"];
        const Json none;
        for (const Json& container :
             (pods.empty() ? none : pods[0])["spec"]["containers"].Items()) {
          for (const Json& own : container["ports"].Items()) {
            if (own["name"].Str() == wanted) number = own["containerPort"];
          }
        }
      }
      Json entry = Json::MakeObject({{"port", number}, {"protocol", port["protocol"]}});
      if (!port["name"].Empty()) entry.Set("name", port["name"]);
      ports.Append(std::move(entry));
    }
    return ports;
  }

  static Json Target(const Json& pod) {
    return Json::MakeObject({{"kind", "Pod"},
                             {"namespace", pod["metadata"]["namespace"]},
                             {"name", pod["metadata"]["name"]},
                             {"uid", pod["metadata"]["uid"]}});
  }

  void Sync(const std::string& namespace_, const std::string& name) {
    const ObjectPtr object = world_.store().Get(services_.storage_id, namespace_, name);
    if (!object || object->deleting) return;
    const Json service = object->Value();
    const std::vector<Json> pods = ReadyPods(service, namespace_);
    const Json ports = Ports(service, pods);
    Json addresses = Json::MakeArray();
    Json entries = Json::MakeArray();
    for (const Json& pod : pods) {
      const Json& ip = pod["status"]["podIP"];
      const Json& node = pod["spec"]["nodeName"];
      addresses.Append(
          Json::MakeObject({{"ip", ip}, {"nodeName", node}, {"targetRef", Target(pod)}}));
      entries.Append(
          Json::MakeObject({{"addresses", Json::MakeArray({ip})},
                            {"nodeName", node},
                            {"conditions", Json::MakeObject({{"ready", true}, {"serving", true}})},
                            {"targetRef", Target(pod)}}));
    }
    Json slice = Json::MakeObject({{"addressType", "IPv4"}});
    slice.Set("endpoints", std::move(entries));
    slice.Set("ports", ports);
    Put(slices_, service, namespace_, name, std::move(slice));
    Json whole = Json::MakeObject();
    if (!pods.empty()) {
      whole.Set("subsets", Json::MakeArray({Json::MakeObject(
                               {{"addresses", std::move(addresses)}, {"ports", ports}})}));
    }
    Put(endpoints_, service, namespace_, name, std::move(whole));
  }

  // Creates the object of the service's name, or brings its content up to date.
  void Put(const Resource& resource, const Json& service, const std::string& namespace_,
           const std::string& name, Json content) {
    const auto changed = world_.registry().Modify(
        resource, namespace_, name,
        [&](Json& value) -> Answer<void> {
          for (std::string_view field : {"addressType", "endpoints", "ports", "subsets"}) {
            content.Has(field) ? (void)value.Set(field, content[field]) : (void)value.Erase(field);
          }
          return {};
        },
        "", kControllerManager);
    if (changed) return;
    // Endpoints have no owner: they may have been there before the service.
    Json metadata = resource.kind == "EndpointSlice"
                        ? world_.PodFromTemplate(service, Json::MakeObject())["metadata"]
                        : Json::MakeObject();
    metadata.Set("name", name);
    metadata.At("labels").Set(kServiceName, name);
    content.Set("metadata", std::move(metadata));
    (void)world_.registry().Create(resource, namespace_, std::move(content), kControllerManager);
  }

  World& world_;
  const Resource& services_;
  const Resource& endpoints_;
  const Resource& slices_;
  std::map<std::string, std::pair<std::string, std::string>> selecting_;  // services by uid
};

}  // namespace

void AddEndpoints(World& world) {
  const auto endpoints = std::make_shared<Endpoints>(world);
  world.React(world.catalog().Core("services"),
              [endpoints](const Change& change) { endpoints->OnService(change); });
  world.React(world.pods(), [endpoints](const Change& change) { endpoints->OnPod(change); });
}

}  // namespace berth::apiserver
