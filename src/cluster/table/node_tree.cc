#include "cluster/table/node_tree.h"

namespace berth::cluster {
namespace {

std::string_view FirstOf(const api::StringMap& labels, std::string_view key,
                         std::string_view fallback) {
  auto it = labels.find(key);
  if (it == labels.end()) it = labels.find(fallback);
  return it == labels.end() ? std::string_view() : std::string_view(it->second);
}

}  // namespace

std::string ZoneKey(const api::StringMap& labels) {
  const std::string_view zone =
      FirstOf(labels, "failure-domain.beta.kubernetes.io/zone", "topology.kubernetes.io/zone");
  const std::string_view region =
      FirstOf(labels, "failure-domain.beta.kubernetes.io/region", "topology.kubernetes.io/region");
  if (region.empty() && zone.empty()) return {};
  std::string key(region);
  key.append(std::string_view(":\0:", 3)).append(zone);  // no label holds a NUL
  return key;
}

void NodeTree::Add(uint32_t node, std::string_view zone_key) {
  if (Contains(node)) return;
  const auto [it, is_new] = numbers_.try_emplace(std::string(zone_key), last_number_ + 1);
  if (is_new) zones_[++last_number_].key = it->first;
  Zone& zone = zones_[it->second];
  if (node >= places_.size()) places_.resize(size_t{node} + 1);
  places_[node] = {it->second, zone.nodes.size()};
  zone.nodes.push_back(node);
  ++zone.live;
  ++size_;
}

bool NodeTree::Remove(uint32_t node) {
  if (!Contains(node)) return false;
  const Place place = places_[node];
  places_[node] = {};
  --size_;
  Zone& zone = zones_[place.zone];
  zone.nodes[place.index] = kGone;
  if (--zone.live == 0) {
    numbers_.erase(zone.key);
    zones_.erase(place.zone);
  } else if (zone.live < zone.nodes.size() / 2) {
    Compact(place.zone, zone);
  }
  return true;
}

void NodeTree::Update(uint32_t node, std::string_view zone_key) {
  if (Contains(node) && zones_[places_[node].zone].key == zone_key) return;
  Remove(node);
  Add(node, zone_key);
}

void NodeTree::Compact(uint64_t number, Zone& zone) {
  std::erase(zone.nodes, kGone);
  for (size_t i = 0; i < zone.nodes.size(); ++i) places_[zone.nodes[i]] = {number, i};
}

std::vector<uint32_t> NodeTree::List() const {
  std::vector<uint32_t> out;
  List(out);
  return out;
}

void NodeTree::List(std::vector<uint32_t>& out) const {
  struct Cursor {
    const uint32_t* at;
    const uint32_t* end;
  };
  std::vector<Cursor> cursors;
  cursors.reserve(zones_.size());
  for (const auto& [number, zone] : zones_) {
    cursors.push_back({zone.nodes.data(), zone.nodes.data() + zone.nodes.size()});
  }
  out.clear();
  out.reserve(size_);
  while (!cursors.empty()) {
    // One node of each zone that still has some; the others drop out.
    size_t kept = 0;
    for (Cursor cursor : cursors) {
      while (cursor.at != cursor.end && *cursor.at == kGone) ++cursor.at;
      if (cursor.at == cursor.end) continue;
      out.push_back(*cursor.at++);
      cursors[kept++] = cursor;
    }
    cursors.resize(kept);
  }
}

}  // namespace berth::cluster
