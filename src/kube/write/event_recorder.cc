#include "kube/write/event_recorder.h"

#include <algorithm>
#include <deque>
#include <utility>

#include <fmt/format.h>

#include "api/codec/json.h"
#include "api/codec/proto.h"
#include "api/go/go_text.h"
#include "api/scheduling/pod_group.h"
#include "kube/kinds.h"
#include "kube/watch/backoff.h"
#include "kube/write/bodies.h"
#include "kube/write/core_correlator.h"
#include "kube/write/event_body.h"
#include "kube/write/event_series.h"
#include "kube/write/event_writer.h"
#include "log/log.h"

namespace berth::kube {

namespace {

// Series that were quiet for so long are finished; looked for as often.
constexpr net::Nanoseconds kFinishAfter = std::chrono::minutes(6);
// How often all series are written, so that the API server does not let them expire.
constexpr net::Nanoseconds kRefreshEvery = std::chrono::minutes(30);
// Before the server has said which events it has.
constexpr size_t kMaxEarly = 1000;

constexpr std::string_view kDefaultNamespace = "default";
constexpr std::string_view kLeaderElectionComponent = "default-scheduler";
constexpr Kind kCoreEvents{"Event", "v1", "events"};

template <class T>
std::string Encode(const T& object, std::string_view content_type) {
  if (content_type == kJson) return api::ToJson(object);
  return api::WrapEnvelope(T::kApiVersion, T::kKind, api::ToProto(object));
}

api::ObjectReference ReferenceTo(const scheduler::PodRef& pod) {
  api::ObjectReference reference;
  reference.kind = "Pod";
  reference.api_version = "v1";
  reference.namespace_ = pod.namespace_;
  reference.name = pod.name;
  reference.uid = pod.uid;
  reference.resource_version = pod.resource_version;
  return reference;
}

std::string SeriesPatch(const api::EventSeries& series) {
  std::string patch =
      fmt::format("{{\"series\":{{\"count\":{},\"lastObservedTime\":", series.count);
  api::AppendJsonString(patch, series.last_observed_time.Format());
  return patch + "}}";
}

std::string CountPatch(const CoreEvent& event) {
  std::string patch = fmt::format("{{\"count\":{},\"lastTimestamp\":", event.count);
  api::AppendJsonString(patch, event.last_timestamp.Format());
  if (!event.message.empty()) {
    patch += ",\"message\":";
    api::AppendJsonString(patch, event.message);
  }
  return patch + '}';
}

std::string_view NamespaceOf(const scheduler::RecordEvent& event) {
  return event.regarding.namespace_.empty() ? kDefaultNamespace
                                            : std::string_view(event.regarding.namespace_);
}

template <class T>
T At(const api::Time& time) {
  return T::FromUnixNano(time.UnixNano());
}

}  // namespace

class EventRecorder::Impl {
 public:
  Impl(net::Loop& loop, ApiClient& client, std::string host)
      : loop_(loop), client_(client), host_(std::move(host)), writer_(loop, client) {}
  ~Impl() { Stop(); }

  void Start();
  void Record(const scheduler::RecordEvent& event);
  void RecordLeaderElection(api::ObjectReference lease, std::string_view message);
  uint64_t Dropped() const { return dropped_ + writer_.Dropped(); }
  void Stop();

 private:
  enum class Version { kUnknown, kEvents, kCore };

  void OnDiscovered(const ApiResponse& response);
  void Record(const scheduler::RecordEvent& event, const api::Time& now);
  void RecordInEvents(const scheduler::RecordEvent& event, const api::Time& now);
  void RecordAgain(EventSeriesCache::Id id, api::Event made, const api::Time& now);
  void RecordInCore(CoreEvent event);
  api::Event MakeEvent(const scheduler::RecordEvent& event) const;
  std::string InstanceOf(const std::string& controller) const { return controller + "-" + host_; }
  EventWrite SeriesWrite(const api::Event& event) const;
  void WriteSeries(EventSeriesCache::Id id);
  // False: it was dropped.
  bool Write(EventSeriesCache::Id id, EventWrite write);
  void OnWritten(EventSeriesCache::Id id);
  void FinishSeries();
  void RefreshSeries();
  void WriteSeriesOnce(const api::Event& event, std::function<void(bool)> done);
  void Every(net::Nanoseconds period, net::Loop::TimerId& timer, void (Impl::*task)());
  std::string NameFor(std::string_view object, const api::Time& now);
  std::string RandomName();

  net::Loop& loop_;
  ApiClient& client_;
  const std::string host_;
  const Kind* const kind_ = FindKind("Event");
  Version version_ = Version::kUnknown;
  bool stopped_ = false;
  uint64_t dropped_ = 0;
  int64_t last_name_ = 0;  // nanoseconds: no two events have the same
  std::deque<std::pair<scheduler::RecordEvent, api::Time>> early_;
  EventSeriesCache series_;
  CoreCorrelator correlator_;
  Backoff backoff_;
  ApiClient::Id discovery_ = 0;
  net::Loop::TimerId discovery_timer_ = 0;
  net::Loop::TimerId finish_timer_ = 0;
  net::Loop::TimerId refresh_timer_ = 0;
  EventWriter writer_;  // last: its answers come here
};

void EventRecorder::Impl::Start() {
  if (stopped_) return;
  ApiRequest request;
  request.event = true;
  request.path = "/apis/events.k8s.io/v1";
  discovery_ = client_.Send(std::move(request), [this](const ApiResponse& response) {
    discovery_ = 0;
    OnDiscovered(response);
  });
}

void EventRecorder::Impl::OnDiscovered(const ApiResponse& response) {
  if (response.code == 0 || response.code >= 500 || response.code == 429) {
    log::Error(response.message, "Unable to find out about events.k8s.io/v1, will retry");
    discovery_timer_ = loop_.After(backoff_.Next(loop_), [this] { Start(); });
    return;
  }
  version_ = response.Ok() ? Version::kEvents : Version::kCore;
  if (version_ == Version::kEvents) {
    Every(kFinishAfter, finish_timer_, &Impl::FinishSeries);
    Every(kRefreshEvery, refresh_timer_, &Impl::RefreshSeries);
  }
  for (auto& [event, time] : std::exchange(early_, {})) Record(event, time);
}

void EventRecorder::Impl::Every(net::Nanoseconds period, net::Loop::TimerId& timer,
                                void (Impl::*task)()) {
  timer = loop_.After(period, [this, period, &timer, task] {
    Every(period, timer, task);
    (this->*task)();
  });
}

void EventRecorder::Impl::Stop() {
  stopped_ = true;
  writer_.Stop();
  client_.Cancel(std::exchange(discovery_, 0));
  for (net::Loop::TimerId* timer : {&discovery_timer_, &finish_timer_, &refresh_timer_}) {
    loop_.Cancel(std::exchange(*timer, 0));
  }
  early_.clear();
}

void EventRecorder::Impl::Record(const scheduler::RecordEvent& event) {
  if (stopped_) return;
  const api::Time now = loop_.Now();
  if (version_ != Version::kUnknown) return Record(event, now);
  if (early_.size() >= kMaxEarly) {
    ++dropped_;
    return;
  }
  early_.emplace_back(event, now);
}

void EventRecorder::Impl::Record(const scheduler::RecordEvent& event, const api::Time& now) {
  if (version_ == Version::kEvents) return RecordInEvents(event, now);
  CoreEvent core;
  core.involved_object = ReferenceTo(event.regarding);
  core.metadata.name = NameFor(event.regarding.name, now);
  core.reason = event.reason;
  core.message = event.note;
  core.type = event.type;
  core.source.component = event.reporting_controller;
  core.reporting_component = event.reporting_controller;
  core.first_timestamp = core.last_timestamp = now;
  RecordInCore(std::move(core));
}

void EventRecorder::Impl::RecordLeaderElection(api::ObjectReference lease,
                                               std::string_view message) {
  if (stopped_) return;
  const api::Time now = loop_.Now();
  CoreEvent core;
  core.metadata.name = NameFor(lease.name, now);
  core.involved_object = std::move(lease);
  core.reason = "LeaderElection";
  core.message = message;
  core.type = "Normal";
  core.source.component = kLeaderElectionComponent;
  core.reporting_component = kLeaderElectionComponent;
  core.first_timestamp = core.last_timestamp = now;
  RecordInCore(std::move(core));
}

// "NAME.HEX"; something random where that would be no valid name.
std::string EventRecorder::Impl::NameFor(std::string_view object, const api::Time& now) {
  last_name_ = std::max(now.UnixNano(), last_name_ + 1);
  std::string name = fmt::format("{}.{:x}", object, last_name_);
  constexpr size_t kMaxName = 253;
  return name.size() <= kMaxName ? name : RandomName();
}

// A UUID of version 4.
std::string EventRecorder::Impl::RandomName() {
  std::string name = "xxxxxxxx-xxxx-4xxx-yxxx-xxxxxxxxxxxx";
  for (char& c : name) {
    const auto digit = static_cast<unsigned>(loop_.Random() * 16);
    if (c == 'x') c = "0123456789abcdef"[digit % 16];
    if (c == 'y') c = "89ab"[digit % 4];
  }
  return name;
}

void EventRecorder::Impl::RecordInCore(CoreEvent event) {
  event.metadata.namespace_ = event.involved_object.namespace_.empty()
                                  ? std::string(kDefaultNamespace)
                                  : event.involved_object.namespace_;
  const CoreCorrelator::Action action = correlator_.Observe(event, loop_.Steady());
  if (action == CoreCorrelator::Action::kSkip) return;
  EventWrite write;
  write.collection = NamespacePath(kCoreEvents, event.metadata.namespace_);
  write.object = Encode(event, client_.ContentType());
  write.name = event.metadata.name;
  if (action == CoreCorrelator::Action::kCount) write.patch = CountPatch(event);
  writer_.Write(std::move(write));
}

api::Event EventRecorder::Impl::MakeEvent(const scheduler::RecordEvent& event) const {
  api::Event made;
  made.metadata.namespace_ = NamespaceOf(event);
  made.regarding = ReferenceTo(event.regarding);
  if (event.related) made.related = ReferenceTo(*event.related);
  if (event.related_is_group) {
    made.related->kind = api::PodGroup::kKind;
    made.related->api_version = api::PodGroup::kApiVersion;
  }
  made.type = event.type;
  made.action = event.action;
  made.reason = event.reason;
  made.note = event.note;
  made.reporting_controller = event.reporting_controller;
  made.reporting_instance = InstanceOf(event.reporting_controller);
  return made;
}

void EventRecorder::Impl::RecordInEvents(const scheduler::RecordEvent& event,
                                         const api::Time& now) {
  const std::string instance = InstanceOf(event.reporting_controller);
  std::string key = EventSeriesCache::KeyOf(event, instance);
  if (const EventSeriesCache::Id id = series_.Find(key)) {
    return RecordAgain(id, MakeEvent(event), now);
  }
  const api::MicroTime time = At<api::MicroTime>(now);
  const std::string name = NameFor(event.regarding.name, now);
  EventWrite write;
  write.collection = NamespacePath(*kind_, NamespaceOf(event));
  write.name = name;
  if (client_.ContentType() == kJson) {
    api::Event made = MakeEvent(event);
    made.metadata.name = name;
    made.event_time = time;
    write.object = api::ToJson(made);
  } else {
    write.object = EventBody(event, {NamespaceOf(event), name, instance, time});
  }
  const EventSeriesCache::Id id = series_.Add(std::move(key), name, event.note, time);
  if (!Write(id, std::move(write))) series_.Remove(id);
}

void EventRecorder::Impl::RecordAgain(EventSeriesCache::Id id, api::Event made,
                                      const api::Time& now) {
  EventSeriesCache::Entry& entry = *series_.Get(id);
  const api::MicroTime seen = At<api::MicroTime>(now);
  if (entry.series) {
    ++entry.series->series->count;
    entry.series->series->last_observed_time = seen;
    return;
  }
  EventSeriesCache::BeginSeries(entry, std::move(made), seen);
  // The event itself must be there before it can be patched.
  if (entry.writing) {
    entry.changed = true;
  } else {
    WriteSeries(id);
  }
}

void EventRecorder::Impl::WriteSeries(EventSeriesCache::Id id) {
  Write(id, SeriesWrite(*series_.Get(id)->series));
}

bool EventRecorder::Impl::Write(EventSeriesCache::Id id, EventWrite write) {
  EventSeriesCache::Entry& entry = *series_.Get(id);
  write.done = [this, id](bool) { OnWritten(id); };
  entry.changed = false;
  entry.writing = writer_.Write(std::move(write));
  return entry.writing;
}

void EventRecorder::Impl::OnWritten(EventSeriesCache::Id id) {
  EventSeriesCache::Entry* entry = series_.Get(id);
  if (!entry) return;
  entry->writing = false;
  if (entry->changed) WriteSeries(id);
}

void EventRecorder::Impl::FinishSeries() {
  const int64_t before = loop_.Now().UnixNano() - kFinishAfter.count();
  for (const EventSeriesCache::Id id : series_.Ids()) {
    const EventSeriesCache::Entry& entry = *series_.Get(id);
    if (entry.writing) continue;
    if (!entry.series) {
      if (entry.time.UnixNano() < before) series_.Remove(id);
    } else if (entry.series->series->last_observed_time.UnixNano() < before) {
      WriteSeriesOnce(*entry.series, [this, id](bool delivered) {
        if (delivered) series_.Remove(id);
      });
    }
  }
}

void EventRecorder::Impl::RefreshSeries() {
  for (const EventSeriesCache::Id id : series_.Ids()) {
    const EventSeriesCache::Entry& entry = *series_.Get(id);
    if (entry.series && !entry.writing) WriteSeriesOnce(*entry.series, nullptr);
  }
}

EventWrite EventRecorder::Impl::SeriesWrite(const api::Event& event) const {
  EventWrite write;
  write.collection = NamespacePath(*kind_, event.metadata.namespace_);
  write.object = Encode(event, client_.ContentType());
  write.name = event.metadata.name;
  write.patch = SeriesPatch(*event.series);
  return write;
}

void EventRecorder::Impl::WriteSeriesOnce(const api::Event& event, std::function<void(bool)> done) {
  EventWrite write = SeriesWrite(event);
  write.once = true;
  write.done = std::move(done);
  writer_.Write(std::move(write));
}

EventRecorder::EventRecorder(net::Loop& loop, ApiClient& client, std::string host)
    : impl_(std::make_unique<Impl>(loop, client, std::move(host))) {}
EventRecorder::~EventRecorder() = default;

void EventRecorder::Start() { impl_->Start(); }
void EventRecorder::Record(const scheduler::RecordEvent& event) { impl_->Record(event); }
void EventRecorder::RecordLeaderElection(std::string_view lease_namespace,
                                         std::string_view lease_name, std::string_view lease_uid,
                                         std::string_view lease_version, std::string_view message) {
  api::ObjectReference lease;
  lease.kind = "Lease";
  lease.api_version = "coordination.k8s.io/v1";
  lease.namespace_ = lease_namespace;
  lease.name = lease_name;
  lease.uid = lease_uid;
  lease.resource_version = lease_version;
  impl_->RecordLeaderElection(std::move(lease), message);
}
uint64_t EventRecorder::Dropped() const { return impl_->Dropped(); }
void EventRecorder::Stop() { impl_->Stop(); }

}  // namespace berth::kube
