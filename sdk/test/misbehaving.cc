// For tests only: plugins that do everything a plugin should not.
//
// "Misbehaving" does what the pod's label "do" says, at the extension point that the label "at"
// says. It is written in C++ with the wrapper, as is "Hasty". "Raw" is written against the C
// interface by hand, and throws through it.
#include <chrono>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "berth/plugin.hpp"

namespace {

class Misbehaving : public berth::sdk::Plugin {
 public:
  static constexpr const char* kName = "Misbehaving";

  explicit Misbehaving(const berth::sdk::Setup& setup) : Plugin(setup) {
    if (setup.args.find("refuse") != std::string::npos) throw std::invalid_argument("bad argument");
    if (setup.args.find("odd") != std::string::npos) throw 7;  // NOLINT: on purpose
  }

  Status PreFilter(const Pod& pod) override { return Do(pod, "PreFilter"); }
  Status Filter(const Pod& pod, const Node&) override { return Do(pod, "Filter"); }
  int64_t Score(const Pod& pod, const Node&) override {
    const Status status = Do(pod, "Score");
    return status.code() == BERTH_SUCCESS ? 50 : 101;
  }
  Status Reserve(const Pod& pod, const Node&) override { return Do(pod, "Reserve"); }
  void Unreserve(const Pod& pod, const Node&) override { Do(pod, "Unreserve"); }
  Permission Permit(const Pod& pod, const Node&) override { return Do(pod, "Permit"); }
  Status PreBind(const Pod& pod, const Node&) override { return Do(pod, "PreBind"); }
  void PostBind(const Pod& pod, const Node&) override { Do(pod, "PostBind"); }
  std::vector<berth_event> EventsToRegister() override { return {{4711, 1}}; }

 private:
  Status Do(const Pod& pod, std::string_view point) const {
    if (pod.Label("at") != point) return {};
    const std::string_view what = pod.Label("do").value_or("");
    if (what == "throw") throw std::runtime_error("out of luck");
    if (what == "throw-int") throw 7;  // NOLINT: on purpose
    if (what == "fail") return Status::Error("not feeling well");
    if (what == "nonsense") return {4711, "what?"};
    if (what == "reject") return Status::Unschedulable(std::string("go \xff away\n") + '\0');
    if (what == "sleep") std::this_thread::sleep_for(std::chrono::milliseconds(30));
    return {};
  }
};

// Preempts and binds as the pod's label "do" says, without sense.
class Hasty : public berth::sdk::Plugin {
 public:
  static constexpr const char* kName = "Hasty";
  explicit Hasty(const berth::sdk::Setup& setup) : Plugin(setup) {}

  Status PostFilter(const Pod& pod, Preemption& preemption) override {
    const std::string_view what = pod.Label("do").value_or("");
    if (what == "claim") return {};  // nothing was proposed
    if (what == "throw") throw std::runtime_error("out of luck");
    for (const auto& [node, code] : preemption.RejectedNodes()) {
      std::vector<std::string> uids;
      if (what == "foreign") uids = {"elsewhere"};
      if (what == "unknown") uids = {"nobody"};
      if (what == "twice") uids = {"resident", "resident"};
      if (preemption.FitsWithout(node, uids)) return Status::Error("it fits?");
      if (preemption.Propose(node, uids)) return Status::Error("it may?");
    }
    return Status::Unschedulable("no way");
  }
  Status Bind(const Pod& pod, const Node&) override {
    return pod.Label("do") == "fail" ? Status::Error("will not bind") : Status::Skip();
  }
  bool MayHelp(const Pod& pod, const Change& change) override {
    Log("asked by " + std::string(pod.Name()) + " about " +
        std::string(change.Pod() ? change.Pod()->Name() : "something else"));
    throw std::runtime_error("no idea");
  }
  Status Filter(const Pod& pod, const Node&) override {
    return pod.Label("do") == "wait" ? Status::Unschedulable("not yet") : Status();
  }
};

berth_string Text(const char* text) { return {text, std::char_traits<char>::length(text)}; }

int here = 0;
void* RawCreate(const berth_host*, berth_instance*, berth_string, berth_answer*) { return &here; }
int32_t RawFilter(void*, const berth_pod*, const berth_node*, berth_answer*) {
  throw std::runtime_error("straight through");
}

}  // namespace

extern "C" uint32_t berth_plugin_abi_version(void) { return BERTH_PLUGIN_ABI_VERSION; }
extern "C" const struct berth_plugin* berth_plugin_at(size_t index) {
  static const berth_plugin kWrapped = berth::sdk::Bridge<Misbehaving>::Describe();
  static const berth_plugin kHasty = berth::sdk::Bridge<Hasty>::Describe();
  static const berth_plugin kRaw = [] {
    berth_plugin plugin{};
    plugin.size = offsetof(berth_plugin, pre_enqueue);  // as built before that was added
    plugin.points = BERTH_FILTER;
    plugin.name = Text("Raw");
    plugin.create = &RawCreate;
    plugin.filter = &RawFilter;
    return plugin;
  }();
  return index == 0 ? &kWrapped : index == 1 ? &kRaw : index == 2 ? &kHasty : nullptr;
}
