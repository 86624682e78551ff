// NodeTree: the order in which a snapshot lists nodes.
//
// Nodes are kept by zone in order of arrival; the list takes one node of each zone in turn, zones
// in order of their first node. Scheduling cycles that stop early therefore see all zones alike. A
// zone that lost its last node and gets a new one goes to the end. Ids are small: memory grows with
// the largest one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "api/string_map.h"

namespace berth::cluster {

// Region and zone of a node as one text, empty if it has neither. The beta labels count before the
// others, even when they are empty.
std::string ZoneKey(const api::StringMap& labels);

class NodeTree {
 public:
  // Nothing happens if the node is there already.
  void Add(uint32_t node, std::string_view zone_key);
  // False if the node is not there.
  bool Remove(uint32_t node);
  // The node moves to the end of its new zone; it stays where it is if the zone is the same. Added
  // if it is not there.
  void Update(uint32_t node, std::string_view zone_key);

  bool Contains(uint32_t node) const { return node < places_.size() && places_[node].zone != 0; }
  size_t Size() const { return size_; }

  // Ids in snapshot order; the second form reuses `out`.
  std::vector<uint32_t> List() const;
  void List(std::vector<uint32_t>& out) const;

 private:
  static constexpr uint32_t kGone = UINT32_MAX;  // left behind by a node that was removed

  struct Zone {
    std::string key;
    std::vector<uint32_t> nodes;  // kGone in between
    size_t live = 0;
  };
  // Where a node is: the number of its zone (0: nowhere) and the index in it.
  struct Place {
    uint64_t zone = 0;
    size_t index = 0;
  };

  void Compact(uint64_t number, Zone& zone);

  std::map<uint64_t, Zone>
      zones_;  // by number: numbers grow with each new zone; no zone is without live nodes
  std::unordered_map<std::string, uint64_t> numbers_;  // of zones by key
  std::vector<Place> places_;                          // by node
  uint64_t last_number_ = 0;
  size_t size_ = 0;
};

}  // namespace berth::cluster
