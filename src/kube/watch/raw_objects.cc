#include "kube/watch/raw_objects.h"

#include <utility>
#include <variant>

#include "kube/extender/extender_wire.h"

namespace berth::kube {

namespace {

std::string Key(std::string_view kind, std::string_view namespace_, std::string_view name) {
  std::string key;
  key.reserve(kind.size() + namespace_.size() + name.size() + 2);
  key.append(kind).append("/").append(namespace_).append("/").append(name);
  return key;
}

}  // namespace

bool RawObjects::Keeps(std::string_view kind) {
  return kind == "PersistentVolume" || kind == "PersistentVolumeClaim" || kind == "ResourceClaim";
}

void RawObjects::Put(std::string_view kind, std::string_view namespace_, std::string_view name,
                     Entry entry) {
  entries_.insert_or_assign(Key(kind, namespace_, name), std::move(entry));
}

void RawObjects::Remove(std::string_view kind, std::string_view namespace_, std::string_view name) {
  entries_.erase(Key(kind, namespace_, name));
}

const RawObjects::Entry* RawObjects::Find(std::string_view kind, std::string_view namespace_,
                                          std::string_view name) const {
  const auto it = entries_.find(Key(kind, namespace_, name));
  return it != entries_.end() ? &it->second : nullptr;
}

void RawObjects::Clear(std::string_view kind) {
  const auto is_kind = [&](const auto& entry) {
    const std::string_view key = entry.first;
    return key.size() > kind.size() && key[kind.size()] == '/' && key.starts_with(kind);
  };
  boost::unordered::erase_if(entries_, is_kind);
  boost::unordered::erase_if(jsons_, is_kind);
}

// --- JSON

void RawObjects::SetKeptJson(const KeptJson& kept) {
  kept_json_ = kept;
  jsons_.clear();
}

bool RawObjects::KeepsJson(std::string_view kind) const {
  if (kind == api::Node::kKind) return kept_json_.nodes;
  return kind == api::Pod::kKind && (kept_json_.pending_pods || kept_json_.assigned_pods);
}

void RawObjects::PutJson(const api::Object& object, std::string_view json) {
  bool keep = KeepsJson(api::KindOf(object));
  if (const auto* pod = std::get_if<api::Pod>(&object)) {
    keep = pod->spec.node_name.empty() ? kept_json_.pending_pods : kept_json_.assigned_pods;
  }
  if (!keep) return RemoveJson(object);
  const api::ObjectMeta& meta = *api::MetadataOf(object);
  const bool without =
      kept_json_.without_managed_fields && std::holds_alternative<api::Pod>(object);
  jsons_.insert_or_assign(Key(api::KindOf(object), meta.namespace_, meta.name),
                          ForExtenders(json, without));
}

void RawObjects::RemoveJson(const api::Object& object) {
  const api::ObjectMeta* meta = api::MetadataOf(object);
  if (meta != nullptr) jsons_.erase(Key(api::KindOf(object), meta->namespace_, meta->name));
}

const std::string* RawObjects::FindJson(std::string_view kind, std::string_view namespace_,
                                        std::string_view name) const {
  const auto it = jsons_.find(Key(kind, namespace_, name));
  return it != jsons_.end() ? &it->second : nullptr;
}

}  // namespace berth::kube
