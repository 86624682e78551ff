// Custom resources that plugins read: which kinds, and the stores of their objects.
//
// A plugin names the kinds it wants (framework/points/custom_kinds.h); hosts list and watch them,
// simulations load them from manifests. Objects stay JSON, which the plugin reads itself.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "api/codec/json.h"
#include "api/unknown_object.h"
#include "cluster/objects/store.h"

namespace berth::cluster {

// A kind that is not compiled in.
struct CustomKind {
  std::string group;    // "scheduling.x-k8s.io"
  std::string version;  // "v1alpha1"
  std::string kind;     // "PodGroup"
  std::string plural;   // "podgroups"
  bool namespaced = true;

  std::string ApiVersion() const { return group + "/" + version; }
  bool operator==(const CustomKind&) const = default;
  auto operator<=>(const CustomKind&) const = default;
};

// An object of a kind with a type but no store, as plugins that name the kind read it.
template <class T>
concept NamedObject = std::is_same_v<decltype(T::metadata), api::ObjectMeta>;
template <NamedObject T>
api::UnknownObject AsUnknown(const T& object) {
  return {std::string(T::kApiVersion), std::string(T::kKind), object.metadata, api::ToJson(object)};
}

// One store per kind that is kept.
class CustomStores {
 public:
  using Objects = Store<api::UnknownObject>;

  // Keeps objects of `kind` from now on. The store stays where it is.
  Objects& Add(std::string_view api_version, std::string_view kind) {
    return stores_[Key(api_version, kind)];
  }
  // Null: such objects are not kept.
  Objects* Find(std::string_view api_version, std::string_view kind) {
    const auto it = stores_.find(Key(api_version, kind));
    return it == stores_.end() ? nullptr : &it->second;
  }
  const Objects* Find(std::string_view api_version, std::string_view kind) const {
    const auto it = stores_.find(Key(api_version, kind));
    return it == stores_.end() ? nullptr : &it->second;
  }
  // Calls f(api_version, kind, store) for every store.
  template <class F>
  void ForEach(F&& f) {
    for (auto& [key, store] : stores_)
      f(std::string_view(key.first), std::string_view(key.second), store);
  }

 private:
  static std::pair<std::string, std::string> Key(std::string_view api_version,
                                                 std::string_view kind) {
    return {std::string(api_version), std::string(kind)};
  }

  std::map<std::pair<std::string, std::string>, Objects> stores_;
};

}  // namespace berth::cluster
