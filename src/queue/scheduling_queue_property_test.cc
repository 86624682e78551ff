// The queue against a model that keeps every pod in one plain list, every pod's own copy of the
// events it missed, and finds everything by looking at all of it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

#include "queue/scheduling_queue.h"
#include "queue/testing/fake_queue_host.h"

namespace berth::queue {
namespace {

constexpr int64_t kSecond = 1'000'000'000;
constexpr int64_t kBase = 1'700'000'000 * kSecond;
constexpr PluginId kPlugins = 5;

api::Time TimeOf(int64_t ns) { return api::Time::FromUnixNano(ns); }

struct ModelPod {
  uint8_t profile = 0;
  std::string place;
  uint64_t order = 0;
  int64_t timestamp = 0;
  std::optional<int64_t> initial_attempt;
  int attempts = 0, unschedulable = 0, errors = 0;
  PluginMask rejected = 0, pending = 0;
  PluginId gate = kNoPlugin;
  bool deleted = false;
  std::vector<std::pair<Event, PodId>> missed;  // since Pop, while in flight
};

class Model {
 public:
  Model(FakeQueueHost& host, const QueueOptions& options, size_t profiles)
      : host_(host), options_(options), profiles_(profiles) {}

  std::map<PodId, ModelPod> pods;
  std::vector<std::string> incoming;

  void Start(int64_t now) { first_now_ = now_ = now; }

  void Add(PodId id, uint8_t profile) {
    if (pods.contains(id)) {
      pods[id].deleted = false;
      return;
    }
    ModelPod& p = pods[id];
    p.profile = profile;
    p.timestamp = now_;
    ToActive(id, "UnschedulablePodAdd", true);
  }
  void Delete(PodId id) {
    if (!pods.contains(id)) return;
    if (pods[id].place == "in-flight") {
      pods[id].deleted = true;
    } else {
      pods.erase(id);
    }
  }
  void Done(PodId id) {
    if (pods.contains(id) && pods[id].place == "in-flight") pods.erase(id);
  }
  std::optional<PodId> Pop() {
    std::optional<PodId> best = First("active");
    if (!best && options_.pop_from_backoff) {
      best = First("backoff");
      if (best) incoming.push_back("active PopFromBackoffQ");
    }
    if (!best) return best;
    ModelPod& p = pods[*best];
    p.place = "in-flight";
    ++p.attempts;
    p.rejected = p.pending = 0;
    p.gate = kNoPlugin;
    p.missed.clear();
    return best;
  }
  void AddUnschedulable(PodId id, PluginMask rejected, PluginMask pending) {
    if (!pods.contains(id) || pods[id].place != "in-flight") return;
    if (pods[id].deleted) return Done(id);
    ModelPod& p = pods[id];
    p.rejected = rejected;
    p.pending = pending;
    if (rejected == 0 && pending == 0) {
      ++p.errors;
    } else {
      ++p.unschedulable;
      p.errors = 0;
    }
    p.timestamp = now_;
    int best = rejected == 0 && pending == 0 ? 1 : 0;
    for (const auto& [event, only] : p.missed) best = std::max(best, Worth(id, event, only));
    p.missed.clear();
    p.place = "";
    Requeue(id, best, "ScheduleAttemptFailure");
  }
  void Update(PodId id, const std::vector<ClusterEvent>& changes) {
    if (!pods.contains(id)) return;
    ModelPod& p = pods[id];
    if (p.place == "in-flight") {
      for (const ClusterEvent& change : changes) Record({change, {}, {}}, cluster::kNoPod);
      return;
    }
    if (!Parked(p)) return;
    for (const ClusterEvent& change : changes) {
      const int worth = Worth(id, {change, {}, {}}, cluster::kNoPod);
      if (worth == 0) continue;
      if (Requeue(id, worth, change.Label())) return;
    }
  }
  void Move(const Event& event, std::optional<int32_t> max_priority) {
    PluginMask any = 0;
    for (size_t i = 0; i < profiles_; ++i) any |= host_.Registered(i, event.what);
    if (any == 0 && !event.what.IsWildCard()) return;
    for (const PodId id : ParkedInOrder()) {
      ModelPod& p = pods[id];
      if (max_priority && host_.Priority(id) > *max_priority) continue;
      if (p.gate != kNoPlugin && (host_.Registered(p.profile, event.what) & MaskOf(p.gate)) == 0) {
        continue;
      }
      const int worth = Worth(id, event, cluster::kNoPod);
      if (worth == 0) continue;
      p.place = "";
      Requeue(id, worth, event.what.Label());
    }
    Record(event, cluster::kNoPod);
  }
  void Activate(PodId id) {
    if (!pods.contains(id)) return;
    ModelPod& p = pods[id];
    if (p.place == "in-flight") return Record({kForceActivate, {}, {}}, id);
    if (p.place == "active") return;
    if (!Parked(p)) p.place = "";
    ToActive(id, "ForceActivate", true);
  }
  // Every tick there is, one by one.
  void AdvanceTo(int64_t now) {
    for (int64_t tick = NextTick(now_); tick <= now; tick = NextTick(tick)) {
      now_ = tick;
      RunTick();
    }
    now_ = now;
  }
  // The first tick within `horizon` at which a pod is due.
  std::optional<int64_t> NextWake(int64_t horizon) const {
    for (int64_t tick = NextTick(now_); tick <= now_ + horizon; tick = NextTick(tick)) {
      for (const auto& [id, p] : pods) {
        if (BackoffDone(p, tick) || IsLeftover(p, tick)) return tick;
      }
    }
    return std::nullopt;
  }
  size_t InFlightEvents() const {
    size_t most = 0;
    for (const auto& [id, p] : pods) most = std::max(most, p.missed.size());
    return most;
  }
  size_t CountIn(std::initializer_list<std::string_view> places) const {
    size_t count = 0;
    for (const auto& [id, p] : pods) count += std::ranges::count(places, p.place);
    return count;
  }
  int64_t now() const { return now_; }

 private:
  static bool Parked(const ModelPod& p) { return p.place == "unschedulable" || p.place == "gated"; }

  bool IsBackoffTick(int64_t t) const {
    return options_.backoff.align_to_second ? t % kSecond == 0 : (t - first_now_) % kSecond == 0;
  }
  bool IsLeftoverTick(int64_t t) const { return (t - first_now_) % (30 * kSecond) == 0; }
  int64_t NextTick(int64_t t) const {
    // All times of the test are multiples of a tenth of a second.
    do {
      t += kSecond / 10;
    } while (!IsBackoffTick(t) && !IsLeftoverTick(t));
    return t;
  }
  int64_t BackoffEnd(const ModelPod& p) const {
    const auto end =
        BackoffExpiration(options_.backoff, TimeOf(p.timestamp), p.unschedulable, p.errors);
    return end ? end->UnixNano() : 0;
  }
  bool BackingOff(const ModelPod& p, int64_t at) const {
    if (options_.backoff.align_to_second) at -= at % kSecond;
    return BackoffEnd(p) >= at;
  }
  bool BackoffDone(const ModelPod& p, int64_t tick) const {
    return (p.place == "backoff" || p.place == "error-backoff") && IsBackoffTick(tick) &&
           !BackingOff(p, tick);
  }
  bool IsLeftover(const ModelPod& p, int64_t tick) const {
    if (!Parked(p) || !IsLeftoverTick(tick)) return false;
    if (tick - p.timestamp <= options_.max_in_unschedulable_ns) return false;
    return p.gate == kNoPlugin ||
           (host_.Registered(p.profile, kUnschedulableTimeout) & MaskOf(p.gate)) != 0;
  }
  void RunTick() {
    for (const char* place : {"backoff", "error-backoff"}) {
      while (true) {
        const std::optional<PodId> id = First(place);
        if (!id || !BackoffDone(pods[*id], now_)) break;
        pods[*id].place = "";
        ToActive(*id, "BackoffComplete", !options_.pop_from_backoff);
      }
    }
    bool any = false;
    for (const PodId id : ParkedInOrder()) {
      if (!IsLeftover(pods[id], now_)) continue;
      any = true;
      pods[id].place = "";
      Requeue(id, 1, "UnschedulableTimeout");
    }
    if (any) Record({kUnschedulableTimeout, {}, {}}, cluster::kNoPod);
  }

  std::optional<PodId> First(std::string_view place) const {
    std::optional<PodId> best;
    for (const auto& [id, p] : pods) {
      if (p.place == place && (!best || Before(id, *best, place))) best = id;
    }
    return best;
  }
  bool Before(PodId x, PodId y, std::string_view place) const {
    const ModelPod& a = pods.at(x);
    const ModelPod& b = pods.at(y);
    if (place != "active" && BackoffEnd(a) != BackoffEnd(b)) return BackoffEnd(a) < BackoffEnd(b);
    if (place == "active" || (place == "backoff" && options_.pop_from_backoff)) {
      if (host_.Priority(x) != host_.Priority(y)) return host_.Priority(x) > host_.Priority(y);
      if (a.timestamp != b.timestamp) return a.timestamp < b.timestamp;
    }
    return a.order < b.order;
  }
  std::vector<PodId> ParkedInOrder() const {
    std::vector<PodId> ids;
    for (const auto& [id, p] : pods) {
      if (Parked(p)) ids.push_back(id);
    }
    std::ranges::sort(ids, {}, [&](PodId id) { return pods.at(id).order; });
    return ids;
  }
  // 0: no, 1: after backoff, 2: at once.
  int Worth(PodId id, const Event& event, PodId only) const {
    const ModelPod& p = pods.at(id);
    if (event.what.IsWildCard()) {
      if (const auto* pod = event.New<cluster::Pod>()) return pod->uid == host_.Uid(id);
      return only == cluster::kNoPod || only == id;
    }
    int worth = 0;
    for (PluginId plugin = 0; plugin < kPlugins; ++plugin) {
      if (((p.rejected | p.pending) & MaskOf(plugin)) == 0) continue;
      if ((host_.Registered(p.profile, event.what) & MaskOf(plugin)) == 0) continue;
      if (!host_.helps(id, plugin, event)) continue;
      worth = std::max(worth, (p.pending & MaskOf(plugin)) != 0 ? 2 : 1);
    }
    return worth;
  }
  void Record(const Event& event, PodId only) {
    for (auto& [id, p] : pods) {
      if (p.place == "in-flight") p.missed.emplace_back(event, only);
    }
  }
  bool Gated(ModelPod& p, PodId id) {
    const PluginMask gates = host_.gates.contains(id) ? host_.gates[id] : 0;
    if (gates == 0) {
      p.gate = kNoPlugin;
      return false;
    }
    if (p.gate == kNoPlugin || (gates & MaskOf(p.gate)) == 0) {
      p.gate = 0;
      while ((gates & MaskOf(p.gate)) == 0) ++p.gate;
    }
    p.rejected |= MaskOf(p.gate);
    return true;
  }
  void Park(PodId id, const std::string& event) {
    ModelPod& p = pods[id];
    if (!Parked(p)) incoming.push_back("unschedulable " + event);
    p.place = p.gate == kNoPlugin ? "unschedulable" : "gated";
    p.order = ++last_order_;
  }
  bool ToActive(PodId id, const std::string& event, bool ask) {
    ModelPod& p = pods[id];
    if (ask && Gated(p, id)) {
      Park(id, event);
      return false;
    }
    p.place = "active";
    p.order = ++last_order_;
    if (!p.initial_attempt) p.initial_attempt = now_;
    incoming.push_back("active " + event);
    return true;
  }
  bool Requeue(PodId id, int worth, const std::string& event) {
    ModelPod& p = pods[id];
    if (worth == 0) {
      Park(id, event);
      return false;
    }
    if (worth == 2 || !BackingOff(p, now_)) return ToActive(id, event, true);
    if (options_.pop_from_backoff && Gated(p, id)) {
      Park(id, event);
      return false;
    }
    p.place = (p.rejected | p.pending) == 0 ? "error-backoff" : "backoff";
    p.order = ++last_order_;
    incoming.push_back("backoff " + event);
    return true;
  }

  FakeQueueHost& host_;
  const QueueOptions options_;
  const size_t profiles_;
  uint64_t last_order_ = 0;
  int64_t first_now_ = 0;
  int64_t now_ = 0;
};

class Comparison {
 public:
  Comparison(uint32_t seed, const QueueOptions& options)
      : random_(seed), queue_(host_, 2, options), model_(host_, options, 2) {
    for (PluginId plugin = 0; plugin < kPlugins; ++plugin) {
      for (uint8_t profile = 0; profile < 2; ++profile) {
        for (const ClusterEvent& event : kEvents) {
          if (Below(3) == 0) host_.registrations.push_back({plugin, event, profile});
        }
      }
    }
    if (Below(2) == 0) host_.registrations.push_back({0, kUnschedulableTimeout, 0});
    const uint32_t salt = random_();
    host_.helps = [salt](PodId pod, PluginId plugin, const Event& event) {
      uint64_t h = salt + pod * 31 + plugin * 17 + event.what.action * 131 +
                   static_cast<uint64_t>(event.what.resource) * 1009;
      if (const auto* object = event.New<cluster::Pod>())
        h += std::hash<std::string>()(object->uid);
      return (h * 0x9e3779b97f4a7c15u) >> 62 == 0;
    };
    now_ = kBase + Below(10) * kSecond / 10;
    queue_.Advance(TimeOf(now_));
    model_.Start(now_);
  }

  void Step() {
    const PodId pod = Below(kPods);
    switch (Below(16)) {
      case 0:
      case 1: {
        const auto profile = static_cast<uint8_t>(Below(2));
        did_ = "Add";
        queue_.Add(pod, profile, Now());
        model_.Add(pod, profile);
        break;
      }
      case 2:
        did_ = "Delete";
        if (Below(2) == 0) return;
        queue_.Delete(pod);
        model_.Delete(pod);
        break;
      case 3:
      case 4:
      case 5: {
        did_ = "Pop";
        const bool can_pop = queue_.CanPop();
        const std::optional<PodId> popped = queue_.Pop(Now());
        EXPECT_EQ(can_pop, popped.has_value());
        EXPECT_EQ(popped, model_.Pop());
        break;
      }
      case 6:
      case 7:
      case 8: {
        did_ = "AddUnschedulable";
        const PluginMask rejected = Below(3) == 0 ? 0 : random_() % (1u << kPlugins);
        const PluginMask pending = Below(3) == 0 ? random_() % (1u << kPlugins) : 0;
        queue_.AddUnschedulable(pod, rejected, pending, Now());
        model_.AddUnschedulable(pod, rejected, pending);
        break;
      }
      case 9:
        did_ = "Done";
        if (Below(2) == 0) return;
        queue_.Done(pod);
        model_.Done(pod);
        break;
      case 10:
        did_ = "Update";
        UpdatePod(pod);
        break;
      case 11:
      case 12:
        did_ = "Move";
        MovePods();
        break;
      case 13:
        did_ = "Activate";
        queue_.Activate(pod, Now());
        model_.Activate(pod);
        break;
      case 14:
        did_ = "gates";
        host_.gates[pod] = Below(2) == 0 ? 0 : random_() % (1u << kPlugins);
        break;
      default:
        did_ = "Advance";
        PassTime();
        break;
    }
    Check();
  }
  const char* did() const { return did_; }

 private:
  static constexpr PodId kPods = 14;
  static constexpr ClusterEvent kEvents[] = {
      {EventResource::kNode, kAdd},
      {EventResource::kAssignedPod, kDelete},
      {EventResource::kUnschedulablePod, kUpdatePodLabel},
      {EventResource::kUnschedulablePod, kUpdatePodToleration},
      {EventResource::kStorageClass, kAdd},
  };

  uint32_t Below(uint32_t n) { return random_() % n; }
  api::Time Now() const { return TimeOf(now_); }

  void UpdatePod(PodId pod) {
    host_.priority[pod] = static_cast<int32_t>(Below(3));
    std::vector<ClusterEvent> changes;
    for (uint32_t i = Below(3); i > 0; --i) changes.push_back(kEvents[2 + Below(2)]);
    queue_.Update(pod, changes, nullptr, nullptr, Now());
    model_.Update(pod, changes);
  }
  void MovePods() {
    Event event{kEvents[Below(std::size(kEvents))], {}, {}};
    if (Below(10) == 0) event.what = Below(2) == 0 ? kUnschedulableTimeout : kForceActivate;
    if (Below(2) == 0) {
      auto object = std::make_shared<cluster::Pod>();
      object->uid = "uid-" + std::to_string(Below(kPods));
      event.new_object = PodSnapshot(object);
    }
    std::optional<int32_t> max_priority;
    if (Below(4) == 0) max_priority = static_cast<int32_t>(Below(3));
    queue_.Move(event, Now(), max_priority);
    model_.Move(event, max_priority);
  }
  void PassTime() {
    constexpr int64_t kTenth = kSecond / 10;
    const uint32_t kind = Below(20);
    if (kind == 0) {
      now_ += Below(4000) * kTenth;
    } else if (const auto wake = queue_.NextWake(); wake && kind < 8) {
      now_ = wake->UnixNano();
    } else {
      now_ += Below(15) * kTenth;
    }
    queue_.Advance(Now());
    model_.AdvanceTo(now_);
  }

  void Check() {
    for (PodId pod = 0; pod < kPods; ++pod) {
      const auto it = model_.pods.find(pod);
      if (it == model_.pods.end()) {
        EXPECT_EQ(queue_.WhereIs(pod), "") << pod;
        EXPECT_EQ(queue_.Find(pod), nullptr);
        continue;
      }
      EXPECT_EQ(queue_.WhereIs(pod), it->second.place) << pod;
      CheckPod(*queue_.Find(pod), it->second);
    }
    EXPECT_EQ(queue_.Count(QueueName::kActive), model_.CountIn({"active"}));
    EXPECT_EQ(queue_.Count(QueueName::kBackoff), model_.CountIn({"backoff", "error-backoff"}));
    EXPECT_EQ(queue_.Count(QueueName::kUnschedulable), model_.CountIn({"unschedulable"}));
    EXPECT_EQ(queue_.Count(QueueName::kGated), model_.CountIn({"gated"}));
    EXPECT_EQ(queue_.InFlightCount(), model_.CountIn({"in-flight"}));
    EXPECT_EQ(queue_.InFlightEvents(), model_.InFlightEvents());
    EXPECT_EQ(host_.incoming, model_.incoming);
    host_.incoming.clear();
    model_.incoming.clear();
    if (Below(8) == 0) CheckWake();
  }
  void CheckPod(const QueuedPod& info, const ModelPod& p) {
    EXPECT_EQ(info.profile, p.profile);
    EXPECT_EQ(info.timestamp.UnixNano(), p.timestamp);
    EXPECT_EQ(info.initial_attempt.has_value(), p.initial_attempt.has_value());
    if (info.initial_attempt && p.initial_attempt) {
      EXPECT_EQ(info.initial_attempt->UnixNano(), *p.initial_attempt);
    }
    EXPECT_EQ(info.attempts, p.attempts);
    EXPECT_EQ(info.unschedulable_count, p.unschedulable);
    EXPECT_EQ(info.consecutive_errors_count, p.errors);
    EXPECT_EQ(info.unschedulable_plugins, p.rejected);
    EXPECT_EQ(info.pending_plugins, p.pending);
    EXPECT_EQ(info.gating_plugin, p.gate);
    EXPECT_EQ(info.gated, p.gate != kNoPlugin);
  }
  void CheckWake() {
    // Whatever is due, is due in six minutes.
    const auto expected = model_.NextWake(360 * kSecond);
    const auto wake = queue_.NextWake();
    ASSERT_EQ(wake.has_value(), expected.has_value());
    if (wake) {
      EXPECT_EQ(wake->UnixNano(), *expected);
    }
  }

  std::mt19937 random_;
  FakeQueueHost host_;
  SchedulingQueue queue_;
  Model model_;
  int64_t now_ = 0;
  const char* did_ = "";
};

void Compare(uint32_t first_seed, const QueueOptions& options) {
  for (uint32_t seed = first_seed; seed < first_seed + 60; ++seed) {
    Comparison comparison(seed, options);
    for (int step = 0; step < 600; ++step) {
      comparison.Step();
      ASSERT_FALSE(::testing::Test::HasFailure())
          << "seed " << seed << ", step " << step << ": " << comparison.did();
    }
  }
}

TEST(SchedulingQueuePropertyTest, BehavesAsTheModel) { Compare(1, {}); }

TEST(SchedulingQueuePropertyTest, BehavesAsTheModelWithoutPoppingFromBackoff) {
  QueueOptions options;
  options.pop_from_backoff = false;
  options.backoff.align_to_second = false;
  options.max_in_unschedulable_ns = 60 * kSecond;
  Compare(1000, options);
}

TEST(SchedulingQueuePropertyTest, BehavesAsTheModelWithoutBackoff) {
  QueueOptions options;
  options.backoff.max_ns = 0;
  options.max_in_unschedulable_ns = 0;
  Compare(2000, options);
}

}  // namespace
}  // namespace berth::queue
