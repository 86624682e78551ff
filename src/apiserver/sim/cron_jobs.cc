// CronJobs: a Job whenever the schedule says so, in UTC or the time zone of the spec.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "apiserver/registry/cron.h"
#include "apiserver/sim/world.h"

namespace berth::apiserver {
namespace {

using std::chrono::milliseconds;

class CronJobs {
 public:
  explicit CronJobs(World& world)
      : world_(world),
        cron_jobs_(world.catalog().Named("batch", "cronjobs")),
        jobs_(world.catalog().Named("batch", "jobs")) {}

  void OnCronJob(const Change& change) {
    if (change.type == ChangeType::kDeleted) {
      known_.erase(change.object->uid);
      return;
    }
    known_[change.object->uid] = {change.object->namespace_, change.object->name};
    Enqueue(change.object->namespace_, change.object->name, milliseconds(0));
  }

  void OnJob(const Change& change) {
    const auto owner = known_.find(change.object->controller);
    if (owner == known_.end()) return;
    Enqueue(owner->second.first, owner->second.second, milliseconds(5));
  }

 private:
  struct Child {
    ObjectPtr object;
    bool succeeded = false;
    bool failed = false;
    std::string ended = {};
  };

  void Enqueue(const std::string& namespace_, const std::string& name, milliseconds delay) {
    world_.Soon(fmt::format("cronjobs/{}/{}", namespace_, name), delay,
                [this, namespace_, name] { Sync(namespace_, name); });
  }

  std::vector<Child> Children(const StoredObject& owner) const {
    std::vector<Child> children;
    for (const ObjectPtr& job : world_.index().OwnedBy(owner.uid, jobs_.storage_id)) {
      if (job->controller != owner.uid || job->deleting) continue;
      Child child{.object = job};
      const Json value = job->Value();
      for (const Json& condition : value["status"]["conditions"].Items()) {
        if (condition["status"].Str() != "True") continue;
        const std::string_view type = condition["type"].Str();
        if (type != "Complete" && type != "Failed") continue;
        (type == "Complete" ? child.succeeded : child.failed) = true;
        child.ended = condition["lastTransitionTime"].Str();
      }
      children.push_back(std::move(child));
    }
    return children;
  }

  void Sync(const std::string& namespace_, const std::string& name) {
    const ObjectPtr object = world_.store().Get(cron_jobs_.storage_id, namespace_, name);
    if (!object || object->deleting) return;
    const Json cron = object->Value();
    const auto schedule = CronSchedule::Parse(cron["spec"]["schedule"].Str());
    const Json& zone_name = cron["spec"]["timeZone"];
    const auto zone = zone_name.Empty() ? TimeZone() : TimeZone::Load(std::string(zone_name.Str()));
    if (!schedule || !zone) return;  // refused when it was created
    Json status = cron["status"].IsObject() ? cron["status"] : Json::MakeObject();
    std::vector<Child> children = Children(*object);
    const int64_t now = world_.Now().seconds;
    if (const auto due = Due(cron, *schedule, *zone, now)) {
      status.Set("lastScheduleTime", At(*due));
      if (MayStart(cron, *due, now, children)) Start(cron, *object, *due);
      children = Children(*object);
    }
    Trim(children, cron["spec"]["successfulJobsHistoryLimit"].Int(3), &Child::succeeded);
    Trim(children, cron["spec"]["failedJobsHistoryLimit"].Int(1), &Child::failed);
    Report(children, status);
    world_.SetStatus(cron_jobs_, *object, status);
    if (const auto next = schedule->Next(now, *zone); next && !cron["spec"]["suspend"].Bool()) {
      const int64_t seconds = std::clamp<int64_t>(*next - now, 1, 86400);
      Enqueue(namespace_, name, milliseconds(seconds * 1000));
    }
  }

  static std::string At(int64_t seconds) {
    api::Time time;
    time.seconds = seconds;
    return time.Format();
  }

  // The latest time the schedule has named since the last one that was looked at.
  static std::optional<int64_t> Due(const Json& cron, const CronSchedule& schedule,
                                    const TimeZone& zone, int64_t now) {
    if (cron["spec"]["suspend"].Bool()) return std::nullopt;
    const std::string_view last = cron["status"]["lastScheduleTime"].Str();
    const auto since =
        api::Time::Parse(last.empty() ? cron["metadata"]["creationTimestamp"].Str() : last);
    if (!since) return std::nullopt;
    std::optional<int64_t> due;
    constexpr int kMostMissed = 100;
    // After a long absence only the end of it matters.
    int64_t from = since->seconds;
    for (int i = 0; i < kMostMissed; ++i) {
      const auto next = schedule.Next(from, zone);
      if (!next || *next > now) return due;
      due = from = *next;
    }
    from = now - 3600;
    for (auto next = schedule.Next(from, zone); next && *next <= now;
         next = schedule.Next(*next, zone)) {
      due = *next;
    }
    return due;
  }

  bool MayStart(const Json& cron, int64_t due, int64_t now, const std::vector<Child>& children) {
    const Json& deadline = cron["spec"]["startingDeadlineSeconds"];
    if (deadline.IsInt() && now - due > deadline.Int()) return false;
    const std::string_view policy = cron["spec"]["concurrencyPolicy"].Str();
    for (const Child& child : children) {
      if (child.succeeded || child.failed) continue;
      if (policy == "Forbid") return false;
      if (policy == "Replace") {
        world_.Delete(jobs_, *child.object, {.propagation_policy = "Background"});
      }
    }
    return true;
  }

  void Start(const Json& cron, const StoredObject& object, int64_t due) {
    const Json& template_ = cron["spec"]["jobTemplate"];
    Json job = world_.PodFromTemplate(cron, template_);
    job.Set("kind", "Job");
    job.Set("apiVersion", "batch/v1");
    job.At("metadata").Set("name", fmt::format("{}-{}", object.name, due / 60));
    job.At("metadata")
        .At("annotations")
        .Set("batch.kubernetes.io/cronjob-scheduled-timestamp", At(due));
    (void)world_.registry().Create(jobs_, object.namespace_, std::move(job), kControllerManager);
  }

  // The oldest of those that have ended so go first.
  void Trim(const std::vector<Child>& children, int64_t limit, bool Child::*kind) {
    std::vector<const Child*> ended;
    for (const Child& child : children) {
      if (child.*kind) ended.push_back(&child);
    }
    std::stable_sort(ended.begin(), ended.end(),
                     [](const Child* a, const Child* b) { return a->ended < b->ended; });
    for (size_t i = 0; i + static_cast<size_t>(std::max<int64_t>(0, limit)) < ended.size(); ++i) {
      world_.Delete(jobs_, *ended[i]->object, {.propagation_policy = "Background"});
    }
  }

  void Report(const std::vector<Child>& children, Json& status) {
    Json active = Json::MakeArray();
    for (const Child& child : children) {
      if (child.succeeded && status["lastSuccessfulTime"].Str() < child.ended) {
        status.Set("lastSuccessfulTime", child.ended);
      }
      if (child.succeeded || child.failed) continue;
      active.Append(Json::MakeObject({{"kind", "Job"},
                                      {"apiVersion", "batch/v1"},
                                      {"namespace", child.object->namespace_},
                                      {"name", child.object->name},
                                      {"uid", child.object->uid}}));
    }
    active.Empty() ? (void)status.Erase("active") : (void)status.Set("active", std::move(active));
  }

  World& world_;
  const Resource& cron_jobs_;
  const Resource& jobs_;
  std::map<std::string, std::pair<std::string, std::string>> known_;  // by uid
};

}  // namespace

void AddCronJobs(World& world) {
  const auto cron_jobs = std::make_shared<CronJobs>(world);
  world.React(world.catalog().Named("batch", "cronjobs"),
              [cron_jobs](const Change& change) { cron_jobs->OnCronJob(change); });
  world.React(world.catalog().Named("batch", "jobs"),
              [cron_jobs](const Change& change) { cron_jobs->OnJob(change); });
}

}  // namespace berth::apiserver
