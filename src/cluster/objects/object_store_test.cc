#include "cluster/objects/object_store.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace berth::cluster {
namespace {

api::Service Service(const std::string& ns, const std::string& name, const std::string& label) {
  api::Service service;
  service.metadata.namespace_ = ns;
  service.metadata.name = name;
  service.metadata.labels["v"] = label;
  return service;
}

std::string Labels(const Store<api::Service>& store) {
  std::string all;
  store.ForEach([&](const api::Service& s) { all += s.metadata.labels.at("v") + " "; });
  return all;
}

TEST(Store, SetReplacesAndKeepsTheOrderOfFirstArrival) {
  Store<api::Service> store;
  store.Set(Service("a", "x", "1"));
  store.Set(Service("b", "x", "2"));
  store.Set(Service("a", "y", "3"));
  store.Set(Service("a", "x", "4"));
  EXPECT_EQ(Labels(store), "4 2 3 ");
  EXPECT_EQ(store.Size(), 3u);
  EXPECT_EQ(store.Find("b", "x")->metadata.labels.at("v"), "2");
  EXPECT_EQ(store.Find("b", "y"), nullptr);
  EXPECT_EQ(store.Find("x"), nullptr)
      << "without a namespace only cluster-scoped objects are found";
  EXPECT_EQ(store.FindKey("a/y"), store.Find("a", "y"));
  EXPECT_TRUE(store.Remove("b", "x"));
  EXPECT_FALSE(store.Remove("b", "x"));
  store.Set(Service("b", "x", "5"));
  EXPECT_EQ(Labels(store), "4 3 5 ") << "one that comes back is new";
}

TEST(Store, ManyRemovalsLoseNothing) {
  Store<api::Service> store;
  for (int i = 0; i < 200; ++i) store.Set(Service("n", std::to_string(i), std::to_string(i)));
  for (int i = 0; i < 200; ++i) {
    if (i % 7 == 0) continue;
    EXPECT_TRUE(store.Remove("n", std::to_string(i)));
  }
  EXPECT_EQ(store.Size(), 29u);
  std::string want;
  for (int i = 0; i < 200; i += 7) {
    ASSERT_NE(store.Find("n", std::to_string(i)), nullptr);
    want += std::to_string(i) + " ";
  }
  EXPECT_EQ(Labels(store), want);
}

TEST(Store, ChangesAreToldFromAGenerationOn) {
  Store<api::Service> store;
  store.Set(Service("a", "x", "1"));
  const uint64_t since = store.Generation();
  store.Set(Service("a", "y", "1"));
  store.Remove("a", "x");
  store.Remove("a", "never");
  std::vector<std::string> keys;
  EXPECT_TRUE(store.Changes().ForEachSince(since, [&](const auto& key) { keys.push_back(key); }));
  EXPECT_EQ(keys, (std::vector<std::string>{"a/y", "a/x"}));
  EXPECT_EQ(store.Generation(), since + 2);
}

TEST(ChangeLog, AReaderTooFarBehindIsTold) {
  ChangeLog<int> log;
  for (int i = 0; i < 100; ++i) log.Note(i, 10);
  std::vector<int> seen;
  EXPECT_FALSE(log.ForEachSince(0, [&](int i) { seen.push_back(i); }));
  EXPECT_TRUE(seen.empty());
  EXPECT_TRUE(log.ForEachSince(97, [&](int i) { seen.push_back(i); }));
  EXPECT_EQ(seen, (std::vector<int>{97, 98, 99}));
  EXPECT_TRUE(log.ForEachSince(100, [&](int) { FAIL() << "nothing has happened since"; }));
}

TEST(ChangeLog, RemembersAsManyChangesAsThereAreThings) {
  ChangeLog<int> log;
  for (int i = 0; i < 1000; ++i) log.Note(i, 500);
  int seen = 0;
  EXPECT_TRUE(log.ForEachSince(500, [&](int) { ++seen; }));
  EXPECT_EQ(seen, 500);
  EXPECT_FALSE(log.ForEachSince(499, [&](int) {}));
}

}  // namespace
}  // namespace berth::cluster
