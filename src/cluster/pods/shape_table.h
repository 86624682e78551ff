// ShapeTable: the distinct pod shapes of a cluster, counted by use.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/string_hash.h"
#include "cluster/pods/pod_shape.h"

namespace berth::cluster {

class ShapeTable {
 public:
  // The shape of `pod`, with one more user.
  const PodShape* Acquire(const api::Pod& pod, const api::RequestRules& rules, Dictionary& strings,
                          ResourceNames& resources);
  // Pods whose annotations of this key differ have different shapes from now on; the shape's source
  // has them. True when the key is new.
  bool TrackAnnotation(const std::string& key);
  // One more user of a shape that is in use.
  void Retain(const PodShape* shape) { ++entries_[shape->id].users; }
  // One user less; the last one frees the shape.
  void Release(const PodShape* shape);

  size_t Size() const { return by_key_.size(); }
  // Kinds of shapes that are remembered, in use or not.
  size_t KindCount() const { return kinds_.size(); }

 private:
  struct Kind {
    uint64_t number = 0;
    uint64_t shapes = 0;
  };
  struct Entry {
    PodShape shape;
    std::string key;  // the number of its kind, and the half of the key that is its own
    Kind* kind = nullptr;
    uint64_t users = 0;
  };

  Kind& KindOf(const api::Pod& pod);

  std::vector<std::string> annotations_;  // keys, sorted
  std::deque<Entry> entries_;             // by shape id; a deque: shapes never move
  std::vector<uint32_t> free_;
  ByStringView<uint32_t> by_key_;
  uint64_t next_serial_ = 1;
  // Kinds outlive their shapes for a while: the next pod of a kind is known by its old number.
  ByString<std::unique_ptr<Kind>> kinds_;
  size_t sweep_kinds_at_ = 4096;
  uint64_t next_kind_ = 1;
  std::string scratch_;
};

// A side table from shapes to whatever a plugin derives from them, filled on first use.
template <class T>
class PerShape {
 public:
  // The value for `shape`, made by `make(shape)` when there is none yet.
  template <class Make>
  T& Get(const PodShape& shape, Make&& make) {
    if (shape.id >= slots_.size()) slots_.resize(shape.id + 1);
    Slot& slot = slots_[shape.id];
    if (slot.serial != shape.serial) {
      slot.value = std::make_unique<T>(make(shape));
      slot.serial = shape.serial;
    }
    return *slot.value;
  }

 private:
  struct Slot {
    uint64_t serial = 0;
    std::unique_ptr<T> value;
  };
  std::vector<Slot> slots_;
};

}  // namespace berth::cluster
