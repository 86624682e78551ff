// Kubelets: one for every node there is. A pod that is bound runs a moment later, pods that are not
// restarted end by themselves, a deleted pod goes when its containers have stopped, every node
// renews its lease.
#include <algorithm>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "apiserver/registry/disruption.h"
#include "apiserver/sim/world.h"

namespace berth::apiserver {
namespace {

using std::chrono::milliseconds;

constexpr std::string_view kLeaseNamespace = "kube-node-lease";
// A pod may say how long its containers run: berth.dev/run-for: 90s.
constexpr std::string_view kRunFor = "berth.dev/run-for";
// How often a step of a pod on a failing node is tried.
constexpr std::chrono::seconds kRetry{1};
const WriteOptions kKubelet{.field_manager = "kubelet"};

class Kubelets {
 public:
  explicit Kubelets(World& world) : world_(world) {
    const auto& fields = world.pods().selectable;
    const auto found = std::find(fields.begin(), fields.end(), "spec.restartPolicy");
    restart_field_ = static_cast<size_t>(found - fields.begin());
  }

  void OnPod(const Change& change) {
    if (change.type == ChangeType::kDeleted) return;
    const StoredObject& pod = *change.object;
    const Index& index = world_.index();
    if (index.NodeOf(pod).empty()) return;
    const bool was_bound = change.previous && !index.NodeOf(*change.previous).empty();
    const bool was_deleting = change.previous && change.previous->deleting;
    if (pod.deleting) {
      if (!was_deleting || !was_bound) {
        Note(pod, "Killing");
        Later(world_.options().stop_delay, pod, &Kubelets::Stop);
      }
      return;
    }
    const std::string& phase = index.PhaseOf(pod);
    if (!was_bound && phase == "Pending") {
      Later(world_.options().start_delay, pod, &Kubelets::Run);
    } else if (phase == "Running" &&
               (!change.previous || index.PhaseOf(*change.previous) != "Running")) {
      const auto duration = RunTime(pod);
      if (duration.count() >= 0) Later(duration, pod, &Kubelets::Complete);
    }
  }

  void OnNode(const Change& change) {
    addresses_of_.erase(change.object->name);
    if (change.type != ChangeType::kDeleted && NodeFails(*change.object)) {
      failing_.insert(change.object->name);
    } else {
      failing_.erase(change.object->name);
    }
    if (change.type == ChangeType::kDeleted) {
      const Resource& leases = world_.catalog().Named("coordination.k8s.io", "leases");
      (void)world_.registry().Delete(leases, kLeaseNamespace, change.object->name);
      for (const ObjectPtr& pod : world_.index().PodsOn(change.object->name)) {
        world_.Delete(world_.pods(), *pod, {.grace_period_seconds = 0});
      }
      beating_.erase(change.object->name);
      return;
    }
    if (change.type == ChangeType::kAdded && !change.object->ready) {
      const std::string name = change.object->name;
      world_.After(std::chrono::nanoseconds(0), [this, name] { Register(name); });
    }
    if (beating_.insert(change.object->name).second) Beat(change.object->name, true);
  }

 private:
  using Step = void (Kubelets::*)(const ObjectPtr& pod);

  // Runs the step if the pod is still there by then.
  void Later(milliseconds delay, const StoredObject& pod, Step step) {
    world_.After(world_.Scaled(delay), [this, namespace_ = pod.namespace_, name = pod.name,
                                        uid = pod.uid, step] {
      const ObjectPtr now = world_.store().Get(world_.pods().storage_id, namespace_, name);
      if (!now || now->uid != uid) return;
      if (failing_.contains(world_.index().NodeOf(*now))) {
        // Nothing happens until the kubelet is back.
        world_.After(kRetry, [this, now, step] { Later(milliseconds(0), *now, step); });
        return;
      }
      (this->*step)(now);
    });
  }

  // How long the containers run, below zero: for ever.
  milliseconds RunTime(const StoredObject& pod) const {
    const bool always = pod.fields[restart_field_] == "Always";
    if (always && FindText(pod.text, "metadata.annotations").empty()) return milliseconds(-1);
    const Json value = pod.Value();
    const std::string_view asked = value["metadata"]["annotations"][kRunFor].Str();
    if (!asked.empty()) {
      if (const auto duration = api::Duration::Parse(asked)) {
        return milliseconds(std::max<int64_t>(0, duration->ns / 1'000'000));
      }
    }
    if (value["spec"]["restartPolicy"].Str() == "Always") return milliseconds(-1);
    return world_.options().job_run_time;
  }

  void SetStatus(const StoredObject& pod, Json status) {
    std::vector<Edit> edits;
    edits.push_back({"status", std::move(status)});
    (void)world_.registry().Touch(world_.pods(), pod.namespace_, pod.name, std::move(edits),
                                  kKubelet);
  }

  const std::string& HostAddress(const std::string& node) {
    const auto [it, added] = addresses_of_.try_emplace(node, "10.0.0.1");
    if (!added) return it->second;
    const ObjectPtr object = world_.store().Get(world_.nodes().storage_id, "", node);
    const Json value = object ? object->Value() : Json();
    for (const Json& address : value["status"]["addresses"].Items()) {
      if (address["type"].Str() == "InternalIP") it->second = address["address"].Str();
    }
    return it->second;
  }

  std::string NextPodAddress() {
    const uint32_t n = ++addresses_;
    return fmt::format("10.{}.{}.{}", 128 + (n / 64516) % 64, (n / 254) % 254, n % 254 + 1);
  }

  void Run(const ObjectPtr& pod) {
    if (pod->deleting || world_.index().PhaseOf(*pod) != "Pending") return;
    const std::string now = world_.Now().Format();
    const std::string& host = HostAddress(world_.index().NodeOf(*pod));
    const bool host_network = FindText(pod->text, "spec.hostNetwork") == "true";
    const std::string ip = host_network ? host : NextPodAddress();
    std::vector<Edit> edits;
    edits.push_back({"status.phase", "Running"});
    edits.push_back({"status.hostIP", host});
    edits.push_back({"status.hostIPs", {}, AddressList(host)});
    edits.push_back({"status.podIP", ip});
    edits.push_back({"status.podIPs", {}, AddressList(ip)});
    edits.push_back({"status.startTime", now});
    edits.push_back({"status.conditions", {}, RunningConditions(pod->text, now)});
    edits.push_back({"status.containerStatuses", {}, RunningContainers(*pod, now)});
    edits.push_back({"status.nominatedNodeName"});
    (void)world_.registry().Touch(world_.pods(), pod->namespace_, pod->name, std::move(edits),
                                  kKubelet);
    Note(*pod, "Started");
  }

  // An event about every container.
  void Note(const StoredObject& pod, std::string_view reason) {
    const Json containers = FindValue(pod.text, "spec.containers");
    for (const Json& container : containers.Items()) {
      const std::string_view name = container["name"].Str();
      world_.Record(
          {world_.pods(), pod, "kubelet", reason,
           reason == "Started" ? "Container started" : fmt::format("Stopping container {}", name),
           false, world_.index().NodeOf(pod), fmt::format("spec.containers{{{}}}", name)});
    }
  }

  static std::string AddressList(std::string_view address) {
    return R"([{"ip":)" + Json(address).Dump() + "}]";
  }

  // The conditions of a pod that runs, as text: those it has and those that come with running.
  static std::string RunningConditions(std::string_view pod, std::string_view now) {
    Json status = Json::MakeObject();
    std::string text(FindText(pod, "status.conditions"));
    if (text.size() < 2) text = "[]";
    for (std::string_view type :
         {"PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady"}) {
      if (text.find(fmt::format(R"("type":"{}")", type)) != std::string::npos) {
        status.Set("conditions", Json::Parse(text).value_or(Json()));
        SetCondition(status, Json::MakeObject({{"type", type}, {"status", "True"}}), now);
        text = status["conditions"].Dump();
        continue;
      }
      text.pop_back();
      text += fmt::format(R"({}{{"lastTransitionTime":"{}","status":"True","type":"{}"}}])",
                          text.size() > 1 ? "," : "", now, type);
    }
    return text;
  }

  static std::string RunningContainers(const StoredObject& pod, std::string_view now) {
    std::string text = "[";
    const Json containers = FindValue(pod.text, "spec.containers");
    for (const Json& container : containers.Items()) {
      if (text.size() > 1) text += ',';
      // A container's name needs no escapes; what its image is called is anybody's choice.
      const std::string_view name = container["name"].Str();
      text += fmt::format(R"({{"containerID":"sim://{}/{}","image":)", pod.uid, name);
      Json(container["image"].Str()).AppendTo(text);
      text +=
          fmt::format(R"(,"imageID":"","lastState":{{}},"name":"{}","ready":true,"restartCount":0,)"
                      R"("started":true,"state":{{"running":{{"startedAt":"{}"}}}}}})",
                      name, now);
    }
    return text + ']';
  }

  void Complete(const ObjectPtr& pod) {
    if (pod->deleting || world_.index().PhaseOf(*pod) != "Running") return;
    const std::string now = world_.Now().Format();
    Json status = FindValue(pod->text, "status");
    status.Set("phase", "Succeeded");
    for (std::string_view type : {"Ready", "ContainersReady"}) {
      SetCondition(
          status,
          Json::MakeObject({{"type", type}, {"status", "False"}, {"reason", "PodCompleted"}}),
          world_.Now());
    }
    for (Json& container : status.At("containerStatuses").MutableItems()) {
      Json ended = Json::MakeObject({{"exitCode", 0}, {"reason", "Completed"}});
      ended.Set("startedAt", container["state"]["running"]["startedAt"]);
      ended.Set("finishedAt", now);
      container.Set("state", Json::MakeObject({{"terminated", std::move(ended)}}));
      container.Set("ready", false);
      container.Set("started", false);
    }
    SetStatus(*pod, std::move(status));
  }

  void Stop(const ObjectPtr& pod) {
    if (pod->deleting) world_.Delete(world_.pods(), *pod, {.grace_period_seconds = 0});
  }

  // A node that does not say how it is, is well.
  void Register(const std::string& name) {
    (void)world_.registry().Modify(
        world_.nodes(), "", name,
        [&](Json& node) -> Answer<void> {
          Json& status = node.At("status");
          const std::string now = world_.Now().Format();
          if (status["capacity"].Empty()) {
            status.Set("capacity",
                       Json::MakeObject({{"cpu", "8"}, {"memory", "32Gi"}, {"pods", "110"}}));
            status.Set("allocatable", status["capacity"]);
          }
          struct Row {
            const char* type;
            const char* status;
            const char* reason;
            const char* message;
          };
          for (const Row& row :
               {Row{"MemoryPressure", "False", "KubeletHasSufficientMemory",
                    "kubelet has sufficient memory available"},
                Row{"DiskPressure", "False", "KubeletHasNoDiskPressure",
                    "kubelet has no disk pressure"},
                Row{"PIDPressure", "False", "KubeletHasSufficientPID",
                    "kubelet has sufficient PID available"},
                Row{"Ready", "True", "KubeletReady", "kubelet is posting ready status"}}) {
            SetCondition(status,
                         Json::MakeObject({{"type", row.type},
                                           {"status", row.status},
                                           {"reason", row.reason},
                                           {"message", row.message},
                                           {"lastHeartbeatTime", now}}),
                         world_.Now());
          }
          if (status["addresses"].Empty()) {
            const uint32_t n = ++hosts_;
            status.Set("addresses",
                       Json::MakeArray(
                           {Json::MakeObject({{"type", "InternalIP"},
                                              {"address", fmt::format("172.20.{}.{}", n / 254 % 254,
                                                                      n % 254 + 1)}}),
                            Json::MakeObject({{"type", "Hostname"}, {"address", name}})}));
          }
          Json& info = status.At("nodeInfo");
          info.Default("kubeletVersion", fmt::format("{}-sim", world_.catalog().GitVersion()));
          info.Default("osImage", "simulated");
          info.Default("operatingSystem", "linux");
          info.Default("architecture", "amd64");
          info.Default("kernelVersion", "none");
          info.Default("containerRuntimeVersion", "sim://1");
          return {};
        },
        "status", kKubelet);
  }

  // Nodes renew their leases at different times, so that a large cluster does not write all at
  // once.
  void Beat(const std::string& node, bool first) {
    const auto period = std::chrono::nanoseconds(world_.options().lease_period);
    const auto delay =
        first ? std::chrono::nanoseconds(static_cast<int64_t>(
                    world_.registry().Chance().Below(static_cast<uint64_t>(period.count()))))
              : period;
    world_.After(delay, [this, node] {
      if (!beating_.contains(node)) return;
      if (!failing_.contains(node)) Renew(node);
      Beat(node, false);
    });
  }

  void Renew(const std::string& node) {
    const Resource& leases = world_.catalog().Named("coordination.k8s.io", "leases");
    api::MicroTime now;
    now.seconds = world_.Now().seconds;
    now.nanos = world_.Now().nanos;
    std::vector<Edit> edits;
    edits.push_back({"spec.renewTime", now.Format()});
    const auto renewed =
        world_.registry().Touch(leases, kLeaseNamespace, node, std::move(edits), kKubelet);
    if (renewed) return;
    Json lease = Json::MakeObject({});
    lease.At("metadata").Set("name", node);
    lease.Set("spec", Json::MakeObject({{"holderIdentity", node},
                                        {"leaseDurationSeconds", 40},
                                        {"renewTime", now.Format()}}));
    (void)world_.registry().Create(leases, kLeaseNamespace, std::move(lease), kKubelet);
  }

  World& world_;
  size_t restart_field_ = 0;  // its place in StoredObject::fields
  uint32_t addresses_ = 0;
  uint32_t hosts_ = 0;
  std::set<std::string> beating_;
  std::set<std::string> failing_;
  std::unordered_map<std::string, std::string> addresses_of_;  // by node
};

}  // namespace

void AddKubelets(World& world) {
  const auto kubelets = std::make_shared<Kubelets>(world);
  world.React(world.pods(), [kubelets](const Change& change) { kubelets->OnPod(change); });
  world.React(world.nodes(), [kubelets](const Change& change) { kubelets->OnNode(change); });
}

}  // namespace berth::apiserver
