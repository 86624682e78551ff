// NodeCapacities: the names and capacities of all nodes, as the watch of nodes shows them.
//
// On the loop's thread. Sources of metrics name nodes that they have seen; only those that the
// cluster has count.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "api/object.h"
#include "scheduler/list_part.h"

namespace berth::kube {

struct NodeCapacity {
  int64_t milli_cpu = 0;
  int64_t memory = 0;
};

class NodeCapacities {
 public:
  // The callbacks of ObjectSink; objects of other kinds are ignored.
  void Upsert(const api::Object& object) {
    if (const auto* node = std::get_if<api::Node>(&object)) nodes_[node->metadata.name] = Of(*node);
  }
  void Delete(const api::Object& object) {
    if (const auto* node = std::get_if<api::Node>(&object)) nodes_.erase(node->metadata.name);
  }
  void Replace(std::string_view kind, const std::vector<api::Object>& objects,
               scheduler::ListPart part) {
    if (kind != api::Node::kKind) return;
    if (part == scheduler::ListPart::kWhole || part == scheduler::ListPart::kFirst) listed_.clear();
    for (const api::Object& object : objects) {
      Upsert(object);
      if (const auto* node = std::get_if<api::Node>(&object)) listed_.insert(node->metadata.name);
    }
    if (part != scheduler::ListPart::kWhole && part != scheduler::ListPart::kLast) return;
    std::erase_if(nodes_, [this](const auto& entry) { return !listed_.contains(entry.first); });
    listed_.clear();
  }

  // Null: the cluster has no such node.
  const NodeCapacity* Find(std::string_view name) const {
    const auto it = nodes_.find(name);
    return it == nodes_.end() ? nullptr : &it->second;
  }
  const std::map<std::string, NodeCapacity, std::less<>>& All() const { return nodes_; }

 private:
  static NodeCapacity Of(const api::Node& node) {
    NodeCapacity capacity;
    const api::ResourceList& all = node.status.capacity;
    if (const auto it = all.find("cpu"); it != all.end()) {
      capacity.milli_cpu = it->second.MilliValue();
    }
    if (const auto it = all.find("memory"); it != all.end()) capacity.memory = it->second.Value();
    return capacity;
  }

  std::map<std::string, NodeCapacity, std::less<>> nodes_;
  std::set<std::string, std::less<>> listed_;  // by the parts of a list so far
};

}  // namespace berth::kube
