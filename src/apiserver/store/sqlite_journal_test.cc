#include "apiserver/store/sqlite_journal.h"

#include <signal.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

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
    const auto last = (*journal)->Load([&](const JournalEntry& entry) -> Result<void> {
      objects[entry.resource + " " + entry.key] = entry.text;
      return {};
    });
    EXPECT_TRUE(last);
    if (version) *version = last->version;
    return objects;
  }

  // Runs SQL on the database as it is on disk.
  void Sql(const std::string& text) {
    sqlite3* database = nullptr;
    ASSERT_EQ(sqlite3_open((directory_ + "/berth.db").c_str(), &database), SQLITE_OK);
    char* why = nullptr;
    EXPECT_EQ(sqlite3_exec(database, text.c_str(), nullptr, nullptr, &why), SQLITE_OK) << why;
    sqlite3_close(database);
  }

  // Keeps 20 MB, deletes them, and returns the size of the database.
  uintmax_t SizeAfterChurn() {
    auto journal = SqliteJournal::Open(directory_);
    EXPECT_TRUE(journal) << journal.error().Message();
    (*journal)->Start([](uint64_t) {}, [](const std::string& why) { FAIL() << why; });
    uint64_t version = 0;
    for (int i = 0; i < 20'000; ++i) {
      (*journal)->Append({"/events", "a/" + std::to_string(i), std::string(1000, 'x'), ++version});
    }
    for (int i = 0; i < 20'000; ++i) {
      (*journal)->Append({"/events", "a/" + std::to_string(i), "", ++version});
      // In many transactions, as it happens.
      if (i % 1000 == 0) usleep(20'000);
    }
    (*journal)->Stop();
    journal->reset();
    return std::filesystem::file_size(directory_ + "/berth.db");
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
  journal->reset();
  uint64_t version = 0;
  const auto objects = Read(&version);
  EXPECT_EQ(objects, (std::map<std::string, std::string>{{"/pods a/x", "3"}}));
  EXPECT_EQ(version, 4u);
}

TEST_F(SqliteJournalTest, ARegularFileIsNoDirectory) {
  EXPECT_FALSE(SqliteJournal::Open("/dev/null/x"));
}

TEST_F(SqliteJournalTest, M1AnUnreadableObjectIsSetAside) {
  {
    auto journal = SqliteJournal::Open(directory_);
    (*journal)->Start([](uint64_t) {}, [](const std::string& why) { FAIL() << why; });
    (*journal)->Append({"/configmaps", "default/deep", "[[[", 1});
    (*journal)->Append({"/configmaps", "default/good", "{}", 2});
    (*journal)->Stop();
  }
  std::vector<std::string> seen;
  const auto consume = [&](const JournalEntry& entry) -> Result<void> {
    seen.push_back(entry.key);
    if (entry.text == "[[[") return Fail("too deep");
    return {};
  };
  {
    auto journal = SqliteJournal::Open(directory_);
    const auto loaded = (*journal)->Load(consume);
    ASSERT_TRUE(loaded);
    ASSERT_EQ(loaded->set_aside.size(), 1u);
    EXPECT_EQ(loaded->set_aside[0].resource, "/configmaps");
    EXPECT_EQ(loaded->set_aside[0].key, "default/deep");
    EXPECT_EQ(loaded->set_aside[0].why, "too deep");
    EXPECT_EQ(loaded->version, 2u);
    EXPECT_EQ(seen.size(), 2u);
  }
  EXPECT_EQ(Read(), (std::map<std::string, std::string>{{"/configmaps default/good", "{}"}}))
      << "only once";
  Sql("CREATE TABLE ok(n CHECK(n = 1)); INSERT INTO ok SELECT count(*) FROM set_aside"
      " WHERE resource = '/configmaps' AND key = 'default/deep' AND text = '[[['"
      " AND why = 'too deep'");
}

TEST_F(SqliteJournalTest, M2OneProcessAtATime) {
  auto first = SqliteJournal::Open(directory_);
  ASSERT_TRUE(first);
  const auto second = SqliteJournal::Open(directory_);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().Message(), directory_ + " is in use by process " +
                                          std::to_string(getpid()) +
                                          ": stop it, or choose another --data-dir");
  first->reset();
  EXPECT_TRUE(SqliteJournal::Open(directory_));
}

TEST_F(SqliteJournalTest, M4SpaceIsGivenBack) { EXPECT_LT(SizeAfterChurn(), 20u << 20); }

TEST_F(SqliteJournalTest, M4SpaceIsGivenBackByDatabasesOfEarlierVersions) {
  Sql("PRAGMA journal_mode=WAL;"
      "CREATE TABLE objects(resource TEXT NOT NULL, key TEXT NOT NULL, text TEXT NOT NULL,"
      " PRIMARY KEY(resource, key)) WITHOUT ROWID;"
      "CREATE TABLE counter(id INTEGER PRIMARY KEY CHECK(id = 1), version INTEGER NOT NULL);"
      "INSERT INTO counter VALUES(1, 7);"
      "INSERT INTO objects VALUES('/pods', 'a/x', '{}')");
  uint64_t version = 0;
  EXPECT_EQ(Read(&version), (std::map<std::string, std::string>{{"/pods a/x", "{}"}}));
  EXPECT_EQ(version, 7u);
  EXPECT_LT(SizeAfterChurn(), 20u << 20);
}

TEST_F(SqliteJournalTest, L4OnlyTheirOwnerReadsThem) {
  const std::string folder = directory_ + "/data";
  const auto mode = [](const std::string& path) {
    struct stat info {};
    EXPECT_EQ(stat(path.c_str(), &info), 0) << path;
    return info.st_mode & 0777;
  };
  umask(022);
  {
    auto journal = SqliteJournal::Open(folder);
    ASSERT_TRUE(journal);
    (*journal)->Start([](uint64_t) {}, [](const std::string& why) { FAIL() << why; });
    (*journal)->Append({"/secrets", "a/x", "1", 1});
    (*journal)->Stop();
    EXPECT_EQ(mode(folder), 0700u);
    for (const char* name : {"/berth.db", "/berth.db-wal", "/berth.db-shm", "/lock"}) {
      EXPECT_EQ(mode(folder + name), 0600u) << name;
    }
  }
  // Those of an earlier version.
  chmod((folder + "/berth.db").c_str(), 0644);
  std::ofstream(folder + "/berth.db-wal").close();
  chmod((folder + "/berth.db-wal").c_str(), 0644);
  auto journal = SqliteJournal::Open(folder);
  ASSERT_TRUE(journal) << journal.error().Message();
  for (const char* name : {"/berth.db", "/berth.db-wal", "/berth.db-shm"}) {
    EXPECT_EQ(mode(folder + name), 0600u) << name;
  }
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
