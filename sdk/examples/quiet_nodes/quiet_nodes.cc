// QuietNodes: a worked example of a plugin for berth.
//
//   Filter   keeps pods with the label "quiet" off nodes with the label "noisy"
//   Score    prefers nodes by the number in their label "quietness", whatever its scale
//   Permit   lets pods with the label "group" wait until enough of their group have a node
//
// Arguments (pluginConfig), all optional: {"groupSize": 2, "waitSeconds": 30}
#include <algorithm>
#include <charconv>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>

#include "berth/plugin.hpp"

namespace {

// The number behind "key" in a flat JSON object. A real plugin would use a JSON library.
int64_t NumberOf(std::string_view json, std::string_view key, int64_t otherwise) {
  const size_t at = json.find("\"" + std::string(key) + "\"");
  if (at == std::string_view::npos) return otherwise;
  const size_t colon = json.find(':', at + key.size() + 2);
  const size_t begin =
      colon == std::string_view::npos ? colon : json.find_first_not_of(": ", colon);
  int64_t number = 0;
  if (begin != std::string_view::npos) {
    const char* end = json.data() + json.size();
    const auto [stop, error] = std::from_chars(json.data() + begin, end, number);
    if (error == std::errc() && number > 0) return number;
  }
  throw std::invalid_argument(std::string(key) + " must be a whole number above 0");
}

class QuietNodes : public berth::sdk::Plugin {
 public:
  static constexpr const char* kName = "QuietNodes";

  explicit QuietNodes(const berth::sdk::Setup& setup)
      : Plugin(setup),
        group_size_(static_cast<size_t>(NumberOf(setup.args, "groupSize", 2))),
        wait_(NumberOf(setup.args, "waitSeconds", 30)) {}

  // Most pods are not quiet: for them Filter need not be called.
  Status PreFilter(const Pod& pod) override {
    return pod.Label("quiet") ? Status() : Status::Skip();
  }

  Status Filter(const Pod&, const Node& node) override {
    if (!node.Label("noisy")) return {};
    return Status::Unresolvable("node(s) were too noisy");
  }

  int64_t Score(const Pod&, const Node& node) override {
    int64_t quietness = 0;
    const std::string_view text = node.Label("quietness").value_or("0");
    std::from_chars(text.data(), text.data() + text.size(), quietness);
    return std::max<int64_t>(quietness, 0);
  }

  // The quietest node gets 100, the others their share of it.
  void NormalizeScore(const Pod&, std::vector<NodeScore>& scores) override {
    int64_t most = 0;
    for (const NodeScore& score : scores) most = std::max(most, score.score);
    for (NodeScore& score : scores) {
      score.score = most == 0 ? 0
                              : static_cast<int64_t>(100.0 * static_cast<double>(score.score) /
                                                     static_cast<double>(most));
    }
  }

  Permission Permit(const Pod& pod, const Node&) override {
    const auto group = pod.Label("group");
    if (!group) return {};
    std::set<std::string>& waiting = waiting_[std::string(*group)];
    waiting.emplace(pod.Uid());
    if (waiting.size() < group_size_) return Permission::Wait(wait_);
    for (const std::string& uid : waiting) Allow(uid);
    waiting_.erase(std::string(*group));
    Log("group " + std::string(*group) + " is complete");
    return {};
  }

  // The pod lost its node again: it timed out, was deleted, or could not be bound.
  void Unreserve(const Pod& pod, const Node&) override {
    const auto group = pod.Label("group");
    if (!group) return;
    const auto found = waiting_.find(std::string(*group));
    if (found == waiting_.end()) return;
    found->second.erase(std::string(pod.Uid()));
    if (found->second.empty()) waiting_.erase(found);
  }

  // A node that comes or changes its labels may be less noisy, a new pod may complete a group.
  std::vector<berth_event> EventsToRegister() override {
    return {{BERTH_EVENT_NODE, BERTH_ON_ADD | BERTH_ON_NODE_LABEL},
            {BERTH_EVENT_POD, BERTH_ON_ADD}};
  }

 private:
  const size_t group_size_;
  const std::chrono::seconds wait_;
  std::map<std::string, std::set<std::string>> waiting_;  // uids by group
};

}  // namespace

BERTH_PLUGINS(QuietNodes)
