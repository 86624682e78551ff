#include "apiserver/sim/autoscalers.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "api/rules/quantity.h"
#include "apiserver/registry/disruption.h"
#include "apiserver/sim/world.h"

namespace berth::apiserver {
namespace {

using std::chrono::milliseconds;

constexpr std::chrono::seconds kAutoscalerPeriod{15};
constexpr milliseconds kShortest{100};  // between two looks, at any speed
constexpr double kTolerance = 0.1;
constexpr int64_t kDefaultDownWindow = 300;
constexpr int64_t kMostWindow = 3600;

int64_t Milli(const Json& quantity) {
  const auto parsed = api::Quantity::ParseJson(quantity.Dump());
  return parsed ? parsed->MilliValue() : 0;
}

// What the containers of a pod request of the resource, in thousandths; nothing: one requests none.
std::optional<int64_t> RequestOf(const Json& workload, std::string_view resource) {
  int64_t sum = 0;
  for (const Json& container : workload["spec"]["template"]["spec"]["containers"].Items()) {
    const Json* request = container["resources"]["requests"].Find(resource);
    if (request == nullptr) return std::nullopt;
    sum += Milli(*request);
  }
  return sum > 0 ? std::optional(sum) : std::nullopt;
}

class Autoscalers {
 public:
  explicit Autoscalers(World& world)
      : world_(world),
        autoscalers_(world.catalog().Named("autoscaling", "horizontalpodautoscalers")) {}

  void OnAutoscaler(const Change& change) {
    if (change.type == ChangeType::kDeleted) {
      history_.erase(change.object->uid);
      return;
    }
    if (change.type == ChangeType::kAdded) {
      Enqueue(change.object->namespace_, change.object->name, milliseconds(0));
    }
  }

 private:
  struct Past {
    double at = 0;
    int64_t replicas = 0;  // recommended, or changed by
  };
  struct History {
    std::deque<Past> recommended;
    std::deque<Past> changes;  // positive: up
  };
  struct Measured {
    int64_t desired = 0;
    Json current;  // as status.currentMetrics
    std::string reason;
  };
  struct Problem {
    std::string reason;
    std::string message;
  };

  void Enqueue(const std::string& namespace_, const std::string& name, milliseconds delay) {
    world_.Soon(fmt::format("autoscalers/{}/{}", namespace_, name), delay,
                [this, namespace_, name] { Sync(namespace_, name); });
  }

  // Seconds as the world counts them: windows pass as fast as everything else.
  double Clock() const {
    const double speed = world_.options().speed <= 0 ? 1e3 : world_.options().speed;
    return static_cast<double>(world_.Now().UnixNano()) / 1e9 * speed;
  }

  const Resource* TargetKind(const Json& reference) const {
    const std::string_view kind = reference["kind"].Str();
    const auto apps = [&](std::string_view plural) {
      return &world_.catalog().Named("apps", plural);
    };
    if (!reference["apiVersion"].Str().starts_with("apps/")) return nullptr;
    if (kind == "Deployment") return apps("deployments");
    if (kind == "StatefulSet") return apps("statefulsets");
    return kind == "ReplicaSet" ? apps("replicasets") : nullptr;
  }

  void Sync(const std::string& namespace_, const std::string& name) {
    const ObjectPtr object = world_.store().Get(autoscalers_.storage_id, namespace_, name);
    if (!object || object->deleting) return;
    const Json autoscaler = object->Value();
    Json status = autoscaler["status"].IsObject() ? autoscaler["status"] : Json::MakeObject();
    Scale(autoscaler, *object, status);
    if (!(status == autoscaler["status"])) world_.SetStatus(autoscalers_, *object, status);
    const auto scaled = std::chrono::duration_cast<milliseconds>(world_.Scaled(kAutoscalerPeriod));
    Enqueue(namespace_, name, std::max(scaled, kShortest));
  }

  void Scale(const Json& autoscaler, const StoredObject& object, Json& status) {
    const Json& reference = autoscaler["spec"]["scaleTargetRef"];
    const Resource* kind = TargetKind(reference);
    const ObjectPtr target = kind == nullptr
                                 ? nullptr
                                 : world_.store().Get(kind->storage_id, object.namespace_,
                                                      std::string(reference["name"].Str()));
    if (!target) {
      return Set(status, "AbleToScale", false, "FailedGetScale",
                 fmt::format("the HPA controller was unable to get the target's current scale: {} "
                             "\"{}\" not found",
                             reference["kind"].Str(), reference["name"].Str()));
    }
    const Json workload = target->Value();
    const int64_t replicas = workload["spec"]["replicas"].Int(1);
    status.Set("currentReplicas", workload["status"]["replicas"].Int());
    if (replicas == 0) {
      return Set(status, "ScalingActive", false, "ScalingDisabled",
                 "scaling is disabled since the replica count of the target is zero");
    }
    Set(status, "AbleToScale", true, "ReadyForNewScale", "recommended size matches current size");
    const int64_t low = autoscaler["spec"]["minReplicas"].Int(1);
    const int64_t high = autoscaler["spec"]["maxReplicas"].Int();
    std::vector<Problem> problems;
    const Measured measured = Measure(autoscaler, workload, replicas, &problems);
    for (const Problem& problem : problems) {
      Set(status, "ScalingActive", false, problem.reason, problem.message);
    }
    if (measured.current.Items().empty()) return;
    status.Set("currentMetrics", measured.current);
    if (problems.empty()) {
      Set(status, "ScalingActive", true, "ValidMetricFound",
          "the HPA was able to successfully calculate a replica count");
    } else if (measured.desired < replicas) {
      return;  // what is not known might need them
    }
    const int64_t wanted = Limit(autoscaler, object, replicas, measured.desired, low, high, status);
    status.Set("desiredReplicas", wanted);
    if (wanted != replicas) Resize(*kind, *target, object, replicas, wanted, measured, status);
  }

  // The largest count that any metric asks for.
  Measured Measure(const Json& autoscaler, const Json& workload, int64_t replicas,
                   std::vector<Problem>* problems) const {
    Measured all;
    all.current = Json::MakeArray();
    for (const Json& metric : autoscaler["spec"]["metrics"].Items()) {
      const std::string resource(metric["resource"]["name"].Str());
      if (metric["type"].Str() != "Resource") {
        problems->push_back({"FailedGetMetric", fmt::format("metrics of type {} are not simulated",
                                                            metric["type"].Str())});
        continue;
      }
      const std::string key = std::string(kLoadAnnotation) + resource;
      const Json* load = workload["metadata"]["annotations"].Find(key);
      const auto usage =
          load == nullptr ? Result<api::Quantity>(Fail("none")) : api::Quantity::Parse(load->Str());
      if (!usage || usage->Sign() < 0) {
        problems->push_back(
            {"FailedGetResourceMetric",
             load == nullptr
                 ? fmt::format("no load is simulated: the target has no annotation {}", key)
                 : fmt::format("annotation {}: \"{}\" is no amount", key, load->Str())});
        continue;
      }
      const auto request = RequestOf(workload, resource);
      const Json& target = metric["resource"]["target"];
      const bool utilization = target["type"].Str() == "Utilization";
      if (utilization && !request) {
        problems->push_back({"FailedGetResourceMetric",
                             fmt::format("failed to get {} utilization: missing request for {}",
                                         resource, resource)});
        continue;
      }
      const int64_t each = utilization ? target["averageUtilization"].Int() * *request / 100
                                       : Milli(target["averageValue"]);
      if (each <= 0) continue;
      Add(resource, usage->MilliValue(), each, request, workload, replicas, &all);
    }
    return all;
  }

  static void Add(const std::string& resource, int64_t usage, int64_t target,
                  std::optional<int64_t> request, const Json& workload, int64_t replicas,
                  Measured* all) {
    const int64_t ready = std::min(replicas, workload["status"]["readyReplicas"].Int());
    const int64_t average = usage / std::max<int64_t>(1, ready);
    Json current =
        Json::MakeObject({{"averageValue", api::Quantity::FromMilli(average).Canonical()}});
    if (request) current.Set("averageUtilization", average * 100 / *request);
    Json named = Json::MakeObject({{"name", resource}});
    named.Set("current", std::move(current));
    Json entry = Json::MakeObject({{"type", "Resource"}});
    entry.Set("resource", std::move(named));
    all->current.Append(std::move(entry));
    const int64_t desired = ReplicasFor(usage, target, ready, replicas);
    if (desired <= all->desired) return;
    all->desired = desired;
    all->reason =
        fmt::format("{} resource utilization (percentage of request) above target", resource);
  }

  // Stabilization, then policies, then the bounds of the spec.
  int64_t Limit(const Json& autoscaler, const StoredObject& object, int64_t replicas,
                int64_t desired, int64_t low, int64_t high, Json& status) {
    History& past = history_[object.uid];
    const double now = Clock();
    const Json& up = autoscaler["spec"]["behavior"]["scaleUp"];
    const Json& down = autoscaler["spec"]["behavior"]["scaleDown"];
    past.recommended.push_back({now, desired});
    while (past.recommended.front().at < now - kMostWindow) past.recommended.pop_front();
    while (!past.changes.empty() && past.changes.front().at < now - kMostWindow) {
      past.changes.pop_front();
    }
    const auto up_window = static_cast<double>(up["stabilizationWindowSeconds"].Int(0));
    const auto down_window =
        static_cast<double>(down["stabilizationWindowSeconds"].Int(kDefaultDownWindow));
    int64_t least = desired;
    int64_t most = desired;
    for (const Past& recommendation : past.recommended) {
      if (recommendation.at >= now - up_window) least = std::min(least, recommendation.replicas);
      if (recommendation.at >= now - down_window) most = std::max(most, recommendation.replicas);
    }
    int64_t wanted = std::min(std::max(replicas, least), most);
    if (wanted > replicas) {
      wanted = std::min(wanted, Bound(up, past, now, replicas, true));
    } else if (wanted < replicas) {
      wanted = std::max(wanted, Bound(down, past, now, replicas, false));
    }
    const int64_t bounded = std::clamp(wanted, low, std::max(low, high));
    const bool many = desired > high;
    if (many || desired < low) {
      Set(status, "ScalingLimited", true, many ? "TooManyReplicas" : "TooFewReplicas",
          many ? "the desired replica count is more than the maximum replica count"
               : "the desired replica count is less than the minimum replica count");
    } else {
      Set(status, "ScalingLimited", false, "DesiredWithinRange",
          "the desired count is within the acceptable range");
    }
    return bounded;
  }

  // How far the policies let it go now.
  static int64_t Bound(const Json& rules, const History& past, double now, int64_t replicas,
                       bool up) {
    const std::string_view select = rules["selectPolicy"].Str();
    if (select == "Disabled") return replicas;
    Json defaults = Json::MakeArray();
    defaults.Append(Json::MakeObject({{"type", "Percent"}, {"value", 100}, {"periodSeconds", 15}}));
    if (up) {
      defaults.Append(Json::MakeObject({{"type", "Pods"}, {"value", 4}, {"periodSeconds", 15}}));
    }
    const auto& policies =
        rules["policies"].Items().empty() ? defaults.Items() : rules["policies"].Items();
    std::optional<int64_t> bound;
    for (const Json& policy : policies) {
      int64_t changed = 0;
      for (const Past& change : past.changes) {
        const bool counts = change.at >= now - static_cast<double>(policy["periodSeconds"].Int());
        if (counts && (change.replicas > 0) == up) changed += change.replicas;
      }
      const int64_t start = replicas - changed;  // when the period began
      const int64_t value = policy["value"].Int();
      const bool percent = policy["type"].Str() == "Percent";
      const double part = static_cast<double>(value) / 100 * static_cast<double>(start);
      const int64_t step = percent ? static_cast<int64_t>(std::ceil(part)) : value;
      const int64_t limit = up ? start + step : start - step;
      // The policy that lets it change most, unless the least is asked for.
      const bool farther = !bound || (up ? limit > *bound : limit < *bound);
      if (!bound || farther != (select == "Min")) bound = limit;
    }
    return up ? std::max(replicas, *bound) : std::min(replicas, *bound);
  }

  void Resize(const Resource& kind, const StoredObject& target, const StoredObject& autoscaler,
              int64_t from, int64_t to, const Measured& measured, Json& status) {
    const auto changed = world_.registry().Modify(
        kind, target.namespace_, target.name,
        [&](Json& value) -> Answer<void> {
          value.At("spec").Set("replicas", to);
          return {};
        },
        "", kControllerManager);
    if (!changed) return;
    history_[autoscaler.uid].changes.push_back({Clock(), to - from});
    status.Set("lastScaleTime", world_.Now().Format());
    Set(status, "AbleToScale", true, "SucceededRescale",
        fmt::format("the HPA controller was able to update the target scale to {}", to));
    world_.Record({autoscalers_, autoscaler, "horizontal-pod-autoscaler", "SuccessfulRescale",
                   fmt::format("New size: {}; reason: {}", to,
                               to > from ? measured.reason : "All metrics below target")});
  }

  void Set(Json& status, std::string_view type, bool yes, std::string_view reason,
           std::string_view message) {
    SetCondition(status, Condition(type, yes, reason, message), world_.Now());
  }

  World& world_;
  const Resource& autoscalers_;
  std::map<std::string, History> history_;  // by uid
};

}  // namespace

int64_t ReplicasFor(int64_t usage, int64_t target, int64_t ready, int64_t replicas) {
  const auto ratio = [&](int64_t pods) {
    return static_cast<double>(usage) / static_cast<double>(std::max<int64_t>(1, pods)) /
           static_cast<double>(target);
  };
  const auto close = [](double r) { return std::abs(1 - r) <= kTolerance; };
  if (ready == 0) return replicas;  // nothing is known yet
  const double now = ratio(ready);
  if (close(now)) return replicas;
  if (ready == replicas || now < 1) {
    return static_cast<int64_t>(std::ceil(now * static_cast<double>(ready)));
  }
  // Pods that are not ready will take their part: as if they used nothing.
  const double then = ratio(replicas);
  if (close(then) || then < 1) return replicas;
  return static_cast<int64_t>(std::ceil(then * static_cast<double>(replicas)));
}

void AddAutoscalers(World& world) {
  const auto autoscalers = std::make_shared<Autoscalers>(world);
  world.React(world.catalog().Named("autoscaling", "horizontalpodautoscalers"),
              [autoscalers](const Change& change) { autoscalers->OnAutoscaler(change); });
}

}  // namespace berth::apiserver
