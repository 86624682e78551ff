#include "cluster/objects/load.h"

#include <type_traits>
#include <utility>
#include <variant>

#include "cluster/objects/kind_table.h"

namespace berth::cluster {

bool Load(Cluster& cluster, api::Object&& object) {
  return std::visit(
      [&]<class T>(T&& value) {
        using Kind = std::remove_cvref_t<T>;
        if constexpr (std::is_same_v<Kind, api::Node>) {
          cluster.SetNode(value);
          return true;
        } else if constexpr (std::is_same_v<Kind, api::Pod>) {
          if (value.status.phase == "Succeeded" || value.status.phase == "Failed") return false;
          cluster.AddPod(value);
          return true;
        } else if constexpr (StoredKind<Kind>) {
          StoreOf<Kind>(cluster.MutableObjects()).Set(std::forward<T>(value));
          return true;
        } else if constexpr (std::is_same_v<Kind, api::UnknownObject>) {
          auto* store = cluster.MutableObjects().custom.Find(value.api_version, value.kind);
          if (store == nullptr) return false;
          store->Set(std::forward<T>(value));
          return true;
        } else if constexpr (NamedObject<Kind>) {
          auto* store = cluster.MutableObjects().custom.Find(Kind::kApiVersion, Kind::kKind);
          if (store == nullptr) return false;
          store->Set(AsUnknown(value));
          return true;
        } else {
          return false;
        }
      },
      std::move(object));
}

}  // namespace berth::cluster
