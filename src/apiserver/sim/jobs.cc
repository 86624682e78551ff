// Jobs: pods that end, until enough have.
#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "apiserver/registry/disruption.h"
#include "apiserver/sim/owner_controller.h"
#include "apiserver/sim/pod_groups.h"

namespace berth::apiserver {
namespace {

using std::chrono::milliseconds;
constexpr std::string_view kIndex = "batch.kubernetes.io/job-completion-index";

class Jobs final : public OwnerController {
 public:
  explicit Jobs(World& world)
      : OwnerController(world, world.catalog().Named("batch", "jobs"), milliseconds(10)) {}

 private:
  static bool Ended(const Json& job) {
    for (const Json& condition : job["status"]["conditions"].Items()) {
      const std::string_view type = condition["type"].Str();
      if ((type == "Complete" || type == "Failed") && condition["status"].Str() == "True") {
        return true;
      }
    }
    return false;
  }

  void Sync(const std::string& namespace_, const std::string& name) override {
    const ObjectPtr object = world_.store().Get(owners_.storage_id, namespace_, name);
    if (!object || object->deleting) return;
    const Json job = object->Value();
    const Json& spec = job["spec"];
    if (Ended(job)) return Expire(job, *object);
    std::vector<ObjectPtr> active;
    int64_t succeeded = 0;
    int64_t failed = 0;
    int64_t ready = 0;
    std::set<std::string> taken;  // indexes that run or have succeeded
    for (const ObjectPtr& pod : world_.index().OwnedBy(object->uid, world_.pods().storage_id)) {
      const std::string& phase = world_.index().PhaseOf(*pod);
      const std::string* index = api::FindValue(pod->labels, kIndex);
      if (phase == "Succeeded") {
        ++succeeded;
      } else if (phase == "Failed" || pod->deleting) {
        failed += phase == "Failed";
        continue;
      } else {
        active.push_back(pod);
        ready += pod->ready;
      }
      if (index) taken.insert(*index);
    }
    const int64_t parallelism = spec["parallelism"].Int(1);
    const bool fixed = !spec["completions"].IsNull();
    const int64_t completions = spec["completions"].Int(1);
    const bool done = fixed ? succeeded >= completions : succeeded > 0 && active.empty();
    const bool suspended = spec["suspend"].Bool();
    Json status = job["status"].IsObject() ? job["status"] : Json::MakeObject();
    status.Default("startTime", world_.Now().Format());
    status.Set("active", static_cast<int64_t>(active.size()));
    status.Set("succeeded", succeeded);
    status.Set("failed", failed);
    status.Set("ready", ready);
    status.Set("terminating", 0);
    status.Set("uncountedTerminatedPods", Json::MakeObject());
    if (active.empty()) status.Erase("active");
    if (failed == 0) status.Erase("failed");
    if (failed > spec["backoffLimit"].Int(6)) {
      for (const ObjectPtr& pod : active) world_.Delete(world_.pods(), *pod);
      SetCondition(status,
                   Condition("Failed", true, "BackoffLimitExceeded",
                             "Job has reached the specified backoff limit"),
                   world_.Now());
    } else if (done) {
      world_.Record({owners_, *object, "job-controller", "Completed", "Job completed"});
      status.Set("completionTime", world_.Now().Format());
      for (std::string_view type : {"SuccessCriteriaMet", "Complete"}) {
        SetCondition(status,
                     Condition(type, true, "CompletionsReached",
                               "Reached expected number of succeeded pods"),
                     world_.Now());
      }
    } else if (!suspended) {
      const bool is_new = active.empty() && succeeded == 0 && failed == 0;
      const JobGroup group = EnsureJobGroup(world_, job, *object, is_new);
      int64_t wanted = parallelism;
      if (fixed) wanted = std::min(parallelism, completions - succeeded);
      if (!fixed && succeeded > 0) wanted = 0;
      const int64_t missing = wanted - static_cast<int64_t>(active.size());
      if (group.ready) {
        Create(job, *object, missing, completions, taken, group.name);
      } else {
        Enqueue(object->namespace_, object->name, milliseconds(1000));
      }
    } else {
      for (const ObjectPtr& pod : active) world_.Delete(world_.pods(), *pod);
    }
    world_.SetStatus(owners_, *object, status);
  }

  // `group`: that the pods name; empty: what the template says.
  void Create(const Json& job, const StoredObject& object, int64_t missing, int64_t completions,
              std::set<std::string>& taken, const std::string& group) {
    if (missing <= 0) return;
    const int64_t count = std::min(missing, static_cast<int64_t>(world_.options().batch));
    const bool indexed = job["spec"]["completionMode"].Str() == "Indexed";
    int64_t index = 0;
    for (int64_t i = 0; i < count; ++i) {
      Json pod = world_.PodFromTemplate(job, job["spec"]["template"]);
      pod.At("metadata").Set("generateName", object.name + "-");
      if (!group.empty()) pod.At("spec").At("schedulingGroup").Set("podGroupName", group);
      if (indexed) {
        while (index < completions && taken.contains(std::to_string(index))) ++index;
        if (index >= completions) break;
        const std::string text = std::to_string(index);
        taken.insert(text);
        pod.At("metadata").Set("generateName", fmt::format("{}-{}-", object.name, text));
        pod.At("metadata").At("labels").Set(kIndex, text);
        pod.At("metadata").At("annotations").Set(kIndex, text);
      }
      (void)world_.registry().Create(world_.pods(), object.namespace_, std::move(pod),
                                     kControllerManager);
    }
    if (count < missing) Enqueue(object.namespace_, object.name, milliseconds(1));
  }

  void Expire(const Json& job, const StoredObject& object) {
    const Json& ttl = job["spec"]["ttlSecondsAfterFinished"];
    if (ttl.IsNull()) return;
    const auto ended = api::Time::Parse(job["status"]["completionTime"].Str());
    const int64_t left = ttl.Int() - (ended ? world_.Now().seconds - ended->seconds : 0);
    if (left > 0) {
      return Enqueue(object.namespace_, object.name, milliseconds(left * 1000));
    }
    world_.Delete(owners_, object);
  }
};

}  // namespace

void AddJobs(World& world) { AddOwnerController<Jobs>(world); }

}  // namespace berth::apiserver
