// SqliteJournal: objects on disk, in a SQLite database with a write-ahead log.
//
// Entries are written by a thread of the journal's own: all that have come while the last
// transaction was synced go into the next one, so many writers share one sync. What has been
// reported durable is on disk, whenever and however the process ends. Space of deleted objects is
// given back to the file system. One process has the directory at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "apiserver/store/journal.h"
#include "base/error.h"

namespace berth::apiserver {

class SqliteJournal : public Journal {
 public:
  // Told, on the journal's thread, up to which version everything is on disk.
  using Durable = std::function<void(uint64_t version)>;
  // Told once, on the journal's thread, when writing has failed: nothing is kept from then on.
  using Failed = std::function<void(std::string why)>;

  // An object that could not be restored. It is kept in the table set_aside.
  struct Unreadable {
    std::string resource;
    std::string key;
    std::string why;
  };
  struct Loaded {
    uint64_t version = 0;  // of the last change
    std::vector<Unreadable> set_aside;
  };

  // Opens or makes the database in `directory`, which is made when absent.
  static Result<std::unique_ptr<SqliteJournal>> Open(const std::string& directory);

  // Calls `consume` with every object there is, definitions of custom resources first. Objects for
  // which it returns an error are moved to another table: they no longer count, and can be looked
  // at there. Before Start.
  virtual Result<Loaded> Load(const std::function<Result<void>(const JournalEntry&)>& consume) = 0;
  // Starts the thread. Before Append.
  virtual void Start(Durable durable, Failed failed) = 0;
  // Writes what has been appended, then ends the thread.
  virtual void Stop() = 0;
};

}  // namespace berth::apiserver
