#include "cli/observe/cluster_feed.h"

#include <utility>

#include "kube/kinds.h"

namespace berth::cli {

ClusterFeed::ClusterFeed(net::Loop& loop, kube::ReadOnlyClient& client, FeedSink& sink,
                         const config::Behaviour& behaviour, const cluster::PluginInputs& inputs)
    : loop_(loop), sink_(sink) {
  kube::ObjectSink& self = *this;
  const auto watch = [&](const kube::Kind& kind) {
    reflectors_.push_back(
        std::make_unique<kube::Reflector>(kind, loop_, client, self, &raw_, behaviour.watch_list));
  };
  for (const kube::Kind& kind : kube::WatchedKinds(behaviour)) watch(kind);
  for (const cluster::CustomKind& kind : inputs.kinds) {
    const std::string& api_version = custom_versions_.emplace_back(kind.ApiVersion());
    watch({.kind = kind.kind,
           .api_version = api_version,
           .plural = kind.plural,
           .namespaced = kind.namespaced,
           .optional = true,
           .custom = true});
  }
}

void ClusterFeed::Start() {
  for (auto& reflector : reflectors_) reflector->Start();
}

void ClusterFeed::Stop() {
  for (auto& reflector : reflectors_) reflector->Stop();
}

Result<void> ClusterFeed::Followed() const {
  for (const auto& reflector : reflectors_) {
    if (!reflector->IsFollowed()) return Fail("cannot list or watch " + reflector->TypeName());
  }
  return {};
}

void ClusterFeed::Replaced(std::string_view kind, std::vector<api::Object> objects) {
  sink_.AdvanceTo(loop_.Now());
  sink_.Replace(kind, std::move(objects));
  listed_.emplace(kind);
  if (!synced_ && listed_.size() == reflectors_.size()) {
    synced_ = true;
    sink_.Start();
  }
}

// Only for sinks that take parts.
void ClusterFeed::Listed(std::string_view kind, std::vector<api::Object> objects,
                         berth::scheduler::ListPart, Taken taken) {
  Replaced(kind, std::move(objects));
  if (taken) taken();
}

void ClusterFeed::Changed(api::Object&& object) {
  sink_.AdvanceTo(loop_.Now());
  sink_.Upsert(std::move(object));
}

// Only for sinks with known pods.
void ClusterFeed::StatusChanged(api::Pod&& pod) { Changed(api::Object(std::move(pod))); }

void ClusterFeed::Removed(api::Object&& object) {
  sink_.AdvanceTo(loop_.Now());
  sink_.Delete(object);
}

}  // namespace berth::cli
