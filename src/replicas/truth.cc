#include "replicas/truth.h"

#include <algorithm>
#include <string_view>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "api/coordination/lease.h"
#include "api/rules/pod_priority.h"
#include "kube/election/lease_lock.h"
#include "sim/chaos/plain_fit.h"
#include "sim/chaos/trace.h"

namespace berth::replicas {
namespace {

using Pods = std::vector<const api::Pod*>;

Pods OnNode(const sim::ModelApi& api, const std::string& node, const std::string& but_uid) {
  Pods pods;
  api.ForEach<api::Pod>([&](const api::Pod& pod) {
    if (pod.spec.node_name == node && pod.metadata.uid != but_uid) pods.push_back(&pod);
  });
  return pods;
}

}  // namespace

void Truth::Read(int32_t epoch) {
  if (epoch <= reading_epoch_) return;
  reading_epoch_ = epoch;
  ++takeovers_;
}

void Truth::CarriedOut(int32_t epoch, const scheduler::Effect& effect,
                       const sim::ApiAnswer& answer) {
  if (!answer.Ok() || std::holds_alternative<scheduler::ReadPod>(effect.action)) return;
  if (epoch < reading_epoch_) {
    Violated(fmt::format("late: {} of epoch {} is carried out after epoch {} has read the cluster",
                         sim::Describe(effect), epoch, reading_epoch_));
  }
  if (!std::holds_alternative<scheduler::BindPod>(effect.action)) return;
  ++bindings_;
  last_move_ = loop_.Now();
  CheckRoom(std::get<api::Pod>(*answer.object));
  if (logs_.runs) CheckLogs(epoch, std::get<scheduler::BindPod>(effect.action));
}

void Truth::CheckLogs(int32_t epoch, const scheduler::BindPod& bind) {
  const auto* lease = api_.Find<api::Lease>("kube-system", "kube-scheduler");
  if (lease == nullptr || lease->spec.lease_transitions.value_or(0) != epoch) return;
  const auto found = lease->metadata.annotations.find(std::string(kube::kInSyncAnnotation));
  if (found == lease->metadata.annotations.end()) return;
  std::string_view names = found->second;
  while (!names.empty()) {
    const std::string name(names.substr(0, names.find(',')));
    names.remove_prefix(std::min(names.size(), name.size() + 1));
    if (!logs_.runs(name) || logs_.have(name, bind)) continue;
    Violated(fmt::format("log: {} is bound to {}, and {}, in sync, does not know", bind.pod.name,
                         bind.node, name));
  }
}

void Truth::CheckRoom(const api::Pod& bound) {
  const auto* node = api_.Find<api::Node>("", bound.spec.node_name);
  if (node == nullptr) return Violated("room: no node " + bound.spec.node_name);
  const std::string why =
      sim::WhyNot(bound, *node, OnNode(api_, node->metadata.name, bound.metadata.uid));
  if (why.empty()) return;
  Violated(
      fmt::format("room: {} is bound to {}: {}", bound.metadata.name, node->metadata.name, why));
}

void Truth::CheckRest() {
  Pods waiting;
  api_.ForEach<api::Pod>([&](const api::Pod& pod) {
    if (pod.spec.node_name.empty() && sim::IsPlain(pod)) waiting.push_back(&pod);
  });
  for (const api::Pod* pod : waiting) {
    api_.ForEach<api::Node>([&](const api::Node& node) {
      Pods others = OnNode(api_, node.metadata.name, pod->metadata.uid);
      for (const api::Pod* other : others) {
        if (sim::Repels(*other, *pod)) return;
      }
      // Places that preemption has promised to pods of at least this priority.
      api_.ForEach<api::Pod>([&](const api::Pod& other) {
        const bool promised = other.spec.node_name.empty() && &other != pod &&
                              other.status.nominated_node_name == node.metadata.name;
        if (promised && api::PodPriority(other) >= api::PodPriority(*pod)) others.push_back(&other);
      });
      if (!sim::WhyNot(*pod, node, others).empty()) return;
      Violated(
          fmt::format("liveness: {} waits and fits {}", pod->metadata.name, node.metadata.name));
    });
  }
}

}  // namespace berth::replicas
