#include "kube/watch/raw_objects.h"

#include <utility>

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
  boost::unordered::erase_if(entries_, [&](const auto& entry) {
    const std::string_view key = entry.first;
    return key.size() > kind.size() && key[kind.size()] == '/' && key.starts_with(kind);
  });
}

}  // namespace berth::kube
