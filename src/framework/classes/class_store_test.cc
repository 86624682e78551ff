#include "framework/classes/class_store.h"

#include <gtest/gtest.h>

namespace berth::framework {
namespace {

using Key = std::vector<int64_t>;

constexpr size_t kUnlimited = size_t{1} << 40;
constexpr size_t kRows = 64;

cluster::PodShape ShapeWith(uint32_t id, uint64_t serial, uint32_t parts = 0) {
  cluster::PodShape shape;
  shape.id = id;
  shape.serial = serial;
  shape.parts = parts;
  return shape;
}

// Uses the store as a pod of `shape` does.
ClassEntry& Use(ClassStore& store, const cluster::PodShape& shape, const Key& key) {
  return store.EntryFor(shape, store.LastOf(shape), key);
}

TEST(ClassStore, PodsOfOneKeyShareAnEntry) {
  ClassStore store(kUnlimited);
  ClassEntry& first = Use(store, ShapeWith(0, 1), {7});
  EXPECT_EQ(&Use(store, ShapeWith(1, 2), {7}), &first);
  EXPECT_NE(&Use(store, ShapeWith(2, 3), {8}), &first);
}

TEST(ClassStore, AnEntryFollowsItsShapeToANewKey) {
  ClassStore store(kUnlimited);
  const cluster::PodShape shape = ShapeWith(0, 1);
  ClassEntry& entry = Use(store, shape, {7});
  EXPECT_EQ(&Use(store, shape, {8}), &entry);
  EXPECT_EQ(entry.key, Key{8});
  EXPECT_NE(&Use(store, ShapeWith(1, 2), {7}), &entry) << "the old key is free again";
}

TEST(ClassStore, AnEntryThatAnotherShapeUsedLastStaysWithItsKey) {
  ClassStore store(kUnlimited);
  const cluster::PodShape a = ShapeWith(0, 1);
  ClassEntry& entry = Use(store, a, {7});
  Use(store, ShapeWith(1, 2), {7});
  EXPECT_NE(&Use(store, a, {8}), &entry);
  EXPECT_EQ(entry.key, Key{7});
}

TEST(ClassStore, AReusedShapeIdHasNoLastEntry) {
  ClassStore store(kUnlimited);
  Use(store, ShapeWith(0, 1), {7});
  EXPECT_NE(store.LastOf(ShapeWith(0, 1)), nullptr);
  EXPECT_EQ(store.LastOf(ShapeWith(0, 2)), nullptr);
}

TEST(ClassStore, PodsWithClaimsHaveNoLastEntry) {
  ClassStore store(kUnlimited);
  const cluster::PodShape shape = ShapeWith(0, 1, cluster::kHasVolumes);
  Use(store, shape, {7});
  EXPECT_EQ(store.LastOf(shape), nullptr);
}

TEST(ClassStore, AClassIsBuiltForTheSecondPod) {
  ClassStore store(kUnlimited);
  ClassEntry& entry = Use(store, ShapeWith(0, 1), {7});
  EXPECT_TRUE(store.Waits(entry));
  EXPECT_FALSE(store.Waits(entry));
}

TEST(ClassStore, AnEagerStoreNeverWaits) {
  ClassStore store(kUnlimited);
  store.set_eager(true);
  EXPECT_FALSE(store.Waits(Use(store, ShapeWith(0, 1), {7})));
}

TEST(ClassStore, AClassThatGaveFewAnswersIsPutOffTwiceAsLongEachTime) {
  ClassEntry entry;
  entry.wait = 1;
  for (const uint32_t expected : {2u, 4u, 8u}) {
    ClassStore::PutOff(entry);
    EXPECT_EQ(entry.wait, expected);
  }
  for (int i = 0; i < 20; ++i) ClassStore::PutOff(entry);
  const uint32_t longest = entry.wait;
  ClassStore::PutOff(entry);
  EXPECT_EQ(entry.wait, longest);
  entry.answers = 1000;
  ClassStore::PutOff(entry);
  EXPECT_EQ(entry.wait, 0u) << "it was worth building";
}

TEST(ClassStore, BeyondTheLimitTheLeastRecentlyUsedClassGoes) {
  ClassStore store(/*memory_limit=*/1);
  ClassEntry& old = Use(store, ShapeWith(0, 1), {1});
  ClassEntry& kept = Use(store, ShapeWith(1, 2), {2});
  store.Hold(old, kRows);
  store.LimitMemory(old);
  EXPECT_NE(old.nodes, nullptr) << "the only class stays, whatever its size";
  store.Hold(kept, kRows);
  store.LimitMemory(kept);
  EXPECT_EQ(old.nodes, nullptr);
  EXPECT_NE(kept.nodes, nullptr);
  EXPECT_EQ(store.Evictions(), 1u);
  EXPECT_EQ(store.MemoryBytes(), kept.MemoryBytes());
}

TEST(ClassStore, DroppingAClassReleasesItsMemory) {
  ClassStore store(kUnlimited);
  std::vector<ClassEntry*> entries;
  for (uint32_t i = 0; i < 3; ++i) {
    entries.push_back(&Use(store, ShapeWith(i, i + 1), {i}));
    store.Hold(*entries.back(), kRows);
    store.LimitMemory(*entries.back());
  }
  for (ClassEntry* entry : entries) store.Drop(*entry);
  EXPECT_EQ(store.MemoryBytes(), 0u);
}

TEST(ClassStore, ManyKeysAreForgottenOldestFirst) {
  ClassStore store(kUnlimited);
  ClassEntry& first = Use(store, ShapeWith(0, 1), {-1});
  const uint64_t serial = first.serial;
  for (int64_t i = 0; i < 70'000; ++i) {
    Use(store, ShapeWith(1, static_cast<uint64_t>(i) + 10, cluster::kHasVolumes), {i});
  }
  EXPECT_EQ(store.LastOf(ShapeWith(0, 1)), nullptr);
  EXPECT_NE(Use(store, ShapeWith(0, 1), {-1}).serial, serial);
}

}  // namespace
}  // namespace berth::framework
