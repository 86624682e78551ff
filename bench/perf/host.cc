#include "bench/perf/host.h"

#include <algorithm>
#include <ctime>
#include <type_traits>
#include <utility>

#include <fmt/format.h>

#include "api/admission/defaults.h"
#include "cluster/objects/kind_table.h"

namespace berth::bench {
namespace {

using scheduler::EffectResult;
using Code = EffectResult::Code;

// Adds the time this thread works until the watch goes to a sum. Not the time that passes: other
// programs of a busy machine would be counted too.
class Stopwatch {
 public:
  explicit Stopwatch(double& sum) : sum_(sum), start_(Now()) {}
  ~Stopwatch() { sum_ += Now() - start_; }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

 private:
  static double Now() {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
  }

  double& sum_;
  double start_;
};

const api::Pod* PodOf(const sim::ObjectPtr& object) {
  return object == nullptr ? nullptr : std::get_if<api::Pod>(object.get());
}

}  // namespace

bool PodPick::Takes(const api::Pod& pod) const {
  if (!namespaces.empty() && !namespaces.contains(pod.metadata.namespace_)) return false;
  return std::all_of(labels.begin(), labels.end(), [&](const auto& label) {
    const std::string* value = api::FindValue(pod.metadata.labels, label.first);
    return value != nullptr && *value == label.second;
  });
}

PerfHost::~PerfHost() = default;

PerfHost::PerfHost()
    : loop_(api::Time::FromUnixNano(int64_t{1'735'689'600} * sim::kSecond)), api_(loop_) {}

Result<std::unique_ptr<PerfHost>> PerfHost::Make(const config::KubeSchedulerConfiguration& config,
                                                 const config::Behaviour& behaviour,
                                                 const scheduler::AlgorithmOptions& algorithm,
                                                 framework::Executor* executor) {
  std::unique_ptr<PerfHost> host(new PerfHost);
  scheduler::EngineOptions options;
  options.algorithm = algorithm;
  options.behaviour = behaviour;
  auto engine = scheduler::Engine::Make(config, options, host->loop_.Time(), executor, host.get());
  if (!engine) return Fail(engine.error());
  host->engine_ = std::move(*engine);
  for (const cluster::KindInfo& kind : cluster::WatchedKinds(behaviour)) {
    host->watched_.emplace(kind.kind);
  }
  host->api_.Subscribe([raw = host.get()](const sim::ApiChange& change) { raw->OnChange(change); });
  return host;
}

// --- Objects

Result<std::string> PerfHost::Create(api::Object object) {
  api::ObjectMeta* metadata = api::MetadataOf(object);
  if (metadata == nullptr) return Fail("the object has no metadata");
  if (metadata->name.empty()) {
    metadata->name = fmt::format("{}{}", metadata->generate_name, next_name_++);
  }
  api::SetDefaults(object);
  bool has_claims = false;
  if (auto* pod = std::get_if<api::Pod>(&object)) {
    api::MergeLabelKeys(*pod);
    api::AddDefaultTolerations(*pod);
    has_claims = !pod->spec.resource_claims.empty();
  }
  const std::string name = metadata->name;
  const std::string namespace_ = metadata->namespace_;
  const std::string kind(api::KindOf(object));
  const sim::ApiAnswer answer = api_.Create(std::move(object));
  if (!answer.Ok()) return Fail(fmt::format("{} {}: {}", kind, name, answer.message));
  if (has_claims) MakeClaims(namespace_, name);
  return name;
}

// As the resource claim controller does.
void PerfHost::MakeClaims(const std::string& namespace_, const std::string& name) {
  const api::Pod pod = *api_.Find<api::Pod>(namespace_, name);
  std::vector<api::PodResourceClaimStatus> made;
  for (const api::PodResourceClaim& wanted : pod.spec.resource_claims) {
    if (!wanted.resource_claim_template_name) continue;
    const auto* source =
        api_.Find<api::ResourceClaimTemplate>(namespace_, *wanted.resource_claim_template_name);
    if (source == nullptr) continue;  // the pod waits for it
    api::ResourceClaim claim;
    claim.metadata.name = fmt::format("{}-{}", name, wanted.name);
    claim.metadata.namespace_ = namespace_;
    claim.metadata.labels = source->spec.metadata.labels;
    api::OwnerReference& owner = claim.metadata.owner_references.emplace_back();
    owner.api_version = api::Pod::kApiVersion;
    owner.kind = api::Pod::kKind;
    owner.name = name;
    owner.uid = pod.metadata.uid;
    owner.controller = true;
    claim.spec = source->spec.spec;
    api::PodResourceClaimStatus& status = made.emplace_back();
    status.name = wanted.name;
    status.resource_claim_name = claim.metadata.name;
    api::Object object = std::move(claim);
    api::SetDefaults(object);
    api_.Create(std::move(object));
  }
  if (made.empty()) return;
  api_.Modify<api::Pod>(namespace_, name, [&](api::Pod& changed) {
    changed.status.resource_claim_statuses = std::move(made);
  });
}

void PerfHost::DeletePod(const scheduler::PodRef& ref) {
  const auto* pod = api_.Find<api::Pod>(ref.namespace_, ref.name);
  if (pod == nullptr) return;
  constexpr int64_t kDefaultGrace = 30;
  if (pod->metadata.finalizers.empty()) {
    const int64_t grace = pod->spec.termination_grace_period_seconds.value_or(kDefaultGrace);
    api_.DeletePod(ref, std::clamp<int64_t>(grace, 0, 24 * 3600) * sim::kSecond);
    return;
  }
  api_.Modify<api::Pod>(ref.namespace_, ref.name, [&](api::Pod& leaving) {
    if (!leaving.metadata.deletion_timestamp) leaving.metadata.deletion_timestamp = loop_.Time();
  });
}

// --- Between API and engine

void PerfHost::OnChange(const sim::ApiChange& change) {
  CountPod(change);
  if (!watched_.contains(change.kind)) return;
  api::Object object = *change.object;
  const api::Time now = loop_.Time();
  Stopwatch watch(counters_.engine_seconds);
  engine_->AdvanceTo(now);
  if (change.type == sim::ApiChange::Type::kDeleted) {
    engine_->Delete(object);
  } else {
    engine_->Upsert(std::move(object));
  }
}

void PerfHost::CountPod(const sim::ApiChange& change) {
  const api::Pod* pod = PodOf(change.object);
  if (pod == nullptr) return;
  const api::Pod* old = PodOf(change.old_object);
  const bool had_node = old != nullptr && !old->spec.node_name.empty();
  const bool gone = change.type == sim::ApiChange::Type::kDeleted;
  const bool has_node = !gone && !pod->spec.node_name.empty();
  if (has_node && !had_node) {
    ++scheduled_[pod->metadata.namespace_];
    ++bound_;
    if (pick_.Takes(*pod)) ++counters_.bound;
  } else if (had_node && !has_node) {
    --scheduled_[pod->metadata.namespace_];
  }
  if (!gone) return;
  // Claims go with their pod. Not here: the API is in the middle of something.
  for (const api::PodResourceClaimStatus& claim : pod->status.resource_claim_statuses) {
    if (!claim.resource_claim_name) continue;
    loop_.After(0, [this, ns = pod->metadata.namespace_, name = *claim.resource_claim_name] {
      // First the devices are free again: that is the event the scheduler listens to.
      api_.Modify<api::ResourceClaim>(ns, name, [](api::ResourceClaim& freed) {
        freed.status.reserved_for.clear();
        freed.status.allocation.reset();
      });
      api_.Delete(api::ResourceClaim::kKind, ns, name);
    });
  }
}

void PerfHost::Attempted(const cluster::Pod&, scheduler::Outcome outcome, std::string_view,
                         std::string_view) {
  ++counters_.attempts;
  if (outcome != scheduler::Outcome::kScheduled) ++counters_.failed_attempts;
}

EffectResult PerfHost::CarryOut(const scheduler::Effect& effect) {
  EffectResult result;
  result.id = effect.id;
  const sim::ApiAnswer answer = std::visit(
      [&](const auto& action) -> sim::ApiAnswer {
        using T = std::decay_t<decltype(action)>;
        if constexpr (std::is_same_v<T, scheduler::BindPod>) {
          return api_.Bind(action.pod, action.node);
        } else if constexpr (std::is_same_v<T, scheduler::PatchPodStatus>) {
          return api_.PatchStatus(action);
        } else if constexpr (std::is_same_v<T, scheduler::DeletePod>) {
          DeletePod(action.pod);
          return {};
        } else if constexpr (std::is_same_v<T, scheduler::ReadPod>) {
          return api_.ReadPod(action.pod);
        } else if constexpr (std::is_same_v<T, scheduler::WriteObject>) {
          sim::ApiAnswer written = api_.Write(action.write);
          if (written.Ok() && written.object != nullptr) {
            std::visit(
                [&](const auto& object) {
                  result.written = std::get<std::decay_t<decltype(object)>>(*written.object);
                },
                action.write.object);
          }
          return written;
        } else {
          return {};
        }
      },
      effect.action);
  if (!answer.Ok()) {
    result.code = answer.code == 404   ? Code::kNotFound
                  : answer.code == 409 ? Code::kConflict
                                       : Code::kError;
    result.message = answer.message;
  } else if (std::holds_alternative<scheduler::ReadPod>(effect.action)) {
    result.pod = std::get<api::Pod>(*answer.object);
  }
  return result;
}

void PerfHost::CarryOutAll() {
  for (;;) {
    std::vector<scheduler::Effect> effects;
    {
      Stopwatch watch(counters_.engine_seconds);
      effects = engine_->TakeEffects();
    }
    if (effects.empty()) return;
    for (const scheduler::Effect& effect : effects) {
      EffectResult result = CarryOut(effect);
      if (std::holds_alternative<scheduler::RecordEvent>(effect.action)) continue;
      Stopwatch watch(counters_.engine_seconds);
      engine_->Complete(std::move(result));
    }
  }
}

// --- Time

bool PerfHost::Step() {
  const api::Time now = loop_.Time();
  bool tried = false;
  double seconds = 0;
  {
    Stopwatch watch(seconds);
    engine_->AdvanceTo(now);
    tried = engine_->Step();
  }
  counters_.engine_seconds += seconds;
  if (tried) counters_.cycle_seconds += seconds;
  CarryOutAll();
  if (tried) loop_.RunUntil(loop_.Now() + kCycleTime);
  return tried;
}

void PerfHost::Wait(sim::Nanos limit) {
  sim::Nanos next = limit;
  if (const auto at = loop_.Next()) next = std::min(next, *at);
  if (const auto wake = engine_->NextWake()) next = std::min(next, loop_.NanosOf(*wake));
  loop_.RunUntil(std::max(next, loop_.Now()));
}

bool PerfHost::RunUntil(FunctionRef<bool()> done, sim::Nanos patience) {
  int64_t bound = bound_;
  sim::Nanos limit = loop_.Now() + patience;
  while (!done()) {
    const bool tried = Step();
    if (bound != bound_) {
      bound = bound_;
      limit = loop_.Now() + patience;
    }
    if (loop_.Now() >= limit) return false;
    if (tried) continue;
    const sim::Nanos before = loop_.Now();
    Wait(limit);
    // A wake time that has passed already must not hold time still.
    if (loop_.Now() == before) loop_.RunUntil(before + kCycleTime);
  }
  return true;
}

void PerfHost::RunToIdle(sim::Nanos longest) {
  const sim::Nanos limit = loop_.Now() + longest;
  while (Step() && loop_.Now() < limit) {
  }
}

void PerfHost::RunFor(sim::Nanos length) {
  const sim::Nanos end = loop_.Now() + length;
  while (loop_.Now() < end) {
    if (Step()) continue;
    const sim::Nanos before = loop_.Now();
    Wait(end);
    if (loop_.Now() == before) loop_.RunUntil(std::min(end, before + kCycleTime));
  }
}

// --- What there is

int64_t PerfHost::Scheduled(const std::string& namespace_) const {
  const auto it = scheduled_.find(namespace_);
  return it == scheduled_.end() ? 0 : it->second;
}

int64_t PerfHost::WithoutNode(const PodPick& pick) const {
  int64_t count = 0;
  api_.ForEach<api::Pod>([&](const api::Pod& pod) {
    if (pod.spec.node_name.empty() && pod.spec.scheduling_gates.empty() && pick.Takes(pod)) ++count;
  });
  return count;
}

void PerfHost::StartCollecting(PodPick pick) {
  pick_ = std::move(pick);
  counters_ = {};
}

}  // namespace berth::bench
