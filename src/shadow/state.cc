#include "shadow/state.h"

#include <algorithm>
#include <utility>

#include <boost/unordered/unordered_flat_set.hpp>

#include "base/string_hash.h"
#include "cluster/objects/kind_table.h"
#include "explain/cluster_copy.h"

namespace berth::shadow {
namespace {

using cluster::StoredKind;

template <class T>
ObjectPtr Wrap(T object) {
  return std::make_shared<const api::Object>(std::move(object));
}

template <class T>
ObjectPtr FindIn(const cluster::Store<T>& store, const api::ObjectMeta& metadata) {
  const T* found = store.Find(metadata.namespace_, metadata.name);
  return found == nullptr ? nullptr : Wrap(*found);
}

bool SamePod(const cluster::Pod& a, const cluster::Pod& b) {
  return a.shape == b.shape && a.node_name == b.node_name &&
         a.nominated_node_name == b.nominated_node_name && a.terminating == b.terminating &&
         a.preempted == b.preempted && a.resource_claim_statuses == b.resource_claim_statuses;
}

}  // namespace

uint64_t NumberOf(const api::Object& object) {
  const api::ObjectMeta* metadata = api::MetadataOf(object);
  std::string key(api::KindOf(object));
  if (metadata != nullptr) {
    key += '/';
    if (std::holds_alternative<api::Pod>(object)) {
      key += metadata->uid;
    } else {
      key += metadata->namespace_ + "/" + metadata->name;
    }
  }
  return StringHash()(key);
}

State::State(const config::Behaviour& behaviour, const cluster::PluginInputs& inputs) {
  cluster_.SetRequestRules(behaviour.requests);
  cluster_.Track(inputs);
}

ObjectPtr State::Find(const api::Object& like) const {
  return std::visit(
      [this]<class T>(const T& value) -> ObjectPtr {
        if constexpr (std::is_same_v<T, api::Pod>) {
          const cluster::PodId id = cluster_.FindPod(value.metadata.uid);
          if (id == cluster::kNoPod) return nullptr;
          return Wrap(explain::ToObject(cluster_.GetPod(id)));
        } else if constexpr (std::is_same_v<T, api::Node>) {
          const auto it = nodes_.find(value.metadata.name);
          return it == nodes_.end() ? nullptr : it->second;
        } else if constexpr (StoredKind<T>) {
          auto& objects = const_cast<cluster::ObjectStore&>(cluster_.Objects());
          return FindIn(cluster::StoreOf<T>(objects), value.metadata);
        } else if constexpr (std::is_same_v<T, api::UnknownObject>) {
          auto& objects = const_cast<cluster::ObjectStore&>(cluster_.Objects());
          auto* store = objects.custom.Find(value.api_version, value.kind);
          return store == nullptr ? nullptr : FindIn(*store, value.metadata);
        } else {
          return nullptr;
        }
      },
      like);
}

void State::Put(const ObjectPtr& object) {
  std::visit(
      [&]<class T>(const T& value) {
        if constexpr (std::is_same_v<T, api::Pod>) {
          const cluster::PodId old = cluster_.FindPod(value.metadata.uid);
          if (old != cluster::kNoPod) cluster_.RemovePod(old);
          const cluster::PodId id = cluster_.AddPod(value);
          const std::string& nominated = value.status.nominated_node_name;
          if (value.spec.node_name.empty() && !nominated.empty()) {
            cluster_.MutableNominations().Set(id, cluster_.Strings().Intern(nominated));
          }
        } else if constexpr (std::is_same_v<T, api::Node>) {
          cluster_.SetNode(value);
          nodes_[value.metadata.name] = object;
        } else if constexpr (StoredKind<T>) {
          cluster::StoreOf<T>(cluster_.MutableObjects()).Set(value);
        } else if constexpr (std::is_same_v<T, api::UnknownObject>) {
          auto* store = cluster_.MutableObjects().custom.Find(value.api_version, value.kind);
          if (store != nullptr) store->Set(value);
        }
      },
      *object);
}

void State::Remove(const api::Object& object) {
  std::visit(
      [this]<class T>(const T& value) {
        if constexpr (std::is_same_v<T, api::Pod>) {
          const cluster::PodId id = cluster_.FindPod(value.metadata.uid);
          if (id != cluster::kNoPod) cluster_.RemovePod(id);
        } else if constexpr (std::is_same_v<T, api::Node>) {
          cluster_.RemoveNode(value.metadata.name);
          nodes_.erase(value.metadata.name);
        } else if constexpr (StoredKind<T>) {
          cluster::StoreOf<T>(cluster_.MutableObjects())
              .Remove(value.metadata.namespace_, value.metadata.name);
        } else if constexpr (std::is_same_v<T, api::UnknownObject>) {
          auto* store = cluster_.MutableObjects().custom.Find(value.api_version, value.kind);
          if (store != nullptr) store->Remove(value.metadata.namespace_, value.metadata.name);
        }
      },
      object);
}

bool State::TakeUpIfEqual(cluster::PodId id, const api::Pod& pod) {
  const std::shared_ptr<const cluster::Pod> next = cluster_.Snapshot(pod);
  const cluster::Pod& known = cluster_.GetPod(id);
  if (!SamePod(known, *next)) return false;
  if (known.start_time != next->start_time) cluster_.UpdatePod(id, pod);
  return true;
}

std::vector<ObjectPtr> State::MissingFrom(std::string_view kind,
                                          const std::vector<api::Object>& listed) const {
  boost::unordered_flat_set<uint64_t> there;
  for (const api::Object& object : listed) there.insert(NumberOf(object));
  std::vector<ObjectPtr> missing;
  const auto check = [&](ObjectPtr object) {
    if (!there.contains(NumberOf(*object))) missing.push_back(std::move(object));
  };
  if (kind == api::Pod::kKind) {
    for (cluster::PodId id = 0; id < cluster_.PodIdLimit(); ++id) {
      if (cluster_.PodExists(id)) check(Wrap(explain::ToObject(cluster_.GetPod(id))));
    }
    return missing;
  }
  if (kind == api::Node::kKind) {
    cluster_.Nodes().ForEach([&](cluster::NodeIndex n) {
      const auto it = nodes_.find(cluster_.NodeName(n));
      if (it != nodes_.end()) check(it->second);
    });
    return missing;
  }
  auto& objects = const_cast<cluster::ObjectStore&>(cluster_.Objects());
  cluster::ForEachKind([&]<class T>(const cluster::KindRow<T>&) {
    if constexpr (StoredKind<T>) {
      if (kind != T::kKind) return;
      cluster::StoreOf<T>(objects).ForEach([&](const T& object) { check(Wrap(object)); });
    }
  });
  objects.custom.ForEach([&](std::string_view version, std::string_view custom, auto& store) {
    if (!cluster::IsOfList(kind, version, custom)) return;
    store.ForEach([&](const api::UnknownObject& object) { check(Wrap(object)); });
  });
  return missing;
}

}  // namespace berth::shadow
