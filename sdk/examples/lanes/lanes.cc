// Lanes: an example of a plugin that orders the queue.
//
// Pods with the label lane=express go before others of their priority. Pods with the label
// hold=true stay out of the queue until the label is gone. Nodes with the same label lane as the
// pod are preferred; pods without a lane are not scored.
#include <string>
#include <string_view>
#include <vector>

#include "berth/plugin.hpp"

namespace {

class Lanes : public berth::sdk::Plugin {
 public:
  static constexpr const char* kName = "Lanes";
  explicit Lanes(const berth::sdk::Setup& setup) : Plugin(setup) {}

  Status PreEnqueue(const Pod& pod) override {
    if (pod.Label("hold") != "true") return {};
    return Status::Unschedulable("the pod is held back");
  }

  bool Less(const QueuedPod& a, const QueuedPod& b) override {
    if (a.pod.Priority() != b.pod.Priority()) return a.pod.Priority() > b.pod.Priority();
    if (IsExpress(a.pod) != IsExpress(b.pod)) return IsExpress(a.pod);
    return a.queued < b.queued;
  }

  Status PreScore(const Pod& pod, const std::vector<std::string_view>&) override {
    return pod.Label("lane") ? Status() : Status::Skip();
  }
  int64_t Score(const Pod& pod, const Node& node) override {
    return node.Label("lane") == pod.Label("lane") ? 100 : 0;
  }

  // Holding ends when labels change.
  std::vector<berth_event> EventsToRegister() override {
    return {{BERTH_EVENT_POD, BERTH_ON_POD_LABEL}, {BERTH_EVENT_NODE, BERTH_ON_ADD}};
  }

 private:
  static bool IsExpress(const Pod& pod) { return pod.Label("lane") == "express"; }
};

}  // namespace

BERTH_PLUGINS(Lanes)
