#include "apiserver/store/sqlite_journal.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>

#include <gtest/gtest.h>

namespace berth::apiserver {
namespace {

class SqliteJournalTest : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/berth-journal-XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    directory_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  std::map<std::string, std::string> Read(uint64_t* version = nullptr) {
    std::map<std::string, std::string> objects;
    auto journal = SqliteJournal::Open(directory_);
    EXPECT_TRUE(journal) << journal.error().Message();
    const auto last = (*journal)->Load(
        [&](const JournalEntry& entry) { objects[entry.resource + " " + entry.key] = entry.text; });
    EXPECT_TRUE(last);
    if (version) *version = *last;
    return objects;
  }

  std::string directory_;
};

TEST_F(SqliteJournalTest, KeepsTheLastStateOfEveryObject) {
  {
    auto journal = SqliteJournal::Open(directory_ + "/a/b");
    ASSERT_TRUE(journal) << journal.error().Message();
  }
  auto journal = SqliteJournal::Open(directory_);
  ASSERT_TRUE(journal);
  (*journal)->Start([](uint64_t) {}, [](const std::string& why) { FAIL() << why; });
  (*journal)->Append({"/pods", "a/x", "1", 1});
  (*journal)->Append({"/pods", "a/y", "2", 2});
  (*journal)->Append({"/pods", "a/x", "3", 3});
  (*journal)->Append({"/pods", "a/y", "", 4});
  (*journal)->Stop();
  uint64_t version = 0;
  const auto objects = Read(&version);
  EXPECT_EQ(objects, (std::map<std::string, std::string>{{"/pods a/x", "3"}}));
  EXPECT_EQ(version, 4u);
}

TEST_F(SqliteJournalTest, ARegularFileIsNoDirectory) {
  EXPECT_FALSE(SqliteJournal::Open("/dev/null/x"));
}

// A child writes and says what was reported durable until it is killed, at another moment every
// time. Nothing it has said may be missing.
TEST_F(SqliteJournalTest, WhatWasAcknowledgedSurvivesKill) {
  uint64_t base = 0;
  for (int round = 0; round < 12; ++round) {
    int pipe_ends[2];
    ASSERT_EQ(pipe(pipe_ends), 0);
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      close(pipe_ends[0]);
      auto journal = SqliteJournal::Open(directory_);
      if (!journal) _exit(2);
      (*journal)->Start(
          [&](uint64_t version) {
            if (write(pipe_ends[1], &version, sizeof version) < 0) _exit(3);
          },
          [](const std::string&) { _exit(4); });
      for (uint64_t version = base + 1;; ++version) {
        (*journal)->Append({"/pods", "a/" + std::to_string(version), "text", version});
        if (version % 64 == 0) usleep(200);
      }
    }
    close(pipe_ends[1]);
    // Some acknowledgements first, then the end in the middle of whatever it does.
    uint64_t acknowledged = 0;
    for (int i = 0; i < 1 + round; ++i) {
      uint64_t version = 0;
      ASSERT_EQ(read(pipe_ends[0], &version, sizeof version), ssize_t{sizeof version});
      acknowledged = version;
    }
    kill(child, SIGKILL);
    for (uint64_t version = 0; read(pipe_ends[0], &version, sizeof version) > 0;) {
      acknowledged = version;
    }
    close(pipe_ends[0]);
    int status = 0;
    waitpid(child, &status, 0);
    ASSERT_TRUE(WIFSIGNALED(status)) << "the child failed on its own: " << status;
    uint64_t counter = 0;
    const auto objects = Read(&counter);
    EXPECT_GE(counter, acknowledged);
    for (uint64_t version = base + 1; version <= acknowledged; ++version) {
      ASSERT_TRUE(objects.contains("/pods a/" + std::to_string(version)))
          << "version " << version << " of " << acknowledged << " in round " << round;
    }
    EXPECT_EQ(objects.size(), counter) << "nothing else either";
    base = counter;
  }
}

}  // namespace
}  // namespace berth::apiserver
