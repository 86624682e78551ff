#include "queue/plugin_index.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <random>

namespace berth::queue {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<uint32_t> Collected(const PluginIndex& index, uint64_t plugins) {
  std::vector<uint32_t> slots = {99};
  index.Collect(plugins, &slots);
  return slots;
}

TEST(PluginIndexTest, EachSlotOnceInTheOrderOfAdding) {
  PluginIndex index;
  index.Add(7, 0b011);
  index.Add(3, 0b010);
  index.Add(5, 0b001);
  index.Add(4, uint64_t{1} << 63);
  EXPECT_THAT(Collected(index, 0b011), ElementsAre(7, 3, 5));
  EXPECT_THAT(Collected(index, 0b001), ElementsAre(7, 5));
  EXPECT_THAT(Collected(index, 0b100), IsEmpty());
  EXPECT_THAT(Collected(index, ~uint64_t{0}), ElementsAre(7, 3, 5, 4));
  index.Remove(7);
  index.Remove(7);
  index.Remove(1000);
  EXPECT_THAT(Collected(index, 0b011), ElementsAre(3, 5));
  index.Add(7, 0b010);
  EXPECT_THAT(Collected(index, 0b011), ElementsAre(3, 5, 7));
}

TEST(PluginIndexTest, DeadEntriesAreNeverSeen) {
  std::mt19937 random(11);
  PluginIndex index;
  std::map<uint32_t, std::pair<int, uint64_t>> listed;  // slot: order, plugins
  for (int step = 0; step < 5000; ++step) {
    const uint32_t slot = random() % 60;
    if (listed.erase(slot) > 0) {
      index.Remove(slot);
    } else {
      const uint64_t plugins = random() % 16;
      index.Add(slot, plugins);
      listed[slot] = {step, plugins};
    }
    const uint64_t wanted = random() % 16;
    std::map<int, uint32_t> by_order;
    for (const auto& [s, entry] : listed) {
      if ((entry.second & wanted) != 0) by_order[entry.first] = s;
    }
    std::vector<uint32_t> expected;
    for (const auto& [order, s] : by_order) expected.push_back(s);
    ASSERT_EQ(Collected(index, wanted), expected) << step;
  }
}

}  // namespace
}  // namespace berth::queue
