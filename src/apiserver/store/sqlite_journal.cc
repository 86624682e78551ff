#include "apiserver/store/sqlite_journal.h"

#include <sqlite3.h>

#include <condition_variable>
#include <mutex>
#include <optional>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "apiserver/store/data_directory.h"

namespace berth::apiserver {
namespace {

struct CloseDatabase {
  void operator()(sqlite3* database) const { sqlite3_close_v2(database); }
};
struct FinalizeStatement {
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};
using Database = std::unique_ptr<sqlite3, CloseDatabase>;
using Statement = std::unique_ptr<sqlite3_stmt, FinalizeStatement>;

constexpr std::string_view kDefinitions = "apiextensions.k8s.io/customresourcedefinitions";

// auto_vacuum comes first: it counts for a database that has nothing yet.
constexpr const char* kSetup =
    "PRAGMA auto_vacuum=INCREMENTAL;"
    "PRAGMA journal_mode=WAL;"
    "PRAGMA synchronous=FULL;"
    "PRAGMA wal_autocheckpoint=4000;"
    "PRAGMA journal_size_limit=33554432;"
    "CREATE TABLE IF NOT EXISTS objects(resource TEXT NOT NULL, key TEXT NOT NULL,"
    " text TEXT NOT NULL, PRIMARY KEY(resource, key)) WITHOUT ROWID;"
    "CREATE TABLE IF NOT EXISTS counter(id INTEGER PRIMARY KEY CHECK(id = 1),"
    " version INTEGER NOT NULL);"
    "INSERT OR IGNORE INTO counter VALUES(1, 0);"
    "CREATE TABLE IF NOT EXISTS set_aside(resource TEXT NOT NULL, key TEXT NOT NULL,"
    " text TEXT NOT NULL, why TEXT NOT NULL, time TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP);";

// Free pages are given back when there are more than this, so many at a time.
constexpr int64_t kFreePages = 4096;
constexpr const char* kGiveBack = "PRAGMA incremental_vacuum(1024)";

class Thread final : public SqliteJournal {
 public:
  Thread(std::unique_ptr<DataDirectory> directory, Database database)
      : directory_(std::move(directory)), database_(std::move(database)) {}
  ~Thread() override { Stop(); }

  Result<void> Prepare() {
    if (auto ok = Execute(kSetup); !ok) return ok;
    // A database of an earlier version is rewritten once. Without the space for that it stays as it
    // is.
    if (Number("PRAGMA auto_vacuum") == 0) (void)Execute("PRAGMA auto_vacuum=INCREMENTAL; VACUUM");
    for (auto [statement, text] :
         {std::pair{&put_, "INSERT OR REPLACE INTO objects VALUES(?1, ?2, ?3)"},
          std::pair{&remove_, "DELETE FROM objects WHERE resource = ?1 AND key = ?2"},
          std::pair{&count_, "UPDATE counter SET version = ?1"},
          std::pair{&free_pages_, "PRAGMA freelist_count"}}) {
      sqlite3_stmt* made = nullptr;
      if (sqlite3_prepare_v2(database_.get(), text, -1, &made, nullptr) != SQLITE_OK) {
        return Problem();
      }
      statement->reset(made);
    }
    return {};
  }

  Result<Loaded> Load(const std::function<Result<void>(const JournalEntry&)>& consume) override {
    Loaded loaded;
    // Definitions sort before what they define.
    sqlite3_stmt* made = nullptr;
    const std::string query = fmt::format(
        "SELECT resource, key, text FROM objects ORDER BY resource <> '{}', resource, key",
        kDefinitions);
    if (sqlite3_prepare_v2(database_.get(), query.c_str(), -1, &made, nullptr) != SQLITE_OK) {
      return Problem();
    }
    const Statement rows(made);
    int result = sqlite3_step(made);
    for (; result == SQLITE_ROW; result = sqlite3_step(made)) {
      const JournalEntry entry{Column(made, 0), Column(made, 1), Column(made, 2), 0};
      if (auto ok = consume(entry); !ok) {
        loaded.set_aside.push_back({entry.resource, entry.key, ok.error().Message()});
      }
    }
    if (result != SQLITE_DONE) return Problem();
    for (const Unreadable& object : loaded.set_aside) {
      if (auto ok = SetAside(object); !ok) return Fail(ok.error());
    }
    const auto version = Number("SELECT version FROM counter");
    if (!version) return Fail("database: the counter of versions is missing");
    loaded.version = static_cast<uint64_t>(*version);
    return loaded;
  }

  void Start(Durable durable, Failed failed) override {
    durable_ = std::move(durable);
    failed_ = std::move(failed);
    thread_ = std::thread([this] { Run(); });
  }

  void Stop() override {
    if (!thread_.joinable()) return;
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    changed_.notify_one();
    thread_.join();
  }

  void Append(JournalEntry entry) override {
    {
      const std::lock_guard lock(mutex_);
      waiting_.push_back(std::move(entry));
    }
    changed_.notify_one();
  }

 private:
  static std::string Column(sqlite3_stmt* row, int column) {
    const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(row, column));
    return text ? std::string(text, static_cast<size_t>(sqlite3_column_bytes(row, column))) : "";
  }

  tl::unexpected<Error> Problem() {
    return Fail(fmt::format("database: {}", sqlite3_errmsg(database_.get())));
  }

  Result<void> Execute(const char* text) {
    if (sqlite3_exec(database_.get(), text, nullptr, nullptr, nullptr) != SQLITE_OK) {
      return Problem();
    }
    return {};
  }

  // The only column of the only row; nullopt: there is none.
  std::optional<int64_t> Number(const char* query) {
    sqlite3_stmt* made = nullptr;
    if (sqlite3_prepare_v2(database_.get(), query, -1, &made, nullptr) != SQLITE_OK) return {};
    const Statement row(made);
    if (sqlite3_step(made) != SQLITE_ROW) return {};
    return sqlite3_column_int64(made, 0);
  }

  Result<void> SetAside(const Unreadable& object) {
    if (auto ok = Execute("BEGIN IMMEDIATE"); !ok) return ok;
    for (const char* text : {"INSERT INTO set_aside(resource, key, text, why)"
                             " SELECT resource, key, text, ?3 FROM objects"
                             " WHERE resource = ?1 AND key = ?2",
                             "DELETE FROM objects WHERE resource = ?1 AND key = ?2"}) {
      sqlite3_stmt* made = nullptr;
      if (sqlite3_prepare_v2(database_.get(), text, -1, &made, nullptr) != SQLITE_OK) {
        return Problem();
      }
      const Statement statement(made);
      Bind(made, 1, object.resource);
      Bind(made, 2, object.key);
      if (sqlite3_bind_parameter_count(made) > 2) Bind(made, 3, object.why);
      if (auto ok = Step(made); !ok) return ok;
    }
    return Execute("COMMIT");
  }

  void Run() {
    std::vector<JournalEntry> batch;
    for (;;) {
      batch.clear();
      {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [this] { return stopping_ || !waiting_.empty(); });
        if (waiting_.empty()) return;
        batch.swap(waiting_);
      }
      if (auto ok = Write(batch); !ok) {
        failed_(ok.error().Message());
        return;
      }
      durable_(batch.back().version);
      if (auto ok = GiveBack(); !ok) {
        failed_(ok.error().Message());
        return;
      }
    }
  }

  Result<void> Write(const std::vector<JournalEntry>& batch) {
    if (auto ok = Execute("BEGIN IMMEDIATE"); !ok) return ok;
    for (const JournalEntry& entry : batch) {
      sqlite3_stmt* statement = entry.text.empty() ? remove_.get() : put_.get();
      Bind(statement, 1, entry.resource);
      Bind(statement, 2, entry.key);
      if (!entry.text.empty()) Bind(statement, 3, entry.text);
      if (auto ok = Step(statement); !ok) return ok;
    }
    sqlite3_bind_int64(count_.get(), 1, static_cast<sqlite3_int64>(batch.back().version));
    if (auto ok = Step(count_.get()); !ok) return ok;
    return Execute("COMMIT");
  }

  int64_t FreePages() {
    const bool row = sqlite3_step(free_pages_.get()) == SQLITE_ROW;
    const int64_t pages = row ? sqlite3_column_int64(free_pages_.get(), 0) : 0;
    sqlite3_reset(free_pages_.get());
    return pages;
  }

  bool Waits() {
    const std::lock_guard lock(mutex_);
    return !waiting_.empty();
  }

  // Gives back free pages, in pieces: entries go first.
  Result<void> GiveBack() {
    for (int64_t free = FreePages(), before = free + 1;
         free > kFreePages && free < before && !Waits(); before = free, free = FreePages()) {
      if (auto ok = Execute(kGiveBack); !ok) return ok;
    }
    return {};
  }

  static void Bind(sqlite3_stmt* statement, int place, const std::string& text) {
    sqlite3_bind_text(statement, place, text.data(), static_cast<int>(text.size()), SQLITE_STATIC);
  }

  Result<void> Step(sqlite3_stmt* statement) {
    const int result = sqlite3_step(statement);
    sqlite3_reset(statement);
    if (result != SQLITE_DONE) return Problem();
    return {};
  }

  std::unique_ptr<DataDirectory> directory_;  // outlives the database
  Database database_;
  Statement put_;
  Statement remove_;
  Statement count_;
  Statement free_pages_;
  Durable durable_;
  Failed failed_;
  std::thread thread_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<JournalEntry> waiting_;
  bool stopping_ = false;
};

}  // namespace

Result<std::unique_ptr<SqliteJournal>> SqliteJournal::Open(const std::string& directory) {
  auto opened = DataDirectory::Open(directory);
  if (!opened) return Fail(opened.error());
  const auto file = (*opened)->PrivateFile("berth.db");
  if (!file) return Fail(file.error());
  // SQLite gives its other files the mode of the database.
  for (const char* name : {"berth.db-wal", "berth.db-shm"}) (*opened)->MakePrivate(name);
  const std::string& path = *file;
  sqlite3* made = nullptr;
  const int result =
      sqlite3_open_v2(path.c_str(), &made, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nullptr);
  Database database(made);
  if (result != SQLITE_OK) {
    return Fail(fmt::format("{}: {}", path, made ? sqlite3_errmsg(made) : "out of memory"));
  }
  sqlite3_busy_timeout(made, 1000);
  auto journal = std::make_unique<Thread>(std::move(*opened), std::move(database));
  if (auto ok = journal->Prepare(); !ok) return Fail(ok.error().In(path));
  return std::unique_ptr<SqliteJournal>(std::move(journal));
}

}  // namespace berth::apiserver
