// PluginIndex: which pending pods a plugin's events can concern.
//
// A slot is listed under each plugin that rejected it. Lists are in the order slots were added.
// Removing a slot leaves dead entries behind, which are compacted when they are more than half of a
// list: adding and removing cost O(1) per plugin on average, and collecting costs the length of the
// lists.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace berth::queue {

class PluginIndex {
 public:
  // Lists `slot`, which is not listed, under each plugin of the mask, after all that are there.
  void Add(uint32_t slot, uint64_t plugins);
  // Removes `slot` from all lists. Does nothing when it is in none.
  void Remove(uint32_t slot);
  // The slots listed under any plugin of the mask, each once, in the order they were added.
  // Overwrites `slots`.
  void Collect(uint64_t plugins, std::vector<uint32_t>* slots) const;

 private:
  struct Entry {
    uint64_t number;  // of the Add that made it
    uint32_t slot;
  };
  struct List {
    std::vector<Entry> entries;  // by number
    size_t live = 0;
  };
  struct Listed {
    uint64_t number = 0;  // 0: in no list
    uint64_t plugins = 0;
  };

  bool IsLive(const Entry& entry) const { return listed_[entry.slot].number == entry.number; }
  void DropDead(List& list);

  std::array<List, 64> lists_;  // by plugin
  std::vector<Listed> listed_;  // by slot
  uint64_t last_number_ = 0;
};

}  // namespace berth::queue
