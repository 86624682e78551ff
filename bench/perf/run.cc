#include "bench/perf/run.h"

#include <fnmatch.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "api/admission/defaults.h"
#include "bench/perf/churn.h"
#include "bench/perf/object_file.h"

namespace berth::bench {
namespace {

// How long nothing may come of waiting before an operation gives up: longer than any backoff.
constexpr sim::Nanos kPatience = 60 * sim::kSecond;
// How long all pods may take to be tried once: hours, in cycles of 1 ms.
constexpr sim::Nanos kLongestAttempts = 24 * 60 * sim::kMinute;

api::Quantity Amount(std::string_view text) { return *api::Quantity::Parse(text); }

// The suite's pod and node when no template is given.
api::Pod BasePod() {
  api::Pod pod;
  pod.metadata.generate_name = "pod-";
  api::Container& container = pod.spec.containers.emplace_back();
  container.name = "pause";
  container.image = "registry.k8s.io/pause:3.10.1";
  container.resources.requests = {{"cpu", Amount("100m")}, {"memory", Amount("500Mi")}};
  container.resources.limits = container.resources.requests;
  return pod;
}

api::Node BaseNode(size_t op) {
  api::Node node;
  node.metadata.generate_name = fmt::format("node-{}-", op);
  node.status.capacity = {
      {"pods", Amount("110")}, {"cpu", Amount("4")}, {"memory", Amount("32Gi")}};
  node.status.allocatable = node.status.capacity;
  return node;
}

class Runner {
 public:
  Runner(const PerfCase& test, PerfHost& host, const FileReader& read, const PerfOptions& options)
      : test_(test), host_(host), read_(read), options_(options) {}

  Result<void> Run(size_t index, const PerfOp& op);
  Result<PerfOutcome> Finish() {
    if (collecting_) StopCollecting();
    return std::move(outcome_);
  }

 private:
  Result<const ObjectFile*> File(const std::string& path);
  void EnsureNamespace(const std::string& name);

  Result<void> CreateNodes(size_t index, const PerfOp& op);
  void Prepare(const PerfOp& op, int64_t i, api::Node& node);
  Result<void> PrepareCsiNode(const NodeAllocatable& strategy, const std::string& node);
  Result<void> CreateNamespaces(const PerfOp& op);
  Result<void> CreatePods(const std::string& namespace_, const PerfOp& op);
  Result<void> MakePods(const std::string& namespace_, const PerfOp& op);
  Result<void> BindVolume(const std::string& namespace_, int64_t i, const PerfOp& op,
                          api::Pod& pod);
  Result<void> KeepSteady(const std::string& namespace_, const PerfOp& op);
  Result<void> CreatePodSets(const PerfOp& op);
  Result<void> DeletePods(const PerfOp& op);
  Result<void> CreateAny(const PerfOp& op);
  Result<void> UpdateAny(const PerfOp& op);
  Result<void> CreateResourceDriver(const PerfOp& op);
  Result<void> AllocateClaims(const PerfOp& op);
  Result<void> Churn(size_t index, const PerfOp& op);
  Result<void> Barrier(const PerfOp& op);

  // Waits until so many pods of the namespace have a node.
  Result<void> WaitForPods(const std::string& namespace_, int64_t count);
  Result<void> StartCollecting(const std::string& name, PodPick pick);
  void StopCollecting();
  std::string NamespaceOf(size_t index, const PerfOp& op) const {
    return op.namespace_.value_or(fmt::format("namespace-{}", index));
  }
  void ShowProgress() const {
    if (options_.progress) options_.progress(host_.BoundPods());
  }

  const PerfCase& test_;
  PerfHost& host_;
  const FileReader& read_;
  const PerfOptions& options_;
  std::map<std::string, std::unique_ptr<ObjectFile>> files_;
  std::set<std::string> namespaces_;
  std::set<std::string> unawaited_;  // namespaces with pods nobody has waited for
  bool collecting_ = false;
  PodPick collected_;
  PerfOutcome outcome_;
};

Result<const ObjectFile*> Runner::File(const std::string& path) {
  std::unique_ptr<ObjectFile>& slot = files_[path];
  if (slot == nullptr) {
    auto text = read_(path);
    if (!text) return Fail(text.error());
    auto file = ObjectFile::Parse(path, std::move(*text));
    if (!file) return Fail(file.error());
    slot = std::make_unique<ObjectFile>(std::move(*file));
  }
  return slot.get();
}

void Runner::EnsureNamespace(const std::string& name) {
  if (name.empty() || !namespaces_.insert(name).second) return;
  api::Namespace ns;
  ns.metadata.name = name;
  ns.metadata.labels["kubernetes.io/metadata.name"] = name;
  // It may exist: a template made it.
  (void)host_.Create(std::move(ns));
}

// --- Nodes and namespaces

Result<void> Runner::CreateNodes(size_t index, const PerfOp& op) {
  const ObjectFile* file = nullptr;
  if (!op.node_template_path.empty()) {
    const auto found = File(op.node_template_path);
    if (!found) return Fail(found.error());
    file = *found;
  }
  for (int64_t i = 0; i < *op.count; ++i) {
    auto node =
        file == nullptr ? Result<api::Node>(BaseNode(index)) : file->MakeA<api::Node>(i, *op.count);
    if (!node) return Fail(node.error());
    if (node->metadata.name.empty()) {
      node->metadata.name = fmt::format("{}{}", node->metadata.generate_name, outcome_.nodes);
    }
    ++outcome_.nodes;
    Prepare(op, i, *node);
    const auto name = host_.Create(std::move(*node));
    if (!name) return Fail(name.error());
    if (!op.node_allocatable) continue;
    if (auto ok = PrepareCsiNode(*op.node_allocatable, *name); !ok) return ok;
  }
  return {};
}

void Runner::Prepare(const PerfOp& op, int64_t i, api::Node& node) {
  node.metadata.labels["kubernetes.io/hostname"] = node.metadata.name;
  if (op.node_allocatable) {
    if (node.status.allocatable.empty()) node.status.allocatable = node.status.capacity;
    for (const auto& [name, amount] : op.node_allocatable->node_allocatable) {
      node.status.allocatable[name] = amount;
    }
  } else if (op.node_labels) {
    const auto& values = op.node_labels->label_values;
    node.metadata.labels[op.node_labels->label_key] =
        values[static_cast<size_t>(i) % values.size()];
  } else if (op.unique_node_label) {
    node.metadata.labels[op.unique_node_label->label_key] = node.metadata.name;
  }
}

Result<void> Runner::PrepareCsiNode(const NodeAllocatable& strategy, const std::string& node) {
  api::CSINode csi;
  csi.metadata.name = node;
  csi.metadata.annotations["storage.alpha.kubernetes.io/migrated-plugins"] =
      fmt::format("{}", fmt::join(strategy.migrated_plugins, ","));
  for (const auto& [name, allocatable] : strategy.csi_node_allocatable) {
    api::CSINodeDriver& driver = csi.spec.drivers.emplace_back();
    driver.name = name;
    driver.node_id = node;
    driver.allocatable = allocatable;
  }
  const auto made = host_.Create(std::move(csi));
  if (!made) return Fail(made.error());
  return {};
}

Result<void> Runner::CreateNamespaces(const PerfOp& op) {
  const ObjectFile* file = nullptr;
  if (!op.namespace_template_path.empty()) {
    const auto found = File(op.namespace_template_path);
    if (!found) return Fail(found.error());
    file = *found;
  }
  for (int64_t i = 0; i < *op.count; ++i) {
    auto ns = file == nullptr ? Result<api::Namespace>(api::Namespace())
                              : file->MakeA<api::Namespace>(i, *op.count);
    if (!ns) return Fail(ns.error());
    ns->metadata.name = fmt::format("{}-{}", op.prefix, i);
    ns->metadata.labels["kubernetes.io/metadata.name"] = ns->metadata.name;
    namespaces_.insert(ns->metadata.name);
    const auto made = host_.Create(std::move(*ns));
    if (!made) return Fail(made.error());
  }
  return {};
}

// --- Pods

Result<void> Runner::BindVolume(const std::string& namespace_, int64_t i, const PerfOp& op,
                                api::Pod& pod) {
  const auto claims = File(op.persistent_volume_claim_template_path);
  if (!claims) return Fail(claims.error());
  const auto volumes = File(op.persistent_volume_template_path);
  if (!volumes) return Fail(volumes.error());
  auto claim = (*claims)->MakeA<api::PersistentVolumeClaim>(i, *op.count);
  if (!claim) return Fail(claim.error());
  auto volume = (*volumes)->MakeA<api::PersistentVolume>(i, *op.count);
  if (!volume) return Fail(volume.error());
  claim->metadata.name = fmt::format("pvc-{}", i);
  claim->metadata.namespace_ = namespace_;
  volume->metadata.name = fmt::format("{}-pv-{}", namespace_, i);
  if (volume->spec.csi) volume->spec.csi->volume_handle = volume->metadata.name;
  claim->spec.volume_name = volume->metadata.name;
  claim->status.phase = "Bound";
  volume->status.phase = "Bound";
  api::ObjectReference& reference = volume->spec.claim_ref.emplace();
  reference.kind = api::PersistentVolumeClaim::kKind;
  reference.api_version = api::PersistentVolumeClaim::kApiVersion;
  reference.namespace_ = namespace_;
  reference.name = claim->metadata.name;
  pod.spec.volumes.clear();
  api::Volume& mounted = pod.spec.volumes.emplace_back();
  mounted.name = "vol";
  mounted.persistent_volume_claim.emplace().claim_name = claim->metadata.name;
  if (auto made = host_.Create(std::move(*claim)); !made) return Fail(made.error());
  if (auto made = host_.Create(std::move(*volume)); !made) return Fail(made.error());
  return {};
}

Result<void> Runner::MakePods(const std::string& namespace_, const PerfOp& op) {
  const std::string& path =
      op.pod_template_path.empty() ? test_.default_pod_template_path : op.pod_template_path;
  const ObjectFile* file = nullptr;
  if (!path.empty()) {
    const auto found = File(path);
    if (!found) return Fail(found.error());
    file = *found;
  }
  for (int64_t i = 0; i < *op.count; ++i) {
    auto pod = file == nullptr ? Result<api::Pod>(BasePod()) : file->MakeA<api::Pod>(i, *op.count);
    if (!pod) return Fail(pod.error());
    pod->metadata.namespace_ = namespace_;
    if (!op.persistent_volume_claim_template_path.empty()) {
      if (auto ok = BindVolume(namespace_, i, op, *pod); !ok) return ok;
    }
    if (auto made = host_.Create(std::move(*pod)); !made) return Fail(made.error());
  }
  return {};
}

Result<void> Runner::WaitForPods(const std::string& namespace_, int64_t count) {
  const bool done = host_.RunUntil(
      [&] {
        ShowProgress();
        return host_.Scheduled(namespace_) >= count;
      },
      kPatience);
  if (done || collecting_) return {};
  return Fail(
      fmt::format("only {} of {} pods in namespace {} have a node after a virtual minute "
                  "without progress",
                  host_.Scheduled(namespace_), count, namespace_));
}

Result<void> Runner::KeepSteady(const std::string& namespace_, const PerfOp& op) {
  const sim::Nanos end = host_.Loop().Now() + op.duration->ns;
  for (;;) {
    if (auto ok = WaitForPods(namespace_, *op.count); !ok) return ok;
    if (host_.Loop().Now() >= end || host_.Scheduled(namespace_) < *op.count) return {};
    std::vector<scheduler::PodRef> pods;
    host_.Api().ForEach<api::Pod>([&](const api::Pod& pod) {
      if (pod.metadata.namespace_ != namespace_) return;
      pods.push_back({namespace_, pod.metadata.name, pod.metadata.uid});
    });
    for (const scheduler::PodRef& pod : pods) host_.Api().DeletePod(pod, 0);
    host_.Loop().RunUntil(host_.Loop().Now());  // what goes with the pods
    if (auto ok = MakePods(namespace_, op); !ok) return ok;
  }
}

Result<void> Runner::CreatePods(const std::string& namespace_, const PerfOp& op) {
  EnsureNamespace(namespace_);
  if (op.collect_metrics) {
    if (auto ok = StartCollecting(namespace_, {.namespaces = {namespace_}, .labels = {}}); !ok) {
      return ok;
    }
  }
  if (auto ok = MakePods(namespace_, op); !ok) return ok;
  if (op.skip_wait_to_completion) {
    unawaited_.insert(namespace_);
  } else if (op.steady_state) {
    if (auto ok = KeepSteady(namespace_, op); !ok) return ok;
  } else if (auto ok = WaitForPods(namespace_, *op.count); !ok) {
    return ok;
  }
  if (op.collect_metrics) StopCollecting();
  return {};
}

Result<void> Runner::CreatePodSets(const PerfOp& op) {
  const PodsOp& inner = *op.pods;
  PerfOp pods;
  pods.opcode = "createPods";
  pods.count = inner.count;
  pods.duration = inner.duration;
  pods.steady_state = inner.steady_state;
  pods.collect_metrics = inner.collect_metrics;
  pods.pod_template_path = inner.pod_template_path;
  pods.skip_wait_to_completion = inner.skip_wait_to_completion;
  pods.persistent_volume_template_path = inner.persistent_volume_template_path;
  pods.persistent_volume_claim_template_path = inner.persistent_volume_claim_template_path;
  for (int64_t i = 0; i < *op.count; ++i) {
    const std::string namespace_ = fmt::format("{}-{}", op.namespace_prefix, i);
    if (auto ok = CreatePods(namespace_, pods); !ok) return ok;
  }
  return {};
}

Result<void> Runner::DeletePods(const PerfOp& op) {
  const PodPick pick{.namespaces = {*op.namespace_}, .labels = op.label_selector};
  auto pods = std::make_shared<std::vector<scheduler::PodRef>>();
  host_.Api().ForEach<api::Pod>([&](const api::Pod& pod) {
    if (!pick.Takes(pod)) return;
    pods->push_back({pod.metadata.namespace_, pod.metadata.name, pod.metadata.uid});
  });
  if (op.delete_pods_per_second == 0) {
    for (const scheduler::PodRef& pod : *pods) host_.DeletePod(pod);
    return {};
  }
  const sim::Nanos interval = sim::kSecond / op.delete_pods_per_second;
  const auto total = static_cast<sim::Nanos>(pods->size());
  for (sim::Nanos i = 0; i < total; ++i) {
    host_.Loop().After((i + 1) * interval,
                       [this, pods, i] { host_.DeletePod((*pods)[static_cast<size_t>(i)]); });
  }
  if (!op.skip_wait_to_completion) host_.RunFor(total * interval);
  return {};
}

// --- Other objects

Result<void> Runner::CreateAny(const PerfOp& op) {
  const auto file = File(op.template_path);
  if (!file) return Fail(file.error());
  if (op.namespace_) EnsureNamespace(*op.namespace_);
  for (int64_t i = 0; i < *op.count; ++i) {
    auto object = (*file)->Make(i, *op.count);
    if (!object) return Fail(object.error());
    api::ObjectMeta* metadata = api::MetadataOf(*object);
    if (metadata != nullptr && op.namespace_) {
      if (IsClusterScoped(*object)) {
        return Fail(fmt::format("a namespace is given, but a {} has none", api::KindOf(*object)));
      }
      metadata->namespace_ = *op.namespace_;
    }
    if (auto made = host_.Create(std::move(*object)); !made) {
      return Fail(made.error().In(op.template_path));
    }
  }
  return {};
}

Result<void> Runner::UpdateAny(const PerfOp& op) {
  const auto file = File(op.template_path);
  if (!file) return Fail(file.error());
  for (int64_t i = 0; i < *op.count; ++i) {
    if (op.update_per_second > 0) host_.RunFor(sim::kSecond / op.update_per_second);
    auto object = (*file)->Make(i, *op.count);
    if (!object) return Fail(object.error());
    if (op.namespace_) api::MetadataOf(*object)->namespace_ = *op.namespace_;
    api::SetDefaults(*object);
    // Both endpoints, as the suite; a pod's status is what the scheduler wrote there.
    const bool has_status = !std::holds_alternative<api::Pod>(*object);
    sim::ApiAnswer answer = host_.Api().Update(*object);
    if (answer.Ok() && has_status) answer = host_.Api().Update(std::move(*object), true);
    if (!answer.Ok()) return Fail(fmt::format("{}: {}", op.template_path, answer.message));
  }
  return {};
}

Result<void> Runner::CreateResourceDriver(const PerfOp& op) {
  std::vector<std::string> nodes;
  host_.Api().ForEach<api::Node>([&](const api::Node& node) {
    if (fnmatch(op.nodes.c_str(), node.metadata.name.c_str(), FNM_PATHNAME) == 0) {
      nodes.push_back(node.metadata.name);
    }
  });
  for (const std::string& node : nodes) {
    api::ResourceSlice slice;
    slice.metadata.name = node;
    slice.spec.driver = op.driver_name;
    slice.spec.node_name = node;
    slice.spec.pool.name = node;
    slice.spec.pool.resource_slice_count = 1;
    for (int64_t i = 0; i < op.max_claims_per_node.value_or(0); ++i) {
      api::Device& device = slice.spec.devices.emplace_back();
      device.name = fmt::format("instance-{}", i);
      device.attributes["model"].string.emplace() = "A100";
      device.attributes["family"].string.emplace() = "GPU";
      device.attributes["driverVersion"].version.emplace() = "1.2.3";
      device.attributes["dra.example.com/numa"].int_ = i;
      device.capacity["memory"].value = Amount("1Gi");
    }
    if (auto made = host_.Create(std::move(slice)); !made) return Fail(made.error());
  }
  return {};
}

// The suite asks its allocator to choose devices for claims that no pod uses. Here a pod comes for
// each of them and goes: the claim stays allocated and is reserved for nobody.
Result<void> Runner::AllocateClaims(const PerfOp& op) {
  std::vector<std::pair<std::string, std::string>> claims;
  host_.Api().ForEach<api::ResourceClaim>([&](const api::ResourceClaim& claim) {
    if (claim.status.allocation) return;
    if (op.namespace_ && !op.namespace_->empty() && claim.metadata.namespace_ != *op.namespace_) {
      return;
    }
    claims.emplace_back(claim.metadata.namespace_, claim.metadata.name);
  });
  for (const auto& [namespace_, claim] : claims) {
    api::Pod pod;
    pod.metadata.name = "allocates-" + claim;
    pod.metadata.namespace_ = namespace_;
    pod.spec.containers.emplace_back().name = "pause";
    api::PodResourceClaim& used = pod.spec.resource_claims.emplace_back();
    used.name = "claim";
    used.resource_claim_name = claim;
    const auto made = host_.Create(std::move(pod));
    if (!made) return Fail(made.error());
    // One after the other: a node takes few pods, but many claims.
    const int64_t goal = host_.Scheduled(namespace_) + 1;
    if (auto ok = WaitForPods(namespace_, goal); !ok) {
      return Fail(ok.error().In("claim " + claim));
    }
    host_.Api().DeletePod({namespace_, *made, ""}, 0);
    host_.Api().Modify<api::ResourceClaim>(
        namespace_, claim, [](api::ResourceClaim& freed) { freed.status.reserved_for.clear(); });
  }
  return {};
}

Result<void> Runner::Churn(size_t index, const PerfOp& op) {
  constexpr int64_t kDefaultInterval = 500;
  ChurnPlan plan;
  plan.namespace_ = NamespaceOf(index, op);
  EnsureNamespace(plan.namespace_);
  plan.number = op.number;
  plan.recreates = op.mode == "recreate";
  plan.interval = (op.interval_milliseconds == 0 ? kDefaultInterval : op.interval_milliseconds) *
                  sim::kMillisecond;
  for (const std::string& path : op.template_paths) {
    const auto file = File(path);
    if (!file) return Fail(file.error());
    auto object = (*file)->Make(0, 1);
    if (!object) return Fail(object.error());
    if (api::MetadataOf(*object) == nullptr) return Fail(path + ": no metadata");
    plan.templates.push_back(std::move(*object));
  }
  StartChurn(host_, std::move(plan));
  return {};
}

// --- Waiting and measuring

Result<void> Runner::Barrier(const PerfOp& op) {
  PodPick pick{.namespaces = {op.namespaces.begin(), op.namespaces.end()},
               .labels = op.label_selector};
  if (pick.namespaces.empty()) pick.namespaces = unawaited_;
  if (pick.namespaces.empty()) return {};
  host_.RunToIdle(kLongestAttempts);
  if (op.stage_requirement == "Attempted") return {};
  for (int64_t left = host_.WithoutNode(pick); left > 0; left = host_.WithoutNode(pick)) {
    // Others may be bound too; then there is another round.
    const int64_t goal = host_.BoundPods() + left;
    const bool done = host_.RunUntil(
        [&] {
          ShowProgress();
          return host_.BoundPods() >= goal;
        },
        kPatience);
    if (done) continue;
    if (collecting_) break;
    return Fail(fmt::format("{} pods have no node after a virtual minute without progress",
                            host_.WithoutNode(pick)));
  }
  if (op.namespaces.empty()) {
    unawaited_.clear();
  } else {
    for (const std::string& name : op.namespaces) unawaited_.erase(name);
  }
  return {};
}

Result<void> Runner::StartCollecting(const std::string& name, PodPick pick) {
  if (collecting_) return Fail("metrics are being collected already");
  collecting_ = true;
  collected_ = pick;
  outcome_.phases.emplace_back().name = name;
  host_.StartCollecting(std::move(pick));
  return {};
}

void Runner::StopCollecting() {
  collecting_ = false;
  outcome_.phases.back().counters = host_.Counters();
  outcome_.phases.back().without_node = host_.WithoutNode(collected_);
}

Result<void> Runner::Run(size_t index, const PerfOp& op) {
  if (op.opcode == "createNodes") return CreateNodes(index, op);
  if (op.opcode == "createNamespaces") return CreateNamespaces(op);
  if (op.opcode == "createPods") return CreatePods(NamespaceOf(index, op), op);
  if (op.opcode == "createPodSets") return CreatePodSets(op);
  if (op.opcode == "deletePods") return DeletePods(op);
  if (op.opcode == "createAny" || op.opcode == "createResourceClaims") return CreateAny(op);
  if (op.opcode == "updateAny") return UpdateAny(op);
  if (op.opcode == "createResourceDriver") return CreateResourceDriver(op);
  if (op.opcode == "allocResourceClaims") return AllocateClaims(op);
  if (op.opcode == "churn") return Churn(index, op);
  if (op.opcode == "barrier") return Barrier(op);
  if (op.opcode == "sleep") {
    host_.RunFor(op.duration->ns);
    return {};
  }
  if (op.opcode == "startCollectingMetrics") {
    return StartCollecting(op.name, {.namespaces = {op.namespaces.begin(), op.namespaces.end()},
                                     .labels = op.label_selector});
  }
  if (op.opcode == "stopCollectingMetrics") {
    if (!collecting_) return Fail("no metrics are being collected");
    StopCollecting();
    return {};
  }
  return Fail("the operation is not known");
}

}  // namespace

double PerfPhase::PodsPerSecond() const {
  return counters.engine_seconds > 0 ? static_cast<double>(counters.bound) / counters.engine_seconds
                                     : 0;
}

double PerfPhase::MicrosPerAttempt() const {
  return counters.attempts > 0
             ? counters.cycle_seconds * 1e6 / static_cast<double>(counters.attempts)
             : 0;
}

Result<PerfOutcome> RunWorkload(const PerfCase& test, const PerfWorkload& workload,
                                const FileReader& read, const PerfOptions& options) {
  const auto ops = Resolve(test, workload);
  if (!ops) return Fail(ops.error());
  PerfOutcome skipped;
  skipped.skipped = MissingGate(test, workload, options.gates.Minor());
  if (!skipped.skipped.empty()) return skipped;
  const config::Behaviour behaviour(GatesOf(test, workload, options.gates));
  config::KubeSchedulerConfiguration config = config::Default(behaviour);
  if (!test.scheduler_config_path.empty()) {
    const auto text = read(test.scheduler_config_path);
    if (!text) return Fail(text.error());
    auto loaded = config::Load(*text, behaviour);
    if (!loaded) return Fail(loaded.error().In(test.scheduler_config_path));
    config = std::move(*loaded);
  }
  auto host = PerfHost::Make(config, behaviour, options.algorithm, options.executor);
  if (!host) return Fail(host.error());
  Runner runner(test, **host, read, options);
  for (size_t i = 0; i < ops->size(); ++i) {
    if (auto ok = runner.Run(i, (*ops)[i]); !ok) return Fail(ok.error().In(OpName(i, (*ops)[i])));
  }
  return runner.Finish();
}

}  // namespace berth::bench
