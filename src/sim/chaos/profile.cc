#include "sim/chaos/profile.h"

#include <utility>

#include "base/check.h"

namespace berth::sim {
namespace {

ChaosProfile Chaos() {
  ChaosProfile p;
  p.name = "chaos";
  p.volumes = 120;
  p.devices = 60;
  p.rules = 300;
  p.gated = 60;
  p.other_scheduler = 50;
  p.priorities = {0, 0, 0, 10, 100};
  p.faults = {.refused = 60,
              .request_lost = 30,
              .answer_lost = 30,
              .answered_twice = 50,
              .slow = 80,
              .event_repeated = 30,
              .watch_breaks = 6,
              .crash = 6};
  p.actions = {.add_node = 4,
               .remove_node = 3,
               .replace_node = 2,
               .cordon = 4,
               .taint = 4,
               .relabel = 4,
               .resize_node = 4,
               .add_group = 6,
               .scale_group = 6,
               .remove_group = 2,
               .add_pod = 30,
               .delete_pod = 14,
               .finish_pod = 14,
               .label_pod = 4,
               .open_gate = 5,
               .resize_pod = 3,
               .bind_elsewhere = 4,
               .budget = 2,
               .touch_claim = 8};
  return p;
}

ChaosProfile Churn() {
  ChaosProfile p;
  p.name = "churn";
  p.nodes_high = 30;
  p.pods_at_most = 250;
  p.volumes = 20;
  p.devices = 20;
  p.rules = 200;
  p.gated = 30;
  p.other_scheduler = 20;
  p.priorities = {0, 0, 10};
  p.gap = 150 * kMillisecond;
  p.faults = {.refused = 5, .slow = 10, .event_repeated = 5, .watch_breaks = 1, .crash = 1};
  p.actions = {.add_node = 8,
               .remove_node = 7,
               .replace_node = 3,
               .cordon = 4,
               .taint = 3,
               .relabel = 4,
               .resize_node = 3,
               .add_group = 8,
               .scale_group = 10,
               .remove_group = 6,
               .add_pod = 40,
               .delete_pod = 24,
               .finish_pod = 24,
               .label_pod = 3,
               .open_gate = 4,
               .resize_pod = 1,
               .bind_elsewhere = 1,
               .budget = 1,
               .touch_claim = 2};
  return p;
}

ChaosProfile Preempt() {
  ChaosProfile p;
  p.name = "preempt";
  p.nodes_high = 10;
  p.pods_at_most = 120;
  p.rules = 80;
  p.priorities = {0, 0, 0, 10, 10, 100, 1000};
  p.cpu_low = 300;
  p.cpu_high = 3000;
  p.gap = 500 * kMillisecond;
  p.faults = {.refused = 20,
              .request_lost = 10,
              .answer_lost = 10,
              .answered_twice = 20,
              .slow = 30,
              .event_repeated = 10,
              .watch_breaks = 2,
              .crash = 2};
  p.actions = {.add_node = 1,
               .remove_node = 1,
               .replace_node = 1,
               .cordon = 2,
               .taint = 1,
               .relabel = 1,
               .resize_node = 2,
               .add_group = 6,
               .scale_group = 6,
               .remove_group = 3,
               .add_pod = 40,
               .delete_pod = 8,
               .finish_pod = 8,
               .label_pod = 1,
               .open_gate = 1,
               .resize_pod = 1,
               .bind_elsewhere = 1,
               .budget = 5,
               .touch_claim = 0};
  return p;
}

ChaosProfile Gangs() {
  ChaosProfile p = Preempt();
  p.name = "gangs";
  p.rules = 150;
  p.gated = 20;
  p.gangs = 700;
  p.priorities = {0, 0, 10, 100};
  p.cpu_high = 2000;
  p.actions.add_group = 20;
  p.actions.scale_group = 4;
  p.actions.remove_group = 8;
  p.actions.add_pod = 15;
  p.actions.delete_pod = 4;
  return p;
}

ChaosProfile Coscheduling() {
  ChaosProfile p = Gangs();
  p.name = "coscheduling";
  p.coscheduling = true;
  return p;
}

constexpr std::string_view kGroupMode =
    "apiVersion: kubescheduler.config.k8s.io/v1\n"
    "kind: KubeSchedulerConfiguration\n"
    "profiles:\n"
    "- schedulerName: default-scheduler\n"
    "  plugins:\n"
    "    queueSort: {enabled: [{name: Coscheduling}], disabled: [{name: '*'}]}\n"
    "    multiPoint: {enabled: [{name: Coscheduling}]}\n"
    "  pluginConfig:\n"
    "  - {name: Coscheduling, args: {mode: Group}}\n";

}  // namespace

const std::vector<ChaosProfile>& ChaosProfiles() {
  static const std::vector<ChaosProfile> profiles = {Chaos(), Churn(), Preempt()};
  return profiles;
}

const ChaosProfile& GangsProfile() {
  static const ChaosProfile profile = Gangs();
  return profile;
}

const ChaosProfile& CoschedulingProfile() {
  static const ChaosProfile profile = Coscheduling();
  return profile;
}

config::KubeSchedulerConfiguration ConfigFor(const ChaosProfile& profile,
                                             const config::Behaviour& behaviour) {
  if (!profile.coscheduling) return config::Default(behaviour);
  auto config = config::Load(kGroupMode, behaviour);
  BERTH_DCHECK(config.has_value());
  return std::move(*config);
}

config::FeatureGates GatesFor(const ChaosProfile& profile, const config::FeatureGates& gates) {
  if (profile.gangs == 0 || profile.coscheduling) return gates;
  config::FeatureGates with(config::NewestKubernetes());
  const auto set = with.Set("GenericWorkload=true");
  BERTH_DCHECK(set.has_value());
  return with;
}

const ChaosProfile* FindChaosProfile(std::string_view name) {
  if (name == GangsProfile().name) return &GangsProfile();
  if (name == CoschedulingProfile().name) return &CoschedulingProfile();
  for (const ChaosProfile& profile : ChaosProfiles()) {
    if (profile.name == name) return &profile;
  }
  return nullptr;
}

}  // namespace berth::sim
