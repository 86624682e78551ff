// ModelApi: the part of an API server that a scheduler sees, in memory and in virtual time.
//
// Objects have uids, generations and resource versions (one counter for all kinds). An update that
// was read too long ago is refused; a write that changes nothing makes no new version. Every change
// is told to the subscribers at once and in order: what a watch makes of it (delays, breaks) is the
// subscriber's business.
//
//   pods/binding   refused when the pod has a node, is going away, is gated or has another uid
//   pods/status    conditions and the nominated node
//   DELETE pods    at once without a node or when finished; else deletionTimestamp first, and gone
//                  after the grace period
//
// Nothing here is random, and nothing fails that a real server would not refuse.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/object.h"
#include "framework/points/device_claims.h"
#include "scheduler/effects.h"
#include "sim/host/event_loop.h"

namespace berth::sim {

using ObjectPtr = std::shared_ptr<const api::Object>;

struct ApiChange {
  enum class Type : uint8_t { kAdded, kModified, kDeleted };
  Type type = Type::kAdded;
  std::string_view kind;
  ObjectPtr object;      // as it is now; as it last was when it is deleted
  ObjectPtr old_object;  // as it was before; null when it is added
};

struct ApiAnswer {
  int code = 200;
  std::string message = {};
  ObjectPtr object = nullptr;  // as it is now, when the request succeeded
  bool Ok() const { return code < 300; }
};

class ModelApi {
 public:
  // `loop` outlives the API.
  explicit ModelApi(EventLoop& loop) : loop_(loop) {}

  // --- Any kind
  // Gives it uid, version, generation and creation time.
  ApiAnswer Create(api::Object object);
  // Replaces the object, or its status only. Refused when metadata.resourceVersion is given and is
  // not the current one, and when metadata.uid is given and differs.
  ApiAnswer Update(api::Object object, bool status = false);
  // What a scheduler writes: an update, or a claim that it makes or removes itself
  // (framework/points/device_claims.h).
  ApiAnswer Write(const framework::ApiWrite& write);
  // Gone at once.
  ApiAnswer Delete(std::string_view kind, std::string_view namespace_, std::string_view name);
  // Null when there is none. `key`: "namespace/name", "/name" without a namespace.
  ObjectPtr Get(std::string_view kind, std::string_view key) const;
  std::vector<ObjectPtr> List(std::string_view kind) const;  // in order of key

  template <class T>
  const T* Find(std::string_view namespace_, std::string_view name) const {
    const ObjectPtr object = Get(T::kKind, Key(namespace_, name));
    return object == nullptr ? nullptr : std::get_if<T>(object.get());
  }
  // Calls f(const T&) for every object of the kind, in order of key. `f` must not write.
  template <class T, class F>
  void ForEach(F&& f) const {
    const auto it = kinds_.find(T::kKind);
    if (it == kinds_.end()) return;
    for (const auto& [key, object] : it->second) f(std::get<T>(*object));
  }
  // Read, change and write in one go: never a conflict. False when there is no such object.
  template <class T, class F>
  bool Modify(std::string_view namespace_, std::string_view name, F&& change) {
    const T* current = Find<T>(namespace_, name);
    if (current == nullptr) return false;
    T changed = *current;
    change(changed);
    Store(std::move(changed));
    return true;
  }

  // --- Pods
  ApiAnswer Bind(const scheduler::PodRef& pod, const std::string& node);
  ApiAnswer PatchStatus(const scheduler::PatchPodStatus& patch);
  ApiAnswer PatchStatus(const scheduler::PatchPodGroupStatus& patch);  // podgroups/status
  // An empty uid stands for any. `grace`: how long a pod with a node takes to go.
  ApiAnswer DeletePod(const scheduler::PodRef& pod, Nanos grace = 2 * kSecond);
  ApiAnswer ReadPod(const scheduler::PodRef& pod) const;

  // --- Changes
  using Subscriber = std::function<void(const ApiChange&)>;
  // Told of every change from now on. Must not write; ask the loop to do it.
  void Subscribe(Subscriber subscriber) { subscribers_.push_back(std::move(subscriber)); }
  uint64_t Version() const { return version_; }

  static std::string Key(std::string_view namespace_, std::string_view name);
  static std::string KeyOf(const api::Object& object);

 private:
  using Objects = std::map<std::string, ObjectPtr, std::less<>>;

  const api::Pod* CheckedPod(const scheduler::PodRef& ref, ApiAnswer* refusal) const;
  // Replaces the current version: new resource version, generation, subscribers told.
  ApiAnswer Store(api::Object object);
  ApiAnswer Remove(std::string_view kind, const std::string& key);
  ApiAnswer CreateClaim(api::ResourceClaim claim);
  ApiAnswer RemoveClaim(const api::ResourceClaim& claim);
  void Tell(ApiChange::Type type, ObjectPtr object, ObjectPtr old_object);

  EventLoop& loop_;
  uint64_t version_ = 0;
  uint64_t next_uid_ = 1;
  std::map<std::string, Objects, std::less<>> kinds_;
  std::vector<Subscriber> subscribers_;
};

// A pod that has run to its end; schedulers do not watch these.
bool IsFinished(const api::Pod& pod);

}  // namespace berth::sim
