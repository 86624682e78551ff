#include "apiserver/store/store.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "apiserver/store/selection.h"

namespace berth::apiserver {
namespace {

Json Pod(std::string_view namespace_, std::string_view name, std::string_view node = "",
         std::string_view label = "") {
  Json pod = Json::MakeObject({{"kind", "Pod"}, {"apiVersion", "v1"}});
  pod.At("metadata").Set("name", name);
  pod.At("metadata").Set("namespace", namespace_);
  if (!label.empty()) pod.At("metadata").At("labels").Set("app", label);
  if (!node.empty()) pod.At("spec").Set("nodeName", node);
  return pod;
}

class StoreTest : public testing::Test {
 protected:
  Store::Watcher Note(std::vector<std::string>& seen) {
    return [&seen](const Change& change) {
      static constexpr const char* kNames[] = {"+", "~", "-"};
      seen.push_back(kNames[static_cast<int>(change.type)] + change.object->name + "@" +
                     std::to_string(change.version));
    };
  }

  Catalog catalog_;
  Store store_{catalog_, {.max_history = 4}};
  const uint32_t pods_ = catalog_.Core("pods").storage_id;
};

TEST_F(StoreTest, EveryChangeHasTheNextVersion) {
  EXPECT_EQ(store_.Put(pods_, Pod("a", "x"))->version, 1u);
  EXPECT_EQ(store_.Put(pods_, Pod("a", "y"))->version, 2u);
  const ObjectPtr x = store_.Put(pods_, Pod("a", "x", "node-1"));
  EXPECT_EQ(x->version, 3u);
  EXPECT_EQ(x->Value()["metadata"]["resourceVersion"].Str(), "3");
  EXPECT_EQ(store_.Remove(pods_, "a", "x")->version, 4u);
  EXPECT_EQ(store_.Get(pods_, "a", "x"), nullptr);
  EXPECT_EQ(store_.Remove(pods_, "a", "x"), nullptr);
  EXPECT_EQ(store_.Version(), 4u);
}

TEST_F(StoreTest, NamespacesAreRangesOfTheOrder) {
  for (const char* ns : {"b", "a", "a-b"}) {
    for (const char* name : {"2", "1"}) store_.Put(pods_, Pod(ns, name));
  }
  std::vector<std::string> keys;
  for (auto [at, end] = store_.Range(pods_, "a"); at != end; ++at) keys.push_back(at->first);
  EXPECT_EQ(keys, (std::vector<std::string>{"a/1", "a/2"}));
}

TEST_F(StoreTest, WatchesSeeThePastThenThePresent) {
  store_.Put(pods_, Pod("a", "x"));
  store_.Put(pods_, Pod("a", "y"));
  std::vector<std::string> seen;
  const auto watch = store_.Watch(pods_, 1, Note(seen));
  ASSERT_TRUE(watch);
  store_.Remove(pods_, "a", "x");
  store_.Unwatch(*watch);
  store_.Put(pods_, Pod("a", "z"));
  EXPECT_EQ(seen, (std::vector<std::string>{"+y@2", "-x@3"}));
}

TEST_F(StoreTest, ChangesMadeByAWatcherComeAfterTheOneItWasToldOf) {
  std::vector<std::string> first;
  std::vector<std::string> second;
  ASSERT_TRUE(store_.Watch(pods_, 0, [&](const Change& change) {
    Note(first)(change);
    if (change.object->name == "x") store_.Put(pods_, Pod("a", "made"));
  }));
  ASSERT_TRUE(store_.Watch(pods_, 0, Note(second)));
  store_.Put(pods_, Pod("a", "x"));
  EXPECT_EQ(first, (std::vector<std::string>{"+x@1", "+made@2"}));
  EXPECT_EQ(second, first);
}

TEST_F(StoreTest, HistoryIsBounded) {
  for (int i = 0; i < 6; ++i) store_.Put(pods_, Pod("a", "x"));
  std::vector<std::string> seen;
  EXPECT_TRUE(store_.Watch(pods_, 2, Note(seen)));
  EXPECT_EQ(seen.size(), 4u);
  const auto refused = store_.Watch(pods_, 1, Note(seen));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, 410);
  EXPECT_EQ(refused.error().message, "too old resource version: 1 (6)");
}

TEST_F(StoreTest, WithAJournalWatchersAndAnswersWaitForTheDisk) {
  struct Recorder : Journal {
    void Append(JournalEntry entry) override { entries.push_back(std::move(entry)); }
    std::vector<JournalEntry> entries;
  } journal;
  store_.SetJournal(&journal);
  std::vector<std::string> seen;
  ASSERT_TRUE(store_.Watch(pods_, 0, Note(seen)));
  store_.Put(pods_, Pod("a", "x"));
  store_.Put(pods_, Pod("a", "y"));
  store_.Remove(pods_, "a", "x");
  int answered = 0;
  store_.WhenDurable(1, [&] { ++answered; });
  store_.WhenDurable(3, [&] { ++answered; });
  EXPECT_TRUE(seen.empty());
  EXPECT_EQ(answered, 0);
  store_.Durable(2);
  EXPECT_EQ(seen, (std::vector<std::string>{"+x@1", "+y@2"}));
  EXPECT_EQ(answered, 1);
  store_.Durable(3);
  EXPECT_EQ(seen.back(), "-x@3");
  EXPECT_EQ(answered, 2);
  ASSERT_EQ(journal.entries.size(), 3u);
  EXPECT_EQ(journal.entries[0].resource, "/pods");
  EXPECT_EQ(journal.entries[0].key, "a/x");
  EXPECT_EQ(journal.entries[2].text, "");
}

TEST_F(StoreTest, Selections) {
  const Resource& pods = catalog_.Core("pods");
  const ObjectPtr x = store_.Put(pods_, Pod("a", "x", "node-1", "web"));
  struct Row {
    const char* namespace_;
    const char* labels;
    const char* fields;
    bool matches;
  };
  for (const Row& row :
       {Row{"", "", "", true}, Row{"a", "", "", true}, Row{"b", "", "", false},
        Row{"", "app=web", "", true}, Row{"", "app!=web", "", false},
        Row{"", "", "spec.nodeName=node-1", true}, Row{"", "", "spec.nodeName!=node-1", false},
        Row{"", "", "spec.nodeName==", false}, Row{"", "", "metadata.name=x,status.phase=", true},
        Row{"", "", "metadata.namespace=a", true}}) {
    const auto selection = Selection::Parse(pods, pods, row.namespace_, row.labels, row.fields);
    ASSERT_TRUE(selection) << selection.error().message;
    EXPECT_EQ(selection->Matches(*x), row.matches) << row.labels << " " << row.fields;
  }
  const auto unknown = Selection::Parse(pods, pods, "", "", "spec.color=red");
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().message, "field label not supported: spec.color");
  EXPECT_FALSE(Selection::Parse(pods, pods, "", "a in (", ""));
}

}  // namespace
}  // namespace berth::apiserver
