#include "scheduler/engine/context.h"

#include "plugins/common/resource_version.h"
#include "scheduler/engine/extender_calls.h"
#include "scheduler/engine/preemptions.h"

namespace berth::scheduler {

int64_t VersionNumber(std::string_view resource_version) {
  return plugins::ParseVersion(resource_version).value_or(-1);
}

queue::PluginId ProfileRuntime::IdOf(std::string_view name) const {
  if (name == framework::kExtenderName) return hints->ExtenderPosition();
  const auto plugins = profile->Plugins();
  for (size_t i = 0; i < plugins.size(); ++i) {
    if (plugins[i]->Name() == name) return static_cast<queue::PluginId>(i);
  }
  return queue::kNoPlugin;
}

std::string_view ProfileRuntime::NameOf(queue::PluginId plugin) const {
  if (plugin == hints->ExtenderPosition()) return framework::kExtenderName;
  return profile->At(plugin).Name();
}

PluginMask ProfileRuntime::MaskOf(const std::set<std::string>& names) const {
  PluginMask mask = 0;
  for (const std::string& name : names) {
    const queue::PluginId id = IdOf(name);
    if (id < 64) mask |= queue::MaskOf(id);
  }
  return mask;
}

EngineContext::EngineContext(const EngineOptions& engine_options, const api::Time& time,
                             EngineObserver* engine_observer)
    : options(engine_options),
      events(framework::EventRulesOf(engine_options.behaviour)),
      now(time),
      observer(engine_observer),
      nobody_wants{
          .cycles = false, .pods = false, .queues = false, .scheduled = false, .binds = false},
      wants(observer != nullptr ? &observer->wants() : &nobody_wants) {}

PodRef EngineContext::RefOf(const berth::cluster::Pod& pod) const {
  const PodRecord* record = pod.id == berth::cluster::kNoPod ? nullptr : pods.Find(pod.id);
  PodRef ref{pod.namespace_(), pod.name, pod.uid};
  if (record != nullptr && record->version >= 0) {
    ref.resource_version = std::to_string(record->version);
  }
  return ref;
}

PodKey EngineContext::KeyOf(std::string_view uid) const {
  const PodId id = cluster.FindPod(uid);
  return id == berth::cluster::kNoPod ? PodKey() : cluster.GetPod(id).key();
}

void EngineContext::Move(berth::queue::ClusterEvent what, berth::queue::EventObject old_object,
                         berth::queue::EventObject new_object) {
  queue->Move({what, std::move(old_object), std::move(new_object)}, now);
}

framework::PostFilterResult::Nomination EngineContext::NominationOfFailure() const {
  using Nomination = framework::PostFilterResult::Nomination;
  const config::Behaviour& behaviour = options.behaviour;
  return behaviour.failures_clear_nomination || !behaviour.nominate_before_binding
             ? Nomination::kClear
             : Nomination::kKeep;
}

bool EngineContext::WaitsForAnswer() const {
  return preemptions->waited_for() || extender_calls->Waiting();
}

}  // namespace berth::scheduler
