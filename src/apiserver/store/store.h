// Store: all objects, one counter of versions, and the log of recent changes watches start from.
//
// What may be written is the registry's business; the store keeps versions, order and the log. A
// change becomes visible to readers at once and to watchers when it is durable: at once without a
// journal, else when the journal says so. Watchers see changes in the order of their versions, also
// those made by a watcher while it is told of another one.
//
// Threads: one, the server's.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "apiserver/resource.h"
#include "apiserver/status.h"
#include "apiserver/store/journal.h"
#include "apiserver/store/object.h"

namespace berth::apiserver {

enum class ChangeType : uint8_t { kAdded, kModified, kDeleted };

struct Change {
  ChangeType type = ChangeType::kAdded;
  uint32_t storage_id = 0;
  uint64_t version = 0;
  ObjectPtr object;    // of a deletion: the last state, with the version of the deletion
  ObjectPtr previous;  // null for an addition
};

struct StoreOptions {
  // Changes kept per resource for watches that start in the past.
  size_t max_history = 16384;
};

class Store {
 public:
  using Watcher = std::function<void(const Change&)>;
  using WatchId = uint64_t;  // never 0
  using Objects = std::map<std::string, ObjectPtr, std::less<>>;

  explicit Store(const Catalog& catalog, StoreOptions options = {});
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;

  // From now on changes go to the journal, which outlives the store.
  void SetJournal(Journal* journal) { journal_ = journal; }
  // Puts back an object a journal kept; its version is in its metadata.
  void Restore(uint32_t storage_id, const Json& object);
  // The counter goes on above `version`; older watches are told to list again.
  void RestoreVersion(uint64_t version);

  // The version of the latest change.
  uint64_t Version() const { return version_; }

  // Null: no such object.
  ObjectPtr Get(uint32_t storage_id, std::string_view namespace_, std::string_view name) const;
  // All objects of a resource by key, in the order of lists.
  const Objects& All(uint32_t storage_id) const;
  // The part of All() in a namespace; everything for "".
  std::pair<Objects::const_iterator, Objects::const_iterator> Range(
      uint32_t storage_id, std::string_view namespace_) const;

  // Adds or replaces the object of that name and gives it the next version.
  ObjectPtr Put(uint32_t storage_id, Json object);
  // The same with what `from` becomes by the edits (in any order), of which DeriveStoredObject says
  // what they may be about. With another name it is another object.
  ObjectPtr Derive(uint32_t storage_id, const StoredObject& from, std::vector<Edit> edits);
  // The last state with the deletion's version; null: no such object.
  ObjectPtr Remove(uint32_t storage_id, std::string_view namespace_, std::string_view name);

  // Calls `watcher` with the changes after version `after`, those of the past at once. Refuses when
  // the log does not reach back so far.
  Answer<WatchId> Watch(uint32_t storage_id, uint64_t after, Watcher watcher);
  // Told of changes of every resource from now on.
  WatchId WatchAll(Watcher watcher);
  void Unwatch(WatchId id);

  // Runs `task` when the change of that version is durable, which may be now.
  void WhenDurable(uint64_t version, std::function<void()> task);
  // The journal has everything up to `version`.
  void Durable(uint64_t version);

 private:
  struct Subscriber {
    WatchId id;
    uint64_t after;
    Watcher watcher;
  };
  struct Table {
    Objects objects;
    // The same by hash: an object is looked up far more often than a list is made.
    boost::unordered_flat_map<std::string_view, ObjectPtr*> places;
    std::deque<Change> log;
    uint64_t forgotten = 0;  // the version of the newest change that left the log
    // Shared: a watcher may end its own watch, or another one, while it is called.
    std::vector<std::shared_ptr<Subscriber>> subscribers;
  };

  Table& At(uint32_t storage_id);
  // Where the object of that key is, or is to be.
  static ObjectPtr& Place(Table& table, std::string key);
  ObjectPtr Keep(uint32_t storage_id, ObjectPtr stored);
  void Record(Change change);
  void Publish();
  void Tell(Table& table, const Change& change);

  const Catalog& catalog_;
  StoreOptions options_;
  Journal* journal_ = nullptr;
  uint64_t version_ = 0;
  uint64_t durable_ = 0;
  uint64_t floor_ = 0;  // nothing is known of changes up to here
  uint64_t published_ = 0;
  bool publishing_ = false;
  WatchId next_watch_ = 1;
  std::vector<std::unique_ptr<Table>> tables_;  // by storage id
  std::vector<std::shared_ptr<Subscriber>> everything_;
  std::deque<Change> unpublished_;
  std::deque<std::pair<uint64_t, std::function<void()>>> waiting_;
};

}  // namespace berth::apiserver
