#include "cluster/shape_table.h"

#include <utility>

namespace berth::cluster {

const PodShape* ShapeTable::Acquire(const api::Pod& pod, Dictionary& strings,
                                    ResourceNames& resources) {
  scratch_.clear();
  AppendShapeKey(pod, &scratch_);
  const auto it = by_key_.find(scratch_);
  if (it != by_key_.end()) {
    Entry& entry = entries_[it->second];
    ++entry.users;
    return &entry.shape;
  }
  uint32_t id;
  if (free_.empty()) {
    id = static_cast<uint32_t>(entries_.size());
    entries_.emplace_back();
  } else {
    id = free_.back();
    free_.pop_back();
  }
  Entry& entry = entries_[id];
  entry.shape = CompileShape(pod, strings, resources);
  entry.shape.id = id;
  entry.shape.serial = next_serial_++;
  entry.key = scratch_;
  entry.users = 1;
  by_key_.emplace(entry.key, id);
  return &entry.shape;
}

void ShapeTable::Release(const PodShape* shape) {
  const uint32_t id = shape->id;
  Entry& entry = entries_[id];
  if (--entry.users > 0) return;
  by_key_.erase(entry.key);
  entry.shape = PodShape();
  entry.key = std::string();
  free_.push_back(id);
}

}  // namespace berth::cluster
