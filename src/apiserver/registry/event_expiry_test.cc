// M4: events do not stay for ever.
#include "apiserver/registry/event_expiry.h"

#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "net/testing/fake_loop.h"

namespace berth::apiserver {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

class EventExpiryTest : public testing::Test {
 protected:
  EventExpiryTest() {
    Json object = Json::MakeObject();
    object.At("metadata").Set("name", "default");
    EXPECT_TRUE(registry_.Create(catalog_.Core("namespaces"), "", std::move(object)));
  }

  void Start(EventExpiryOptions options = {}) {
    expiry_ = std::make_unique<EventExpiry>(registry_, loop_, options);
    expiry_->Start();
  }
  void Create(const std::string& name) {
    Json event = Json::MakeObject({{"reason", "Test"}});
    event.At("metadata").Set("name", name);
    event.At("involvedObject").Set("namespace", "default");
    const auto made = registry_.Create(events_, "default", std::move(event));
    ASSERT_TRUE(made) << made.error().message;
  }
  void Change(const std::string& name, int count) {
    ASSERT_TRUE(registry_.Modify(events_, "default", name, [&](Json& event) -> Answer<void> {
      event.Set("count", count);
      return {};
    }));
  }
  std::vector<std::string> Left() const {
    std::vector<std::string> names;
    for (const auto& [key, event] : store_.All(events_.storage_id)) names.push_back(event->name);
    return names;
  }

  using Names = std::vector<std::string>;
  net::FakeLoop loop_;
  Catalog catalog_;
  Store store_{catalog_};
  Registry registry_{catalog_, store_, {.now = [this] { return loop_.Now(); }}};
  const Resource& events_ = catalog_.Core("events");
  std::unique_ptr<EventExpiry> expiry_;
};

TEST_F(EventExpiryTest, M4AnHourAfterTheLastChange) {
  Start();
  Create("a");
  loop_.Advance(minutes(30));
  Create("b");
  loop_.Advance(minutes(29));
  EXPECT_EQ(Left(), (Names{"a", "b"}));
  Change("a", 2);
  loop_.Advance(minutes(2));
  EXPECT_EQ(Left(), (Names{"a", "b"})) << "an event that goes on stays";
  loop_.Advance(minutes(30));
  EXPECT_EQ(Left(), (Names{"a"}));
  loop_.Advance(minutes(30));
  EXPECT_EQ(Left(), Names());
  EXPECT_EQ(expiry_->Size(), 0u);
  EXPECT_EQ(loop_.Timers(), 0u);
}

TEST_F(EventExpiryTest, M4TheOldestGoWhenThereAreTooMany) {
  Start({.most = 3});
  for (const char* name : {"a", "b", "c"}) Create(name);
  Change("a", 2);
  Create("d");
  loop_.Advance(seconds(0));
  EXPECT_EQ(Left(), (Names{"a", "c", "d"})) << "b has not changed for longest";
  for (int i = 0; i < 1000; ++i) {
    Create("e" + std::to_string(i));
    loop_.Advance(seconds(0));
    EXPECT_LE(Left().size(), 3u);
  }
}

TEST_F(EventExpiryTest, M4DeletedEventsAreForgotten) {
  Start({.most = 2});
  Create("a");
  Create("b");
  ASSERT_TRUE(registry_.Delete(events_, "default", "a"));
  Create("c");
  loop_.Advance(seconds(0));
  EXPECT_EQ(Left(), (Names{"b", "c"}));
  EXPECT_EQ(expiry_->Size(), 2u);
}

TEST_F(EventExpiryTest, M4EventsOfADataDirectoryCountFromTheirTime) {
  for (int i = 0; i < 5; ++i) {
    Create("a" + std::to_string(i));
    loop_.Advance(minutes(10));
  }
  Start({.batch = 2});  // 50, 40, 30, 20 and 10 minutes after
  loop_.Advance(minutes(11));
  EXPECT_EQ(Left(), (Names{"a1", "a2", "a3", "a4"}));
  loop_.Advance(minutes(50));
  EXPECT_EQ(Left(), Names());
}

TEST_F(EventExpiryTest, M4MoreThanTheBoundAtTheStartGoInBatches) {
  for (int i = 0; i < 100; ++i) Create("a" + std::to_string(100 + i));
  Start({.most = 10, .batch = 7});
  loop_.Advance(seconds(0));
  EXPECT_EQ(Left().size(), 10u);
}

// Changes are reported when they are durable, so the store may be ahead of what was reported.
TEST_F(EventExpiryTest, M4AChangeThatIsNotReportedYetSavesTheEvent) {
  struct : Journal {
    void Append(JournalEntry entry) override { last = entry.version; }
    uint64_t last = 0;
  } journal;
  Start();
  Create("a");
  loop_.Advance(minutes(59));
  store_.SetJournal(&journal);
  Change("a", 2);
  loop_.Advance(minutes(2));
  EXPECT_EQ(Left(), (Names{"a"}));
  store_.Durable(journal.last);
  loop_.Advance(minutes(59));
  EXPECT_EQ(Left(), (Names{"a"}));
  loop_.Advance(minutes(2));
  EXPECT_EQ(Left(), Names());
}

}  // namespace
}  // namespace berth::apiserver
