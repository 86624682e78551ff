#include "queue/plugin_index.h"

#include <algorithm>
#include <bit>

namespace berth::queue {
namespace {

// Below this length dead entries are not worth a pass over the list.
constexpr size_t kShortList = 32;

template <class Fn>
void ForEachPlugin(uint64_t plugins, Fn&& fn) {
  for (; plugins != 0; plugins &= plugins - 1) fn(static_cast<size_t>(std::countr_zero(plugins)));
}

}  // namespace

void PluginIndex::Add(uint32_t slot, uint64_t plugins) {
  if (slot >= listed_.size()) listed_.resize(slot + size_t{1});
  const uint64_t number = ++last_number_;
  listed_[slot] = {number, plugins};
  ForEachPlugin(plugins, [&](size_t plugin) {
    lists_[plugin].entries.push_back({number, slot});
    ++lists_[plugin].live;
  });
}

void PluginIndex::Remove(uint32_t slot) {
  if (slot >= listed_.size() || listed_[slot].number == 0) return;
  const uint64_t plugins = listed_[slot].plugins;
  listed_[slot] = {};
  ForEachPlugin(plugins, [&](size_t plugin) {
    List& list = lists_[plugin];
    --list.live;
    if (list.entries.size() > kShortList && list.entries.size() > 2 * list.live) DropDead(list);
  });
}

void PluginIndex::DropDead(List& list) {
  std::erase_if(list.entries, [&](const Entry& entry) { return !IsLive(entry); });
  if (list.entries.capacity() > 4 * list.entries.size()) list.entries.shrink_to_fit();
}

void PluginIndex::Collect(uint64_t plugins, std::vector<uint32_t>* slots) const {
  slots->clear();
  std::vector<Entry> found;
  size_t lists = 0;
  ForEachPlugin(plugins, [&](size_t plugin) {
    const List& list = lists_[plugin];
    if (list.live == 0) return;
    ++lists;
    for (const Entry& entry : list.entries) {
      if (IsLive(entry)) found.push_back(entry);
    }
  });
  if (lists > 1) {
    std::sort(found.begin(), found.end(),
              [](const Entry& a, const Entry& b) { return a.number < b.number; });
  }
  slots->reserve(found.size());
  for (const Entry& entry : found) {
    // A slot that is in several lists has the same number in each.
    if (slots->empty() || slots->back() != entry.slot) slots->push_back(entry.slot);
  }
}

}  // namespace berth::queue
