#include "kube/write/effect_runner.h"

#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>
#include <boost/unordered/unordered_flat_map.hpp>

#include "api/codec/proto_merge.h"
#include "api/scheduling/pod_group.h"
#include "base/string_hash.h"
#include "framework/points/device_claims.h"
#include "kube/kinds.h"
#include "kube/watch/decode.h"
#include "kube/write/bodies.h"
#include "log/log.h"

namespace berth::kube {

namespace {

using scheduler::EffectResult;
using Code = EffectResult::Code;
using WrittenObject = decltype(framework::ApiWrite::object);

// Pauses between the attempts of a request; one more attempt than pauses.
constexpr net::Nanoseconds kPauses[] = {
    std::chrono::milliseconds(10), std::chrono::milliseconds(50), std::chrono::milliseconds(250)};
constexpr double kPauseJitter = 0.1;
// What keeps a claim from going while it is allocated, and how often it is tried to take it off.
constexpr std::string_view kClaimFinalizer = "resource.kubernetes.io/delete-protection";
constexpr size_t kMaxConflicts = 5;

const Kind& PodKind() {
  static const Kind* const kind = FindKind("Pod");
  return *kind;
}

std::string PodPath(const scheduler::PodRef& pod, std::string_view subresource = "") {
  return ObjectPath(PodKind(), pod.namespace_, pod.name, subresource);
}

Code CodeOf(const ApiResponse& response) {
  if (response.Ok()) return Code::kOk;
  switch (response.code) {
    case 0:
      return response.error.SurelyNotDone() ? Code::kError : Code::kUnknown;
    case 404:
      return Code::kNotFound;
    case 409:
      return Code::kConflict;
    case 504:  // the server stopped waiting: it may have been carried out
      return Code::kUnknown;
    default:
      return Code::kError;
  }
}

// The server is in trouble, not the request.
bool WorthRepeating(const ApiResponse& response) {
  if (response.code == 0) return response.error.kind == net::HttpError::Kind::kRefused;
  if (response.code == 503 || response.reason == "InternalError") return true;
  return response.code == 500 && response.reason != "ServerTimeout";
}

const api::ObjectMeta& MetaOf(const WrittenObject& object) {
  return std::visit([](const auto& value) -> const api::ObjectMeta& { return value.metadata; },
                    object);
}

const Kind& KindOf(const WrittenObject& object) {
  return *FindKind(std::visit([](const auto& value) { return value.kKind; }, object));
}

// "persistentvolumes", "resourceclaims.resource.k8s.io": how the server's messages name a kind.
std::string ResourceName(const Kind& kind) {
  const size_t slash = kind.api_version.find('/');
  if (slash == std::string_view::npos) return std::string(kind.plural);
  return fmt::format("{}.{}", kind.plural, kind.api_version.substr(0, slash));
}

std::string ConflictMessage(const Kind& kind, std::string_view name) {
  return fmt::format(
      "Operation cannot be fulfilled on {} \"{}\": the object has been modified; please apply your "
      "changes to the latest version and try again",
      ResourceName(kind), name);
}

// The uid of the pod or group that a request is about; empty: it is about none.
std::string PodOf(const scheduler::EffectAction& action) {
  return std::visit(
      [](const auto& value) -> std::string {
        if constexpr (requires { value.pod.uid; }) {
          return value.pod.uid;
        } else if constexpr (requires { value.group.uid; }) {
          return value.group.uid;
        } else {
          return "";
        }
      },
      action);
}

// A patch that says how scheduling a pod went, and nothing else; null: it is something else.
template <class Effect>
auto* SchedulingPatch(Effect& effect) {
  auto* patch = std::get_if<scheduler::PatchPodStatus>(&effect.action);
  const bool other =
      patch != nullptr && (patch->extended_resource_claim ||
                           (patch->condition && patch->condition->type != "PodScheduled"));
  return other ? nullptr : patch;
}

// `later` says what `earlier` would have said, where it says nothing itself.
void TakeOver(const scheduler::PatchPodStatus& earlier, scheduler::PatchPodStatus& later) {
  if (!later.condition && earlier.condition) {
    later.condition = earlier.condition;
    later.old_condition = earlier.old_condition;
    later.condition_types = earlier.condition_types;
  }
  if (!later.nominated_node_name) later.nominated_node_name = earlier.nominated_node_name;
}

// The object of a write back from the variant of all kinds.
std::optional<WrittenObject> ToWritten(api::Object object) {
  return std::visit(
      [](auto& value) -> std::optional<WrittenObject> {
        using T = std::decay_t<decltype(value)>;
        if constexpr (std::is_constructible_v<WrittenObject, std::in_place_type_t<T>, T>) {
          return WrittenObject(std::in_place_type<T>, std::move(value));
        } else {
          return std::nullopt;
        }
      },
      object);
}

}  // namespace

class EffectRunner::Impl {
 public:
  Impl(net::Loop& loop, ApiClient& client, EventRecorder& events, RawObjects& raw, Done done,
       const EffectRules& rules)
      : loop_(loop),
        client_(client),
        events_(events),
        raw_(raw),
        done_(std::move(done)),
        rules_(rules) {}
  ~Impl() {
    for (auto& [key, run] : runs_) {
      client_.Cancel(run.request);
      loop_.Cancel(run.timer);
    }
  }

  void Run(scheduler::Effect&& effect) {
    if (const auto* event = std::get_if<scheduler::RecordEvent>(&effect.action)) {
      return events_.Record(*event);
    }
    const std::string pod = PodOf(effect.action);
    if (!pod.empty()) {
      const auto [busy, free] = pods_.try_emplace(pod);
      if (!free) {  // seldom
        if (rules_.merges && !LeaveOut(busy->second, effect)) return;
        busy->second.push_back(std::move(effect));
        ++waiting_;
        return;
      }
    }
    Begin(std::move(effect), pod);
  }
  void SetRules(const EffectRules& rules) { rules_ = rules; }
  void MarkBindings(int32_t epoch) { epoch_ = std::to_string(epoch); }
  size_t Outstanding() const { return runs_.size() + waiting_; }

 private:
  using Key = uint64_t;
  // An effect on its way.
  struct Running {
    scheduler::EffectId id = 0;
    std::string pod;  // uid; empty: of no pod
    ApiClient::Id request = 0;
    net::Loop::TimerId timer = 0;
    size_t attempts = 0;
    bool maybe_done = false;  // an earlier attempt may have been carried out
  };

  void Begin(scheduler::Effect&& effect, std::string pod) {
    const Key key = ++last_;
    Running& run = runs_[key];
    run.id = effect.id;
    run.pod = std::move(pod);
    std::visit([&](auto& action) { Start(key, action); }, effect.action);
  }
  // Of what waits, and of `effect`, what need not be sent any more. False: that is `effect` itself.
  bool LeaveOut(std::vector<scheduler::Effect>& waiting, scheduler::Effect& effect) {
    const bool binds = std::holds_alternative<scheduler::BindPod>(effect.action);
    auto* patch = SchedulingPatch(effect);
    if (!binds && patch == nullptr) return true;
    for (auto it = waiting.begin(); it != waiting.end();) {
      if (patch != nullptr && std::holds_alternative<scheduler::BindPod>(it->action)) {
        FinishLeftOut(effect.id);
        return false;
      }
      const auto* earlier = SchedulingPatch(*it);
      if (earlier == nullptr) {
        ++it;
        continue;
      }
      if (patch != nullptr) TakeOver(*earlier, *patch);
      FinishLeftOut(it->id);
      it = waiting.erase(it);
      --waiting_;
    }
    return true;
  }
  void FinishLeftOut(scheduler::EffectId id) {
    const Key key = ++last_;
    runs_[key].id = id;
    FinishSoon(key, Code::kOk, "");
  }
  // A request about the pod is done with: the next one goes.
  void Next(const std::string& pod) {
    const auto busy = pods_.find(pod);
    if (busy->second.empty()) {
      pods_.erase(busy);
      return;
    }
    scheduler::Effect effect = std::move(busy->second.front());
    busy->second.erase(busy->second.begin());
    --waiting_;
    Begin(std::move(effect), pod);
  }

  void Start(Key key, const scheduler::BindPod& bind);
  void Start(Key key, const scheduler::PatchPodStatus& patch);
  void Start(Key key, const scheduler::PatchPodGroupStatus& patch);
  void Start(Key key, const scheduler::DeletePod& remove);
  void Start(Key key, const scheduler::ReadPod& read);
  void Start(Key key, scheduler::WriteObject& write);
  void Start(Key, const scheduler::RecordEvent&) {}
  // Extenders are not the API server; the host asks them itself.
  void Start(Key key, const scheduler::CallExtender&) {
    FinishSoon(key, Code::kError, "no extender is configured");
  }

  void SendBinding(Key key, const ApiRequest& request);
  void OnBound(Key key, const ApiRequest& request, const ApiResponse& response);
  void SendPatch(Key key, const ApiRequest& request);
  void OnPatched(Key key, const ApiRequest& request, const ApiResponse& response);
  // Runs `send` after a pause. False: it was tried often enough.
  bool Again(Key key, net::Loop::Task send);
  void OnRead(Key key, const ApiResponse& response);

  void Fetch(Key key, framework::ApiWrite write);
  void OnFetched(Key key, const framework::ApiWrite& write, const ApiResponse& response);
  void Write(Key key, const framework::ApiWrite& write, std::string_view old);
  void OnWritten(Key key, const Kind& kind, const ApiResponse& response);
  void Create(Key key, const framework::ApiWrite& write);
  void Remove(Key key, const WrittenObject& object);
  void OnReadToRemove(Key key, const WrittenObject& object, const ApiResponse& response);
  void Delete(Key key, const WrittenObject& object);
  // Keeps the bytes of an answer, and gives the object in it.
  Result<WrittenObject> Keep(const Kind& kind, const ApiResponse& response);

  void Send(Key key, ApiRequest request, ApiClient::Callback done) {
    loop_.Pauses().Sent();
    const ApiClient::Id id = client_.Send(
        std::move(request),
        [this, key, sent = loop_.Steady(), done = std::move(done)](ApiResponse response) {
          loop_.Pauses().Answered(loop_.Steady() - sent);
          const auto run = runs_.find(key);
          if (run == runs_.end()) return;
          run->second.request = 0;
          done(std::move(response));
        });
    const auto run = runs_.find(key);
    if (run != runs_.end()) run->second.request = id;
  }
  void After(Key key, net::Nanoseconds delay, net::Loop::Task task) {
    runs_[key].timer = loop_.After(delay, [this, key, task = std::move(task)] {
      runs_[key].timer = 0;
      task();
    });
  }
  ApiRequest Request(std::string method, std::string path) const {
    ApiRequest request;
    request.method = std::move(method);
    request.path = std::move(path);
    return request;
  }
  ApiRequest WithBody(std::string method, std::string path, std::string body) const {
    ApiRequest request = Request(std::move(method), std::move(path));
    request.content_type = client_.ContentType();
    request.body = std::move(body);
    return request;
  }

  void Finish(Key key, EffectResult result) {
    const auto run = runs_.find(key);
    if (run == runs_.end()) return;
    result.id = run->second.id;
    const std::string pod = std::move(run->second.pod);
    runs_.erase(run);
    done_(std::move(result));
    if (!pod.empty()) Next(pod);
  }
  void Finish(Key key, const ApiResponse& response) {
    const Code code = CodeOf(response);
    Finish(key, {.code = code, .message = code == Code::kOk ? "" : response.message});
  }
  // For what is known at once: results never come from inside Run.
  void FinishSoon(Key key, Code code, std::string message) {
    After(key, net::Nanoseconds(0), [this, key, code, message = std::move(message)] {
      Finish(key, {.code = code, .message = message});
    });
  }

  net::Loop& loop_;
  ApiClient& client_;
  EventRecorder& events_;
  RawObjects& raw_;
  const Done done_;
  EffectRules rules_;
  std::string epoch_;  // empty: bindings are not marked
  Key last_ = 0;
  boost::unordered_flat_map<Key, Running> runs_;
  // Pods with a request under way, by uid, and what comes after it.
  ByString<std::vector<scheduler::Effect>> pods_;
  size_t waiting_ = 0;
};

// ---- Pods

bool EffectRunner::Impl::Again(Key key, net::Loop::Task send) {
  Running& run = runs_[key];
  if (run.attempts == std::size(kPauses)) return false;
  const auto pause = static_cast<double>(kPauses[run.attempts].count());
  ++run.attempts;
  const double jittered = pause * (1 + kPauseJitter * loop_.Random());
  After(key, net::Nanoseconds(static_cast<int64_t>(jittered)), std::move(send));
  return true;
}

void EffectRunner::Impl::Start(Key key, const scheduler::BindPod& bind) {
  SendBinding(key, WithBody("POST", PodPath(bind.pod, "binding"),
                            BindingBody(bind, client_.ContentType(), epoch_)));
}

void EffectRunner::Impl::SendBinding(Key key, const ApiRequest& request) {
  if (!rules_.binding_retries) {
    Send(key, request, [this, key](const ApiResponse& response) { Finish(key, response); });
    return;
  }
  Send(key, request,
       [this, key, request](const ApiResponse& response) { OnBound(key, request, response); });
}

void EffectRunner::Impl::OnBound(Key key, const ApiRequest& request, const ApiResponse& response) {
  const bool maybe_done = runs_[key].maybe_done;
  if (response.code == 409 && maybe_done) {
    return Finish(key, {.code = Code::kUnknown, .message = response.message});
  }
  runs_[key].maybe_done = maybe_done || response.code != 0;
  const auto send = [this, key, request] { SendBinding(key, request); };
  if (WorthRepeating(response) && Again(key, send)) return;
  Finish(key, response);
}

void EffectRunner::Impl::Start(Key key, const scheduler::DeletePod& remove) {
  Send(key, WithBody("DELETE", PodPath(remove.pod), DeleteBody(client_.ContentType())),
       [this, key](const ApiResponse& response) { Finish(key, response); });
}

void EffectRunner::Impl::Start(Key key, const scheduler::ReadPod& read) {
  Send(key, Request("GET", PodPath(read.pod)),
       [this, key](const ApiResponse& response) { OnRead(key, response); });
}

void EffectRunner::Impl::OnRead(Key key, const ApiResponse& response) {
  if (!response.Ok()) return Finish(key, response);
  auto object = DecodeAnswer(PodKind(), response.content_type, response.body);
  if (!object) return Finish(key, {.code = Code::kError, .message = object.error().Message()});
  Finish(key, {.message = "", .pod = std::move(std::get<api::Pod>(*object))});
}

void EffectRunner::Impl::Start(Key key, const scheduler::PatchPodStatus& patch) {
  std::optional<std::string> body = StatusPatch(patch);
  if (!body) return FinishSoon(key, Code::kOk, "");
  ApiRequest request = Request("PATCH", PodPath(patch.pod, "status"));
  request.content_type = kStrategicMergePatch;
  request.body = std::move(*body);
  SendPatch(key, request);
}

void EffectRunner::Impl::Start(Key key, const scheduler::PatchPodGroupStatus& patch) {
  std::optional<std::string> body = StatusPatch(patch);
  if (!body) return FinishSoon(key, Code::kOk, "");
  static const Kind* const kind = FindKind(api::PodGroup::kKind);
  ApiRequest request =
      Request("PATCH", ObjectPath(*kind, patch.group.namespace_, patch.group.name, "status"));
  request.content_type = kStrategicMergePatch;
  request.body = std::move(*body);
  SendPatch(key, request);
}

void EffectRunner::Impl::SendPatch(Key key, const ApiRequest& request) {
  Send(key, request,
       [this, key, request](const ApiResponse& response) { OnPatched(key, request, response); });
}

void EffectRunner::Impl::OnPatched(Key key, const ApiRequest& request,
                                   const ApiResponse& response) {
  const bool repeats =
      WorthRepeating(response) || (rules_.patches_retry_conflicts && response.code == 409);
  if (repeats && Again(key, [this, key, request] { SendPatch(key, request); })) return;
  Finish(key, response);
}

// ---- Whole objects

void EffectRunner::Impl::Start(Key key, scheduler::WriteObject& write) {
  using Verb = framework::ApiWrite::Verb;
  if (write.write.verb == Verb::kCreate) return Create(key, write.write);
  if (write.write.verb == Verb::kDelete) return Remove(key, write.write.object);
  const Kind& kind = KindOf(write.write.object);
  const api::ObjectMeta& meta = MetaOf(write.write.object);
  const RawObjects::Entry* entry = raw_.Find(kind.kind, meta.namespace_, meta.name);
  if (!entry || entry->resource_version != meta.resource_version) {
    return Fetch(key, std::move(write.write));
  }
  Write(key, write.write, entry->proto);
}

void EffectRunner::Impl::Fetch(Key key, framework::ApiWrite write) {
  const api::ObjectMeta& meta = MetaOf(write.object);
  ApiRequest request = Request("GET", ObjectPath(KindOf(write.object), meta.namespace_, meta.name));
  request.accept = kAcceptProtobuf;
  Send(key, std::move(request), [this, key, write = std::move(write)](const ApiResponse& response) {
    OnFetched(key, write, response);
  });
}

void EffectRunner::Impl::OnFetched(Key key, const framework::ApiWrite& write,
                                   const ApiResponse& response) {
  if (!response.Ok()) {
    Code code = CodeOf(response);
    if (code == Code::kUnknown) code = Code::kError;  // nothing was written
    return Finish(key, {.code = code, .message = response.message});
  }
  const Kind& kind = KindOf(write.object);
  const api::ObjectMeta& meta = MetaOf(write.object);
  auto current = Keep(kind, response);
  if (!current) return Finish(key, {.code = Code::kError, .message = current.error().Message()});
  const RawObjects::Entry* entry = raw_.Find(kind.kind, meta.namespace_, meta.name);
  if (MetaOf(*current).resource_version != meta.resource_version) {
    return Finish(key, {.code = Code::kConflict, .message = ConflictMessage(kind, meta.name)});
  }
  if (!entry) {
    return Finish(key,
                  {.code = Code::kError,
                   .message = "the API server does not speak protobuf for " + ResourceName(kind)});
  }
  Write(key, write, entry->proto);
}

void EffectRunner::Impl::Write(Key key, const framework::ApiWrite& write, std::string_view old) {
  const Kind& kind = KindOf(write.object);
  const api::ObjectMeta& meta = MetaOf(write.object);
  auto merged =
      std::visit([&](const auto& value) { return api::MergeProto(old, value); }, write.object);
  if (!merged) return FinishSoon(key, Code::kError, merged.error().Message());
  const bool status = write.verb == framework::ApiWrite::Verb::kUpdateStatus;
  ApiRequest request =
      Request("PUT", ObjectPath(kind, meta.namespace_, meta.name, status ? "status" : ""));
  request.content_type = kProtobuf;
  request.accept = kAcceptProtobuf;
  request.body = api::WrapEnvelope(kind.api_version, kind.kind, *merged);
  Send(key, std::move(request),
       [this, key, &kind](const ApiResponse& response) { OnWritten(key, kind, response); });
}

void EffectRunner::Impl::OnWritten(Key key, const Kind& kind, const ApiResponse& response) {
  if (!response.Ok()) return Finish(key, response);
  auto written = Keep(kind, response);
  if (!written) {
    return Finish(key, {.code = Code::kUnknown, .message = written.error().Message()});
  }
  Finish(key, {.message = "", .written = std::move(*written)});
}

Result<WrittenObject> EffectRunner::Impl::Keep(const Kind& kind, const ApiResponse& response) {
  auto object = DecodeAnswer(kind, response.content_type, response.body);
  if (!object) return Fail(std::move(object.error()));
  std::optional<WrittenObject> written = ToWritten(std::move(*object));
  if (!written) return Fail("the server answered with an object of an unknown version");
  const api::ObjectMeta& meta = MetaOf(*written);
  raw_.Remove(kind.kind, meta.namespace_, meta.name);
  if (!IsProtobuf(response.content_type)) return std::move(*written);
  auto envelope = api::UnwrapEnvelope(response.body);
  if (!envelope) return Fail(std::move(envelope.error()));
  auto kept = api::DropManagedFields(envelope->raw);
  if (!kept) return Fail(std::move(kept.error()));
  raw_.Put(kind.kind, meta.namespace_, meta.name, {meta.resource_version, std::move(*kept)});
  return std::move(*written);
}

void EffectRunner::Impl::Create(Key key, const framework::ApiWrite& write) {
  const Kind& kind = KindOf(write.object);
  const std::string message =
      std::visit([](const auto& value) { return api::ToProto(value); }, write.object);
  ApiRequest request = Request("POST", NamespacePath(kind, MetaOf(write.object).namespace_));
  request.content_type = kProtobuf;
  request.accept = kAcceptProtobuf;
  request.body = api::WrapEnvelope(kind.api_version, kind.kind, message);
  Send(key, std::move(request),
       [this, key, &kind](const ApiResponse& response) { OnWritten(key, kind, response); });
}

// Read, written without the finalizer, deleted; from the start after a conflict.
void EffectRunner::Impl::Remove(Key key, const WrittenObject& object) {
  const api::ObjectMeta& meta = MetaOf(object);
  ApiRequest request = Request("GET", ObjectPath(KindOf(object), meta.namespace_, meta.name));
  request.accept = kAcceptProtobuf;
  Send(key, std::move(request),
       [this, key, object](const ApiResponse& response) { OnReadToRemove(key, object, response); });
}

void EffectRunner::Impl::OnReadToRemove(Key key, const WrittenObject& object,
                                        const ApiResponse& response) {
  if (!response.Ok()) return Finish(key, response);
  const Kind& kind = KindOf(object);
  auto current = Keep(kind, response);
  if (!current) return Finish(key, {.code = Code::kError, .message = current.error().Message()});
  const api::ObjectMeta meta = MetaOf(*current);
  if (meta.uid != MetaOf(object).uid) return Finish(key, {.code = Code::kNotFound, .message = ""});
  const size_t finalizers = std::visit(
      [](auto& value) { return std::erase(value.metadata.finalizers, kClaimFinalizer); }, *current);
  const RawObjects::Entry* entry = raw_.Find(kind.kind, meta.namespace_, meta.name);
  if (finalizers == 0 || !entry) return Delete(key, object);
  auto merged =
      std::visit([&](const auto& value) { return api::MergeProto(entry->proto, value); }, *current);
  if (!merged) return FinishSoon(key, Code::kError, merged.error().Message());
  ApiRequest request = Request("PUT", ObjectPath(kind, meta.namespace_, meta.name));
  request.content_type = kProtobuf;
  request.accept = kAcceptProtobuf;
  request.body = api::WrapEnvelope(kind.api_version, kind.kind, *merged);
  Send(key, std::move(request), [this, key, object](const ApiResponse& written) {
    if (written.Ok()) return Delete(key, object);
    if (written.code != 409 || ++runs_[key].attempts == kMaxConflicts) return Finish(key, written);
    Remove(key, object);
  });
}

void EffectRunner::Impl::Delete(Key key, const WrittenObject& object) {
  const api::ObjectMeta& meta = MetaOf(object);
  Send(key,
       WithBody("DELETE", ObjectPath(KindOf(object), meta.namespace_, meta.name),
                DeleteBody(client_.ContentType())),
       [this, key](const ApiResponse& response) { Finish(key, response); });
}

EffectRunner::EffectRunner(net::Loop& loop, ApiClient& client, EventRecorder& events,
                           RawObjects& raw, Done done, const EffectRules& rules)
    : impl_(std::make_unique<Impl>(loop, client, events, raw, std::move(done), rules)) {}
EffectRunner::~EffectRunner() = default;

void EffectRunner::Run(scheduler::Effect&& effect) { impl_->Run(std::move(effect)); }
void EffectRunner::SetRules(const EffectRules& rules) { impl_->SetRules(rules); }
void EffectRunner::MarkBindings(int32_t epoch) { impl_->MarkBindings(epoch); }
size_t EffectRunner::Outstanding() const { return impl_->Outstanding(); }

}  // namespace berth::kube
