// InitialEvents: what a watch with sendInitialEvents has shown before its bookmark says that this
// was everything. The last version of every object counts.
#pragma once

#include <map>
#include <string>
#include <utility>

#include "kube/watch/decode.h"

namespace berth::kube {

class InitialEvents {
 public:
  struct Item {
    api::Object object;
    std::string raw;   // its protobuf message; "" for JSON
    std::string json;  // its JSON; "" for protobuf
  };

  // True: the bookmark that ends them.
  static bool IsEnd(const WatchEvent& event) {
    if (event.type != WatchEvent::Type::kBookmark) return false;
    const std::string* end =
        api::FindValue(api::MetadataOf(event.object)->annotations, "k8s.io/initial-events-end");
    return end != nullptr && *end == "true";
  }

  // REQUIRES: no kError. Other bookmarks say nothing.
  void Take(WatchEvent&& event) {
    const api::ObjectMeta& meta = *api::MetadataOf(event.object);
    std::pair<std::string, std::string> key(meta.namespace_, meta.name);
    switch (event.type) {
      case WatchEvent::Type::kAdded:
      case WatchEvent::Type::kModified:
        items_.insert_or_assign(
            std::move(key),
            Item{std::move(event.object), std::string(event.raw), std::move(event.json)});
        return;
      case WatchEvent::Type::kDeleted:
        items_.erase(key);
        return;
      case WatchEvent::Type::kBookmark:
      case WatchEvent::Type::kError:
        return;
    }
  }

  // By namespace and name.
  std::map<std::pair<std::string, std::string>, Item>& Items() { return items_; }

 private:
  std::map<std::pair<std::string, std::string>, Item> items_;
};

}  // namespace berth::kube
