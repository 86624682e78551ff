#include "api/rules/pod_requests.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <unordered_map>

#include <boost/container/small_vector.hpp>

#include "api/rules/resource_name.h"

namespace berth::api {

bool HasPodLevelRequests(const Pod& pod) {
  if (!pod.spec.resources) return false;
  const ResourceList& requests = pod.spec.resources->requests;
  return std::any_of(requests.begin(), requests.end(),
                     [](const auto& entry) { return IsPodLevelResource(entry.first); });
}

namespace {

// Amounts by name while they are summed up. Names point into the pod; the usual few fit without the
// heap.
class Sum {
 public:
  using Entry = std::pair<std::string_view, Quantity>;

  void Add(std::string_view name, const Quantity& amount) {
    const auto [at, found] = Find(name);
    if (found) {
      at->second.Add(amount);
    } else {
      entries_.insert(at, Entry(name, amount));
    }
  }

  void Max(std::string_view name, const Quantity& amount) {
    const auto [at, found] = Find(name);
    if (!found) {
      entries_.insert(at, Entry(name, amount));
    } else if (amount > at->second) {
      at->second = amount;
    }
  }

  void Set(std::string_view name, const Quantity& amount) {
    const auto [at, found] = Find(name);
    if (found) {
      at->second = amount;
    } else {
      entries_.insert(at, Entry(name, amount));
    }
  }

  template <class List>
  void AddAll(const List& list) {
    for (const auto& [name, amount] : list) Add(name, amount);
  }

  template <class List>
  void MaxAll(const List& list) {
    for (const auto& [name, amount] : list) Max(name, amount);
  }

  const Quantity* Get(std::string_view name) const {
    for (const Entry& entry : entries_) {
      if (entry.first == name) return &entry.second;
    }
    return nullptr;
  }

  Quantity* Get(std::string_view name) {
    return const_cast<Quantity*>(std::as_const(*this).Get(name));
  }

  auto begin() const { return entries_.begin(); }
  auto end() const { return entries_.end(); }

  ResourceList ToList() const {
    ResourceList list;
    list.reserve(entries_.size());
    for (const auto& [name, amount] : entries_) {
      list.emplace_hint(list.end(), std::string(name), amount);
    }
    return list;
  }

 private:
  using Entries = boost::container::small_vector<Entry, 4>;

  // Lists come sorted, so the place is mostly the end.
  std::pair<Entries::iterator, bool> Find(std::string_view name) {
    auto at = std::lower_bound(
        entries_.begin(), entries_.end(), name,
        [](const Entry& entry, std::string_view key) { return entry.first < key; });
    return {at, at != entries_.end() && at->first == name};
  }

  Entries entries_;  // sorted by name
};

bool IsSidecar(const Container& init) {
  return init.restart_policy && *init.restart_policy == "Always";
}

bool ResizeInfeasible(const Pod& pod) {
  for (const PodCondition& condition : pod.status.conditions) {
    if (condition.type == "PodResizePending") return condition.reason == "Infeasible";
  }
  return false;
}

bool HasStatusResources(const Pod& pod, const RequestRules& rules) {
  const auto has = [&](const ContainerStatus& status) {
    return status.resources || (rules.max_of_totals && !status.allocated_resources.empty());
  };
  const PodStatus& s = pod.status;
  if (rules.pod_level_status && s.resources) return true;
  return std::any_of(s.container_statuses.begin(), s.container_statuses.end(), has) ||
         std::any_of(s.init_container_statuses.begin(), s.init_container_statuses.end(), has);
}

// Sums what containers ask for: all of them run together, but init containers run before them, one
// by one, each beside the sidecars started so far. `resources_of` gives the resources of one
// container.
template <class ResourcesOf>
Sum SumContainers(const PodSpec& spec, const ResourcesOf& resources_of) {
  Sum total;
  for (const Container& container : spec.containers) total.AddAll(resources_of(container, true));
  if (spec.init_containers.empty()) return total;

  Sum sidecars;
  Sum peak;
  for (const Container& init : spec.init_containers) {
    const bool sidecar = IsSidecar(init);
    const auto& resources = resources_of(init, sidecar);
    if (sidecar) {
      total.AddAll(resources);
      sidecars.AddAll(resources);
      peak.MaxAll(sidecars);
    } else {
      Sum alone;
      alone.AddAll(resources);
      alone.AddAll(sidecars);
      peak.MaxAll(alone);
    }
  }
  total.MaxAll(peak);
  return total;
}

void AddDefaults(const PodRequestsOptions& options, Sum* requests) {
  if (options.default_cpu && !requests->Get(kCpu)) {
    requests->Set(kCpu, Quantity::FromMilli(kDefaultMilliCpu));
  }
  if (options.default_memory && !requests->Get(kMemory)) {
    requests->Set(kMemory, Quantity::FromInt(kDefaultMemory));
  }
}

// The effective requests of one container after another.
class ContainerRequests {
 public:
  ContainerRequests(const Pod& pod, const PodRequestsOptions& options) : options_(options) {
    if (!options.use_status || !HasStatusResources(pod, options.rules)) return;
    infeasible_ = ResizeInfeasible(pod);
    for (const ContainerStatus& status : pod.status.container_statuses)
      statuses_[status.name] = &status;
    for (const ContainerStatus& status : pod.status.init_container_statuses)
      statuses_[status.name] = &status;
  }

  // `resizable`: not an init container that ends.
  Sum operator()(const Container& container, bool resizable) const {
    Sum requests;
    const ContainerStatus* status = resizable ? StatusOf(container) : nullptr;
    if (!status || !infeasible_) requests.MaxAll(container.resources.requests);
    if (status) {
      requests.MaxAll(status->resources->requests);
      requests.MaxAll(status->allocated_resources);
    }
    AddDefaults(options_, &requests);
    return requests;
  }

 private:
  const ContainerStatus* StatusOf(const Container& container) const {
    const auto it = statuses_.find(container.name);
    return it != statuses_.end() && it->second->resources ? it->second : nullptr;
  }

  PodRequestsOptions options_;
  bool infeasible_ = false;
  std::unordered_map<std::string_view, const ContainerStatus*> statuses_;
};

// The resources of every container from one source, where the maximum of totals counts.
class SourceRequests {
 public:
  enum class Source : uint8_t { kSpec, kAllocated, kActual };

  SourceRequests(const Pod& pod, const PodRequestsOptions& options, Source source)
      : options_(options), source_(source), infeasible_(ResizeInfeasible(pod)) {
    if (source == Source::kSpec) return;
    for (const auto* list : {&pod.status.init_container_statuses, &pod.status.container_statuses}) {
      for (const ContainerStatus& status : *list) statuses_[status.name] = &status;
    }
  }

  Sum operator()(const Container& container, bool) const {
    Sum requests;
    if (const ResourceList* list = ListOf(container)) requests.MaxAll(*list);
    AddDefaults(options_, &requests);
    return requests;
  }

 private:
  const ResourceList* ListOf(const Container& container) const {
    const auto it = statuses_.find(container.name);
    if (it != statuses_.end()) {
      const ContainerStatus& status = *it->second;
      if (source_ == Source::kActual && status.resources && !status.resources->requests.empty()) {
        return &status.resources->requests;
      }
      if (!status.allocated_resources.empty()) return &status.allocated_resources;
    }
    if (source_ != Source::kSpec && infeasible_) return nullptr;
    return &container.resources.requests;
  }

  PodRequestsOptions options_;
  Source source_;
  bool infeasible_;
  std::unordered_map<std::string_view, const ContainerStatus*> statuses_;
};

Sum MaxOfTotals(const Pod& pod, const PodRequestsOptions& options) {
  using Source = SourceRequests::Source;
  Sum total;
  const auto add = [&](Source source) {
    total.MaxAll(SumContainers(pod.spec, SourceRequests(pod, options, source)));
  };
  if (!ResizeInfeasible(pod)) add(Source::kSpec);
  const PodStatus& status = pod.status;
  if (options.rules.pod_level_status && !status.allocated_resources.empty() && status.resources &&
      !status.resources->requests.empty()) {
    total.MaxAll(status.resources->requests);
    total.MaxAll(status.allocated_resources);
  } else {
    add(Source::kActual);
    add(Source::kAllocated);
  }
  return total;
}

// The requests of the pod as a whole where its status has some, too.
void ApplyPodLevel(const Pod& pod, const PodRequestsOptions& options, Sum* total) {
  const ResourceList& spec = pod.spec.resources->requests;
  const bool resized =
      options.rules.pod_level_status && options.use_status && pod.status.resources.has_value();
  if (!resized) {
    for (const auto& [name, amount] : spec) {
      if (IsPodLevelResource(name)) total->Set(name, amount);
    }
    return;
  }
  Sum effective;
  if (!ResizeInfeasible(pod)) effective.MaxAll(spec);
  effective.MaxAll(pod.status.resources->requests);
  effective.MaxAll(pod.status.allocated_resources);
  if (options.rules.max_of_totals) {
    for (const auto& [name, amount] : effective) {
      if (IsPodLevelResource(name)) total->Set(name, amount);
    }
    return;
  }
  for (const auto& [name, ignored] : spec) {
    if (!IsPodLevelResource(name)) continue;
    const Quantity* amount = effective.Get(name);
    total->Set(name, amount != nullptr ? *amount : Quantity());
  }
}

Sum SumRequests(const Pod& pod, const PodRequestsOptions& options) {
  const bool totals = options.use_status && options.rules.max_of_totals;
  Sum total =
      totals ? MaxOfTotals(pod, options) : SumContainers(pod.spec, ContainerRequests(pod, options));
  if (!options.skip_pod_level && HasPodLevelRequests(pod)) ApplyPodLevel(pod, options, &total);
  total.AddAll(pod.spec.overhead);
  return total;
}

int64_t MilliOf(const Sum& sum, std::string_view name) {
  const Quantity* amount = sum.Get(name);
  return amount ? amount->MilliValue() : 0;
}

int64_t ValueOf(const Sum& sum, std::string_view name) {
  const Quantity* amount = sum.Get(name);
  return amount ? amount->Value() : 0;
}

// `floor`: no amount is less.
ResourceAmounts AmountsOf(const Sum& sum, int64_t floor) {
  ResourceAmounts out;
  for (const auto& [name, amount] : sum) {
    if (name == kCpu) {
      out.milli_cpu = std::max(floor, amount.MilliValue());
    } else if (name == kMemory) {
      out.memory = std::max(floor, amount.Value());
    } else if (name == kEphemeralStorage) {
      out.ephemeral_storage = std::max(floor, amount.Value());
    } else if (name != kPods && IsScalarResource(name)) {
      out.scalars.emplace_back(std::string(name), std::max(floor, amount.Value()));
    }
  }
  return out;
}

bool AllAskForCpuAndMemory(const std::vector<Container>& containers) {
  return std::all_of(containers.begin(), containers.end(), [](const Container& container) {
    const ResourceList& requests = container.resources.requests;
    return requests.find(kCpu) != requests.end() && requests.find(kMemory) != requests.end();
  });
}

}  // namespace

ResourceList PodRequests(const Pod& pod, const PodRequestsOptions& options) {
  return SumRequests(pod, options).ToList();
}

ResourceList PodLimits(const Pod& pod) {
  const auto limits_of = [](const Container& container, bool) -> const ResourceList& {
    return container.resources.limits;
  };
  Sum total = SumContainers(pod.spec, limits_of);
  if (pod.spec.resources) {
    for (const auto& [name, amount] : pod.spec.resources->limits) {
      if (IsPodLevelResource(name)) total.Set(name, amount);
    }
  }
  // Overhead widens a limit; it does not make one.
  for (const auto& [name, amount] : pod.spec.overhead) {
    Quantity* limit = total.Get(name);
    if (limit && !limit->IsZero()) limit->Add(amount);
  }
  return total.ToList();
}

PodResources PodResources::Of(const Pod& pod, const RequestRules& rules) {
  PodResources out;
  const bool pod_level = HasPodLevelRequests(pod);
  const bool resized =
      HasStatusResources(pod, rules) || (rules.max_of_totals && ResizeInfeasible(pod));

  const Sum spec = SumRequests(pod, {});
  out.filter = AmountsOf(spec, 0);
  const Sum occupied = resized ? SumRequests(pod, {.use_status = true, .rules = rules}) : spec;
  out.node = AmountsOf(occupied, std::numeric_limits<int64_t>::min());

  // Most pods ask for cpu and memory everywhere, or have neither resizes nor pod-level resources:
  // then the sums agree.
  const bool complete =
      AllAskForCpuAndMemory(pod.spec.containers) && AllAskForCpuAndMemory(pod.spec.init_containers);
  std::optional<Sum> with_defaults;
  if (!(complete && !resized)) {
    with_defaults = SumRequests(pod, {.use_status = true,
                                      .default_cpu = !pod_level || !occupied.Get(kCpu),
                                      .default_memory = !pod_level || !occupied.Get(kMemory),
                                      .rules = rules});
  }
  const Sum& nonzero = with_defaults ? *with_defaults : occupied;
  out.nonzero_milli_cpu = MilliOf(nonzero, kCpu);
  out.nonzero_memory = ValueOf(nonzero, kMemory);

  constexpr int64_t kNoFloor = std::numeric_limits<int64_t>::min();
  if (!pod_level && !resized) {
    out.fit_score = AmountsOf(nonzero, kNoFloor);
  } else {
    out.fit_score = AmountsOf(
        SumRequests(pod, {.skip_pod_level = true, .default_cpu = true, .default_memory = true}),
        kNoFloor);
  }
  return out;
}

}  // namespace berth::api
