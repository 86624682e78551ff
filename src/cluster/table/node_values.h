// Values of nodes that only some plugins read: annotations by key, and measured metrics.
//
// Owned by Cluster. A change of either marks the node's row dirty, as a change of the node object
// does, so a plugin that reads them declares kOnNodeObject.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/meta.h"
#include "api/time.h"
#include "cluster/ids.h"

namespace berth::cluster {

// Measured load of a node, as a host has read it. Values are in the units of their source.
struct NodeMetrics {
  api::Time measured;  // the end of the window
  std::map<std::string, double, std::less<>> values;

  bool operator==(const NodeMetrics&) const = default;
};

// The annotations of some keys, by row.
class NodeAnnotations {
 public:
  using Column = std::vector<std::optional<std::string>>;

  // True when the key is new.
  bool Track(const std::string& key) { return columns_.try_emplace(key).second; }
  bool Tracks(std::string_view key) const { return columns_.find(key) != columns_.end(); }
  // Null: the node lacks it, or nobody named the key.
  const std::string* Find(std::string_view key, NodeIndex row) const {
    const auto it = columns_.find(key);
    if (it == columns_.end() || row >= it->second.size() || !it->second[row]) return nullptr;
    return &*it->second[row];
  }
  void SetRow(NodeIndex row, const api::StringMap& annotations) {
    for (auto& [key, column] : columns_) {
      if (row >= column.size()) column.resize(row + 1);
      const std::string* value = api::FindValue(annotations, key);
      column[row] = value == nullptr ? std::nullopt : std::optional<std::string>(*value);
    }
  }

 private:
  std::map<std::string, Column, std::less<>> columns_;
};

}  // namespace berth::cluster
