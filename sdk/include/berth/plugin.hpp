// Plugins for berth in C++17: derive from berth::sdk::Plugin, override what you need, and name the
// class in BERTH_PLUGINS. Header only, over the C interface of berth/plugin_abi.h.
// Over 600 lines: a plugin needs this file and the C interface, and nothing else.
//
//   class Quiet : public berth::sdk::Plugin {
//    public:
//     static constexpr const char* kName = "Quiet";
//     explicit Quiet(const berth::sdk::Setup& setup) : Plugin(setup) {}
//     Status Filter(const Pod& pod, const Node& node) override {
//       if (!pod.Label("quiet") || !node.Label("noisy")) return {};
//       return Status::Unschedulable("node(s) were too noisy");
//     }
//   };
//   BERTH_PLUGINS(Quiet)
//
// A plugin serves the extension points whose methods it overrides; they must be public. An
// exception from a method becomes an error status; an exception from the constructor rejects the
// configuration. A plugin is one object per profile. Filter and Score may run on several threads at
// once. All other methods run on one thread, never at the same time as those, one pod after the
// other: what PreFilter stores in the object is valid for Filter, Score, Reserve and Permit of the
// same pod.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "berth/plugin_abi.h"

namespace berth::sdk {

inline berth_string ToAbi(std::string_view text) { return {text.data(), text.size()}; }
inline std::string_view FromAbi(berth_string text) {
  return text.size == 0 ? std::string_view() : std::string_view(text.data, text.size);
}

// Whether berth is new enough to have this function.
template <class Function>
bool Offers(const berth_host* host, Function berth_host::*member) {
  const auto* end = reinterpret_cast<const char*>(&(host->*member)) + sizeof(Function);
  return end <= reinterpret_cast<const char*>(host) + host->size;
}

class Status {
 public:
  Status() = default;  // success
  Status(int32_t code, std::string reason) : code_(code), reason_(std::move(reason)) {}

  // The pod does not fit; removing pods may help / cannot help.
  static Status Unschedulable(std::string reason) {
    return {BERTH_UNSCHEDULABLE, std::move(reason)};
  }
  static Status Unresolvable(std::string reason) { return {BERTH_UNRESOLVABLE, std::move(reason)}; }
  // An error that the pod did not cause.
  static Status Error(std::string reason) { return {BERTH_ERROR, std::move(reason)}; }
  // From PreFilter: Filter is not called for this pod. From PreScore: Score is not. From Bind: the
  // next plugin is called.
  static Status Skip() { return {BERTH_SKIP, ""}; }

  int32_t code() const { return code_; }
  const std::string& reason() const { return reason_; }

 private:
  int32_t code_ = BERTH_SUCCESS;
  std::string reason_;
};

// The result of Permit.
struct Permission {
  Status status;
  std::chrono::nanoseconds timeout{0};

  Permission() = default;                                       // allowed
  Permission(Status rejected) : status(std::move(rejected)) {}  // NOLINT: a rejection is one
  static Permission Wait(std::chrono::nanoseconds at_most) {
    Permission permission(Status(BERTH_WAIT, ""));
    permission.timeout = at_most;
    return permission;
  }
};

// A pod, valid during the call. Amounts: cpu in millicores, others in units.
class Pod {
 public:
  Pod(const berth_host* host, const berth_pod* pod) : host_(host), pod_(pod) {}

  std::string_view Namespace() const { return FromAbi(host_->pod_namespace(pod_)); }
  std::string_view Name() const { return FromAbi(host_->pod_name(pod_)); }
  std::string_view Uid() const { return FromAbi(host_->pod_uid(pod_)); }
  int32_t Priority() const { return host_->pod_priority(pod_); }
  std::optional<std::string_view> Label(std::string_view key) const {
    berth_string value{};
    if (host_->pod_label(pod_, ToAbi(key), &value) == 0) return std::nullopt;
    return FromAbi(value);
  }
  std::vector<std::pair<std::string_view, std::string_view>> Labels() const {
    std::vector<std::pair<std::string_view, std::string_view>> labels;
    berth_string key{}, value{};
    for (size_t i = 0; host_->pod_label_at(pod_, i, &key, &value) != 0; ++i) {
      labels.emplace_back(FromAbi(key), FromAbi(value));
    }
    return labels;
  }
  // Of the keys in the plugin's PodAnnotations().
  std::optional<std::string_view> Annotation(std::string_view key) const {
    berth_string value{};
    if (!Offers(host_, &berth_host::pod_annotation)) return std::nullopt;
    if (host_->pod_annotation(pod_, ToAbi(key), &value) == 0) return std::nullopt;
    return FromAbi(value);
  }
  int64_t Request(std::string_view resource) const {
    return host_->pod_request(pod_, ToAbi(resource));
  }
  // Everything scheduling reads from the pod, as JSON of v1.Pod.
  std::string Json() const {
    std::string json;
    host_->pod_json(
        pod_, [](void* to, berth_string text) { *static_cast<std::string*>(to) = FromAbi(text); },
        &json);
    return json;
  }

 private:
  const berth_host* host_;
  const berth_pod* pod_;
};

struct Taint {
  std::string_view key;
  std::string_view value;
  std::string_view effect;
};

// A node, valid during the call.
class Node {
 public:
  Node(const berth_host* host, const berth_node* node) : host_(host), node_(node) {}

  std::string_view Name() const { return FromAbi(host_->node_name(node_)); }
  std::optional<std::string_view> Label(std::string_view key) const {
    berth_string value{};
    if (host_->node_label(node_, ToAbi(key), &value) == 0) return std::nullopt;
    return FromAbi(value);
  }
  std::vector<std::pair<std::string_view, std::string_view>> Labels() const {
    std::vector<std::pair<std::string_view, std::string_view>> labels;
    berth_string key{}, value{};
    for (size_t i = 0; host_->node_label_at(node_, i, &key, &value) != 0; ++i) {
      labels.emplace_back(FromAbi(key), FromAbi(value));
    }
    return labels;
  }
  int64_t Allocatable(std::string_view resource) const {
    return host_->node_allocatable(node_, ToAbi(resource));
  }
  int64_t Requested(std::string_view resource) const {
    return host_->node_requested(node_, ToAbi(resource));
  }
  int64_t PodCount() const { return host_->node_pod_count(node_); }
  bool Unschedulable() const { return host_->node_unschedulable(node_) != 0; }
  // Of the keys in the plugin's NodeAnnotations().
  std::optional<std::string_view> Annotation(std::string_view key) const {
    berth_string value{};
    if (!Offers(host_, &berth_host::node_annotation)) return std::nullopt;
    if (host_->node_annotation(node_, ToAbi(key), &value) == 0) return std::nullopt;
    return FromAbi(value);
  }
  // The measured load in percent: "CPU" or "Memory", "AVG", "STD" or "Latest". While a plugin of
  // the configuration that scores by load names a source of it.
  std::optional<double> Load(std::string_view type, std::string_view operation) const {
    double percent = 0;
    int64_t window_end = 0;
    if (!Offers(host_, &berth_host::node_load)) return std::nullopt;
    if (host_->node_load(node_, ToAbi(type), ToAbi(operation), &percent, &window_end) == 0) {
      return std::nullopt;
    }
    return percent;
  }
  std::vector<Taint> Taints() const {
    std::vector<Taint> taints;
    berth_string key{}, value{}, effect{};
    for (size_t i = 0; host_->node_taint_at(node_, i, &key, &value, &effect) != 0; ++i) {
      taints.push_back({FromAbi(key), FromAbi(value), FromAbi(effect)});
    }
    return taints;
  }
  // Every pod on the node, those assumed there included. `visit` returns false to stop, and must
  // not throw.
  void ForEachPod(const std::function<bool(const Pod&)>& visit) const {
    struct Visitor {
      const berth_host* host;
      const std::function<bool(const Pod&)>& visit;
    } visitor{host_, visit};
    host_->node_each_pod(
        node_,
        [](void* to, const berth_pod* pod) -> int {
          const auto& self = *static_cast<const Visitor*>(to);
          return self.visit(Pod(self.host, pod)) ? 1 : 0;
        },
        &visitor);
  }

 private:
  friend class Preemption;

  const berth_host* host_;
  const berth_node* node_;
};

// The preemption that PostFilter may propose.
class Preemption {
 public:
  Preemption(const berth_host* host, berth_proposal* proposal) : host_(host), proposal_(proposal) {}

  // A node that was rejected, and the code of its status.
  struct Rejected {
    Node node;
    int32_t code;  // BERTH_UNRESOLVABLE: deleting pods cannot help there
  };
  std::vector<Rejected> RejectedNodes() const {
    std::vector<Rejected> nodes;
    for (size_t i = 0;; ++i) {
      const berth_node* node = host_->rejected_node(proposal_, i);
      if (node == nullptr) return nodes;
      nodes.push_back({Node(host_, node), host_->rejected_code(proposal_, i)});
    }
  }
  // Does the pod pass all filters on the node when these pods are gone?
  bool FitsWithout(const Node& node, const std::vector<std::string>& pod_uids) const {
    const std::vector<berth_string> uids = ToAbi(pod_uids);
    return host_->fits_without(proposal_, node.node_, uids.data(), uids.size()) != 0;
  }
  // To delete these pods and to nominate the pod to the node. False: it would not fit.
  bool Propose(const Node& node, const std::vector<std::string>& pod_uids) {
    const std::vector<berth_string> uids = ToAbi(pod_uids);
    return host_->propose(proposal_, node.node_, uids.data(), uids.size()) != 0;
  }

 private:
  static std::vector<berth_string> ToAbi(const std::vector<std::string>& texts) {
    std::vector<berth_string> strings;
    for (const std::string& text : texts) strings.push_back(sdk::ToAbi(text));
    return strings;
  }

  const berth_host* host_;
  berth_proposal* proposal_;
};

// An event, for MayHelp.
class Change {
 public:
  Change(const berth_host* host, const berth_change* change) : host_(host), change_(change) {}

  uint32_t Resource() const { return host_->change_resource(change_); }  // BERTH_EVENT_POD, …
  uint32_t Actions() const { return host_->change_actions(change_); }    // BERTH_ON_ADD, …
  // The pod as it is now, or as it was when it has gone.
  std::optional<sdk::Pod> Pod() const {
    const berth_pod* pod = host_->change_pod(change_);
    return pod == nullptr ? std::nullopt : std::optional<sdk::Pod>(sdk::Pod(host_, pod));
  }
  // The node as it is now; nothing when it has gone.
  std::optional<sdk::Node> Node() const {
    const berth_node* node = host_->change_node(change_);
    return node == nullptr ? std::nullopt : std::optional<sdk::Node>(sdk::Node(host_, node));
  }

 private:
  const berth_host* host_;
  const berth_change* change_;
};

struct NodeScore {
  std::string_view node;
  int64_t score;
};

// A pod in the queue.
struct QueuedPod {
  Pod pod;
  std::chrono::nanoseconds queued;  // since 1970
};

// The arguments of a plugin's constructor.
struct Setup {
  const berth_host* host;
  berth_instance* instance;
  std::string args;  // JSON of the plugin's pluginConfig; empty when there is none
};

class Plugin {
 public:
  using Node = sdk::Node;
  using NodeScore = sdk::NodeScore;
  using Change = sdk::Change;
  using Permission = sdk::Permission;
  using Pod = sdk::Pod;
  using Preemption = sdk::Preemption;
  using QueuedPod = sdk::QueuedPod;
  using Status = sdk::Status;

  explicit Plugin(const Setup& setup) : host_(setup.host), instance_(setup.instance) {}
  virtual ~Plugin() = default;
  Plugin(const Plugin&) = delete;
  Plugin& operator=(const Plugin&) = delete;

  // May the pod enter the queue? A rejection keeps it out until an event that may help.
  virtual Status PreEnqueue(const Pod&) { return {}; }
  // Does the first go before the second? A strict order that does not change while pods wait. For
  // plugins enabled at queueSort, one for all profiles.
  virtual bool Less(const QueuedPod&, const QueuedPod&) { return false; }
  // Once per attempt, before Filter.
  virtual Status PreFilter(const Pod&) { return {}; }
  // May the pod run on the node?
  virtual Status Filter(const Pod&, const Node&) { return {}; }
  // No node passed. Success after Propose: the pod will fit when those pods are gone.
  // Unschedulable: the next plugin is called; Unresolvable: none is. FitsWithout and Propose call
  // Filter.
  virtual Status PostFilter(const Pod&, Preemption&) { return Status::Unschedulable(""); }
  // Once per attempt, before Score: the nodes that passed.
  virtual Status PreScore(const Pod&, const std::vector<std::string_view>&) { return {}; }
  // 0..100, unless NormalizeScore is overridden, which maps any numbers to 0..100.
  virtual int64_t Score(const Pod&, const Node&) { return 0; }
  virtual void NormalizeScore(const Pod&, std::vector<NodeScore>&) {}
  // The node was chosen, and the pod is assumed there. Unreserve reverts this; it may be called for
  // a pod without Reserve.
  virtual Status Reserve(const Pod&, const Node&) { return {}; }
  virtual void Unreserve(const Pod&, const Node&) {}
  // May the pod be bound? Permission(), a rejection, or Wait: then Allow or Reject, from any method
  // that is not Filter or Score, decides.
  virtual Permission Permit(const Pod&, const Node&) { return {}; }
  // The last check before the binding is written.
  virtual Status PreBind(const Pod&, const Node&) { return {}; }
  // Success: berth writes the binding. Skip: the next plugin is called. An error: the pod is
  // retried.
  virtual Status Bind(const Pod&, const Node&) { return Status::Skip(); }
  virtual void PostBind(const Pod&, const Node&) {}
  // Which events may help a pod that this plugin rejected. Not overridden: all.
  virtual std::vector<berth_event> EventsToRegister() { return {}; }
  // May such an event help this pod, which the plugin rejected? Not overridden: yes.
  virtual bool MayHelp(const Pod&, const Change&) { return true; }

  // Keys of annotations that the plugin reads. A plugin hides these with its own.
  static std::vector<std::string> PodAnnotations() { return {}; }
  static std::vector<std::string> NodeAnnotations() { return {}; }

 protected:
  void Log(std::string_view message) const { host_->log(instance_, ToAbi(message)); }
  void Allow(std::string_view pod_uid) const { host_->allow_waiting(instance_, ToAbi(pod_uid)); }
  void Reject(std::string_view pod_uid, std::string_view message) const {
    host_->reject_waiting(instance_, ToAbi(pod_uid), ToAbi(message));
  }

 private:
  template <class T>
  friend struct Bridge;
  const berth_host* host_;
  berth_instance* instance_;
  std::vector<berth_event> events_;
};

// The C functions for plugin class T.
template <class T>
struct Bridge {
  static const berth_host* HostOf(void* self) {
    return static_cast<const Plugin*>(static_cast<T*>(self))->host_;
  }

  static int32_t Tell(const berth_host* host, berth_answer* answer, const Status& status) {
    if (!status.reason().empty()) host->set_reason(answer, ToAbi(status.reason()));
    return status.code();
  }

  // Runs `call`, which returns a Status. Exceptions do not escape.
  template <class Call>
  static int32_t Guard(const berth_host* host, berth_answer* answer, Call&& call) {
    try {
      return Tell(host, answer, call());
    } catch (const std::exception& thrown) {
      host->set_reason(answer, ToAbi(std::string_view(thrown.what())));
    } catch (...) {
      host->set_reason(answer, ToAbi("unknown exception"));
    }
    return BERTH_ERROR;
  }
  template <class Call>
  static void GuardVoid(void* self, const char* what, Call&& call) {
    Plugin* plugin = static_cast<T*>(self);
    try {
      try {
        call();
      } catch (const std::exception& thrown) {
        plugin->Log(std::string(what) + " threw: " + thrown.what());
      }
    } catch (...) {
      plugin->host_->log(plugin->instance_, ToAbi("threw"));
    }
  }

  static void* Create(const berth_host* host, berth_instance* instance, berth_string args,
                      berth_answer* answer) {
    T* made = nullptr;
    Guard(host, answer, [&] {
      made = new T(Setup{host, instance, std::string(FromAbi(args))});
      return Status();
    });
    return made;
  }
  static void Destroy(void* self) {
    try {
      delete static_cast<T*>(self);
    } catch (...) {  // nobody handles an exception from a destructor
    }
  }
  static size_t Events(void* self, const berth_event** events) {
    Plugin* plugin = static_cast<T*>(self);
    GuardVoid(self, "EventsToRegister", [&] { plugin->events_ = plugin->EventsToRegister(); });
    *events = plugin->events_.data();
    return plugin->events_.size();
  }

  static int32_t PreEnqueue(void* self, const berth_pod* pod, berth_answer* answer) {
    const berth_host* host = HostOf(self);
    return Guard(host, answer, [&] { return static_cast<T*>(self)->PreEnqueue(Pod(host, pod)); });
  }
  static int32_t Less(void* self, const berth_pod* a, int64_t a_queued, const berth_pod* b,
                      int64_t b_queued) {
    const berth_host* host = HostOf(self);
    bool less = false;
    GuardVoid(self, "Less", [&] {
      const QueuedPod first{Pod(host, a), std::chrono::nanoseconds(a_queued)};
      const QueuedPod second{Pod(host, b), std::chrono::nanoseconds(b_queued)};
      less = static_cast<T*>(self)->Less(first, second);
    });
    return less ? 1 : 0;
  }
  static int32_t PreScore(void* self, const berth_pod* pod, const berth_string* nodes, size_t count,
                          berth_answer* answer) {
    const berth_host* host = HostOf(self);
    return Guard(host, answer, [&] {
      std::vector<std::string_view> names;
      names.reserve(count);
      for (size_t i = 0; i < count; ++i) names.push_back(FromAbi(nodes[i]));
      return static_cast<T*>(self)->PreScore(Pod(host, pod), names);
    });
  }
  static int32_t PostFilter(void* self, const berth_pod* pod, berth_proposal* proposal,
                            berth_answer* answer) {
    const berth_host* host = HostOf(self);
    return Guard(host, answer, [&] {
      Preemption preemption(host, proposal);
      return static_cast<T*>(self)->PostFilter(Pod(host, pod), preemption);
    });
  }
  static int32_t Bind(void* self, const berth_pod* pod, const berth_node* node,
                      berth_answer* answer) {
    const berth_host* host = HostOf(self);
    return Guard(host, answer,
                 [&] { return static_cast<T*>(self)->Bind(Pod(host, pod), Node(host, node)); });
  }
  static int32_t Hint(void* self, const berth_pod* pod, const berth_change* change) {
    const berth_host* host = HostOf(self);
    bool helps = true;
    GuardVoid(self, "MayHelp", [&] {
      helps = static_cast<T*>(self)->MayHelp(Pod(host, pod), Change(host, change));
    });
    return helps ? 1 : 0;
  }
  static int32_t PreFilter(void* self, const berth_pod* pod, berth_answer* answer) {
    const berth_host* host = HostOf(self);
    return Guard(host, answer, [&] { return static_cast<T*>(self)->PreFilter(Pod(host, pod)); });
  }
  static int32_t Filter(void* self, const berth_pod* pod, const berth_node* node,
                        berth_answer* answer) {
    const berth_host* host = HostOf(self);
    return Guard(host, answer,
                 [&] { return static_cast<T*>(self)->Filter(Pod(host, pod), Node(host, node)); });
  }
  static int32_t Score(void* self, const berth_pod* pod, const berth_node* node, int64_t* score,
                       berth_answer* answer) {
    const berth_host* host = HostOf(self);
    return Guard(host, answer, [&] {
      *score = static_cast<T*>(self)->Score(Pod(host, pod), Node(host, node));
      return Status();
    });
  }
  static int32_t Normalize(void* self, const berth_pod* pod, berth_node_score* scores, size_t count,
                           berth_answer* answer) {
    const berth_host* host = HostOf(self);
    return Guard(host, answer, [&] {
      std::vector<NodeScore> all;
      all.reserve(count);
      for (size_t i = 0; i < count; ++i) all.push_back({FromAbi(scores[i].node), scores[i].score});
      static_cast<T*>(self)->NormalizeScore(Pod(host, pod), all);
      if (all.size() != count) throw std::runtime_error("NormalizeScore changed the set of nodes");
      for (size_t i = 0; i < count; ++i) scores[i].score = all[i].score;
      return Status();
    });
  }
  static int32_t Reserve(void* self, const berth_pod* pod, const berth_node* node,
                         berth_answer* answer) {
    const berth_host* host = HostOf(self);
    return Guard(host, answer,
                 [&] { return static_cast<T*>(self)->Reserve(Pod(host, pod), Node(host, node)); });
  }
  static void Unreserve(void* self, const berth_pod* pod, const berth_node* node) {
    const berth_host* host = HostOf(self);
    GuardVoid(self, "Unreserve",
              [&] { static_cast<T*>(self)->Unreserve(Pod(host, pod), Node(host, node)); });
  }
  static int32_t Permit(void* self, const berth_pod* pod, const berth_node* node,
                        int64_t* timeout_ns, berth_answer* answer) {
    const berth_host* host = HostOf(self);
    return Guard(host, answer, [&] {
      Permission permission = static_cast<T*>(self)->Permit(Pod(host, pod), Node(host, node));
      *timeout_ns = permission.timeout.count();
      return permission.status;
    });
  }
  static int32_t PreBind(void* self, const berth_pod* pod, const berth_node* node,
                         berth_answer* answer) {
    const berth_host* host = HostOf(self);
    return Guard(host, answer,
                 [&] { return static_cast<T*>(self)->PreBind(Pod(host, pod), Node(host, node)); });
  }
  static void PostBind(void* self, const berth_pod* pod, const berth_node* node) {
    const berth_host* host = HostOf(self);
    GuardVoid(self, "PostBind",
              [&] { static_cast<T*>(self)->PostBind(Pod(host, pod), Node(host, node)); });
  }

  // Does T (or a class between) override the method of Plugin?
  template <class Own, class Base>
  static constexpr bool Overrides(Own, Base) {
    return !std::is_same_v<Own, Base>;
  }

  // Texts, and how the interface has them.
  struct Keys {
    explicit Keys(std::vector<std::string> given) : texts(std::move(given)) {
      for (const std::string& text : texts) strings.push_back(ToAbi(text));
    }
    std::vector<std::string> texts;
    std::vector<berth_string> strings;
  };

  static berth_plugin Describe() {
    berth_plugin plugin{};
    plugin.size = sizeof plugin;
    plugin.name = ToAbi(T::kName);
    plugin.create = &Create;
    plugin.destroy = &Destroy;
    if (Overrides(&T::EventsToRegister, &Plugin::EventsToRegister)) plugin.events = &Events;
    const auto serve = [&](bool served, uint32_t point) {
      if (served) plugin.points |= point;
    };
    serve(Overrides(&T::PreEnqueue, &Plugin::PreEnqueue), BERTH_PRE_ENQUEUE);
    serve(Overrides(&T::Less, &Plugin::Less), BERTH_QUEUE_SORT);
    serve(Overrides(&T::PreScore, &Plugin::PreScore), BERTH_PRE_SCORE);
    serve(Overrides(&T::PreFilter, &Plugin::PreFilter), BERTH_PRE_FILTER);
    serve(Overrides(&T::Filter, &Plugin::Filter), BERTH_FILTER);
    serve(Overrides(&T::Score, &Plugin::Score), BERTH_SCORE);
    serve(Overrides(&T::Reserve, &Plugin::Reserve), BERTH_RESERVE);
    serve(Overrides(&T::Unreserve, &Plugin::Unreserve), BERTH_RESERVE);
    serve(Overrides(&T::Permit, &Plugin::Permit), BERTH_PERMIT);
    serve(Overrides(&T::PreBind, &Plugin::PreBind), BERTH_PRE_BIND);
    serve(Overrides(&T::PostBind, &Plugin::PostBind), BERTH_POST_BIND);
    serve(Overrides(&T::PostFilter, &Plugin::PostFilter), BERTH_POST_FILTER);
    serve(Overrides(&T::Bind, &Plugin::Bind), BERTH_BIND);
    plugin.pre_enqueue = &PreEnqueue;
    plugin.less = &Less;
    plugin.pre_score = &PreScore;
    plugin.pre_filter = &PreFilter;
    plugin.filter = &Filter;
    plugin.score = &Score;
    if (Overrides(&T::NormalizeScore, &Plugin::NormalizeScore)) plugin.normalize = &Normalize;
    plugin.reserve = &Reserve;
    plugin.unreserve = &Unreserve;
    plugin.permit = &Permit;
    plugin.pre_bind = &PreBind;
    plugin.post_bind = &PostBind;
    plugin.post_filter = &PostFilter;
    plugin.bind = &Bind;
    if (Overrides(&T::MayHelp, &Plugin::MayHelp)) plugin.hint = &Hint;
    static const Keys pods(T::PodAnnotations());
    static const Keys nodes(T::NodeAnnotations());
    plugin.pod_annotations = pods.strings.data();
    plugin.pod_annotation_count = pods.strings.size();
    plugin.node_annotations = nodes.strings.data();
    plugin.node_annotation_count = nodes.strings.size();
    return plugin;
  }
};

template <class... T>
const berth_plugin* At(size_t index) {
  static const berth_plugin kPlugins[] = {Bridge<T>::Describe()...};
  return index < sizeof...(T) ? &kPlugins[index] : nullptr;
}

}  // namespace berth::sdk

// The plugins of a library; once, at file scope.
#define BERTH_PLUGINS(...)                                                                \
  extern "C" uint32_t berth_plugin_abi_version(void) { return BERTH_PLUGIN_ABI_VERSION; } \
  extern "C" const struct berth_plugin* berth_plugin_at(size_t index) {                   \
    return ::berth::sdk::At<__VA_ARGS__>(index);                                          \
  }
