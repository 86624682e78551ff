// AssumeCache: objects as they will be once our own decisions have reached the API server.
//
// Lies over a store. An assumed object hides the stored one until it is restored, or until the
// store has a newer version: then the API server has spoken.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <boost/unordered/unordered_flat_map.hpp>

#include "api/go/go_text.h"
#include "base/error.h"
#include "cluster/objects/object_store.h"
#include "plugins/common/resource_version.h"

namespace berth::plugins::volume_binding {

template <class T>
class AssumeCache {
 public:
  // `type` and `resource` name T in errors, e.g. "v1.PersistentVolume" and "persistentvolumes".
  AssumeCache(std::string_view type, std::string_view resource)
      : type_(type), resource_(resource) {}

  // See MinorRules. Before anything is assumed.
  void AssumeOverSameVersion(bool yes) { over_same_version_ = yes; }

  // The object as assumed, else as stored; null when the store has none. `key` is "namespace/name".
  const T* Latest(const cluster::Store<T>& store, const std::string& key) const {
    const T* stored = store.FindKey(key);
    if (assumed_.empty() || stored == nullptr) return stored;
    const auto it = assumed_.find(key);
    return it == assumed_.end() || Replaces(*stored, it->second) ? stored : it->second.object.get();
  }

  // Fails when the store has moved on since the object was made.
  Result<void> Assume(const cluster::Store<T>& store, std::shared_ptr<const T> object) {
    const std::string key = object->metadata.namespace_ + "/" + object->metadata.name;
    if (over_same_version_) return AssumeOver(store.FindKey(key), key, std::move(object));
    const T* latest = Latest(store, key);
    if (latest == nullptr) {
      return Fail(fmt::format("could not find {} {}", type_, api::GoQuote(Shown(key))));
    }
    const auto version = VersionOf(*object);
    if (!version) return Fail(version.error());
    const auto stored = VersionOf(*latest);
    if (!stored) return Fail(stored.error());
    if (*version < *stored) {
      return Fail(fmt::format("{} {} is out of sync (stored: {}, assume: {})", type_,
                              api::GoQuote(Shown(key)), *stored, *version));
    }
    assumed_.insert_or_assign(key, Assumed{std::move(object), *version});
    return {};
  }

  void Restore(const std::string& key) { assumed_.erase(key); }

  // Drops what no longer hides the stored object.
  void Forget(const cluster::Store<T>& store, const std::string& key) {
    const auto it = assumed_.find(key);
    if (it == assumed_.end()) return;
    const T* stored = store.FindKey(key);
    if (stored == nullptr || Replaces(*stored, it->second)) assumed_.erase(it);
  }
  void ForgetAll(const cluster::Store<T>& store) {
    boost::unordered::erase_if(assumed_, [&](const auto& entry) {
      const T* stored = store.FindKey(entry.first);
      return stored == nullptr || Replaces(*stored, entry.second);
    });
  }

  size_t Size() const { return assumed_.size(); }

 private:
  struct Assumed {
    std::shared_ptr<const T> object;  // shared with what was reserved for the pod
    int64_t version;
  };

  // The key of a cluster-scoped object is shown without the slash.
  static std::string_view Shown(std::string_view key) {
    return key.starts_with('/') ? key.substr(1) : key;
  }

  Result<void> AssumeOver(const T* stored, const std::string& key,
                          std::shared_ptr<const T> object) {
    if (stored == nullptr) {
      return Fail(fmt::format("{} {} not found", resource_, api::GoQuote(Shown(key))));
    }
    const std::string& was = stored->metadata.resource_version;
    const std::string& is = object->metadata.resource_version;
    if (was != is) {
      return Fail(fmt::format("{} is out of sync (stored: {}, assume: {})",
                              api::GoQuote(Shown(key)), was, is));
    }
    assumed_.insert_or_assign(key, Assumed{std::move(object), 0});
    return {};
  }

  bool Replaces(const T& stored, const Assumed& assumed) const {
    if (over_same_version_) {
      return stored.metadata.resource_version != assumed.object->metadata.resource_version;
    }
    const auto version = ParseVersion(stored.metadata.resource_version);
    return version && *version > assumed.version;
  }

  Result<int64_t> VersionOf(const T& object) const {
    const std::string& text = object.metadata.resource_version;
    if (const auto version = ParseVersion(text)) return *version;
    const std::string key = object.metadata.namespace_ + "/" + object.metadata.name;
    return Fail(fmt::format(
        "error parsing ResourceVersion {} for {} {}: strconv.ParseInt: parsing {}: invalid syntax",
        api::GoQuote(text), type_, api::GoQuote(Shown(key)), api::GoQuote(text)));
  }

  std::string_view type_;
  std::string_view resource_;
  bool over_same_version_ = false;
  boost::unordered_flat_map<std::string, Assumed> assumed_;
};

}  // namespace berth::plugins::volume_binding
