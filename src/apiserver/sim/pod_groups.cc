#include "apiserver/sim/pod_groups.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "apiserver/wire/message.h"

namespace berth::apiserver {
namespace {

using std::chrono::milliseconds;
constexpr std::string_view kApiVersion = "scheduling.k8s.io/v1beta1";

// --- Protection

class PodGroupProtection {
 public:
  PodGroupProtection(World& world, const Resource& groups) : world_(world), groups_(groups) {}

  void OnGroup(const Change& change) {
    if (change.type != ChangeType::kDeleted && change.object->deleting) {
      Enqueue(change.object->namespace_, change.object->name);
    }
  }

  void OnPod(const Change& change) {
    const StoredObject& pod = *change.object;
    if (change.type != ChangeType::kDeleted && !world_.index().Finished(pod)) return;
    const std::string group = GroupOf(pod);
    if (!group.empty()) Enqueue(pod.namespace_, group);
  }

 private:
  static std::string GroupOf(const StoredObject& pod) {
    if (pod.text.find("\"schedulingGroup\"") == std::string::npos) return "";
    return std::string(pod.Value()["spec"]["schedulingGroup"]["podGroupName"].Str());
  }

  void Enqueue(const std::string& namespace_, const std::string& name) {
    world_.Soon(fmt::format("pod-group/{}/{}", namespace_, name), milliseconds(0),
                [this, namespace_, name] { Sync(namespace_, name); });
  }

  void Sync(const std::string& namespace_, const std::string& name) {
    const ObjectPtr group = world_.store().Get(groups_.storage_id, namespace_, name);
    if (!group || !group->deleting || InUse(namespace_, name)) return;
    (void)world_.registry().Modify(
        groups_, namespace_, name,
        [](Json& value) -> Answer<void> {
          Json& metadata = value.At("metadata");
          std::erase_if(metadata.At("finalizers").MutableItems(),
                        [](const Json& known) { return known.Str() == kPodGroupProtection; });
          if (metadata["finalizers"].Empty()) metadata.Erase("finalizers");
          return {};
        },
        "", kControllerManager);
  }

  // Pods that have finished do not count.
  bool InUse(const std::string& namespace_, const std::string& name) const {
    for (auto [at, end] = world_.store().Range(world_.pods().storage_id, namespace_); at != end;
         ++at) {
      if (!world_.index().Finished(*at->second) && GroupOf(*at->second) == name) return true;
    }
    return false;
  }

  World& world_;
  const Resource& groups_;
};

// --- Jobs

uint32_t Fnv32a(std::string_view text) {
  uint32_t hash = 0x811c9dc5;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x01000193;
  return hash;
}

// As Kubernetes' SafeEncodeString of the decimal number: no vowels, nothing that looks alike.
std::string SafeHash(std::string_view text) {
  constexpr std::string_view kAlphabet = "bcdfghjklmnpqrstvwxz2456789";
  std::string encoded = std::to_string(Fnv32a(text));
  for (char& c : encoded) c = kAlphabet[static_cast<size_t>(c) % kAlphabet.size()];
  return encoded;
}

constexpr size_t kMaxName = 253;

std::string WorkloadName(const StoredObject& job) {
  const std::string hash = SafeHash(job.uid);
  return fmt::format("{}-{}", job.name.substr(0, kMaxName - hash.size() - 1), hash);
}

std::string GroupName(const std::string& workload, const std::string& from) {
  const std::string hash = SafeHash(workload + from);
  const size_t available = kMaxName - hash.size() - 2;
  std::string first = workload;
  std::string second = from;
  if (first.size() + second.size() > available) {
    const size_t half = available / 2;
    if (first.size() <= half) {
      second.resize(available - first.size());
    } else if (second.size() <= half) {
      first.resize(available - second.size());
    } else {
      first.resize(available - half);
      second.resize(half);
    }
  }
  return fmt::format("{}-{}-{}", first, second, hash);
}

// Does the API server keep spec.scheduling? It does with the gate WorkloadWithJob.
bool Integrated(const Catalog& catalog) {
  const wire::Message* job = wire::FindMessage("batch", "v1", "Job");
  const wire::Field* spec = job == nullptr ? nullptr : job->Find("spec");
  const wire::Field* field =
      spec == nullptr || spec->message == nullptr ? nullptr : spec->message->Find("scheduling");
  return field != nullptr && catalog.Fields().Knows(*field) && catalog.Fields().Keeps(*field);
}

bool HasController(const Json& object) {
  const auto& owners = object["metadata"]["ownerReferences"].Items();
  return std::ranges::any_of(owners, [](const Json& owner) { return owner["controller"].Bool(); });
}

// The policy of the group, with the minimum filled in.
Json PolicyOf(const Json& job) {
  const Json& given = job["spec"]["scheduling"]["schedulingPolicy"];
  if (!given.Has("gang")) return Json::MakeObject({{"basic", Json::MakeObject()}});
  const int64_t parallelism = std::max<int64_t>(1, job["spec"]["parallelism"].Int(1));
  return Json::MakeObject(
      {{"gang", Json::MakeObject({{"minCount", given["gang"]["minCount"].Int(parallelism)}})}});
}

// What a template and a group have in common.
Json GroupSpec(const Json& job) {
  Json spec = Json::MakeObject({{"schedulingPolicy", PolicyOf(job)}});
  const Json& scheduling = job["spec"]["scheduling"];
  for (std::string_view field : {"schedulingConstraints", "disruptionMode", "resourceClaims"}) {
    if (!scheduling[field].Empty()) spec.Set(field, scheduling[field]);
  }
  const Json& priority = job["spec"]["template"]["spec"]["priorityClassName"];
  if (!priority.Empty()) spec.Set("priorityClassName", priority);
  return spec;
}

Json OwnerOf(const Json& object, bool controller) {
  Json owner = Json::MakeObject({{"apiVersion", object["apiVersion"]},
                                 {"kind", object["kind"]},
                                 {"name", object["metadata"]["name"]},
                                 {"uid", object["metadata"]["uid"]}});
  if (controller) {
    owner.Set("controller", true);
    owner.Set("blockOwnerDeletion", true);
  }
  return owner;
}

class JobGroups {
 public:
  JobGroups(World& world, const Resource& workloads, const Resource& groups, const Json& job,
            const StoredObject& object)
      : world_(world), workloads_(workloads), groups_(groups), job_(job), object_(object) {}

  JobGroup Ensure(bool is_new) {
    const std::string from = fmt::format("{}-pgt-0", object_.name);
    const std::string workload_name = WorkloadName(object_);
    const std::string group_name = GroupName(workload_name, from);
    ObjectPtr workload = Own(workloads_, workload_name);
    if (!workload) {
      if (!is_new) return {};
      workload = CreateWorkload(workload_name, from);
      if (!workload) return {.ready = false, .name = ""};
    }
    ObjectPtr group = Own(groups_, group_name);
    if (!group) {
      if (!is_new) return {};
      group = CreateGroup(group_name, from, *workload);
      if (!group) return {.ready = false, .name = ""};
    }
    FollowMinimum(*workload, *group);
    return {.ready = true, .name = group_name};
  }

 private:
  // Objects of others with that name are left alone.
  ObjectPtr Own(const Resource& resource, const std::string& name) const {
    ObjectPtr found = world_.store().Get(resource.storage_id, object_.namespace_, name);
    if (found && found->controller != object_.uid) return nullptr;
    return found;
  }

  ObjectPtr Create(const Resource& resource, Json object, std::string_view reason) {
    object.Set("apiVersion", kApiVersion);
    object.Set("kind", resource.kind);
    const auto made = world_.registry().Create(resource, object_.namespace_, std::move(object),
                                               kControllerManager);
    const Resource& jobs = world_.catalog().Named("batch", "jobs");
    if (!made) {
      world_.Record({jobs, object_, "job-controller", fmt::format("Failed{}Create", resource.kind),
                     fmt::format("Failed to create {} for Job {}: {}", resource.kind, object_.name,
                                 made.error().message),
                     /*warning=*/true});
      return nullptr;
    }
    world_.Record(
        {jobs, object_, "job-controller", reason,
         fmt::format("Created {} {} for Job {}", resource.kind, (*made)->name, object_.name)});
    return *made;
  }

  ObjectPtr CreateWorkload(const std::string& name, const std::string& from) {
    Json template_ = GroupSpec(job_);
    template_.Set("name", from);
    Json object = Json::MakeObject();
    object.At("metadata").Set("name", name);
    object.At("metadata").At("ownerReferences").Append(OwnerOf(job_, /*controller=*/true));
    object.At("spec").Set(
        "controllerRef",
        Json::MakeObject({{"apiGroup", "batch"}, {"kind", "Job"}, {"name", object_.name}}));
    object.At("spec").Set("podGroupTemplates", Json::MakeArray({std::move(template_)}));
    return Create(workloads_, std::move(object), "WorkloadCreated");
  }

  ObjectPtr CreateGroup(const std::string& name, const std::string& from,
                        const StoredObject& workload) {
    Json object = Json::MakeObject();
    object.At("metadata").Set("name", name);
    Json& owners = object.At("metadata").At("ownerReferences");
    owners.Append(OwnerOf(job_, /*controller=*/true));
    owners.Append(OwnerOf(workload.Value(), /*controller=*/false));
    Json spec = GroupSpec(job_);
    spec.Set("workloadRef",
             Json::MakeObject({{"workloadName", workload.name}, {"templateName", from}}));
    object.Set("spec", std::move(spec));
    return Create(groups_, std::move(object), "PodGroupCreated");
  }

  // Of a gang, when the Job has been scaled or its minimum changed.
  void FollowMinimum(const StoredObject& workload, const StoredObject& group) {
    const Json policy = PolicyOf(job_);
    if (!policy.Has("gang")) return;
    const Json& wanted = policy["gang"]["minCount"];
    const auto differs = [&](const Json& spec) {
      const Json& known = spec["schedulingPolicy"];
      return known.Has("gang") && known["gang"]["minCount"].Int() != wanted.Int();
    };
    const auto set = [&](Json& spec) {
      spec.At("schedulingPolicy").At("gang").Set("minCount", wanted);
    };
    if (differs(group.Value()["spec"])) {
      (void)world_.registry().Modify(
          groups_, group.namespace_, group.name,
          [&](Json& value) -> Answer<void> {
            set(value.At("spec"));
            return {};
          },
          "", kControllerManager);
    }
    const Json spec = workload.Value()["spec"];
    const auto& templates = spec["podGroupTemplates"].Items();
    if (templates.size() != 1 || !differs(templates.front())) return;
    (void)world_.registry().Modify(
        workloads_, workload.namespace_, workload.name,
        [&](Json& value) -> Answer<void> {
          for (Json& one : value.At("spec").At("podGroupTemplates").MutableItems()) set(one);
          return {};
        },
        "", kControllerManager);
  }

  World& world_;
  const Resource& workloads_;
  const Resource& groups_;
  const Json& job_;
  const StoredObject& object_;
};

}  // namespace

void AddPodGroupProtection(World& world) {
  const Resource* groups = world.catalog().FindKind(kApiVersion, "PodGroup");
  if (groups == nullptr) return;  // the API server does not have them
  const auto protection = std::make_shared<PodGroupProtection>(world, *groups);
  world.React(*groups, [protection](const Change& change) { protection->OnGroup(change); });
  world.React(world.pods(), [protection](const Change& change) { protection->OnPod(change); });
}

JobGroup EnsureJobGroup(World& world, const Json& job, const StoredObject& object, bool is_new) {
  const Resource* workloads = world.catalog().FindKind(kApiVersion, "Workload");
  const Resource* groups = world.catalog().FindKind(kApiVersion, "PodGroup");
  if (workloads == nullptr || groups == nullptr || !Integrated(world.catalog())) return {};
  if (!job["spec"]["template"]["spec"]["schedulingGroup"].Empty() || HasController(job)) return {};
  return JobGroups(world, *workloads, *groups, job, object).Ensure(is_new);
}

}  // namespace berth::apiserver
