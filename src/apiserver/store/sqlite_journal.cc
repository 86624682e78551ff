#include "apiserver/store/sqlite_journal.h"

#include <sqlite3.h>

#include <condition_variable>
#include <filesystem>
#include <mutex>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>

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

constexpr const char* kSetup =
    "PRAGMA journal_mode=WAL;"
    "PRAGMA synchronous=FULL;"
    "PRAGMA wal_autocheckpoint=4000;"
    "CREATE TABLE IF NOT EXISTS objects(resource TEXT NOT NULL, key TEXT NOT NULL,"
    " text TEXT NOT NULL, PRIMARY KEY(resource, key)) WITHOUT ROWID;"
    "CREATE TABLE IF NOT EXISTS counter(id INTEGER PRIMARY KEY CHECK(id = 1),"
    " version INTEGER NOT NULL);"
    "INSERT OR IGNORE INTO counter VALUES(1, 0);";

class Thread final : public SqliteJournal {
 public:
  explicit Thread(Database database) : database_(std::move(database)) {}
  ~Thread() override { Stop(); }

  Result<void> Prepare() {
    if (auto ok = Execute(kSetup); !ok) return ok;
    for (auto [statement, text] :
         {std::pair{&put_, "INSERT OR REPLACE INTO objects VALUES(?1, ?2, ?3)"},
          std::pair{&remove_, "DELETE FROM objects WHERE resource = ?1 AND key = ?2"},
          std::pair{&count_, "UPDATE counter SET version = ?1"}}) {
      sqlite3_stmt* made = nullptr;
      if (sqlite3_prepare_v2(database_.get(), text, -1, &made, nullptr) != SQLITE_OK) {
        return Problem();
      }
      statement->reset(made);
    }
    return {};
  }

  Result<uint64_t> Load(const std::function<void(const JournalEntry&)>& consume) override {
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
      consume({Column(made, 0), Column(made, 1), Column(made, 2), 0});
    }
    if (result != SQLITE_DONE) return Problem();
    if (sqlite3_prepare_v2(database_.get(), "SELECT version FROM counter", -1, &made, nullptr) !=
        SQLITE_OK) {
      return Problem();
    }
    const Statement counter(made);
    if (sqlite3_step(made) != SQLITE_ROW) return Problem();
    return static_cast<uint64_t>(sqlite3_column_int64(made, 0));
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

  static void Bind(sqlite3_stmt* statement, int place, const std::string& text) {
    sqlite3_bind_text(statement, place, text.data(), static_cast<int>(text.size()), SQLITE_STATIC);
  }

  Result<void> Step(sqlite3_stmt* statement) {
    const int result = sqlite3_step(statement);
    sqlite3_reset(statement);
    if (result != SQLITE_DONE) return Problem();
    return {};
  }

  Database database_;
  Statement put_;
  Statement remove_;
  Statement count_;
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
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  if (error) return Fail(fmt::format("{}: {}", directory, error.message()));
  const std::string path = directory + "/berth.db";
  sqlite3* made = nullptr;
  const int result =
      sqlite3_open_v2(path.c_str(), &made, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nullptr);
  Database database(made);
  if (result != SQLITE_OK) {
    return Fail(fmt::format("{}: {}", path, made ? sqlite3_errmsg(made) : "out of memory"));
  }
  sqlite3_busy_timeout(made, 1000);
  auto journal = std::make_unique<Thread>(std::move(database));
  if (auto ok = journal->Prepare(); !ok) return Fail(ok.error().In(path));
  return std::unique_ptr<SqliteJournal>(std::move(journal));
}

}  // namespace berth::apiserver
