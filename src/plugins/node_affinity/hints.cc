#include "plugins/common/hints.h"
#include "plugins/node_affinity/node_affinity.h"

namespace berth::plugins::node_affinity {
namespace {

using framework::Hint;

api::RequiredNodeAffinity RequiredOf(const cluster::PodShape& shape) {
  const api::PodSpec& spec = shape.source.spec;
  const api::NodeSelector* required = nullptr;
  if (spec.affinity && spec.affinity->node_affinity) {
    const auto& terms =
        spec.affinity->node_affinity->required_during_scheduling_ignored_during_execution;
    if (terms) required = &*terms;
  }
  return {spec.node_selector, required};
}

}  // namespace

// A node that has come to match. The nodes of an event may be gone or changed by now, so they are
// matched by what the event says of them.
Result<Hint> NodeAffinity::AfterNodeChange(const cluster::Pod& pod,
                                           const queue::Event& event) const {
  const auto* before = event.Old<api::Node>();
  const auto* after = event.New<api::Node>();
  if (after == nullptr) return NoObject("node");
  const auto& [metadata, spec, status] = *after;
  if (added_selector_ && !added_selector_->Matches(metadata.name, metadata.labels)) {
    return Hint::kSkip;
  }
  const api::RequiredNodeAffinity& required = hint_required_.Get(*pod.shape, RequiredOf);
  const Result<bool> matches = required.Match(metadata.name, metadata.labels);
  if (!matches) return Fail(matches.error());
  if (!*matches) return Hint::kSkip;
  if (before == nullptr) return Hint::kQueue;
  const Result<bool> matched = required.Match(before->metadata.name, before->metadata.labels);
  if (!matched) return Fail(matched.error());
  return QueueIf(!*matched);
}

std::vector<framework::RegisteredEvent> NodeAffinity::EventsToRegister(
    const config::Behaviour&) const {
  return {On(queue::EventResource::kNode, queue::kAdd | queue::kUpdateNodeLabel,
             "isSchedulableAfterNodeChange",
             [this](const cluster::Cluster&, const cluster::Pod& pod, const queue::Event& event) {
               return AfterNodeChange(pod, event);
             })};
}

}  // namespace berth::plugins::node_affinity
