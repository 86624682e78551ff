// Guests: an example of a plugin that preempts.
//
// Pods with the annotation example.com/guest=true are guests: they run where there is capacity to
// spare, on nodes whose annotation example.com/guests is not "no". Any pod that is no guest and
// fits nowhere makes room by sending guests away, as few as possible, first the least important
// ones. Busy nodes are avoided where load is measured.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "berth/plugin.hpp"

namespace {

constexpr const char* kGuest = "example.com/guest";    // of pods
constexpr const char* kGuests = "example.com/guests";  // of nodes

class Guests : public berth::sdk::Plugin {
 public:
  static constexpr const char* kName = "Guests";
  explicit Guests(const berth::sdk::Setup& setup) : Plugin(setup) {}

  static std::vector<std::string> PodAnnotations() { return {kGuest}; }
  static std::vector<std::string> NodeAnnotations() { return {kGuests}; }

  Status Filter(const Pod& pod, const Node& node) override {
    if (!IsGuest(pod) || node.Annotation(kGuests) != "no") return {};
    return Status::Unresolvable("node(s) took no guests");
  }

  Status PostFilter(const Pod& pod, Preemption& preemption) override {
    if (IsGuest(pod)) return Status::Unschedulable("guests send nobody away");
    for (const auto& [node, code] : preemption.RejectedNodes()) {
      if (code != BERTH_UNSCHEDULABLE) continue;
      const std::vector<std::string> guests = GuestsOn(node);
      // The fewest that are enough, if all of them are.
      for (size_t count = 1; count <= guests.size(); ++count) {
        if (preemption.Propose(node, {guests.begin(), guests.begin() + static_cast<long>(count)})) {
          return {};
        }
      }
    }
    return Status::Unschedulable("no guests to send away");
  }

  int64_t Score(const Pod&, const Node& node) override {
    const double busy = node.Load("CPU", "AVG").value_or(node.Load("CPU", "Latest").value_or(50));
    return 100 - static_cast<int64_t>(std::clamp(busy, 0.0, 100.0));
  }

  std::vector<berth_event> EventsToRegister() override {
    return {{BERTH_EVENT_NODE, BERTH_ON_ADD | BERTH_ON_NODE_ANNOTATION}};
  }
  // A node that takes no guests does not help one.
  bool MayHelp(const Pod&, const Change& change) override {
    const auto node = change.Node();
    return !node || node->Annotation(kGuests) != "no";
  }

  Status Bind(const Pod& pod, const Node&) override {
    if (IsGuest(pod)) Log("guest " + std::string(pod.Name()));
    return Status::Skip();  // berth's own plugin binds
  }

 private:
  static bool IsGuest(const Pod& pod) { return pod.Annotation(kGuest) == "true"; }

  static std::vector<std::string> GuestsOn(const Node& node) {
    std::vector<std::pair<int32_t, std::string>> guests;
    node.ForEachPod([&](const Pod& pod) {
      if (IsGuest(pod)) guests.emplace_back(pod.Priority(), pod.Uid());
      return true;
    });
    std::sort(guests.begin(), guests.end());
    std::vector<std::string> uids;
    for (auto& [priority, uid] : guests) uids.push_back(std::move(uid));
    return uids;
  }
};

}  // namespace

BERTH_PLUGINS(Guests)
