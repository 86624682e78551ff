// HintMap: which of a profile's plugins registered for an event.
//
// Plugins register events once; the map inverts that. It is queried for every event and every
// rejected pod, so the result for every possible event is precomputed.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "framework/points/queueing_hint.h"
#include "framework/runtime/profile.h"

namespace berth::framework {

// The name under which extenders reject pods.
inline constexpr std::string_view kExtenderName = "Extender";

// Which events this kube-scheduler tells apart.
queue::EventRules EventRulesOf(const config::Behaviour& behaviour);

// Every event that kube-scheduler can receive: one action each, or kUpdate, or kAll. Events of
// custom resources come on top.
std::vector<queue::ClusterEvent> IncomingEvents(const config::Behaviour& behaviour);

// The registration of extenders, and of plugins that can reject pods but register no events:
// everything, without hints. As in kube-scheduler, resource slices and volume attachments are not
// included.
std::vector<RegisteredEvent> DefaultEvents(const config::Behaviour& behaviour);

class HintMap {
 public:
  static constexpr size_t kMaxPlugins = 64;

  struct Registration {
    uint8_t plugin;  // position in Profile::Plugins(), or ExtenderPosition()
    RegisteredEvent registered;
  };

  // `profile` outlives the map. Fails when it has more plugins than the map can number.
  static Result<HintMap> Make(const Profile& profile, bool with_extenders);

  HintMap(HintMap&&) = default;
  HintMap& operator=(HintMap&&) = default;

  // What matches an event, by plugin. REQUIRES: `incoming` is one of IncomingEvents(); nothing
  // matches any other.
  std::span<const Registration* const> For(const queue::ClusterEvent& incoming) const {
    const Range& range = ranges_[Slot(incoming)];
    return {lists_.data() + range.begin, range.end - range.begin};
  }
  // The plugins among them, as bits of their positions.
  uint64_t PluginsFor(const queue::ClusterEvent& incoming) const {
    return ranges_[Slot(incoming)].plugins;
  }

  // May the event help `pod`, which `plugin` has rejected? kSkip when the plugin did not register
  // for it.
  Result<Hint> Ask(uint8_t plugin, const cluster::Cluster& cluster, const cluster::Pod& pod,
                   const queue::Event& event) const;

  // One past the plugins of the profile.
  uint8_t ExtenderPosition() const { return extender_; }
  // All registrations, in the order of plugins.
  std::span<const Registration> Registrations() const { return registrations_; }

 private:
  struct Range {
    uint32_t begin = 0;
    uint32_t end = 0;
    uint64_t plugins = 0;
  };
  // Actions that an incoming event can have: a bit, kUpdate, kAll, all the rest.
  static constexpr size_t kUpdateSlot = queue::kActionCount;
  static constexpr size_t kAllSlot = kUpdateSlot + 1;
  static constexpr size_t kActionSlots = kAllSlot + 2;
  static constexpr size_t kResources = cluster::kEventResources;

  HintMap() = default;
  static size_t Slot(const queue::ClusterEvent& event);
  void Register(uint8_t plugin, std::vector<RegisteredEvent> events,
                const config::Behaviour& behaviour);
  void Index(const config::Behaviour& behaviour);

  std::vector<Registration> registrations_;
  std::vector<const Registration*> lists_;  // one after the other
  std::array<Range, kResources * kActionSlots> ranges_{};
  uint8_t extender_ = 0;
};

}  // namespace berth::framework
